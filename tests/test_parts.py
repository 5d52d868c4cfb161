"""Tests that run over every entry of every registry."""

import subprocess
import sys

import numpy as np
import pytest

import parsimon
from parsimon import admission, algorithms, compression, kernels, losses, updates

REGISTRIES = [
    kernels.KERNELS,
    losses.LOSSES,
    admission.ADMISSIONS,
    updates.UPDATES,
    compression.COMPRESSIONS,
    compression.MAINTENANCE,
]
EXAMPLES = {
    "adaptive_coherence": {"fill": 5},
    "ald": {"tolerance": 0.1},
    "residual": {"tolerance": 0.1},
    "distance": {"radius": 0.1},
    "gradient": {"step_size": 0.5},
    "projected_gradient": {"step_size": 0.5},
    "quantized_gradient": {"step_size": 0.5},
    "coherence": {"threshold": 0.5},
    "nlms": {"step_size": 0.5},
    "affine_projection": {"step_size": 0.5},
    "window": {"ridge": 0.1},
    "least_cost": {"max_centers": 3},
    "oldest": {"max_centers": 3},
    "merge": {"max_centers": 3},
    "projection": {"max_centers": 3},
    "removal": {"max_centers": 3},
}
PARTS = [(name, cls) for registry in REGISTRIES for name, cls in registry.items()]


@pytest.mark.parametrize(("name", "cls"), PARTS)
def test_a_part_is_a_frozen_value_with_a_twin(name, cls):
    part, twin = cls(**EXAMPLES.get(name, {})), cls(**EXAMPLES.get(name, {}))
    assert part == twin
    assert hash(part) == hash(twin)
    assert part.core() is not part.core()
    assert cls.__doc__ and ">>>" in cls.__doc__
    with pytest.raises(AttributeError):
        part.anything = 1


RULES = [
    *({"admission": name} for name in admission.ADMISSIONS),
    *({"update": name} for name in updates.UPDATES),
]


@pytest.mark.parametrize("loss", losses.LOSSES)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_rule_learns_with_every_loss_in_batches_and_with_averages(rule, loss):
    names = {"admission": "coherence", "update": "gradient", **rule}
    single = names["update"] in ("dual_ascent", "window", "tracker", "extended_rls")
    if single and names["update"] != "dual_ascent":
        names["admission"] = "always"
    entry, change = (
        registry[names[kind]](**EXAMPLES.get(names[kind], {}))
        for kind, registry in (("admission", admission.ADMISSIONS), ("update", updates.UPDATES))
    )
    given, classes = losses.LOSSES[loss](), loss in losses.CLASSIFICATION
    recipe = algorithms.Recipe(
        kernel=kernels.Gaussian(1.0),
        loss=given,
        admission=entry,
        update=change,
        compression=compression.Nothing(),
        batch_size=1 if single else 4,
        average_after=20 if names["update"].endswith("gradient") else None,
    )
    rng = np.random.default_rng(0)
    X, n_outputs = rng.normal(size=(60, 2)), 3 if classes else 1
    if classes:
        Y = given.targets(rng.integers(0, 3, size=60), np.full(60, 3), 3)
    else:
        Y = np.abs(np.round(X[:, :1]))
    try:
        learner = recipe.build(2, n_outputs)
        learner.learn(X, np.ascontiguousarray(Y, dtype=np.float64))
    except ValueError as error:  # a combination that is not stable, or has no meaning
        assert "stable" in str(error) or "losses with a curvature" in str(error)
        return
    assert np.isfinite(learner.predict(X)).all()
    learner.require_sound()


def test_modules_are_attributes_of_the_package():
    """Without any other import before."""
    names = ("merging", "persistence", "estimators", "dictionary_learning", "kernels", "datasets")
    code = "import parsimon; " + "; ".join(f"parsimon.{name}" for name in names)
    subprocess.run([sys.executable, "-c", code], check=True)
    assert set(dir(parsimon)) == {*parsimon.__all__, "__version__"}

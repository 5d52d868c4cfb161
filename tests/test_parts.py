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
# These have the names of other parts.
EXAMPLES |= {f"polk-{name}": {"parsimony": 0.1} for name in compression.PURSUITS}
PARTS += [(f"polk-{name}", cls) for name, cls in compression.PURSUITS.items()]


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


REMOVALS = {
    "least_cost": compression.LeastCost(8),
    "least_needed": compression.LeastNeeded(8),
    "oldest": compression.Oldest(8),
    "merge": compression.Merge(8),
    "smallest": compression.Smallest(8),
    "most_coherent": compression.MostCoherent(8),
    "matching_pursuit": compression.MatchingPursuit(0.05),
    "merging_pursuit": compression.MergingPursuit(0.05),
    "merging_pursuit with neighbors": compression.MergingPursuit(0.05, neighbors=4),
    "negligible": compression.Negligible(0.01),
}


@pytest.mark.parametrize("rule", REMOVALS)
@pytest.mark.parametrize("update", [*updates.UPDATES, "span_rls at a budget"])
def test_every_pair_of_update_and_removal_learns_or_is_refused(update, rule):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(200, 2))
    Y = np.sin(2.0 * X[:, :1]) * X[:, 1:] + 0.1 * rng.normal(size=(200, 1))
    if update == "span_rls at a budget":
        change = updates.SpanRLS(max_centers=8)
    elif update == "affine_projection":  # without a ridge, it amplifies noise
        change = updates.AffineProjection(0.5, ridge=0.1)
    else:
        change = updates.UPDATES[update](**EXAMPLES.get(update, {}))
    rules = (
        admission.Always(),
        admission.Coherence(0.8),
        admission.Distance(0.4),
        admission.LinearDependence(0.01),
    )
    for entry in rules:
        try:
            recipe = algorithms.Recipe(
                kernels.Gaussian(1.0), losses.Squared(), entry, change, REMOVALS[rule]
            )
        except ValueError as error:
            assert " needs " in str(error)
            continue
        learner = recipe.build(2)
        predicted = learner.predict_then_learn(X, Y)
        assert np.mean((predicted[100:] - Y[100:]) ** 2) < 10.0 * np.var(Y)
        learner.require_sound()


def test_a_budget_of_the_update_is_that_of_the_compression():
    given = (kernels.Gaussian(1.0), losses.Squared(), admission.LinearDependence(0.01))
    with pytest.raises(ValueError, match=r"max_centers=8 needs the compression LeastNeeded\(8\)"):
        algorithms.Recipe(*given, updates.SpanRLS(max_centers=8), compression.LeastNeeded(9))


def test_modules_are_attributes_of_the_package():
    """Without any other import before."""
    names = ("merging", "persistence", "estimators", "dictionary_learning", "kernels", "datasets")
    code = "import parsimon; " + "; ".join(f"parsimon.{name}" for name in names)
    subprocess.run([sys.executable, "-c", code], check=True)
    assert set(dir(parsimon)) == {*parsimon.__all__, "__version__"}

"""Tests that run over every entry of every registry."""

import subprocess
import sys

import pytest

import parsimon
from parsimon import admission, compression, kernels, losses, updates

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


def test_modules_are_attributes_of_the_package():
    """Without any other import before."""
    names = ("merging", "persistence", "estimators", "dictionary_learning", "kernels", "datasets")
    code = "import parsimon; " + "; ".join(f"parsimon.{name}" for name in names)
    subprocess.run([sys.executable, "-c", code], check=True)
    assert set(dir(parsimon)) == {*parsimon.__all__, "__version__"}

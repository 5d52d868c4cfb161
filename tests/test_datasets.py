"""Loaders, on small files of the same form as the real ones."""

import numpy as np
import pytest
from sklearn.utils import Bunch

from parsimon import datasets

RNG = np.random.default_rng(0)
PIXELS = dict(
    X_train=RNG.integers(256, size=(6, 28, 28), dtype=np.uint8),
    y_train=np.arange(6, dtype=np.uint8),
    X_test=RNG.integers(256, size=(4, 28, 28), dtype=np.uint8),
    y_test=np.arange(4, dtype=np.uint8),
)


def test_digits_are_rows_of_numbers(tmp_path):
    np.savez(tmp_path / "mnist.npz", **PIXELS)
    data = datasets.load_mnist(tmp_path)
    assert data.X_train.shape == (6, 784)
    np.testing.assert_array_equal(data.X_test, PIXELS["X_test"].reshape(4, -1) / 255)
    assert data.y_test.tolist() == [0, 1, 2, 3]


def test_banana_is_split_in_a_fixed_order(tmp_path):
    np.savez(tmp_path / "banana.npz", X=RNG.normal(size=(5300, 2)), y=RNG.choice([-1, 1], size=5300))
    first, second = datasets.load_banana(tmp_path), datasets.load_banana(tmp_path)
    assert first.X_train.shape == (4000, 2)
    assert first.X_test.shape == (1300, 2)
    assert set(first.y_train.tolist()) == {0, 1}
    np.testing.assert_array_equal(first.X_test, second.X_test)


@pytest.mark.parametrize(
    ("load", "name"), [(datasets.load_boston, "boston_housing"), (datasets.load_comp_activ, "cpusmall")]
)
def test_regression_data_are_as_stored(load, name, tmp_path):
    X, y = RNG.integers(100, size=(6, 3)), RNG.integers(100, size=6)
    np.savez(tmp_path / f"{name}.npz", X=X, y=y)
    found = load(tmp_path)
    for array, expected in zip(found, (X, y), strict=True):
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("load", [datasets.load_boston, datasets.load_comp_activ])
def test_categories_of_openml_are_given_back_as_their_values(load, monkeypatch):
    def fetch_openml(name, version, as_frame, parser):
        assert (version, as_frame, parser) == (1, False, "liac-arff")
        return Bunch(
            data=np.array([[0.5, 1.0], [0.7, 0.0], [0.9, 2.0]]),
            target=np.array([3.0, 4.0, 5.0]),
            feature_names=["NOX", "RAD"],
            categories={"RAD": ["1", "24", "3"]},
        )

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    X, y = load()
    np.testing.assert_array_equal(X, [[0.5, 24.0], [0.7, 1.0], [0.9, 3.0]])
    assert y.tolist() == [3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    "load",
    [
        datasets.load_mnist,
        datasets.load_usps,
        datasets.load_banana,
        datasets.load_brodatz,
        datasets.load_boston,
        datasets.load_comp_activ,
    ],
)
def test_bad_files_are_named(load, tmp_path):
    names = {"brodatz": "brodatz13", "boston": "boston_housing", "comp_activ": "cpusmall"}
    name = load.__name__.removeprefix("load_")
    name = f"{names.get(name, name)}.npz"
    with pytest.raises(FileNotFoundError, match=f"no {name} in"):
        load(tmp_path)
    (tmp_path / name).write_bytes(b"junk")
    with pytest.raises(ValueError, match=f"{name} cannot be read: it is damaged"):
        load(tmp_path)
    np.savez(tmp_path / name, other=np.zeros(3))
    whole = (tmp_path / name).read_bytes()
    with pytest.raises(ValueError, match=r"has no array '.*'; it holds other"):
        load(tmp_path)
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged"):
        load(tmp_path)

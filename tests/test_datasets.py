"""Loaders, on small files of the same form as the real ones."""

import urllib.error

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
    np.savez(
        tmp_path / "banana.npz", X=RNG.normal(size=(5300, 2)), y=RNG.choice([-1, 1], size=5300)
    )
    first, second = datasets.load_banana(tmp_path), datasets.load_banana(tmp_path)
    assert first.X_train.shape == (4000, 2)
    assert first.X_test.shape == (1300, 2)
    assert set(first.y_train.tolist()) == {0, 1}
    np.testing.assert_array_equal(first.X_test, second.X_test)


@pytest.mark.parametrize(
    ("load", "name"),
    [(datasets.load_boston, "boston_housing"), (datasets.load_comp_activ, "cpusmall")],
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
    with pytest.raises(ValueError, match=f"{name} is damaged or is not a NumPy archive"):
        load(tmp_path)
    np.savez(tmp_path / name, other=np.zeros(3))
    whole = (tmp_path / name).read_bytes()
    with pytest.raises(ValueError, match=r"has no array '.*'; it holds other"):
        load(tmp_path)
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged"):
        load(tmp_path)


TABLES = {
    datasets.load_electricity: ("electricity", 8, "class"),
    datasets.load_bike_sharing: ("bike_sharing_hour", 12, "cnt"),
    datasets.load_covtype: ("covtype_20k", 54, "cover"),
    datasets.load_cod_rna: ("cod_rna", 8, "class"),
    datasets.load_kin40k: ("kin40k", 8, "y"),
    datasets.load_ccpp: ("ccpp", 4, "PE"),
}


@pytest.mark.parametrize("load", TABLES)
@pytest.mark.parametrize("kind", [np.float32, np.uint8])
def test_tables_are_as_stored(load, kind, tmp_path):
    file, d, target = TABLES[load]
    X, y = RNG.integers(100, size=(6, d)).astype(kind), RNG.integers(100, size=6).astype(kind)
    names = ("X_train", "y_train") if file == "cod_rna" else ("X", "y")
    np.savez(tmp_path / f"{file}.npz", **dict(zip(names, (X, y), strict=True)))
    found = load(tmp_path)
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, y)
    assert found.X.dtype == np.float64 and found.y.dtype == (
        np.float64 if kind is np.float32 else np.int64
    )
    assert found.target_name == target and len(set(found.feature_names)) == d
    np.savez(tmp_path / f"{file}.npz", **dict(zip(names, (X[:, 1:], y), strict=True)))
    with pytest.raises(ValueError, match=rf"{file}.npz: X must be \(n, {d}\)"):
        load(tmp_path)
    (tmp_path / f"{file}.npz").unlink()
    with pytest.raises(FileNotFoundError, match=f"no {file}.npz in"):
        load(tmp_path)


@pytest.mark.parametrize("load", [datasets.load_cod_rna, datasets.load_kin40k, datasets.load_ccpp])
def test_what_cannot_be_fetched_says_so(load):
    with pytest.raises(ValueError, match=r"give a data_dir \(--data-dir\) with"):
        load()


@pytest.mark.parametrize(
    "load", [datasets.load_electricity, datasets.load_bike_sharing, datasets.load_covtype]
)
def test_what_is_not_reached_is_said(load, monkeypatch):
    def unreachable(*_, **__):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    monkeypatch.setattr("sklearn.datasets.fetch_covtype", unreachable)
    with pytest.raises(OSError, match=r"cannot fetch .*no network.*data_dir"):
        load()


def test_words_of_openml_are_given_back_as_codes(monkeypatch):
    def fetch_openml(name, version, as_frame, parser):
        assert (name, version) == ("Bike_Sharing_Demand", 2)
        features = ["season", *map(str, range(6)), "weather", *map(str, range(8, 12))]
        data = np.zeros((2, 12))
        data[:, 0], data[:, 7] = [0, 1], [1, 0]
        categories = {"season": ["fall", "spring"], "weather": ["heavy_rain", "clear"]}
        return Bunch(
            data=data, target=np.array([16.0, 40.0]), feature_names=features, categories=categories
        )

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    found = datasets.load_bike_sharing()
    assert found.X[:, [0, 7]].tolist() == [[3.0, 1.0], [1.0, 4.0]] and found.y.tolist() == [16, 40]


def test_prices_of_openml_go_up_or_down(monkeypatch):
    def fetch_openml(name, version, as_frame, parser):
        features, categories = ["date", "day"], {"day": ["1", "7"]}
        target = np.array(["UP", "DOWN"], dtype=object)
        return Bunch(
            data=np.array([[0.0, 1.0], [0.5, 0.0]]),
            target=target,
            feature_names=features,
            categories=categories,
        )

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    found = datasets.load_electricity()
    assert found.y.tolist() == [1, 0] and found.X.tolist() == [[0.0, 7.0], [0.5, 1.0]]

"""Real data sets: read from a folder, or fetched by name from public sources."""

from __future__ import annotations

import urllib.error
import urllib.request
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: The thirteen Brodatz textures of volume 1 of the USC-SIPI image database, by their numbers there.
_BRODATZ = "https://sipi.usc.edu/database/download.php?vol=textures&img=1.1.{:02d}"


class Split(NamedTuple):
    """Training and test data: X (n, d) and labels y (n,)."""

    X_train: NDArray[np.float64]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


def load_mnist(data_dir: str | Path | None = None) -> Split:
    """Return the MNIST digits, 60,000 and 10,000 images of 28 x 28 pixels in [0, 1].

    From ``mnist.npz`` (arrays X_train, y_train, X_test, y_test) in `data_dir` if that is given; else from OpenML, where scikit-learn keeps a copy for the next time.
    """
    if data_dir is not None:
        return _split(_read(data_dir, "mnist.npz", *Split._fields), 255.0)
    X, y = _openml("mnist_784")
    return Split(X[:60000] / 255.0, y[:60000], X[60000:] / 255.0, y[60000:])


def load_usps(data_dir: str | Path | None = None) -> Split:
    """Return the USPS digits, 7291 and 2007 images of 16 x 16 pixels in [0, 1].

    From ``usps.npz`` in `data_dir` if that is given; else from OpenML.
    """
    if data_dir is not None:
        return _split(_read(data_dir, "usps.npz", *Split._fields), 1.0)
    X, y = _openml("USPS")
    X = (X - X.min()) / (X.max() - X.min())
    return Split(X[:7291], y[:7291] - y.min(), X[7291:], y[7291:] - y.min())


def load_banana(data_dir: str | Path | None = None) -> Split:
    """Return banana, two classes of points in the plane, in a fixed random order: 4000 and 1300.

    From ``banana.npz`` (arrays X, y) in `data_dir` if that is given; else from OpenML.
    """
    if data_dir is not None:
        stored = _read(data_dir, "banana.npz", "X", "y")
        X, y = stored["X"].astype(np.float64), stored["y"].astype(np.int64)
    else:
        X, y = _openml("banana")
    y = np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(X))
    first, rest = order[:4000], order[4000:]
    return Split(X[first], y[first], X[rest], y[rest])


def load_boston(data_dir: str | Path | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Boston housing, X (506, 13) and the median values y (506,) in thousands of dollars, all in original units.

    From ``boston_housing.npz`` (arrays X, y) in `data_dir` if that is given; else from OpenML.
    """
    return _regression(data_dir, "boston_housing.npz", "boston")


def load_comp_activ(data_dir: str | Path | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Comp-activ with its twelve attributes, X (8192, 12), and the percentage of time y (8192,) that the processors ran in user mode, all in original units.

    From ``cpusmall.npz`` (arrays X, y) in `data_dir` if that is given; else from OpenML.
    """
    return _regression(data_dir, "cpusmall.npz", "cpu_small")


def load_brodatz(data_dir: str | Path | None = None) -> NDArray[np.uint8]:
    """Return thirteen Brodatz textures, (13, 512, 512) grey levels.

    From ``brodatz13.npz`` (array images) in `data_dir` if that is given; else from the USC-SIPI image database, which needs Pillow to read.
    """
    if data_dir is not None:
        images: NDArray[np.uint8] = _read(data_dir, "brodatz13.npz", "images")["images"]
        return images
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading the textures needs Pillow: pip install pillow") from error
    found = []
    for number in range(1, 14):
        address = _BRODATZ.format(number)
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                found.append(np.asarray(Image.open(BytesIO(answer.read())).convert("L"), dtype=np.uint8))
        except (urllib.error.URLError, OSError) as error:
            raise OSError(f"cannot fetch {address} ({error}); give a data_dir that holds brodatz13.npz") from error
    return np.stack(found)


def _read(data_dir: str | Path, name: str, *arrays: str) -> dict[str, NDArray[Any]]:
    path = Path(data_dir) / name
    if not path.exists():
        raise FileNotFoundError(f"there is no {name} in {data_dir}")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            found = dict(stored)
    except (ValueError, EOFError, zipfile.BadZipFile, TypeError) as error:
        raise ValueError(f"{path} cannot be read: it is damaged, or no NumPy archive") from error
    missing = [array for array in arrays if array not in found]
    if missing:
        raise ValueError(f"{path} has no array {missing[0]!r}; it holds {', '.join(sorted(found)) or 'none'}")
    return found


def _split(stored: dict[str, NDArray[Any]], scale: float) -> Split:
    X, Z = (stored[key].reshape(len(stored[key]), -1) / scale for key in ("X_train", "X_test"))
    return Split(X, stored["y_train"].astype(np.int64), Z, stored["y_test"].astype(np.int64))


def _regression(data_dir: str | Path | None, file: str, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if data_dir is not None:
        stored = _read(data_dir, file, "X", "y")
        X, y = stored["X"], stored["y"]
    else:
        X, y = _fetch(name, 1)  # later versions have two classes
    return X.astype(np.float64), y.astype(np.float64)


def _openml(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = _fetch(name, 1 if name == "mnist_784" else "active")
    return X, y.astype(np.int64)


def _fetch(name: str, version: int | str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return X and y of a data set from OpenML."""
    from sklearn.datasets import fetch_openml

    try:  # liac-arff is the parser that does not need pandas
        found = fetch_openml(name, version=version, as_frame=False, parser="liac-arff")
    except (urllib.error.URLError, OSError) as error:
        raise OSError(f"cannot fetch {name} from OpenML ({error}); give a data_dir that holds it") from error
    X = np.asarray(found.data, dtype=np.float64)
    for feature, values in (found.categories or {}).items():  # given as indices into the values: Boston's RAD, CHAS
        if feature in found.feature_names:
            column = found.feature_names.index(feature)
            X[:, column] = np.array(values, dtype=np.float64)[X[:, column].astype(np.int64)]
    return X, np.asarray(found.target)

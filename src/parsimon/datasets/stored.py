"""Real data sets, read from a folder or fetched from public sources."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parsimon.datasets._archives import read_archive, required_folder

#: Brodatz textures of volume 1 of the USC-SIPI image database, by number.
_BRODATZ = "https://sipi.usc.edu/database/download.php?vol=textures&img=1.1.{:02d}"
#: Codes of the source for the words that OpenML uses.
_BIKE_WORDS = {
    **{"spring": 1, "summer": 2, "fall": 3, "winter": 4},
    **{"clear": 1, "misty": 2, "rain": 3, "heavy_rain": 4},
    **{"False": 0, "True": 1},
}


class Split(NamedTuple):
    """Training and test data: X (n, d) and labels y (n,)."""

    X_train: NDArray[np.float64]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


def load_mnist(data_dir: str | Path | None = None) -> Split:
    """Return the MNIST digits: 60,000 training and 10,000 test images, 28 x 28 pixels in [0, 1].

    They are read from ``mnist.npz`` (arrays X_train, y_train, X_test, y_test) in `data_dir` if it
    is given. Otherwise they are fetched from OpenML, and scikit-learn keeps a copy.
    """
    if data_dir is not None:
        return _split(read_archive(data_dir, "mnist.npz", *Split._fields), 255.0)
    X, y = _openml("mnist_784")
    return Split(X[:60000] / 255.0, y[:60000], X[60000:] / 255.0, y[60000:])


def load_usps(data_dir: str | Path | None = None) -> Split:
    """Return the USPS digits: 7291 training and 2007 test images, 16 x 16 pixels in [0, 1].

    They are read from ``usps.npz`` in `data_dir` if it is given, and fetched from OpenML otherwise.
    """
    if data_dir is not None:
        return _split(read_archive(data_dir, "usps.npz", *Split._fields), 1.0)
    X, y = _openml("USPS")
    X = (X - X.min()) / (X.max() - X.min())
    return Split(X[:7291], y[:7291] - y.min(), X[7291:], y[7291:] - y.min())


def load_banana(data_dir: str | Path | None = None) -> Split:
    """Return banana: two classes in the plane, 4000 training and 1300 test points.

    The points are in a fixed random order. They are read from ``banana.npz`` (arrays X, y) in
    `data_dir` if it is given, and fetched from OpenML otherwise.
    """
    if data_dir is not None:
        stored = read_archive(data_dir, "banana.npz", "X", "y")
        X, y = stored["X"].astype(np.float64), stored["y"].astype(np.int64)
    else:
        X, y = _openml("banana")
    y = np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(X))
    first, rest = order[:4000], order[4000:]
    return Split(X[first], y[first], X[rest], y[rest])


def load_boston(
    data_dir: str | Path | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Boston housing: X (506, 13) and median values y (506,) in thousands of dollars.

    All columns are in original units. The data are read from ``boston_housing.npz`` (arrays X, y)
    in `data_dir` if it is given, and fetched from OpenML otherwise.
    """
    return _regression(data_dir, "boston_housing.npz", "boston")


def load_comp_activ(
    data_dir: str | Path | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Comp-activ with its twelve attributes: X (8192, 12) and y (8192,).

    y is the percentage of time that the processors ran in user mode. All columns are in original
    units. The data are read from ``cpusmall.npz`` (arrays X, y) in `data_dir` if it is given, and
    fetched from OpenML otherwise.
    """
    return _regression(data_dir, "cpusmall.npz", "cpu_small")


class Table(NamedTuple):
    """Rows in the order of the source: X (n, d), targets y (n,), and the names of the columns."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: list[str]
    target_name: str


def load_electricity(data_dir: str | Path | None = None) -> Table:
    """Return Elec2, the electricity market of New South Wales: 45,312 half hours in order of time.

    There are 8 columns. The target says whether the price is above its mean over the last day (1)
    or not (0). All columns except `day` are scaled to [0, 1] at the source. The data are read from
    ``electricity.npz`` (arrays X, y) in `data_dir` if it is given, and fetched from OpenML
    otherwise.

    References
    ----------
    M. Harries, *Splice-2 comparative evaluation: electricity pricing*, 1999.
    """
    names = ["date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer"]
    if data_dir is not None:
        return _stored_table(data_dir, "electricity.npz", names, "class")
    X, y = _fetch("electricity", 1)
    return Table(X, (y == "UP").astype(np.int64), names, "class")


def load_bike_sharing(data_dir: str | Path | None = None) -> Table:
    """Return bike sharing in Washington: 17,379 hours in order of time.

    There are 12 columns of calendar and weather. The target is the number of bikes rented. The data
    are read from ``bike_sharing_hour.npz`` (arrays X, y) in `data_dir` if it is given, and fetched
    from OpenML otherwise. At OpenML, temperatures, humidity and wind are in physical units instead
    of fractions.

    References
    ----------
    H. Fanaee-T, J. Gama, *Event labeling combining ensemble detectors and background knowledge*,
    Progress in Artificial Intelligence 2014.
    """
    names = ["season", "yr", "mnth", "hr", "holiday", "weekday", "workingday", "weathersit"]
    names += ["temp", "atemp", "hum", "windspeed"]
    if data_dir is not None:
        return _stored_table(data_dir, "bike_sharing_hour.npz", names, "cnt")
    X, y = _fetch("Bike_Sharing_Demand", 2, _BIKE_WORDS)
    return Table(X, y.astype(np.int64), names, "cnt")


def load_covtype(data_dir: str | Path | None = None) -> Table:
    """Return forest covertype: patches of 30 x 30 m, and which of seven kinds of trees grow there.

    There are 54 columns, and the target is 1 to 7. If `data_dir` is given, 20,000 of the rows are
    read from ``covtype_20k.npz`` (arrays X, y) there. Otherwise scikit-learn fetches all 581,012
    rows.

    References
    ----------
    J. A. Blackard, D. J. Dean, *Comparative accuracies of artificial neural networks and
    discriminant analysis in predicting forest cover types from cartographic variables*, Computers
    and Electronics in Agriculture 1999.
    """
    names = ["elevation", "aspect", "slope", "to_water_horizontal", "to_water_vertical", "to_roads"]
    names += ["hillshade_9am", "hillshade_noon", "hillshade_3pm", "to_fire_points"]
    names += [f"wilderness_{i}" for i in range(1, 5)] + [f"soil_{i}" for i in range(1, 41)]
    if data_dir is not None:
        return _stored_table(data_dir, "covtype_20k.npz", names, "cover")
    from sklearn.datasets import fetch_covtype

    try:
        found = fetch_covtype()
    except (urllib.error.URLError, OSError) as error:
        raise OSError(
            f"cannot fetch covertype ({error}); give a data_dir (--data-dir) with covtype_20k.npz"
        ) from error
    return Table(
        np.asarray(found.data, dtype=np.float64),
        np.asarray(found.target, dtype=np.int64),
        names,
        "cover",
    )


def load_cod_rna(data_dir: str | Path | None = None) -> Table:
    """Return cod-rna, for the detection of non-coding RNA: 59,535 pairs of sequences.

    There are 8 columns, and the class is -1 or 1. The rows are nearly sorted by class: shuffle
    them. The data are read from ``cod_rna.npz`` (arrays X_train, y_train) in `data_dir`, which is
    required: at OpenML these rows are mixed with others.

    References
    ----------
    A. V. Uzilov, J. M. Keegan, D. H. Mathews, *Detection of non-coding RNAs on the basis of
    predicted secondary structure formation free energy change*, BMC Bioinformatics 2006.
    """
    folder = required_folder(data_dir, "cod_rna")
    return _stored_table(folder, "cod_rna.npz", _numbered(8), "class", ("X_train", "y_train"))


def load_kin40k(data_dir: str | Path | None = None) -> Table:
    """Return kin40k: 40,000 poses of a robot arm, and the distance of its end from a point.

    There are 8 columns. All columns and the target are standardised. The data are read from
    ``kin40k.npz`` (arrays X, y) in `data_dir`, which is required: we know of no copy at OpenML.

    References
    ----------
    A. Schwaighofer, V. Tresp, *Transductive and inductive methods for approximate Gaussian process
    regression*, NIPS 2002.
    """
    return _stored_table(required_folder(data_dir, "kin40k"), "kin40k.npz", _numbered(8), "y")


def load_ccpp(data_dir: str | Path | None = None) -> Table:
    """Return the combined cycle power plant: 9568 hours, in no order, and the power in megawatts.

    There are 4 columns: temperature, vacuum, pressure and humidity. The data are read from
    ``ccpp.npz`` (arrays X, y) in `data_dir`, which is required: we know of no copy at OpenML.

    References
    ----------
    P. Tüfekci, *Prediction of full load electrical power output of a base load operated combined
    cycle power plant using machine learning methods*, International Journal of Electrical Power &
    Energy Systems 2014.
    """
    return _stored_table(
        required_folder(data_dir, "ccpp"), "ccpp.npz", ["AT", "V", "AP", "RH"], "PE"
    )


def load_brodatz(data_dir: str | Path | None = None) -> NDArray[np.uint8]:
    """Return thirteen Brodatz textures, (13, 512, 512) grey levels.

    They are read from ``brodatz13.npz`` (array images) in `data_dir` if it is given. Otherwise they
    are fetched from the USC-SIPI image database, which requires Pillow.
    """
    if data_dir is not None:
        images: NDArray[np.uint8] = read_archive(data_dir, "brodatz13.npz", "images")["images"]
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
                found.append(
                    np.asarray(Image.open(BytesIO(answer.read())).convert("L"), dtype=np.uint8)
                )
        except (urllib.error.URLError, OSError) as error:
            raise OSError(
                f"cannot fetch {address} ({error}); give a data_dir (--data-dir) with brodatz13.npz"
            ) from error
    return np.stack(found)


def bikes_path() -> Path:
    """Return the path of `bikes.csv.gz`, a file that comes with parsimon.

    It has the bicycles rented in Washington in each hour of 2011, with the weather. It is for
    tables and the command line.

    >>> import gzip
    >>> gzip.open(bikes_path(), "rt").readline().strip()
    'time,holiday,workingday,weather,temperature,feels_like,humidity,windspeed,bikers'

    Reference: Fanaee-T & Gama, *Event labeling combining ensemble detectors and background
    knowledge*, Progress in Artificial Intelligence 2, 2014.
    """
    return Path(__file__).parent / "shipped" / "bikes.csv.gz"


def _stored_table(
    data_dir: str | Path,
    file: str,
    names: list[str],
    target: str,
    arrays: tuple[str, str] = ("X", "y"),
) -> Table:
    stored = read_archive(data_dir, file, *arrays)
    X, y = stored[arrays[0]].astype(np.float64), stored[arrays[1]]
    if X.ndim != 2 or y.shape != X.shape[:1] or X.shape[1] != len(names):
        raise ValueError(
            f"{Path(data_dir) / file}: X must be (n, {len(names)}) and y (n,), "
            f"got {X.shape} and {y.shape}"
        )
    return Table(X, y.astype(np.float64 if y.dtype.kind == "f" else np.int64), names, target)


def _numbered(d: int) -> list[str]:
    return [f"x{i + 1}" for i in range(d)]


def _split(stored: dict[str, NDArray[Any]], scale: float) -> Split:
    X, Z = (stored[key].reshape(len(stored[key]), -1) / scale for key in ("X_train", "X_test"))
    return Split(X, stored["y_train"].astype(np.int64), Z, stored["y_test"].astype(np.int64))


def _regression(
    data_dir: str | Path | None, file: str, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if data_dir is not None:
        stored = read_archive(data_dir, file, "X", "y")
        X, y = stored["X"], stored["y"]
    else:
        X, y = _fetch(name, 1)  # later versions have two classes
    return X.astype(np.float64), y.astype(np.float64)


def _openml(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = _fetch(name, 1 if name == "mnist_784" else "active")
    return X, y.astype(np.int64)


def _fetch(
    name: str, version: int | str, words: Mapping[str, float] | None = None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return X and y of a data set from OpenML; `words` are the codes of categories."""
    from sklearn.datasets import fetch_openml

    try:  # liac-arff is the parser that does not need pandas
        found = fetch_openml(name, version=version, as_frame=False, parser="liac-arff")
    except (urllib.error.URLError, OSError) as error:
        raise OSError(
            f"cannot fetch {name} from OpenML ({error}); give a data_dir (--data-dir) with it"
        ) from error
    X = np.asarray(found.data, dtype=np.float64)
    # Categories are indices into their values, such as RAD and CHAS of Boston housing
    for feature, values in (found.categories or {}).items():
        if feature in found.feature_names:
            column = found.feature_names.index(feature)
            codes = np.array(
                [(words or {}).get(value, value) for value in values], dtype=np.float64
            )
            X[:, column] = codes[X[:, column].astype(np.int64)]
    return X, np.asarray(found.target)

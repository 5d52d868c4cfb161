"""Series that others publish results on, read from a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parsimon.datasets._archives import read_archive, required_folder

Array = NDArray[np.float64]


def load_laser(data_dir: str | Path | None = None) -> Array:
    """Return the far-infrared laser of the Santa Fe competition: 10,093 intensities, 0 to 255.

    The first 1000 values are set A of the competition. The task was to predict the next 100. The
    intensity collapses near value 1058. The data are read from ``santafe_laser_a.npz`` (array
    series) in `data_dir`, which is required: we know of no copy at OpenML.

    References
    ----------
    A. S. Weigend, N. A. Gershenfeld, *Time series prediction: forecasting the future and
    understanding the past*, Addison-Wesley 1994.
    """
    return _series(data_dir, "santafe_laser_a")


def load_mackey_glass(data_dir: str | Path | None = None) -> Array:
    """Return the Mackey-Glass series of KAFBOX: 5000 values, with a delay of 30.

    It is for comparison with figures that others published. `make_mackey_glass` generates such
    series. The data are read from ``mackey_glass_30_kafbox.npz`` (array series) in `data_dir`,
    which is required.

    References
    ----------
    S. van Vaerenbergh, I. Santamaria, *A comparative study of kernel adaptive filtering
    algorithms*, DSP/SPE 2013.
    """
    return _series(data_dir, "mackey_glass_30_kafbox")


def load_lorenz(data_dir: str | Path | None = None) -> Array:
    """Return the Lorenz series of KAFBOX: 10,001 values of the coordinate z.

    It is for comparison with figures that others published. `make_lorenz` generates such series,
    with the same time between two values. The data are read from ``lorenz_kafbox.npz`` (array
    series) in `data_dir`, which is required.

    References
    ----------
    S. van Vaerenbergh, I. Santamaria, *A comparative study of kernel adaptive filtering
    algorithms*, DSP/SPE 2013.
    """
    return _series(data_dir, "lorenz_kafbox")


def _series(data_dir: str | Path | None, name: str) -> Array:
    folder = required_folder(data_dir, name)
    series = read_archive(folder, f"{name}.npz", "series")["series"]
    if series.ndim != 1 or series.dtype.kind not in "fiu":
        raise ValueError(
            f"{Path(folder) / name}.npz: series must be numbers of shape (n,), "
            f"got {series.dtype} of shape {series.shape}"
        )
    return np.asarray(series, dtype=np.float64)

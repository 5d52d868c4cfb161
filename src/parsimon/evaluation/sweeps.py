"""Error against size: one parameter varied, in the steady state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from parsimon import plots
from parsimon._docs import documented_like
from parsimon._parts import real, whole
from parsimon.evaluation.curves import MakeStream, learning_curve
from parsimon.evaluation.levels import mean_and_band

__all__ = ["SizeSweep", "size_sweep"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SizeSweep:
    """Steady-state errors and sizes of a model for several values of one parameter.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    values : tuple
        Its k values.
    mse : ndarray of shape (runs, k)
        Mean squared error over the last samples of each run.
    centers : ndarray of shape (runs, k)
        Number of centres at the end of each run.
    confidence : float in (0, 1), default=0.95
        Probability of the band. Larger values give a wider band.

    Examples
    --------
    >>> mse, centers = np.array([[0.1, 0.01]]), np.array([[10.0, 20.0]])
    >>> print(SizeSweep("budget", (10, 20), mse, centers))
    budget  centres  MSE in dB
        10     10.0     -10.00
        20     20.0     -20.00
    """

    parameter: str
    values: tuple[Any, ...]
    mse: Array
    centers: Array
    confidence: float = 0.95

    @property
    def sizes(self) -> Array:
        """The mean number of centres for each value, (k,)."""
        return np.asarray(self.centers.mean(axis=0))

    @property
    def mean(self) -> Array:
        """The mean squared error in dB for each value, (k,)."""
        return mean_and_band(self.mse, self.confidence)[0]

    @property
    def band(self) -> Array:
        """Lower and upper end of the confidence interval of `mean` in dB, (k, 2)."""
        return mean_and_band(self.mse, self.confidence)[1]

    def plot(self, path: str | Path, *, label: str = "model", title: str = "") -> Path:
        """Draw error against size into a file. `plots.error_against_size` draws several."""
        return plots.error_against_size(path, {label: self}, title=title)

    def __str__(self) -> str:
        names = [self.parameter, *(f"{value}" for value in self.values)]
        width = max(len(name) for name in names)
        lines = [f"{self.parameter:>{width}}  centres  MSE in dB"]
        for name, size, level in zip(names[1:], self.sizes, self.mean, strict=True):
            lines.append(f"{name:>{width}}  {size:7.1f}  {level:9.2f}")
        return "\n".join(lines)


@documented_like(learning_curve)
def size_sweep(
    model: Any,
    parameter: str,
    values: Sequence[Any],
    make_stream: MakeStream,
    runs: int = 10,
    *,
    last: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> SizeSweep:
    """Return the steady-state error of a model against its number of centres.

    One parameter takes several values, for example `budget`, `coherence` or `tolerance`. All values
    see the same streams, each sample once.

    Parameters
    ----------
    model : estimator
        An estimator of parsimon. It is cloned for each run.
    parameter : str
        Name of the parameter that varies.
    values : sequence
        Its values.
    make_stream : callable
        Takes a seed, and returns X (n, d) and y (n,), and perhaps the targets without noise, as in
        `learning_curve`.
    runs : int >= 1, default=10
        Number of runs per value. Larger values give a narrower band.
    last : int >= 1 or None, default=None
        Number of last samples of the steady state. None means the last fifth.
    {confidence}
    {seed}

    Returns
    -------
    sweep : SizeSweep
        With `sizes`, `mean` and `band` in dB, and `plot`.

    Examples
    --------
    >>> from parsimon import KRLSRegressor
    >>> from parsimon.datasets import make_wiener
    >>> sweep = size_sweep(
    ...     KRLSRegressor("gaussian", gamma=0.1),
    ...     "budget",
    ...     [5, 50],
    ...     lambda seed: make_wiener(500, random_state=seed),
    ...     runs=3,
    ... )
    >>> sweep.sizes.tolist(), bool(sweep.mean[1] < sweep.mean[0])
    ([5.0, 50.0], True)
    """
    if isinstance(model, type) or not hasattr(model, "get_params"):
        raise TypeError(f"model must be an estimator, got {model!r}")
    if parameter not in model.get_params():
        known = ", ".join(model.get_params(deep=False))
        raise ValueError(f"{type(model).__name__} has no parameter {parameter!r}; it has {known}")
    if not len(values):
        raise ValueError("values is empty: give at least one")
    confidence = real("confidence", confidence, above=0, below=1)
    mse, centers = [], []
    for value in values:
        varied = clone(model).set_params(**{parameter: value})
        curve = learning_curve(varied, make_stream, runs, window=1, seed=seed)
        n = curve.errors.shape[1]
        tail = max(1, n // 5) if last is None else whole("last", last, at_least=1, at_most=n)
        mse.append(np.mean(curve.errors[:, n - tail :] ** 2, axis=1))
        centers.append(curve.centers)
    return SizeSweep(parameter, tuple(values), np.transpose(mse), np.transpose(centers), confidence)

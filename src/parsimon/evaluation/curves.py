"""Learning curves in decibels: the squared error before each sample, averaged over runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from parsimon import plots
from parsimon._parts import real, whole
from parsimon.evaluation.levels import convergence_time, mean_and_band, smoothed, steady_state
from parsimon.evaluation.steps import predict_then_learn

__all__ = ["LearningCurve", "Run", "learning_curve", "one_run"]

Array = NDArray[np.float64]
#: Takes a seed, and returns X, y and perhaps the targets that errors are measured against.
MakeStream = Callable[[int], tuple[Any, ...]]


@dataclass(frozen=True)
class LearningCurve:
    """Errors of a filter in several runs, and their mean in dB.

    Parameters
    ----------
    errors : ndarray of shape (runs, n)
        Errors before each sample was learned.
    centers : ndarray of shape (runs,)
        Number of centres at the end of each run. NaN for models without centres.
    window : int, default=20
        Number of samples of the moving mean. Larger values give smoother curves that react later.
    confidence : float in (0, 1), default=0.95
        Probability of the band. Larger values give a wider band.

    Examples
    --------
    >>> curve = LearningCurve(np.full((2, 50), 0.1), np.array([7.0, 9.0]))
    >>> curve.samples[[0, -1]].tolist(), curve.mean[:2].round(6).tolist()
    ([20, 50], [-20.0, -20.0])
    """

    errors: Array
    centers: Array
    window: int = 20
    confidence: float = 0.95

    @property
    def samples(self) -> NDArray[np.int64]:
        """The number of samples seen at each point of the curve, (n - window + 1,)."""
        return np.arange(self.window, self.errors.shape[1] + 1)

    @property
    def mean(self) -> Array:
        """The mean squared error in dB, over the last `window` samples and all runs."""
        return self._levels()[0]

    @property
    def band(self) -> Array:
        """Lower and upper end of the confidence interval of `mean` in dB, (n - window + 1, 2).

        It is computed from the differences between runs. With one run it is NaN.
        """
        return self._levels()[1]

    def steady_state(self, *, last: int | None = None) -> float:
        """Return the mean squared error over the last samples in dB, as `steady_state` does."""
        return steady_state(self.errors, last=last)

    def convergence_time(self, within_db: float = 1.0, *, last: int | None = None) -> int | None:
        """Return the samples until the curve is near its steady state: see `convergence_time`.

        If the system changes at the sample `switch`, this mixes both parts. For the time after the
        change, cut the errors first: ``convergence_time(curve.errors[:, switch:])``.
        """
        return convergence_time(self.errors, within_db, window=self.window, last=last)

    def plot(self, path: str | Path, *, label: str = "model", title: str = "") -> Path:
        """Draw the curve and its band into a file. `plots.decibel_curves` draws several."""
        return plots.decibel_curves(path, {label: self}, title=title)

    def _levels(self) -> tuple[Array, Array]:
        return mean_and_band(smoothed(self.errors**2, self.window), self.confidence)


def learning_curve(
    model: Any,
    make_stream: MakeStream,
    runs: int = 20,
    *,
    window: int = 20,
    confidence: float = 0.95,
    seed: int = 0,
) -> LearningCurve:
    """Return the learning curve of a model, averaged over runs on streams of their own.

    In each run a new model sees each sample once: it predicts the target, and then learns it. The
    curve is

        10 log10 mean (y_t - prediction_t)^2

    over runs and over the last `window` samples.

    Parameters
    ----------
    model : estimator or callable
        An estimator of parsimon or scikit-learn, or a River model, which is cloned for each run. A
        class or function without arguments that returns one will do too.
    make_stream : callable
        Takes a seed, and returns X (n, d) and y (n,). It may return a third array (n,), for example
        the targets without noise: then errors are measured against it.
    runs : int >= 1, default=20
        Number of runs. Larger values give a smoother curve and a narrower band.
    window : int >= 1, default=20
        Number of samples of the moving mean. Larger values give smoother curves that react later.
    confidence : float in (0, 1), default=0.95
        Probability of the band. Larger values give a wider band.
    seed : int >= 0, default=0
        Seed of the first run. The next runs have the next seeds.

    Returns
    -------
    curve : LearningCurve
        With `mean` and `band` in dB, `errors`, and `plot`.

    Notes
    -----
    A model that has learned nothing predicts 0 for the first sample.

    Examples
    --------
    >>> from parsimon import KRLSRegressor
    >>> from parsimon.datasets import make_wiener
    >>> curve = learning_curve(
    ...     KRLSRegressor("gaussian", gamma=0.1),
    ...     lambda seed: make_wiener(500, random_state=seed),
    ...     runs=5,
    ... )
    >>> curve.mean.shape, curve.band.shape
    ((481,), (481, 2))
    >>> bool(curve.steady_state() < curve.mean[0] - 5)
    True
    """
    runs, seed = whole("runs", runs, at_least=1), whole("seed", seed, at_least=0)
    window = whole("window", window, at_least=1)
    confidence = real("confidence", confidence, above=0, below=1)
    found = [one_run(model, make_stream, seed + i) for i in range(runs)]
    lengths = sorted({len(run.errors) for run in found})
    if len(lengths) > 1:
        raise ValueError(
            f"make_stream gives {lengths[0]} samples for one seed and {lengths[-1]} for another: "
            "all runs must have the same number"
        )
    if window > lengths[0]:
        raise ValueError(f"window={window}, but a run has only {lengths[0]} samples")
    centers = np.array([run.centers for run in found])
    return LearningCurve(np.array([run.errors for run in found]), centers, window, confidence)


@dataclass(frozen=True)
class Run:
    """Errors (n,) of one run, and the number of centres at its end."""

    errors: Array
    centers: float


def one_run(model: Any, make_stream: MakeStream, seed: int) -> Run:
    """Learn one stream with a new model, and return the errors before each sample."""
    stream = make_stream(seed)
    if not isinstance(stream, tuple) or len(stream) not in (2, 3):
        raise TypeError("make_stream must return (X, y) or (X, y, targets without noise)")
    X, y, truth = (*stream, stream[1]) if len(stream) == 2 else stream
    y, truth = (np.asarray(values, dtype=np.float64) for values in (y, truth))
    if y.ndim != 1 or truth.shape != y.shape or len(y) != len(X) or not len(y):
        raise ValueError(
            f"make_stream({seed}) returned X of shape {np.shape(X)} with targets of shapes "
            f"{y.shape} and {truth.shape}: they must be (n, d) and (n,)"
        )
    fresh = _fresh(model)
    f = np.array(predict_then_learn(fresh, X, y).values, dtype=np.float64)
    f[0] = 0.0  # models without a prediction return the target there
    errors = truth - f
    if not np.isfinite(errors).all():
        sample = int(np.flatnonzero(~np.isfinite(errors))[0])
        raise ValueError(
            f"{type(fresh).__name__} predicts {f[sample]} at sample {sample} of seed {seed}: "
            "it diverges there"
        )
    try:
        centers = float(getattr(fresh, "n_centers_", np.nan))
    except NotFittedError:
        centers = np.nan
    return Run(errors, centers)


def _fresh(model: Any) -> Any:
    if isinstance(model, type):
        return model()
    if hasattr(model, "get_params"):
        return clone(model)
    if hasattr(model, "clone"):  # River
        return model.clone()
    if callable(model):
        return model()
    raise TypeError(
        f"model must be an estimator, a River model or a function that makes one, got {model!r}"
    )

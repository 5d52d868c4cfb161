"""The width of intervals for a given coverage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon import _core, _schema
from parsimon._parts import real, whole

__all__ = ["Calibrator"]

Array = NDArray[np.float64]

#: Scores are at most this large.
LARGEST_SCORE = 1e200


@dataclass
class Calibrator:
    """The width of prediction intervals, by adaptive conformal inference.

    A score tells how wrong a prediction was, for example |y - f(x)| / s(x), where s(x) is a scale.
    The interval f(x) +- q s(x) covers y if the score is at most q, the width. It is the quantile of
    the last `window` scores at the level 1 - a. The level follows what was covered:

        a <- a + rate (1 - coverage - missed),

    where missed is 1 if the interval did not cover the target, else 0. So the share of targets that
    are covered tends to `coverage`, unless errors grow more than a hundredfold within a window.

    Parameters
    ----------
    coverage : float in (0, 1), default=0.9
        The share of targets to cover. Larger values give wider intervals.
    window : int, default=500
        The number of scores that are kept. Larger windows give steadier widths, and follow changes
        more slowly.
    rate : float in [0, 1), default=0.005
        The step of the level. Larger rates follow changes faster, and make widths less steady.
    highest : float in (0, 1], default=1.0
        The largest a. If more is covered than asked for, whatever the width, smaller values let the
        width grow again sooner when this ends.

    References
    ----------
    I. Gibbs, E. Candes, *Adaptive conformal inference under distribution shift*, NeurIPS 2021.

    Examples
    --------
    >>> scores = np.abs(np.random.default_rng(0).normal(size=5000))
    >>> calibrator = Calibrator(0.9)
    >>> widths = calibrator.run(scores)
    >>> bool(abs(np.mean(scores <= widths) - 0.9) < 0.01), bool(1.4 < calibrator.width < 1.9)
    (True, True)
    """

    coverage: float = 0.9
    window: int = 500
    rate: float = 0.005
    highest: float = 1.0
    state: Array = field(default_factory=lambda: np.empty(0), repr=False)

    def __post_init__(self) -> None:
        real("coverage", self.coverage, above=0, below=1)
        whole("window", self.window, at_least=1, at_most=10**6)
        real("rate", self.rate, at_least=0, below=1)
        real("highest", self.highest, above=0, at_most=1)
        if not self.state.size:
            self.state = _core.calibrator_begin(self.window, self._misses)

    def run(self, scores: Array, missed: Array | None = None) -> Array:
        """Learn scores (n,), and return the width before each, (n,).

        A score that is NaN is left out. `missed` (n,) tells which intervals did not cover their
        targets, if this is known. Otherwise, or if it is NaN, an interval missed if its score is
        above the present width.
        """
        given = np.minimum(np.ascontiguousarray(scores, dtype=np.float64), LARGEST_SCORE)
        flags = None if missed is None else np.ascontiguousarray(missed, dtype=np.float64)
        widths, self.state = _core.calibrate(
            given, flags, self.state, self._misses, self.rate, self.highest
        )
        return widths

    def run_ends(
        self,
        centres: Array,
        scales: Array,
        targets: Array,
        scores: Array,
        missed: Array | None = None,
    ) -> tuple[Array, Array]:
        """Learn scores |target - centre| / scale, and return the ends of the intervals before each.

        All arrays are (n,). The ends are centre - width scale and centre + width scale. Unless
        `missed` says it, an interval missed if its target is not between the ends.
        """
        low, high, self.state = _core.calibrate_ends(
            np.ascontiguousarray(centres),
            np.ascontiguousarray(scales),
            np.ascontiguousarray(targets),
            np.ascontiguousarray(scores),
            None if missed is None else np.ascontiguousarray(missed),
            self.state,
            self._misses,
            self.rate,
        )
        return low, high

    @property
    def width(self) -> float:
        """The width for the next row, in units of its scale. Infinite before the first score."""
        return _core.calibrator_width(self.state, self._misses)

    @property
    def n_scores(self) -> int:
        """Number of scores learned."""
        return int(self.state[1])

    @property
    def recent_coverage(self) -> float:
        """The share of the last `window` targets that were covered; NaN before the first."""
        kept = min(self.n_scores, self.window)
        if not kept:
            return float("nan")
        return 1.0 - float(self.state[2 + self.window : 2 + self.window + kept].mean())

    @property
    def is_sound(self) -> bool:
        """Whether the state is one that learning can lead to."""
        if not _schema.finite_array(2 + 2 * self.window)(self.state):
            return False
        level, count = self.state[:2]
        scores, flags = self.state[2:].reshape(2, -1)
        return bool(
            -100.0 * self._misses <= level <= self.highest
            and 0 <= count <= 2**53
            and count % 1 == 0
            and (scores >= 0).all()
            and (scores <= LARGEST_SCORE).all()
            and np.isin(flags, (0.0, 1.0)).all()
        )

    @property
    def _misses(self) -> float:
        return 1.0 - self.coverage


def calibrators(
    states: Any, coverage: float, window: int, rate: float, highest: float = 1.0
) -> list[Calibrator]:
    """Return calibrators with stored states, or raise a ValueError."""
    found = [Calibrator(coverage, window, rate, highest, state) for state in states]
    if not all(calibrator.is_sound for calibrator in found):
        raise ValueError("its scores are not sound")
    return found

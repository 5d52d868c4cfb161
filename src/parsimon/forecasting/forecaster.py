"""A model of one series, which forecasts its next values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon._parts import whole
from parsimon.estimators.inputs import require_unchanged
from parsimon.forecasting.backtesting import Backtest, backtest
from parsimon.forecasting.combining import combined
from parsimon.forecasting.growing import GrowingForecaster
from parsimon.forecasting.history import repeated
from parsimon.forecasting.rows import Columns, Rows, as_table, checked_values
from parsimon.forecasting.times import checked_times
from parsimon.preprocessing.reading import raw_columns

__all__ = ["Forecaster"]

#: What to do if a parameter was changed after learning began.
REMEDY = "set it back, or learn with a new Forecaster"


class Forecaster(GrowingForecaster):
    """Forecast the next H values of a series, learned row by row in fixed memory.

    It needs no parameters. After row t it gives forecasts f_1, ..., f_H of y_(t+1), ..., y_(t+H).
    Each is a combination of several experts,

        f_h = sum_e w_(h,e) f_(h,e),    sum_e w_(h,e) = 1,    w >= 0,

    with weights for each step h that come from the errors of the experts at earlier origins
    (`parsimon.forecasting.combining`). The experts are

    - linear: recursive least squares over lags, seasonal lags and further columns, with one output
      per step;
    - direct: the linear model and a kernel model of its errors, with one dictionary for all steps;
    - recursive: a kernel model of the next value, which is fed with its own forecasts. There are
      three, with 4, 16 and 48 lags;
    - the last value, the mean, and the value one or two seasons before.

    Seasons, lags and units are chosen from the rows so far when there are 64, 128, ..., 2048 rows.
    Then the experts begin anew and learn all rows again. Later rows are learned once. They begin at
    the first of these numbers that is at least 2 H and leaves enough rows for the lags. Before, the
    forecast is the last value, or the value one season before if `seasons` are given. The targets
    of a row arrive H rows later, so direct models learn with this delay. Scored forecasts are
    made before their targets are learned, but with units that were chosen from all rows at a start.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A regressor of parsimon, which is cloned and takes the place of the kernel and linear
        experts. None means the experts above.
    horizon : int >= 1, default=24
        Number of steps H. Direct models learn H rows later, so larger values delay them. H must be
        at most 1000.
    lags : int, list of int or None, default=None
        Lags of the series that models see. An int n means lags 1 to n. None means 1 to 16, and 1 to
        4 and 1 to 48 for further recursive models, or fewer while there are few rows. More lags fit
        longer memory and need more rows.
    seasons : int, list of int or None, default=None
        Lengths of the seasons in rows, such as [24, 168] for hourly values. None means that they
        are found from the autocorrelation. An empty list means none. Every season adds lags.
    strategy : "auto", "direct" or "recursive", default="auto"
        "direct" uses models with one output per step. "recursive" uses models of the next step.
        "auto" uses both.
    known : list of str or "all", default=()
        Columns of X whose future values are known when a forecast is made, such as holidays.
        `forecast` needs them. The others are used with their last values.
    coverage : float in (0, 1), default=0.9
        The share of values that intervals should contain. Larger values give wider intervals.
    budget : int >= 8, default=2400
        Maximum number of centres of all kernel models together. Larger budgets fit more detail and
        cost more time per row. Not used with `estimator`. The linear model is not counted: its size
        depends only on its number of inputs.

    Attributes
    ----------
    n_rows_ : int
        Number of rows so far, including missing rows that were filled in.
    seasons_ : list of int
        The seasons in use. Before models begin, those given that are at most `n_rows_` long.
    expert_names_ : list of str
        The names of the experts. Empty before the first 64 rows, or more for a long horizon.
    weights_ : array (H, E)
        The weight of each expert at each step.
    errors_ : dict
        Mean absolute errors of earlier forecasts for each step, (H,): of this model, of the last
        value, and of the value one season before. They begin when the structure was last chosen.
    column_kinds_ : dict
        The kind of each column of X, such as "number" or "text". "empty" if it has had no value.
    reading_ : dict
        Set by the command line: which columns and rows of the data were learned, and how they were
        read. The model does not use it.
    n_centers_ : int
        Number of centres of all kernel models, at most `budget`.
    nbytes_ : int
        Memory in bytes.

    Notes
    -----
    A missing value (NaN in y) is replaced by the value one season before, or by the last value, and
    is not learned as a target. Times must increase. Their step is the median difference of the
    first 64. A longer distance counts as missing rows, so lags always mean times. Rows before the
    first known value are left out. Times with a calendar add the time of day and of the week, or of
    the year. Leave times out if gaps do not matter, as for trading days.

    A block gives the same model as its rows one by one, bit for bit, and so does a model that was
    stored and loaded. Memory does not grow with the number of rows.

    References
    ----------
    J. M. Bates, C. W. J. Granger, *The combination of forecasts*, Operational Research Quarterly
    1969.

    S. Ben Taieb, G. Bontempi, A. F. Atiya, A. Sorjamaa, *A review and comparison of strategies for
    multi-step ahead time series forecasting*, Expert Systems with Applications 2012.

    Examples
    --------
    >>> t = np.arange(400)
    >>> y = 10 + np.sin(2 * np.pi * t / 12) + 0.3 * np.sin(2 * np.pi * t / 5)
    >>> model = Forecaster(horizon=6).learn(y[:394])
    >>> bool(np.abs(model.forecast() - y[394:]).max() < 0.05)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        horizon: int = 24,
        lags: int | Sequence[int] | None = None,
        seasons: int | Sequence[int] | None = None,
        strategy: str = "auto",
        known: Sequence[str] | str = (),
        coverage: float = 0.9,
        budget: int = 2400,
    ) -> None:
        self.estimator = estimator
        self.horizon = horizon
        self.lags = lags
        self.seasons = seasons
        self.strategy = strategy
        self.known = known
        self.coverage = coverage
        self.budget = budget

    # Learning

    def learn(self, y: ArrayLike, X: Any = None, times: Any = None) -> Self:
        """Learn the next rows of the series, in order. A block that is rejected changes nothing.

        Parameters
        ----------
        y : array (n,)
            Values. NaN is a missing value.
        X : array (n, d), table or None
            Further columns: an array, a pandas, polars or pyarrow table, or a dict of columns. The
            columns of an array are called x0, x1, ...
        times : array (n,) or None
            Times of the rows: datetimes, dates or numbers, which must increase.
        """
        self._require_whole()
        began = hasattr(self, "_learns_with")
        if began:
            require_unchanged(self, self._learns_with, remedy=REMEDY)
        else:
            self._checked_parameters()
        values = checked_values(y)
        n = len(values)
        columns, table = self._columns_for(X, began)
        read = [columns.read(table, group) for group in (0, 1)]
        for found in read:
            for name, column in found.items():
                if len(column.values) != n:
                    raise ValueError(
                        f"X must have {n} rows as y, got {len(column.values)} in {name!r}"
                    )
        if began and n and (times is None) != (self._time_kind is None):
            raise ValueError("times must be given for all rows or for none")
        kind, seconds = None, np.zeros(n)
        if times is not None:
            last = self._last_time if began else -np.inf
            kind, seconds = checked_times(times, n, self._time_kind if began else None, last)
        present = np.flatnonzero(~np.isnan(values))
        first = 0 if began else int(present[0]) if len(present) else n
        if first == n:
            return self
        part = slice(first, n)
        read = [{name: column.rows(part) for name, column in found.items()} for found in read]
        for group, found in enumerate(read):
            columns.require_kinds(group, found)
        # From here on nothing is rejected.
        self._interrupted = True  # until all rows are learned
        if not began:
            self._start(columns, kind)
        features = [columns.learn(group, found, n - first) for group, found in enumerate(read)]
        self._last_time = float(seconds[-1])
        self._take(Rows(values[part], seconds[part], *features))
        del self._interrupted
        return self

    # Forecasting

    def forecast(
        self,
        horizon: int | None = None,
        X_future: Any = None,
        intervals: bool = False,
        *,
        times_future: Any = None,
    ) -> Any:
        """Return the forecasts of the next rows, (h,).

        Parameters
        ----------
        horizon : int or None
            Number of steps, at most the parameter `horizon`. None means all of them.
        X_future : array, table or None
            The `known` columns of the next H rows.
        intervals : bool, default=False
            Whether to return intervals too.
        times_future : array or None
            Times of the rows of X_future. Each row is used for the step at its time, and there must
            be one row per step. Later rows are left out. None means one row per step, in order.

        Returns
        -------
        values : array (h,)
            The forecasts.
        bounds : array (h, 2)
            The interval of each step, only with `intervals`. NaN if no forecast for this step has
            been scored yet.
        """
        if not hasattr(self, "_learns_with"):
            raise ValueError("nothing has been learned yet: call learn with some values")
        self._require_whole()
        require_unchanged(self, self._learns_with, remedy=REMEDY)
        H = self.horizon
        h = H if horizon is None else whole("horizon", horizon, at_least=1, at_most=H)
        future = self._future(X_future, times_future)
        ahead, history = self._caught_up()
        if ahead is None or history is None or self._engine is None:
            values = repeated(self._early_values(), H, max(self.seasons_, default=1))
            bounds = np.full((H, 2), np.nan)
        else:
            origins = np.array([history.n_rows])
            each = ahead.of_experts(history, origins, future[np.newaxis])
            weights = self._engine.recent_weights(history, future)
            values = combined(each, weights)[0] + self._levels.offset
            width = ahead.intervals.widths(ahead.scales(each, weights)[0])
            bounds = np.column_stack([values - width, values + width])
        return (values[:h], bounds[:h]) if intervals else values[:h]

    def future_times(self, horizon: int | None = None) -> NDArray[Any]:
        """Return the times of the next rows, (h,), as datetime64 or numbers.

        Times with a zone come back in UTC. Without times, rows are numbered. After a single row,
        the step is a day for dates, a second for other times, and 1 for numbers.
        """
        if not hasattr(self, "_learns_with"):
            raise ValueError("nothing has been learned yet: call learn with some values")
        h = self.horizon if horizon is None else whole("horizon", horizon, at_least=1)
        clock = self._present_clock()
        if clock is None:
            return np.arange(self.n_rows_, self.n_rows_ + h)
        return clock.future(h)

    def last_values(self, n: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the times and values of the last rows, at most n, both (m,).

        Times are as in `future_times`, at regular steps before the last row. A missing value is
        NaN. At least the last 2000 rows are held, if there are so many.
        """
        whole("n", n, at_least=1)
        values = self._held_values()[-n:]
        clock, m = self._present_clock() if len(values) else None, len(values)
        if clock is None:
            return np.arange(self.n_rows_ - m, self.n_rows_), values
        return clock.shown(np.arange(1 - m, 1)), values

    def backtest(
        self,
        y: ArrayLike,
        X: Any = None,
        times: Any = None,
        *,
        start: int | None = None,
        every: int | None = None,
    ) -> Backtest:
        """Forecast a series from many origins in one pass, and return the errors per step.

        A new model with the same parameters learns the rows in order. From row `start` on, it
        forecasts after every `every` rows. This model is not changed.

        Parameters
        ----------
        y : array (n,)
            Values, as in `learn`.
        X : array (n, d), table or None
            Further columns, as in `learn`. Future values of known columns are taken from it.
        times : array (n,) or None
            Times of the rows, as in `learn`.
        start : int or None
            The first origin. None means half of the rows.
        every : int or None
            The number of rows between origins. None means about 100 origins.

        Returns
        -------
        result : Backtest
            Errors for each step, beside those of the last value and of the value one season before.
            It prints as a table.
        """
        return backtest(self, y, X, times, start, every)

    # Implementation

    def _columns_for(self, X: Any, began: bool) -> tuple[Columns, Any]:
        table = None if X is None else as_table(X)
        names = [] if table is None else list(raw_columns(table))
        if not began:
            return Columns(names, self.known), table
        needed = self._columns.groups[0] + self._columns.groups[1]
        if table is None and needed:
            raise ValueError(f"X is missing: the model has the columns {', '.join(needed)}")
        for name in names:
            if name not in needed:
                listed = ", ".join(map(repr, needed)) or "none"
                raise ValueError(f"X has {name!r}, but the columns of the first rows are: {listed}")
        return self._columns, table

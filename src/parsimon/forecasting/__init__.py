"""Forecasts of a series: lags, seasons, a calendar and further columns, in fixed memory.

`Forecaster` is the entry point. Each file of this package has one job:

- `rows`, `times`, `clock`: check what is given, and put rows on a regular grid of times.
- `history`: the last rows. `levels`: sudden shifts of their level.
- `structure`: choose seasons, lags and units.
- `features`: what a model sees at an origin.
- `models`, `experts`: the estimators, and how they forecast. `combining`: their weights.
- `engine`: when models learn and are scored. `growing`: when rows are complete.
- `backtesting`: errors over many origins.
"""

from parsimon.forecasting.backtesting import Backtest
from parsimon.forecasting.forecaster import Forecaster

__all__ = ["Backtest", "Forecaster"]

"""
Forecasts with intervals
========================

:py:obj:`parsimon.Forecaster` finds seasons and lags by itself, and combines direct and recursive
models by their earlier errors. It learns the series in one pass.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import Forecaster

rng = np.random.default_rng(0)
t = np.arange(900)
day, week = np.sin(2 * np.pi * t / 24), np.sin(2 * np.pi * t / 168)
y = 50 + 10 * day * (1.5 + week) + 4 * week + rng.normal(size=900)

model = Forecaster(horizon=48).learn(y[:800])
values, bounds = model.forecast(intervals=True)
print(f"seasons: {model.seasons_}")

# %%
# The last three days that were learned, and two days ahead. The band is for 90 % of the values.
figure, ax = plt.subplots(figsize=(8, 3.6))
ahead = np.arange(800, 848)
ax.plot(t[728:800], y[728:800], color="0.3", label="learned")
ax.plot(ahead, y[800:848], "k.", markersize=4, label="came later")
ax.plot(ahead, values, label="forecast")
ax.fill_between(ahead, *bounds.T, alpha=0.2)
ax.set(xlabel="hours", ylabel="y")
ax.legend(ncols=3, loc="upper left")
ax.set_ylim(top=ax.get_ylim()[1] + 6)

"""
The next value of a chaotic series
==================================

`embed` turns a series into samples: the last values are the inputs, a later value is the target.
The further ahead, the harder the task.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import KRLSRegressor
from parsimon.datasets import make_mackey_glass
from parsimon.preprocessing import embed

series = make_mackey_glass(2500, random_state=0)

# %%
# One model per horizon. Errors are relative to the variance of the series.
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
left.plot(series[:500])
left.set(xlabel="time", title="Mackey-Glass series")
for horizon in (1, 5, 20):
    X, y = embed(series, lags=7, horizon=horizon)
    model = KRLSRegressor("gaussian", gamma=1.0, ridge=1e-3, tolerance=1e-4, budget=150)
    error = np.square(y - model.predict_then_learn(X, y)) / series.var()
    moving = np.convolve(error, np.ones(100) / 100, "valid")
    right.plot(np.arange(100, len(y) + 1), moving, label=f"{horizon} ahead")
right.set(xlabel="samples", ylabel="relative squared error", yscale="log")
right.legend()

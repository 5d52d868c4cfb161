"""
Intervals that stay valid under drift
=====================================

:py:obj:`parsimon.ConformalRegressor` gives intervals that cover the share of targets that you ask
for. After a miss, intervals become wider, otherwise narrower. So coverage returns to its target
when the noise or the function changes.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import ConformalRegressor, KRLSRegressor

rng = np.random.default_rng(0)
n = 4000
X = rng.uniform(-2, 2, size=(n, 1))
noise = np.where((np.arange(n) > 1500) & (np.arange(n) < 2800), 0.6, 0.15)
y = np.sin(2 * X[:, 0]) + noise * rng.normal(size=n)

model = ConformalRegressor(KRLSRegressor("gaussian", gamma=1.0, forgetting=0.999), coverage=0.9)
bounds = model.predict_interval_then_learn(X, y)
covered = (bounds[:, 0] <= y) & (y <= bounds[:, 1])
print(f"covered: {covered[100:].mean():.3f}")

# %%
# The noise is four times as large between the dotted lines. Widths follow within some hundred rows.
window = np.ones(200) / 200
rows = np.arange(200, n + 1)
width = np.clip(bounds[:, 1] - bounds[:, 0], 0, 10)
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True)
upper.plot(rows, np.convolve(covered, window, "valid"))
upper.axhline(0.9, color="k", linewidth=0.8)
upper.set(ylabel="share covered", ylim=(0.6, 1))
lower.plot(rows, np.convolve(width, window, "valid"))
best = 2 * 1.645 * noise  # the width of 90 % intervals if the noise was known
lower.plot(rows, best[199:], color="k", linewidth=0.8, label="width if the noise was known")
lower.set(xlabel="rows", ylabel="mean width")
lower.legend()
for ax in (upper, lower):
    ax.axvline(1500, color="0.6", linestyle=":")
    ax.axvline(2800, color="0.6", linestyle=":")

"""
Counts with the Poisson loss
============================

For counts, f is the logarithm of the mean, and `predict` returns exp(f). Predictions are never
negative, and errors are weighted as counts need it.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import POLKRegressor

rng = np.random.default_rng(0)
hour = rng.uniform(0, 24, size=6000)
mean = np.exp(1.5 * np.sin(2 * np.pi * (hour - 9) / 24) + 0.8)
calls = rng.poisson(mean)

# %%
# The hour becomes a point on the circle, so that midnight has no gap.
angle = 2 * np.pi * hour / 24
X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
model = POLKRegressor("gaussian", gamma=1.0, loss="poisson", step_size=0.05, average=1000)
model.partial_fit(X, calls)

grid = np.linspace(0, 24, 200)
circle = np.stack([np.cos(2 * np.pi * grid / 24), np.sin(2 * np.pi * grid / 24)], axis=1)
figure, ax = plt.subplots()
ax.scatter(hour[:1500], calls[:1500] + rng.uniform(-0.3, 0.3, 1500), s=3, color="0.75")
ax.plot(grid, np.exp(1.5 * np.sin(2 * np.pi * (grid - 9) / 24) + 0.8), "k--", label="true mean")
ax.plot(grid, model.predict(circle), label=f"predicted, {model.n_centers_} centres")
ax.set(xlabel="hour", ylabel="calls", xticks=range(0, 25, 6))
ax.legend()

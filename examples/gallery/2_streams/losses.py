"""
The loss decides what is learned
================================

:py:obj:`parsimon.POLKRegressor` takes any convex loss. On data with outliers, the squared loss
follows the mean, the absolute loss the median, and quantile losses give the edges of a band.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import POLKRegressor, losses

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, size=6000)
noise = 0.2 * rng.normal(size=6000) * (1.2 + np.sin(x))
outliers = np.where(rng.random(6000) < 0.05, 4.0, 0.0)
y = np.sin(2 * x) + noise + outliers
X = x[:, np.newaxis]
grid = np.linspace(-3, 3, 200)

# %%
# The same estimator, with four losses.
chosen = {
    "squared: the mean": losses.Squared(),
    "absolute: the median": losses.Absolute(),
    "quantile 0.1": losses.Quantile(0.1),
    "quantile 0.9": losses.Quantile(0.9),
}
figure, ax = plt.subplots(figsize=(8, 4))
ax.scatter(x[:1500], y[:1500], s=3, color="0.75")
for name, loss in chosen.items():
    model = POLKRegressor("gaussian", gamma=2.0, loss=loss, step_size=0.3, random_state=0).fit(X, y)
    style = "--" if "quantile" in name else "-"
    ax.plot(grid, model.predict(grid[:, np.newaxis]), style, label=name)
ax.plot(grid, np.sin(2 * grid), color="k", linewidth=0.8, label="without noise")
ax.set(xlabel="x", ylabel="y", ylim=(-2.2, 7))
ax.legend(ncols=2, loc="upper left")

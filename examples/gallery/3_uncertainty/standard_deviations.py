"""
Standard deviations that grow where there is no data
====================================================

:py:obj:`parsimon.KRLSRegressor` returns the standard deviation of a new observation, noise
included. It is learned online, with at most `budget` centres, and behaves as that of a Gaussian
process.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import KRLSRegressor

rng = np.random.default_rng(0)
x = np.concatenate([rng.uniform(-4, -1, 300), rng.uniform(1.5, 3, 300)])
y = np.sin(2 * x) + 0.15 * rng.normal(size=600)
grid = np.linspace(-6, 6, 300)

figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), sharey=True)
for ax, n in zip(axes, (15, 600), strict=True):
    rows = rng.permutation(600)[:n]
    model = KRLSRegressor("gaussian", gamma=1.0, ridge=0.05).fit(x[rows, np.newaxis], y[rows])
    mean, std = model.predict(grid[:, np.newaxis], return_std=True)
    ax.scatter(x[rows], y[rows], s=6, color="0.6")
    ax.plot(grid, mean)
    ax.fill_between(grid, mean - 2 * std, mean + 2 * std, alpha=0.2)
    ax.set(title=f"{n} samples, {model.n_centers_} centres", xlabel="x")
print(f"noise: {np.sqrt(model.noise_):.3f}; it was 0.15")

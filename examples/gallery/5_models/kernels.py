"""
Kernels and their sums
======================

The kernel says which functions are plausible. Kernels can be added and multiplied. Here the data
are a line plus a wave, and only the sum of a linear and a Gaussian kernel continues the line.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import KRLSRegressor
from parsimon.kernels import Gaussian, Laplacian, Linear

rng = np.random.default_rng(0)
x = rng.uniform(-3, 3, size=300)
y = 0.8 * x + np.sin(3 * x) + 0.1 * rng.normal(size=300)
grid = np.linspace(-5, 5, 300)

chosen = {
    "Gaussian(2.0)": Gaussian(2.0),
    "Laplacian(1.0)": Laplacian(1.0),
    "Linear() + Gaussian(2.0)": Linear() + Gaussian(2.0),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
for ax, (name, kernel) in zip(axes, chosen.items(), strict=True):
    model = KRLSRegressor(kernel, ridge=0.05).fit(x[:, np.newaxis], y)
    mean, std = model.predict(grid[:, np.newaxis], return_std=True)
    ax.scatter(x, y, s=4, color="0.7")
    ax.plot(grid, mean)
    ax.fill_between(grid, mean - 2 * std, mean + 2 * std, alpha=0.2)
    ax.set(title=name, xlabel="x", ylim=(-6, 6))

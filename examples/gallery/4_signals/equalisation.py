"""
Equalising a nonlinear channel
==============================

Symbols of -1 and 1 pass a channel with memory and a square. No straight line separates what is
received, but a small kernel filter does.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import KRLSRegressor
from parsimon.datasets import make_channel

X, s = make_channel(3000, lags=2, delay=1, snr=15.0, random_state=0)
kernel = KRLSRegressor("gaussian", gamma=1.0, budget=60)
linear = KRLSRegressor("linear", budget=3)
wrong = {}
for name, model in (("linear", linear), ("kernel", kernel)):
    decided = np.sign(model.predict_then_learn(X, s))
    wrong[name] = decided != s
    print(f"{name}: {wrong[name][500:].mean():.1%} of the symbols are wrong")

# %%
# Received values, coloured by the symbol that was sent, and the boundaries of both filters.
grid = np.linspace(-4.5, 1.5, 150)
points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True)
for ax, (name, model) in zip(axes, (("linear", linear), ("kernel", kernel)), strict=True):
    surface = model.predict(points).reshape(150, 150)
    ax.contourf(grid, grid, surface, levels=[-9, 0, 9], cmap="coolwarm", alpha=0.25)
    ax.scatter(*X[:1500].T, c=s[:1500], s=4, cmap="coolwarm")
    ax.set(title=f"{name}: {wrong[name][500:].mean():.1%} wrong", xlabel="r(t)")
axes[0].set_ylabel("r(t-1)")

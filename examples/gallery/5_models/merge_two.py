"""
Merging two models
==================

Each model is a sum over its centres, so two models can be added. Here each model saw one half of
the plane. The merged model knows both, and its distance from the exact sum is known.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import KRLSRegressor, merge

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, size=(4000, 2))
y = np.sin(2 * X[:, 0]) + np.cos(2 * X[:, 1]) + 0.1 * rng.normal(size=4000)
left_half = X[:, 0] < 0

shared = {"kernel": "gaussian", "gamma": 1.0, "tolerance": 1e-2, "fit_intercept": False}
left = KRLSRegressor(**shared).fit(X[left_half], y[left_half])
right = KRLSRegressor(**shared).fit(X[~left_half], y[~left_half])
merged = merge([left, right], weights="information", budget=150)
print(f"{left.n_centers_} + {right.n_centers_} centres become {merged.model.n_centers_}")

# %%
# The functions of both models and of the merged one, with their centres.
grid = np.linspace(-3, 3, 100)
points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True)
for ax, name, model in zip(
    axes, ("left half", "right half", "merged"), (left, right, merged.model), strict=True
):
    surface = model.predict(points).reshape(100, 100)
    ax.pcolormesh(grid, grid, surface, cmap="coolwarm", vmin=-2, vmax=2)
    ax.scatter(*model.centers_.T, s=5, color="k", alpha=0.5)
    error = np.mean((model.predict(X) - y) ** 2) / y.var()
    ax.set(title=f"{name}: error {error:.2f}", aspect="equal")

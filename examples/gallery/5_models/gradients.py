"""
Explaining a model by its gradient
==================================

`model.gradient(X)` is the derivative of f with respect to the inputs. It says, at each row, which
feature changes the prediction and how much. `diagnostics.relevance` reduces it to one number per
feature.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import KRLSRegressor, diagnostics

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(2000, 2))
y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] ** 2 + 0.05 * rng.normal(size=2000)
model = KRLSRegressor("gaussian", gamma=0.5).fit(X, y)

# %%
# Left: arrows show where f grows, over the values of f. Right: the relevance over all rows.
grid, coarse = np.linspace(-2, 2, 100), np.linspace(-1.8, 1.8, 13)
points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
places = np.stack(np.meshgrid(coarse, coarse), axis=-1).reshape(-1, 2)
slopes = model.gradient(places)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), width_ratios=[1.3, 1])
left.contourf(grid, grid, model.predict(points).reshape(100, 100), 20, cmap="viridis")
left.quiver(*places.T, *slopes.T, color="w")
left.set(xlabel="x1", ylabel="x2", aspect="equal")
right.bar(["x1", "x2"], diagnostics.relevance(model, X))
right.set(ylabel="relevance")

# %%
# The slopes of one row.
print("slopes at (0, 1):", model.gradient([[0.0, 1.0]]).round(2)[0])

"""
Sets of labels
==============

:py:obj:`parsimon.ConformalClassifier` returns the set of labels that are plausible at a point. The
set has one label where the class is clear, and several where classes overlap. Over the stream, it
contains the true label as often as you ask for.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import ConformalClassifier, POLKClassifier

rng = np.random.default_rng(0)
middle = np.array([[0.0, 1.2], [-1.0, -0.6], [1.0, -0.6]])
y = rng.integers(3, size=4000)
X = middle[y] + 0.7 * rng.normal(size=(4000, 2))

model = ConformalClassifier(POLKClassifier("gaussian", gamma=0.7, average=False), coverage=0.95)
sets = model.predict_set_then_learn(X, y)
held = sets[np.arange(4000), y]
print(f"covered: {held[200:].mean():.3f}, mean size: {sets[200:].sum(axis=1).mean():.2f}")

# %%
# The number of labels in the set at each point of the plane.
grid = np.linspace(-3, 3, 120)
points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
size = model.predict_set(points).sum(axis=1).reshape(120, 120)
figure, ax = plt.subplots(figsize=(5.6, 4.6))
drawn = ax.pcolormesh(grid, grid, size, cmap="Blues", vmin=0.5, vmax=3.5)
ax.scatter(*X[:600].T, c=y[:600], cmap="Set1", s=5, vmax=8)
ax.set_aspect("equal")
figure.colorbar(drawn, ax=ax, ticks=[1, 2, 3], label="labels in the set")

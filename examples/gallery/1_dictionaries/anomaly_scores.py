"""
Anomaly scores of a dictionary
==============================

A dictionary reconstructs what it has seen often. What it cannot reconstruct is an anomaly. The
score needs no labels, and the dictionary keeps learning while the stream goes on.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import KernelDictionaryLearning

rng = np.random.default_rng(0)


def ring(n):
    """Return points near the unit circle."""
    angle = rng.uniform(0, 2 * np.pi, size=n)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.08 * rng.normal(size=(n, 2))


model = KernelDictionaryLearning(10, gamma=1.0, budget=25, step_size=0.1, random_state=0)
model.fit(ring(2000))

# %%
# Left: the colour is the reconstruction error, low on the ring, high inside and outside. The stored
# samples are the white circles. Right: scores of new samples, those of the ring, and those drawn
# anywhere.
grid = np.linspace(-2, 2, 150)
points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
surface = model.reconstruction_error(points).reshape(150, 150)

normal, strange = ring(300), rng.uniform(-1.8, 1.8, size=(40, 2))
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4))
drawn = left.contourf(grid, grid, surface, 20, cmap="viridis")
left.scatter(*model.centers_.T, facecolors="none", edgecolors="w", s=50)
left.set(aspect="equal")
figure.colorbar(drawn, ax=left, label="reconstruction error")
right.hist(-model.score_samples(normal), bins=25, alpha=0.7, label="ring", density=True)
right.hist(-model.score_samples(strange), bins=25, alpha=0.7, label="anywhere", density=True)
right.set(xlabel="anomaly score", ylabel="density")
right.legend()

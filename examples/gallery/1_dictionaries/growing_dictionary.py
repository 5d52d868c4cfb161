"""
A dictionary that grows in the plane
====================================

A sample becomes a centre if it is not too similar to the centres so far. This is the coherence
criterion of :py:obj:`parsimon.KNLMSRegressor`. So the centres cover the region where samples come
from, and their number stops growing even though the stream does not stop.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import KNLMSRegressor

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, size=5000)
radius = rng.choice([1.0, 2.5], size=5000) + 0.15 * rng.normal(size=5000)
X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
y = np.sin(3 * angle)

# %%
# The model learns the stream in three parts. Grey dots are the samples so far. Circles are the
# centres, filled with the colour of their weights.
model = KNLMSRegressor("gaussian", gamma=2.0, coherence=0.5, step_size=0.5)
seen = 0
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharex=True, sharey=True)
for ax, until in zip(axes, (50, 500, 5000), strict=True):
    model.partial_fit(X[seen:until], y[seen:until])
    seen = until
    ax.scatter(*X[:until].T, s=4, color="0.75")
    ax.scatter(*model.centers_.T, c=model.weights_, cmap="coolwarm", edgecolors="k", s=45)
    ax.set_title(f"{until} samples, {model.n_centers_} centres")
    ax.set_aspect("equal")

# %%
# A larger threshold `coherence` admits centres that are closer to each other.
for coherence in (0.3, 0.5, 0.7, 0.9):
    model = KNLMSRegressor("gaussian", gamma=2.0, coherence=coherence, step_size=0.5)
    errors = y - model.predict_then_learn(X, y)
    print(f"{coherence}: {model.n_centers_} centres, error {np.mean(errors[-1000:] ** 2):.4f}")

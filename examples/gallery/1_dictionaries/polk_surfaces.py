"""
Decision surfaces of POLK
=========================

:py:obj:`parsimon.POLKClassifier` takes a gradient step in function space, then removes centres as
long as the function changes by less than a tolerance. The parameter `parsimony` sets this
tolerance. Larger values give fewer centres and a coarser function.

The data set has five classes, each of which is a mixture of three Gaussians.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import POLKClassifier
from parsimon.datasets import make_multidist

X, y = make_multidist(6000, spread=0.1, random_state=0)
X_test, y_test = X[5000:], y[5000:]

grid = np.linspace(-4, 4, 120)
points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)

# %%
# The colours are the predicted classes. Black circles are the centres.
figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), sharex=True, sharey=True)
for ax, parsimony in zip(axes, (0.002, 0.01, 0.04), strict=True):
    model = POLKClassifier(
        "gaussian", gamma=1.4, step_size=6.0, parsimony=parsimony, batch_size=32, average=False
    )
    model.partial_fit(X[:5000], y[:5000])
    surface = model.predict(points).reshape(120, 120)
    ax.pcolormesh(grid, grid, surface, cmap="Set2", alpha=0.5, vmin=0, vmax=7)
    ax.scatter(*X[:1000].T, c=y[:1000], cmap="Set2", s=3, vmin=0, vmax=7)
    ax.scatter(*model.centers_.T, facecolors="none", edgecolors="k", s=40)
    error = np.mean(model.predict(X_test) != y_test)
    ax.set_title(f"parsimony {parsimony}\n{model.n_centers_} centres, error {error:.1%}")
    ax.set(xlim=(-4, 4), ylim=(-4, 4), aspect="equal")

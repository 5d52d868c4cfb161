"""
Relevant features, found while learning
=======================================

The relevance of a feature is the root mean square of df/dx_i: how strongly the learned function
changes with it. :py:obj:`parsimon.MixtureRegressor` measures it and scales the features of some of
its experts by it. Here two of twelve features matter.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import MixtureRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 12))
y = 100 + 20 * np.sin(2 * X[:, 0]) * X[:, 1]

model = MixtureRegressor()
found, errors = [], []
for rows in np.array_split(np.arange(3000), 30):
    errors.append(np.mean((y[rows] - model.predict_then_learn(X[rows], y[rows])) ** 2))
    found.append(np.zeros(12) if model.relevance_ is None else model.relevance_)

# %%
# Left: the relevance of each feature after each block of 100 rows, relative to the largest. Right:
# the error before each block, which falls as the relevant features are found.
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
shown = np.array(found)
shown = shown / np.maximum(shown.max(axis=1, keepdims=True), 1e-12)
image = left.imshow(shown.T, aspect="auto", cmap="Blues", extent=(0, 3000, 11.5, -0.5))
left.set(xlabel="rows", ylabel="feature", yticks=range(12))
figure.colorbar(image, ax=left, label="relative relevance")
right.plot(np.arange(1, 31) * 100, np.array(errors) / y.var())
right.set(xlabel="rows", ylabel="relative squared error", yscale="log")

"""
Which digits a dictionary keeps
===============================

:py:obj:`parsimon.KernelDictionaryLearning` stores some samples and learns atoms from them. Here
each class of digits gets a dictionary of its own. A digit gets the class whose dictionary
reconstructs it best, as in :py:obj:`parsimon.KernelDictionaryClassifier`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from parsimon import KernelDictionaryLearning, kernels

X, y = load_digits(return_X_y=True)
X = X / np.linalg.norm(X, axis=1, keepdims=True)
train, test = slice(0, 1200), slice(1200, None)

# %%
# One dictionary for each digit, learned in five passes over the training images.
models = []
for digit in range(10):
    model = KernelDictionaryLearning(
        10, kernels.Polynomial(degree=4), budget=16, n_passes=5, random_state=0
    )
    models.append(model.fit(X[train][y[train] == digit]))

errors = np.stack([model.reconstruction_error(X[test]) for model in models], axis=1)
accuracy = np.mean(errors.argmin(axis=1) == y[test])
print(f"{accuracy:.1%} of the test digits are recognised")

# %%
# Each row shows the images that one dictionary stores, those with the largest coefficients first.
figure, axes = plt.subplots(10, 16, figsize=(7, 4.4))
for row, model in zip(axes, models, strict=True):
    order = np.argsort(-np.linalg.norm(model.components_, axis=1))
    for ax, image in zip(row, model.centers_[order], strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
for ax in axes.flat:
    ax.axis("off")

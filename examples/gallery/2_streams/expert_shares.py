"""
Which experts a mixture trusts
==============================

A mixture learns several models side by side and combines them. This stream changes its nature: it
is first a linear function, then a curved one, then a random walk that only earlier targets can
predict. The shares of the experts follow.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import MixtureRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(4500, 3))
y = np.empty(4500)
y[:1500] = X[:1500] @ [3.0, -2.0, 1.0]
y[1500:3000] = 4 * np.sin(2 * X[1500:3000, 0]) * X[1500:3000, 1]
y[3000:] = np.cumsum(rng.normal(size=1500))
y += 0.1 * rng.normal(size=4500)

model = MixtureRegressor()
shares = []
for rows in np.array_split(np.arange(4500), 90):
    model.predict_then_learn(X[rows], y[rows])
    shares.append(model.shares_)

# %%
# The experts in three groups: those that are linear in the features, those with a kernel over the
# features, and those that also see earlier targets.
shares = np.array(shares)
names = np.array(model.expert_names_)
lagged = np.array(["lag" in name or name in ("autoregressive", "last value") for name in names])
linear = names == "linear"
groups = {"linear": linear, "kernel": ~lagged & ~linear, "with earlier targets": lagged}
figure, ax = plt.subplots(figsize=(8, 3.8))
for label, group in groups.items():
    ax.plot(np.arange(1, 91) * 50, shares[:, group].sum(axis=1), label=label)
for change in (1500, 3000):
    ax.axvline(change, color="0.6", linestyle=":")
for start, text in ((0, "linear"), (1500, "curved"), (3000, "random walk")):
    ax.text(start + 60, ax.get_ylim()[1], text, va="bottom", color="0.4")
ax.set(xlabel="rows", ylabel="share")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))

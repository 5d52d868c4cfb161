"""
Coherence and what it guarantees
================================

The coherence of a dictionary is the largest kernel value between two of its centres. If it is
small, the Gram matrix of m centres cannot be singular: its smallest eigenvalue is at least
1 - (m - 1) mu. This example compares the bound with the eigenvalue itself.
"""

import matplotlib.pyplot as plt
import numpy as np

from parsimon import KNLMSRegressor, diagnostics

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(3000, 2))
y = np.sin(4 * X[:, 0]) * X[:, 1]

# %%
# The threshold `coherence` decides how many centres are admitted. With a small threshold the
# dictionary is nearly orthogonal.
thresholds = np.linspace(0.01, 0.6, 25)
sizes, smallest, bounds = [], [], []
for threshold in thresholds:
    model = KNLMSRegressor("gaussian", gamma=5.0, coherence=threshold, budget=None)
    model.partial_fit(X, y)
    sizes.append(model.n_centers_)
    smallest.append(diagnostics.smallest_eigenvalue(model))
    bounds.append(diagnostics.eigenvalue_bound(model))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.plot(thresholds, sizes, ".-")
left.set(xlabel="threshold", ylabel="centres")
right.plot(thresholds, smallest, ".-", label="smallest eigenvalue")
right.plot(thresholds, np.maximum(bounds, 0), ".--", label="bound 1 - (m - 1) mu")
right.set(xlabel="threshold", ylim=(0, 1))
right.legend()

# %%
# The report lists what theory guarantees for a model, and which assumptions do not hold.
model = KNLMSRegressor("gaussian", gamma=5.0, coherence=0.05, budget=None).partial_fit(X, y)
print(diagnostics.report(model))

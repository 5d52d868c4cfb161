"""
Compressing an SVC
==================

`from_sklearn` takes a fitted model of scikit-learn. `compress` then removes the centres whose
removal changes the function least. Often most of the support vectors are not needed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from parsimon import from_sklearn
from parsimon.datasets import make_multidist

X, y = make_multidist(3000, random_state=0)
X_test, y_test = X[1500:], y[1500:]
svc = SVC(gamma=1.0, C=10.0).fit(X[:1500], y[:1500])
print(f"{len(svc.support_)} support vectors, error {1 - svc.score(X_test, y_test):.3f}")

# %%
# The same model with fewer and fewer centres: how many predictions changed, and the test error.
sizes = [800, 400, 200, 100, 50, 35, 25]
changed, errors = [], []
for size in sizes:
    model = from_sklearn(svc)
    model.compress(size)
    predicted = model.predict(X_test)
    changed.append(np.mean(predicted != svc.predict(X_test)))
    errors.append(np.mean(predicted != y_test))

figure, ax = plt.subplots()
ax.plot(sizes, changed, ".-", label="predictions changed")
ax.plot(sizes, errors, ".-", label="test error")
ax.axhline(1 - svc.score(X_test, y_test), color="k", linewidth=0.8, label="test error of the SVC")
ax.set(xscale="log", xlabel="centres", ylabel="share of the test rows", ylim=(0, None))
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()

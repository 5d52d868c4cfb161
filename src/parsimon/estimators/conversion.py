"""Conversion of fitted scikit-learn models into kernel expansions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from parsimon import kernels
from parsimon.estimators.fixed import KernelExpansionClassifier, KernelExpansionRegressor

__all__ = ["from_sklearn"]

Array = NDArray[np.float64]


def from_sklearn(model: Any) -> KernelExpansionClassifier | KernelExpansionRegressor:
    """Return the kernel expansion of a fitted scikit-learn model.

    The model must be an SVC, NuSVC, SVR, NuSVR or KernelRidge, fitted on a dense X. The result can
    be compressed, compared and stored.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVR
    >>> from parsimon import from_sklearn
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> svr = SVR(gamma=1.0, C=10.0, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> model = from_sklearn(svr)
    >>> bool(np.abs(model.predict(X) - svr.predict(X)).max() < 1e-9)
    True
    >>> done = model.compress(tolerance=0.01)
    >>> bool(np.abs(model.predict(X) - svr.predict(X)).max() <= 0.01)
    True
    >>> bool(done.n_centers < done.n_before)
    True
    """
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.svm import SVC, SVR, NuSVC, NuSVR

    if not isinstance(model, KernelRidge | SVC | SVR | NuSVC | NuSVR):
        raise TypeError(
            "from_sklearn takes a fitted SVC, NuSVC, SVR, NuSVR or KernelRidge, "
            f"got {type(model).__name__}"
        )
    check_is_fitted(model)
    if isinstance(model, KernelRidge):
        _require_dense(model.X_fit_)
        return KernelExpansionRegressor(
            _kernel(model, model.gamma), _dense(model.X_fit_), _dense(model.dual_coef_)
        )
    if getattr(model, "break_ties", False):
        raise ValueError(
            "the model breaks ties by its decision values, which is not supported: "
            "fit it with break_ties=False"
        )
    _require_dense(model.support_vectors_)
    kernel, centres = _kernel(model, model._gamma), _dense(model.support_vectors_)
    if isinstance(model, SVR | NuSVR):
        return KernelExpansionRegressor(
            kernel, centres, _dense(model.dual_coef_[0]), float(model.intercept_[0])
        )
    if len(model.classes_) == 2:  # scikit-learn's sign is the opposite: f > 0 is the second class
        return KernelExpansionClassifier(
            kernel,
            centres,
            -_dense(model.dual_coef_).T,
            -_dense(model.intercept_),
            model.classes_.copy(),
        )
    first = np.concatenate([[0], np.cumsum(model.n_support_)])
    pairs = list(combinations(range(len(model.classes_)), 2))
    weights = np.zeros((len(centres), len(pairs)))
    for p, (i, j) in enumerate(pairs):
        for own, other in ((i, j - 1), (j, i)):
            rows = slice(first[own], first[own + 1])
            weights[rows, p] = model.dual_coef_[other, rows]
    return KernelExpansionClassifier(
        kernel, centres, weights, _dense(model.intercept_), model.classes_.copy()
    )


def _kernel(model: Any, gamma: float | None) -> kernels.Kernel:
    """Return the kernel of a scikit-learn model."""
    name = model.kernel
    if gamma is None:
        gamma = 1.0 / model.X_fit_.shape[1]
    if name == "rbf":
        return kernels.Gaussian(gamma)
    if name == "laplacian":
        return kernels.Laplacian(gamma)
    if name == "linear":
        return kernels.Linear()
    if name in ("poly", "polynomial"):
        return kernels.Polynomial(int(model.degree), gamma, float(model.coef0))
    raise TypeError(f"the kernel {name!r} cannot be converted; rbf, laplacian, poly and linear can")


def _require_dense(centres: Any) -> None:
    if not isinstance(centres, np.ndarray):
        raise TypeError("the model was fitted on a sparse matrix: fit it on a dense array")


def _dense(values: Any) -> Array:
    return np.array(values, dtype=np.float64, order="C")  # a copy

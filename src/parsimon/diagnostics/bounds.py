"""Bounds that follow from the size and the coherence of a dictionary."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon._parts import lookup, real, whole
from parsimon.diagnostics._assumptions import (
    AssumptionError,
    coherence_threshold,
    rejection_threshold,
    require_seen,
)
from parsimon.diagnostics._dense import kernel_and_centers, largest_babel
from parsimon.diagnostics.measures import axis_errors, coherence
from parsimon.kernels import as_points

Array = NDArray[np.float64]


def condition_bound(babel: Any) -> float:
    """Return an upper bound on the condition number, (1 + mu_1) / (1 - mu_1).

    The condition number is that of the normalised Gram matrix of m centres. mu_1 is their Babel
    measure of order m - 1, the largest row sum of absolute values without the diagonal. `babel` is
    this number, or a fitted model. By Gershgorin's theorem every eigenvalue of the matrix lies
    between 1 - mu_1 and 1 + mu_1. The bound is infinite if mu_1 >= 1. No eigenvalues are computed:
    the cost is O(m^2) for a model, and O(m) with `RunningCoherence`.

    >>> round(condition_bound(0.5), 6)
    3.0
    """
    measure = (
        real("babel", babel, at_least=0)
        if isinstance(babel, Real)
        else largest_babel(*kernel_and_centers(babel))
    )
    return (1.0 + measure) / (1.0 - measure) if measure < 1 else np.inf


def eigenvalue_bound(m: Any, mu: float | None = None) -> float:
    """Return a lower bound on the eigenvalues of the Gram matrix, 1 - (m - 1) mu. Proposition 1.

    The Gram matrix is normalised: its diagonal is 1. m is the number of centres and mu their
    coherence. A fitted model can be given instead of both.

    Reference: P. Honeine, C. Richard, J. C. M. Bermudez, *On-line nonlinear sparse approximation of
    functions*, ISIT 2007.

    >>> round(eigenvalue_bound(5, 0.1), 6)
    0.6
    """
    size, mu = _size_and_coherence(m, mu)
    return 1.0 - (size - 1) * mu


def independence_guaranteed(m: Any, mu: float | None = None) -> bool:
    """Return whether (m - 1) mu < 1: then the centres are linearly independent. Proposition 2.

    m is the number of centres and mu their coherence. A fitted model can be given instead of both.
    The condition is sufficient, not necessary: functions of a Gaussian kernel are independent if
    their centres differ.

    Reference: P. Honeine, C. Richard, J. C. M. Bermudez, *On-line nonlinear sparse approximation of
    functions*, ISIT 2007.

    >>> independence_guaranteed(5, 0.1), independence_guaranteed(11, 0.1)
    (True, False)
    """
    size, mu = _size_and_coherence(m, mu)
    return (size - 1) * mu < 1


def residual_bound(m: Any, mu: float | None = None, *, form: str = "corrected") -> float:
    """Return a lower bound on the squared error of a centre approximated by the other centres.

    This is Proposition 3. Kernel functions are scaled to norm 1, so the largest possible squared
    error is 1. The bound is 1 - (m - 1) mu^2 / (1 - (m - 2) mu), for m centres of coherence mu with
    (m - 1) mu < 1. A fitted model can be given instead of m and mu.

    Parameters
    ----------
    m : int or fitted model
        Number of centres.
    mu : float in [0, 1] or None, default=None
        Coherence of the centres. None if m is a model.
    form : "corrected", "printed" or "earlier", default="corrected"
        Which bound. "corrected" is the bound above. "printed" is the bound in the paper,
        1 - sqrt((m - 1) mu^2 / (1 - (m - 2) mu)). "earlier" is "printed" with (m - 1) in place of
        (m - 2). It is the older bound in Fig. 1 of the paper, and can be negative. "printed" and
        "earlier" are valid, but weaker than "corrected".

    Notes
    -----
    Let K be the normalised Gram matrix of the other centres, nu_min its smallest eigenvalue, and h
    the kernel values of these centres with the centre. The projection has the squared norm
    h'K^-1 h <= ||h||^2 / nu_min, so the square root in equation (5) of the paper is not needed. The
    corrected bound is attained by centres with kernel values -mu between any two of them. So there
    is no better bound that depends only on m and mu.

    References
    ----------
    P. Honeine, C. Richard, J. C. M. Bermudez, *On-line nonlinear sparse approximation of
    functions*, ISIT 2007.

    Examples
    --------
    >>> round(residual_bound(5, 0.1), 4), round(residual_bound(5, 0.1, form="printed"), 4)
    (0.9429, 0.761)
    """
    bound = lookup(_RESIDUAL_FORMS, form, "form")
    m, mu = _size_and_coherence(m, mu)
    if not (m - 1) * mu < 1:
        raise AssumptionError(
            f"(m - 1) mu = {(m - 1) * mu:g} is not below 1, which Proposition 3 assumes"
        )
    return float(bound(m, mu))


_RESIDUAL_FORMS: dict[str, Callable[[int, float], float]] = {
    "corrected": lambda m, mu: 1.0 - (m - 1) * mu**2 / (1.0 - (m - 2) * mu),
    "printed": lambda m, mu: 1.0 - np.sqrt((m - 1) * mu**2 / (1.0 - (m - 2) * mu)),
    "earlier": lambda m, mu: 1.0 - np.sqrt((m - 1) * mu**2 / (1.0 - (m - 1) * mu)),
}


def ald_threshold(m: Any, mu0: float | None = None, *, form: str = "corrected") -> float:
    """Return a threshold of linear dependence that centres admitted by coherence surely pass.

    This is `residual_bound(m, mu0)` for m centres admitted with the coherence threshold mu0, where
    `form` selects the form of the bound. A fitted model can be given instead of both: then mu0 is
    its parameter `coherence`. Evicted centres do not matter here. If k(x, x) = 1, the linear
    dependence test with a smaller `tolerance` would have admitted these centres, and perhaps
    others.

    Reference: P. Honeine, C. Richard, J. C. M. Bermudez, *On-line nonlinear sparse approximation of
    functions*, ISIT 2007.

    >>> round(ald_threshold(5, 0.1), 4)
    0.9429
    """
    if mu0 is None:
        _, centers = kernel_and_centers(m)
        m, mu0 = len(centers), coherence_threshold(m)
    return residual_bound(m, real("mu0", mu0, at_least=0, at_most=1), form=form)


def rejection_bound(mu0: Any, *, form: str = "corrected") -> float:
    """Return an upper bound on the squared error of a rejected sample, 1 - mu0^2. Proposition 4.

    The sample was rejected by the coherence rule, (6) in the paper: its coherence with a centre is
    above mu0. The error is that of approximating k(x, .), scaled to norm 1, by the centres.

    Parameters
    ----------
    mu0 : float in [0, 1] or fitted model
        Coherence threshold. A model must have chosen its centres by coherence and evicted none.
    form : "corrected" or "printed", default="corrected"
        "printed" is 1 - mu0, which is not valid.

    Notes
    -----
    The best approximation of k(x, .) by a multiple of k(d, .) has the squared error 1 - k(d, x)^2,
    not 1 - |k(d, x)|. A dictionary of one centre d violates the printed bound: with mu0 = 0.5 and
    k(d, x) = 0.51, x is rejected with a squared error of 0.74.

    References
    ----------
    P. Honeine, C. Richard, J. C. M. Bermudez, *On-line nonlinear sparse approximation of
    functions*, ISIT 2007.

    Examples
    --------
    >>> rejection_bound(0.5), rejection_bound(0.5, form="printed")
    (0.75, 0.5)
    """
    bound = lookup(_REJECTION_FORMS, form, "form")
    return bound(
        real("mu0", mu0, at_least=0, at_most=1)
        if isinstance(mu0, Real)
        else rejection_threshold(mu0)
    )


_REJECTION_FORMS: dict[str, Callable[[float], float]] = {
    "corrected": lambda mu0: 1.0 - mu0**2,
    "printed": lambda mu0: 1.0 - mu0,
}


def principal_axis_bound(
    mu0: Any,
    eigenvalues: ArrayLike | None = None,
    *,
    X: ArrayLike | None = None,
    form: str = "corrected",
) -> Array:
    """Return an upper bound on the squared error of principal axes, (1 - mu0^2) / lambda_k.

    This is Proposition 5. The error is that of approximating the k-th principal axis of n inputs by
    the centres. lambda_k = nu_k / n, where nu_k is the k-th eigenvalue of the normalised Gram
    matrix of *all* n inputs, not only of the centres. A bound above 1 gives no information.

    Parameters
    ----------
    mu0 : float in [0, 1] or fitted model
        Coherence threshold. A model must have chosen its centres by coherence and evicted none.
    eigenvalues : array of shape (r,) or None, default=None
        Eigenvalues lambda_k, needed if mu0 is a number.
    X : array of shape (n, d) or None, default=None
        All inputs that the model has seen. The result is then for the axes that `axis_errors`
        returns. A row that is not a centre and that the coherence rule would not reject raises an
        error, for example a row that the model has not seen.
    form : "corrected" or "printed", default="corrected"
        "printed" uses 1 - mu0 of the paper's Proposition 4. It is not valid. For example, it fails
        if one input is the only centre and all others are copies of one rejected input.

    References
    ----------
    P. Honeine, C. Richard, J. C. M. Bermudez, *On-line nonlinear sparse approximation of
    functions*, ISIT 2007.

    Examples
    --------
    >>> principal_axis_bound(0.5, [0.9, 0.1]).round(4)
    array([0.8333, 7.5   ])
    """
    if isinstance(mu0, Real):
        if eigenvalues is None or X is not None:
            raise TypeError("give mu0 and eigenvalues, or a model and X")
        values = np.asarray(eigenvalues, dtype=float)
        if not (values > 0).all():
            raise ValueError(f"eigenvalues must be > 0, got {eigenvalues!r}")
        return np.asarray(rejection_bound(mu0, form=form) / values)
    if eigenvalues is not None or X is None:
        raise TypeError("give mu0 and eigenvalues, or a model and X")
    bound = rejection_bound(mu0, form=form)
    require_seen(mu0, as_points(X, "X"))
    return np.asarray(bound / axis_errors(mu0, X=X)[0])


def _size_and_coherence(m: Any, mu: float | None) -> tuple[int, float]:
    if mu is not None:
        return whole("m", m, at_least=1), real("mu", mu, at_least=0, at_most=1)
    if isinstance(m, Real):
        raise TypeError("mu is missing: give m and mu, or a fitted model alone")
    kernel, centers = kernel_and_centers(m)
    if not len(centers):
        raise ValueError("the model has no centres")
    return len(centers), coherence(kernel, centers)

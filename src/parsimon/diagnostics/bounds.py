"""Bounds: what follows from size and coherence alone."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon._parts import lookup, real, whole
from parsimon.diagnostics._assumptions import (
    AssumptionError,
    _rejects_below,
    _require_seen,
    _threshold,
)
from parsimon.diagnostics._dense import _largest_babel, _model
from parsimon.diagnostics.measures import axis_errors, coherence
from parsimon.kernels import _points

Array = NDArray[np.float64]


def condition_bound(babel: Any) -> float:
    """Return an upper bound on the condition number, (1 + mu_1) / (1 - mu_1) with mu_1 the Babel
    measure of order m - 1; inf if mu_1 >= 1.

    By Gershgorin's theorem every eigenvalue lies within mu_1 of 1. It needs no eigenvalues: O(m^2)
    on a model, O(m) from `RunningCoherence`.

    >>> round(condition_bound(0.5), 6)
    3.0
    """
    measure = (
        real("babel", babel, at_least=0)
        if isinstance(babel, Real)
        else _largest_babel(*_model(babel))
    )
    return (1.0 + measure) / (1.0 - measure) if measure < 1 else np.inf


def eigenvalue_bound(m: Any, mu: float | None = None) -> float:
    """Return a lower bound on the eigenvalues of the Gram matrix of m functions of coherence mu: 1
    - (m - 1) mu. Proposition 1.

    In place of (m, mu) a fitted model, of which the coherence is measured.

    >>> round(eigenvalue_bound(5, 0.1), 6)
    0.6
    """
    size, mu = _size_and_coherence(m, mu)
    return 1.0 - (size - 1) * mu


def independence_guaranteed(m: Any, mu: float | None = None) -> bool:
    """Say whether (m - 1) mu < 1, which suffices for m functions of coherence mu to be linearly
    independent. Proposition 2.

    Sufficient, not necessary: a Gaussian kernel's functions are independent wherever their centres
    differ. (m, mu) or a fitted model.

    >>> independence_guaranteed(5, 0.1), independence_guaranteed(11, 0.1)
    (True, False)
    """
    size, mu = _size_and_coherence(m, mu)
    return (size - 1) * mu < 1


def residual_bound(m: Any, mu: float | None = None, *, form: str = "corrected") -> float:
    """Return a lower bound on the squared error of approximating one of m functions of coherence mu
    by the others. Proposition 3.

    1 - (m - 1) mu^2 / (1 - (m - 2) mu), where (m - 1) mu < 1. (m, mu) or a fitted model.

    Parameters
    ----------
    form : "corrected", "printed" or "earlier", default="corrected"
        "printed" is 1 - sqrt((m - 1) mu^2 / (1 - (m - 2) mu)), "earlier" is 1 - sqrt((m - 1) mu^2 /
        (1 - (m - 1) mu)), the bound of earlier work that Fig. 1 compares with. Both hold, but are
        lower; the earlier one may be negative.

    Remark: ||P k||^2 = h'K^-1 h <= ||h||^2 / nu_min, so the square root in (5) is not needed. The
    corrected bound is attained, by functions with k_ij = -mu for all i != j, so none that knows m
    and mu alone is better.

    >>> round(residual_bound(5, 0.1), 4), round(residual_bound(5, 0.1, form="printed"), 4)
    (0.9429, 0.761)
    """
    bound = lookup(_RESIDUAL_FORMS, form, "form")
    m, mu = _size_and_coherence(m, mu)
    if not (m - 1) * mu < 1:
        raise AssumptionError(
            f"(m - 1) mu = {(m - 1) * mu:g} is not below 1: Proposition 3 is silent"
        )
    return float(bound(m, mu))


_RESIDUAL_FORMS: dict[str, Callable[[int, float], float]] = {
    "corrected": lambda m, mu: 1.0 - (m - 1) * mu**2 / (1.0 - (m - 2) * mu),
    "printed": lambda m, mu: 1.0 - np.sqrt((m - 1) * mu**2 / (1.0 - (m - 2) * mu)),
    "earlier": lambda m, mu: 1.0 - np.sqrt((m - 1) * mu**2 / (1.0 - (m - 1) * mu)),
}


def ald_threshold(m: Any, mu0: float | None = None, *, form: str = "corrected") -> float:
    """Return the threshold of approximate linear dependence that m functions admitted by coherence
    mu0 satisfy: `residual_bound` (m, mu0).

    Given a fitted model, mu0 is its `coherence`; a centre that was removed does no harm here. Any
    `tolerance` below it would have admitted the same functions (for a kernel with k(x, x) = 1), but
    perhaps more of the others.

    >>> round(ald_threshold(5, 0.1), 4)
    0.9429
    """
    if mu0 is None:
        _, centers = _model(m)
        m, mu0 = len(centers), _threshold(m)
    return residual_bound(m, real("mu0", mu0, at_least=0, at_most=1), form=form)


def rejection_bound(mu0: Any, *, form: str = "corrected") -> float:
    """Return an upper bound on the squared error of a function that rule (6) rejected, by the
    dictionary: 1 - mu0^2. Proposition 4.

    mu0, or a fitted model whose centres were chosen by coherence, and from which nothing was
    removed.

    Parameters
    ----------
    form : "corrected" or "printed", default="corrected"
        "printed" is 1 - mu0, which does not hold.

    Remark: the best multiple of one centre's function leaves 1 - k(d, x)^2, not 1 - |k(d, x)|. A
    dictionary of one centre violates the printed bound: with mu0 = 0.5 and k(d, x) = 0.51, x is
    rejected with a squared error of 0.74.

    >>> rejection_bound(0.5), rejection_bound(0.5, form="printed")
    (0.75, 0.5)
    """
    bound = lookup(_REJECTION_FORMS, form, "form")
    return bound(
        real("mu0", mu0, at_least=0, at_most=1) if isinstance(mu0, Real) else _rejects_below(mu0)
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
    """Return an upper bound on the squared error of principal axes by the dictionary, (1 - mu0^2) /
    lambda_k. Proposition 5.

    Give mu0 and eigenvalues lambda (r,), or a model as in `rejection_bound` and `X` (n, d), all
    inputs it has seen: the answer then belongs to the axes of `axis_errors`. lambda_k = nu_k / n,
    with nu_k an eigenvalue of the Gram matrix of *all* n inputs. A row of X that was neither
    admitted nor rejected by rule (6) is refused. Above 1 the bound says nothing.

    Remark: the paper has 1 - mu0 from its Proposition 4, and fails with it, as where one input is a
    centre and many copies of another are not; ``form="printed"`` gives that.

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
    _require_seen(mu0, _points(X, "X"))
    return np.asarray(bound / axis_errors(mu0, X=X)[0])


def _size_and_coherence(m: Any, mu: float | None) -> tuple[int, float]:
    if mu is not None:
        return whole("m", m, at_least=1), real("mu", mu, at_least=0, at_most=1)
    if isinstance(m, Real):
        raise TypeError("mu is missing: give m and mu, or a fitted model alone")
    kernel, centers = _model(m)
    if not len(centers):
        raise ValueError("the model has no centres")
    return len(centers), coherence(kernel, centers)

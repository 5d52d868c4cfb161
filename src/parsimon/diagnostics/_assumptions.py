"""Assumptions of the bounds about a model."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsimon.diagnostics._dense import cosines, eigenvalues_of, kernel_and_centers
from parsimon.estimators import KNLMSRegressor, KRLSRegressor

Array = NDArray[np.float64]


class AssumptionError(ValueError):
    """A bound was requested for a model that violates its assumptions. The message names them."""


def coherence_threshold(model: Any) -> float:
    """Return the coherence threshold mu0 if the centres were chosen by it; else raise an error."""
    # The parameters may have been changed since. Those it learned with count.
    parameters = getattr(model, "_learns_with", None) or model.get_params(deep=False)
    admission = parameters.get("admission", "coherence")
    if admission != "coherence":
        raise AssumptionError(
            f"admission={admission!r}: the centres were not chosen by the coherence rule"
        )
    mu0 = parameters.get("coherence")
    if not isinstance(mu0, Real):
        held = f"coherence={mu0!r}" if "coherence" in parameters else type(model).__name__
        raise AssumptionError(f"{held}: the centres were not chosen by a fixed coherence threshold")
    return float(mu0)


def rejection_threshold(model: Any) -> float:
    """Return the coherence threshold mu0 if it alone decided what is a centre.

    Then every input that is not a centre was rejected by it, and no centre was evicted. Otherwise
    raise an error.
    """
    kernel, centers = kernel_and_centers(model)
    mu0 = coherence_threshold(model)
    parameters = getattr(model, "_learns_with", None) or model.get_params(deep=False)
    budget = parameters.get("budget")
    if budget is not None and len(centers) >= budget:
        raise AssumptionError(
            f"budget={budget} may have evicted centres: Propositions 4 and 5 "
            "assume that no centre was evicted"
        )
    if budget is None and isinstance(model, KNLMSRegressor | KRLSRegressor):
        return mu0  # no factor of the Gram matrix is kept, so mu0 alone decides
    # A model with the factor also rejects samples in the span up to rounding: delta <= floor (1 +
    # ||a||^2), and ||a||^2 <= 1 / nu_min.
    least = (
        max(float(eigenvalues_of(kernel, centers)[0]), np.finfo(float).tiny)
        if len(centers)
        else 1.0
    )
    if _SPAN_FLOOR * (1.0 + 1.0 / least) > 1.0 - mu0**2:
        raise AssumptionError(
            f"the Gram matrix is nearly singular (smallest eigenvalue {least:.2g}): inputs may "
            "have been rejected because of rounding, not by the coherence rule"
        )
    return mu0


#: Smallest squared distance of a new centre to the span that the core accepts, including the drift
#: that it allows (core/dictionary.hpp).
_SPAN_FLOOR = 1e-6


def require_seen(model: Any, X: Array) -> None:
    kernel, centers = kernel_and_centers(model)
    mu0 = coherence_threshold(model)
    nearest = np.abs(cosines(kernel, X, centers)).max(axis=1, initial=0.0)
    strangers = np.flatnonzero(nearest < mu0 - 1e-9)  # the core sums in another order
    if len(strangers):
        i = strangers[0]
        raise AssumptionError(
            f"row {i} of X is not a centre and has coherence {nearest[i]:g} <= {mu0:g}: the "
            "coherence rule did not reject it, so the model has not seen it, or rejected it "
            "because of rounding; Propositions 4 and 5 hold for inputs that the rule rejected"
        )

"""Report of all measures and bounds for a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon.diagnostics._assumptions import AssumptionError, rejection_threshold, require_seen
from parsimon.diagnostics._dense import kernel_and_centers, largest_babel
from parsimon.diagnostics.bounds import (
    condition_bound,
    eigenvalue_bound,
    independence_guaranteed,
    principal_axis_bound,
    rejection_bound,
    residual_bound,
)
from parsimon.diagnostics.measures import (
    axis_errors,
    coherence,
    condition_number,
    projection_errors,
    residuals,
    smallest_eigenvalue,
)
from parsimon.kernels import as_points

Array = NDArray[np.float64]
T = TypeVar("T")


class Axis(NamedTuple):
    """A principal axis of the inputs, with its error and the bound of Proposition 5.

    `eigenvalue` is that of the normalised Gram matrix of all n inputs, divided by n. `error` is the
    squared error of the axis, a function of norm 1, approximated by the centres.
    """

    eigenvalue: float
    error: float
    bound: float


@dataclass(frozen=True)
class Report:
    """Result of `report`: measures of a dictionary, and the bounds on them.

    Most fields are the result of the function of `parsimon.diagnostics` with the same name. `babel`
    is the Babel measure of order m - 1 for m centres. `least_residual` is the smallest entry of
    `residuals`, `largest_error` is the largest entry of `projection_errors` for X, and `axes` are
    the principal axes of X. If an assumption of a bound fails, its field has the reason as text.
    """

    n_centers: int
    coherence: float
    babel: float
    condition_number: float
    condition_bound: float
    smallest_eigenvalue: float
    eigenvalue_bound: float
    independence_guaranteed: bool
    least_residual: float
    residual_bound: float | str
    largest_error: float | str
    rejection_bound: float | str
    axes: tuple[Axis, ...] | str

    def __str__(self) -> str:
        axes = (
            [("principal axes (Prop. 5)", self.axes)]
            if isinstance(self.axes, str)
            else [
                (
                    f"axis {k}, eigenvalue {a.eigenvalue:.4g} (Prop. 5)",
                    _beside(a.error, "<=", a.bound),
                )
                for k, a in enumerate(self.axes, start=1)
            ]
        )
        lines = [
            ("centres", f"{self.n_centers}"),
            ("coherence", f"{self.coherence:.4g}"),
            ("Babel measure", f"{self.babel:.4g}"),
            ("condition number", _beside(self.condition_number, "<=", self.condition_bound)),
            (
                "smallest eigenvalue (Prop. 1)",
                _beside(self.smallest_eigenvalue, ">=", self.eigenvalue_bound),
            ),
            ("(m - 1) mu < 1 (Prop. 2)", "yes" if self.independence_guaranteed else "no"),
            (
                "least error of a centre (Prop. 3)",
                _beside(self.least_residual, ">=", self.residual_bound),
            ),
            (
                "largest error of a row of X (Prop. 4)",
                _beside(self.largest_error, "<=", self.rejection_bound),
            ),
            *axes,
        ]
        return "\n".join(f"{label:<38} {text}" for label, text in lines)


def report(model: Any, X: ArrayLike | None = None, *, n_axes: int = 5) -> Report:
    """Measure the dictionary of a fitted model, and compare each measure with its bound.

    `print` shows the result as a table.

    Parameters
    ----------
    model : fitted model
        A model with at least one centre.
    X : array of shape (n, d) or None, default=None
        All inputs that the model has seen. It is needed for the largest error and for the principal
        axes, at a cost of O(n^3).
    n_axes : int, default=5
        Number of principal axes to report.

    Returns
    -------
    Report

    Notes
    -----
    A bound can be valid and say nothing. This is so in four cases:

    - the bound on the condition number is infinite, which means that the Babel measure is 1 or
      more;
    - the lower bound on the eigenvalues (Proposition 1) is 0 or less, because no eigenvalue of a
      Gram matrix is negative;
    - "(m - 1) mu < 1" is "no": Propositions 2 and 3 do not apply, but the centres can still be
      independent;
    - the upper bound on the error of an axis (Proposition 5) is 1 or more, because no error of a
      function of norm 1 is larger than 1.

    Bounds are useful for few centres or a small coherence.

    Examples
    --------
    >>> from parsimon import KNLMSRegressor
    >>> model = KNLMSRegressor("gaussian", gamma=1.0, coherence=0.5, budget=None)
    >>> found = report(model.partial_fit([[0.0], [1.0], [3.0], [3.1]], [0.0, 1.0, 0.0, 0.0]))
    >>> found.n_centers, round(found.coherence, 4)
    (3, 0.3679)
    """
    _, centers = kernel_and_centers(model)
    if not len(centers):
        raise ValueError("the model has no centres: there is nothing to report")
    points = None if X is None else as_points(X, "X")
    if points is not None and not len(points):
        raise ValueError("X has no rows: give all inputs that the model has seen, or omit X")
    measure = largest_babel(*kernel_and_centers(model))
    unmeasured = "not measured without X"
    return Report(
        n_centers=len(centers),
        coherence=coherence(model),
        babel=measure,
        condition_number=condition_number(model),
        condition_bound=condition_bound(measure),
        smallest_eigenvalue=smallest_eigenvalue(model),
        eigenvalue_bound=eigenvalue_bound(model),
        independence_guaranteed=independence_guaranteed(model),
        least_residual=float(residuals(model).min()),
        residual_bound=_or_reason(lambda: residual_bound(model)),
        largest_error=unmeasured
        if points is None
        else float(projection_errors(model, X=points).max()),
        rejection_bound=_or_reason(lambda: _rejection(model, points)),
        axes=unmeasured if points is None else _or_reason(lambda: _axes(model, points, n_axes)),
    )


def _rejection(model: Any, X: Array | None) -> float:
    bound = rejection_bound(model)
    if X is not None:
        require_seen(model, X)  # the bound holds only for errors of these rows
    return bound


def _axes(model: Any, X: Array, n_axes: int) -> tuple[Axis, ...]:
    mu0 = rejection_threshold(model)
    require_seen(model, X)
    values, errors = axis_errors(model, X=X, n_axes=n_axes)
    bounds = principal_axis_bound(mu0, values)
    return tuple(Axis(*map(float, axis)) for axis in zip(values, errors, bounds, strict=True))


def _or_reason(ask: Callable[[], T]) -> T | str:
    try:
        return ask()
    except AssumptionError as error:
        return str(error)


def _beside(value: float | str, sign: str, bound: float | str) -> str:
    left = value if isinstance(value, str) else f"{value:<10.4g}"
    return (
        f"{left} {sign} {bound:.4g}"
        if not isinstance(bound, str)
        else f"{left} (no bound: {bound})"
    )

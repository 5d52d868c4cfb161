"""Diagnostics: measures of a dictionary, and the theoretical bounds on them.

Measures take a kernel and centres, or a fitted model. Bounds take numbers, or a fitted model.

>>> import numpy as np
>>> from parsimon import KNLMSRegressor, diagnostics
>>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 1))
>>> model = KNLMSRegressor("gaussian", gamma=1.0, coherence=0.3)
>>> model = model.partial_fit(X, np.sin(X[:, 0]))
>>> print(diagnostics.report(model, X, n_axes=2))
centres                                4
coherence                              0.1519
Babel measure                          0.1597
condition number                       1.359      <= 1.38
smallest eigenvalue (Prop. 1)          0.8479     >= 0.5444
(m - 1) mu < 1 (Prop. 2)               yes
least error of a centre (Prop. 3)      0.9769     >= 0.9006
largest error of a row of X (Prop. 4)  0.8219     <= 0.91
axis 1, eigenvalue 0.2862 (Prop. 5)    0.1228     <= 3.18
axis 2, eigenvalue 0.2335 (Prop. 5)    0.3143     <= 3.898

All errors are squared norms in the RKHS. All kernel functions are scaled to norm 1: k(x, y) means
k(x, y) / sqrt(k(x, x) k(y, y)).

Remark: equation (4) of the paper below gives the norm of a projection, but Propositions 3 to 5 use
it as the squared norm. The bounds here are corrected. The printed forms are available for
comparison.

`relevance` measures how much a model depends on each feature.

`convergence` reports on a POLK model: its regularised risk, the radius of Theorem 2 and the growth
condition (76) of Koppel et al. 2019.

Reference: P. Honeine, C. Richard, J. C. M. Bermudez, *On-line nonlinear sparse approximation of
functions*, ISIT 2007.
"""

from parsimon.diagnostics._assumptions import AssumptionError
from parsimon.diagnostics.bounds import (
    ald_threshold,
    condition_bound,
    eigenvalue_bound,
    independence_guaranteed,
    principal_axis_bound,
    rejection_bound,
    residual_bound,
)
from parsimon.diagnostics.convergence import (
    Convergence,
    convergence,
    convergence_radius,
    growth_distance,
    regularised_risk,
    squared_norm,
)
from parsimon.diagnostics.measures import (
    axis_errors,
    babel,
    coherence,
    condition_number,
    projection_errors,
    residuals,
    smallest_eigenvalue,
)
from parsimon.diagnostics.relevance import relevance
from parsimon.diagnostics.report import Axis, Report, report
from parsimon.diagnostics.running import RunningCoherence

__all__ = [
    "AssumptionError",
    "Axis",
    "Convergence",
    "Report",
    "RunningCoherence",
    "ald_threshold",
    "axis_errors",
    "babel",
    "coherence",
    "condition_bound",
    "condition_number",
    "convergence",
    "convergence_radius",
    "eigenvalue_bound",
    "growth_distance",
    "independence_guaranteed",
    "principal_axis_bound",
    "projection_errors",
    "regularised_risk",
    "rejection_bound",
    "relevance",
    "report",
    "residual_bound",
    "residuals",
    "smallest_eigenvalue",
    "squared_norm",
]

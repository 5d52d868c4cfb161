"""Updates: how a sample changes the weights.

- `base`: the base class;
- `normalised`: normalised least mean squares and affine projection;
- `gradient`: gradient steps in function space, and schedules of their learning rate;
- `rls`: recursive least squares;
- `growing`: recursive filters in which every sample becomes a centre;
- `dual`: ascent on the dual of support vector machines.
"""

from __future__ import annotations

from parsimon.updates.base import Update
from parsimon.updates.dual import DualAscent
from parsimon.updates.gradient import (
    SCHEDULES,
    STEPS,
    Gradient,
    ProjectedGradient,
    QuantizedGradient,
    Schedule,
)
from parsimon.updates.growing import ExtendedRLS, Growing, Tracker, Window
from parsimon.updates.normalised import NLMS, AffineProjection
from parsimon.updates.rls import NormRLS, RowRLS, SpanRLS

__all__ = [
    "NLMS",
    "SCHEDULES",
    "STEPS",
    "UPDATES",
    "AffineProjection",
    "DualAscent",
    "ExtendedRLS",
    "Gradient",
    "Growing",
    "NormRLS",
    "ProjectedGradient",
    "QuantizedGradient",
    "RowRLS",
    "Schedule",
    "SpanRLS",
    "Tracker",
    "Update",
    "Window",
]

#: All updates by name.
UPDATES: dict[str, type[Update]] = {
    "nlms": NLMS,
    "affine_projection": AffineProjection,
    "gradient": Gradient,
    "projected_gradient": ProjectedGradient,
    "quantized_gradient": QuantizedGradient,
    "span_rls": SpanRLS,
    "norm_rls": NormRLS,
    "row_rls": RowRLS,
    "window": Window,
    "tracker": Tracker,
    "extended_rls": ExtendedRLS,
    "dual_ascent": DualAscent,
}

"""Updates: how a sample changes the weights.

- `base`: the base class;
- `normalised`: normalised least mean squares and affine projection;
- `gradient`: gradient steps in function space, and schedules of their learning rate;
- `rls`: recursive least squares;
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
from parsimon.updates.normalised import NLMS, AffineProjection
from parsimon.updates.rls import NormRLS, RowRLS, SpanRLS

__all__ = [
    "NLMS",
    "SCHEDULES",
    "STEPS",
    "UPDATES",
    "AffineProjection",
    "DualAscent",
    "Gradient",
    "NormRLS",
    "ProjectedGradient",
    "QuantizedGradient",
    "RowRLS",
    "Schedule",
    "SpanRLS",
    "Update",
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
    "dual_ascent": DualAscent,
}

"""The parts of an algorithm, from which a learner is made."""

from __future__ import annotations

from dataclasses import dataclass

from parsimon import _core
from parsimon._parts import real, whole
from parsimon.admission import Admission, Always, LinearDependence
from parsimon.compression import Compression, LeastNeeded, Merge, MergingPursuit, Nothing
from parsimon.kernels import Gaussian, Kernel
from parsimon.losses import Loss
from parsimon.updates import DualAscent, Gradient, Growing, ProjectedGradient, Update
from parsimon.updates.rls import RecursiveLeastSquares

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """The parts of an algorithm, from which `build` makes a learner.

    `batch_size` is the number of samples per step. With `average_after`, predictions use the mean
    of f over the steps after this number of samples. The weight of step k in the mean is
    proportional to k^average_power for large k.

    With `intercept`, predictions are f(x) plus an intercept. For numbers, the intercept is the mean
    of the targets so far, and f learns the difference. It changes after 1, 2, 4, ... samples. For
    classes, the intercept moves with every step like the weight of a constant kernel, but does not
    shrink. `target_scale` is the unit of the targets for losses and thresholds. None means their
    root mean squared distance from the intercept so far.

    >>> from parsimon.algorithms import knlms
    >>> from parsimon.kernels import Gaussian
    >>> learner = knlms(Gaussian(), step_size=0.5, coherence=0.5).build(n_features=2)
    >>> learner.n_centers
    0
    """

    kernel: Kernel
    loss: Loss
    admission: Admission
    update: Update
    compression: Compression
    batch_size: int = 1
    average_after: int | None = None
    average_power: float = 0.0
    intercept: bool = False
    target_scale: float | None = 1.0

    def __post_init__(self) -> None:
        if self.target_scale is not None:
            real("target_scale", self.target_scale, above=0, at_most=1e100)
        whole("batch_size", self.batch_size, at_least=1, at_most=10**6)
        if self.average_after is not None:
            whole("average", self.average_after, at_least=0, at_most=2**62)
            if not isinstance(self.update, Gradient):
                raise ValueError(f"averaging needs gradient steps, got {self.update!r}")
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be an object of parsimon.kernels, got {self.kernel!r}")
        merges = isinstance(self.compression, Merge | MergingPursuit)
        if merges and not isinstance(self.kernel, Gaussian):
            raise ValueError(
                "maintenance='merge' needs the Gaussian kernel in double precision, "
                f"got {self.kernel!r}; maintenance='projection' takes any kernel"
            )
        if isinstance(self.update, DualAscent):
            if self.batch_size != 1 or not isinstance(self.compression, Nothing):
                raise ValueError(
                    "DualAscent needs batch_size=1 and the compression Nothing(), "
                    "because its centres are never removed"
                )
        elif isinstance(self.admission, LinearDependence) and self.admission.ridge > 0:
            raise ValueError("a ridge in LinearDependence needs the update DualAscent")
        if isinstance(self.update, Growing) and not (
            isinstance(self.admission, Always)
            and isinstance(self.compression, LeastNeeded | Nothing)
            and self.batch_size == 1
        ):
            raise ValueError(
                f"{type(self.update).__name__} needs batch_size=1, the admission Always() and the "
                "compression LeastNeeded or Nothing(), because every sample becomes a centre"
            )

        self._check_removal()

    def _check_removal(self) -> None:
        """Refuse a compression that does not fit the update."""
        update, compression = type(self.update).__name__, type(self.compression).__name__
        if isinstance(self.update, RecursiveLeastSquares):
            if not isinstance(self.compression, LeastNeeded | Nothing):
                raise ValueError(
                    f"{update} needs the compression LeastNeeded or Nothing(), because its "
                    f"covariance must follow what is removed; got {compression}"
                )
            limit = getattr(self.update, "max_centers", None)
            if limit is not None and self.compression.budget != limit:
                raise ValueError(
                    f"{update} with max_centers={limit} needs the compression "
                    f"LeastNeeded({limit}), got {self.compression!r}"
                )
        elif isinstance(self.compression, LeastNeeded) and not isinstance(
            self.update, Growing | ProjectedGradient
        ):
            raise ValueError(
                "LeastNeeded needs an update that knows what a centre is worth: SpanRLS, NormRLS, "
                f"RowRLS, Window, Tracker, ExtendedRLS or ProjectedGradient. For {update}, use "
                "LeastCost"
            )

    @property
    def budget(self) -> int | None:
        """Maximum number of centres after a step; None if there is no limit."""
        return min(
            (b for b in (self.compression.budget, self.admission.budget) if b is not None),
            default=None,
        )

    @property
    def reserve(self) -> int:
        """Number of centres to reserve memory for: budget plus one batch; 0 without a budget."""
        return 0 if self.budget is None else self.budget + self.batch_size

    def build(self, n_features: int, n_outputs: int = 1, *, at_once: bool = True) -> _core.Learner:
        """Return a learner with these parts that has seen no samples.

        With a budget, memory is reserved now (`at_once`) or at the first sample.
        """
        budget = self.budget
        # A loss with a link takes its targets as they are.
        unit = 1.0 if self.loss.inverse_link is not None else self.target_scale
        try:
            return _core.Learner(
                kernel=self.kernel.core(),
                loss=self.loss.core(),
                admission=self.admission.core(),
                update=self.update.core(),
                compression=self.compression.core(),
                n_features=whole("n_features", n_features, at_least=1),
                n_outputs=whole("n_outputs", n_outputs, at_least=1),
                batch_size=self.batch_size,
                reserve=self.reserve,
                average_after=self.average_after,
                at_once=at_once,
                intercept=self.intercept,
                unit=0.0 if unit is None else unit,
                forgetting=getattr(self.update, "forgetting", 1.0),
                average_power=self.average_power,
            )
        except MemoryError:
            raise MemoryError(
                f"not enough memory for budget={budget} centres of {n_features} features: "
                "rules that need a factor of the Gram matrix take at least 4 * budget^2 bytes"
            ) from None

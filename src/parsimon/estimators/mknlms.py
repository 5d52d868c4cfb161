"""Multi-kernel normalised least mean squares."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from parsimon import _core, kernels
from parsimon._docs import documented
from parsimon._parts import real, whole
from parsimon.estimators.filters import FilterRegressor

__all__ = ["MKNLMSRegressor"]

Array = NDArray[np.float64]


@documented
class MKNLMSRegressor(FilterRegressor):
    """Multi-kernel normalised least mean squares with the coherence criterion.

    Each centre d_j has one weight for each of M kernels. So f can be smooth in some places and
    detailed in others, and no single width must be chosen:

        f(x) = sum_i sum_j w_ji k_i(x, d_j).

    delta is `coherence`, eta is `step_size` and rho is `ridge`. For each sample:

    1. x is admitted as a centre with weights 0 if its coherence with every centre is at most delta,
       for all kernels.
    2. All weights change: w <- w + eta e h / (rho + ||h||^2), with the error e = y - f(x) and all
       M m kernel values h.

    The cost is O(M m) per sample, with m centres.

    Parameters
    ----------
    kernel : str or Kernel, default="gaussian"
        Kernel function k(x, z): a name, or an object of `parsimon.kernels`. For a name with a
        width, the kernels k_i differ in their gamma, see `widths` and Notes. If it is a sum of
        kernel objects, its terms are the kernels k_i. Other kernels are used alone.
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    widths : tuple of float, default=(0.2, 1.0, 5.0)
        Factors on gamma, one for each kernel k_i. They are used only for a kernel given by name.
        Larger factors make narrower kernels. More factors cost more time per sample.
    step_size : float in (0, 2), default=0.3
        Learning rate eta. Larger values adapt faster and leave more noise in f.
    coherence : float in [0, 1], default=0.97
        Threshold delta: largest coherence at which a sample is admitted. The widest kernel decides.
        Larger values admit more centres.
    ridge : float >= 0, default=0.1
        Number rho that is added to ||h||^2. Larger values make shorter steps.
    budget : int or None, default=300
        Maximum number of centres B. When it is exceeded, the centre j with the least sum_i w_ji^2
        k_i(d_j, d_j) is dropped, but not the newest. None means no limit. Larger budgets can fit
        more detail and cost more time per sample. The memory, about 16 B M (d + C + 2) bytes at
        most, is reserved at the first sample.
    fit_intercept : bool, default=True
        {mean_intercept}
        On streams, it changes only during the first 16 samples.
    n_passes : int, default=5
        {n_passes}
    shuffle : bool, default=True
        {shuffle}
    random_state : int or None, default=None
        {random_state}

    Attributes
    ----------
    {centers_}
    weights_ : ndarray of shape (m, M) or (m, M, C)
        Weights of the centres for each kernel, and for each output if y had columns.
    kernels_ : tuple of Kernel
        Kernels k_i in use.
    intercept_ : float or ndarray of shape (C,)
        What predictions add to f; 0 without an intercept.
    n_outputs_ : int
        Number of outputs C.
    {fitted_}

    Notes
    -----
    Polynomial kernels of different gamma differ much in size. So a kernel given by name is scaled:
    all k_i(x, x) are equal at gamma ||x||^2 = 1, the size of typical samples with gamma="scale".
    Otherwise the largest kernel would take the whole step. A step at a small sample still changes
    f at larger samples by the ratio of their ||h||. This is inherent in NLMS with kernels that grow
    with x. For inputs with outliers, use a bounded kernel, such as ``kernels.Normalized``.

    The paper compares kernel values with delta. Here they are divided by sqrt(k_i(x, x) k_i(d_j,
    d_j)), which is the same for kernels with k_i(x, x) = 1. The paper has no budget.

    A sample of weight v removes the share 1 - (1 - s)^v of its error, if a sample of weight 1
    removes the share s. A sample of weight 0 changes nothing. f is no expansion in one kernel, so
    such models cannot be merged, compressed or exported. ``published(MKNLMSRegressor)`` is the
    algorithm of the paper.

    References
    ----------
    M. Yukawa, *Multikernel adaptive filtering*, IEEE Transactions on Signal Processing 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import MKNLMSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> y = np.sin(X[:, 0]) + np.exp(-100 * X[:, 0] ** 2)
    >>> model = MKNLMSRegressor(gamma=1.0, widths=(1.0, 100.0), coherence=0.99, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.99), model.weights_.shape
    (True, (44, 2))
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        widths: tuple[float, ...] = (0.2, 1.0, 5.0),
        step_size: float = 0.3,
        coherence: float = 0.97,
        ridge: float = 0.1,
        budget: int | None = 300,
        fit_intercept: bool = True,
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.widths = widths
        self.step_size = step_size
        self.coherence = coherence
        self.ridge = ridge
        self.budget = budget
        self.fit_intercept = fit_intercept
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state

    @property
    def centers_(self) -> Array:
        """Centres, oldest first, (m, d)."""
        return self._fitted().points()

    @property
    def n_centers_(self) -> int:
        """Number of centres m."""
        return self._fitted().n_points

    @property
    def weights_(self) -> Array:
        """Weights of the centres, (m, M) or (m, M, C)."""
        weights = self._fitted().weights()
        by_kernel = weights.reshape(-1, len(self.kernels_), weights.shape[1])
        return by_kernel[:, :, 0] if self._flat else by_kernel

    @property
    def kernels_(self) -> tuple[kernels.Kernel, ...]:
        """Kernels k_i in use."""
        self._fitted()
        return self._kernels(self._learns_with)

    def set_budget(self, budget: int) -> Self:
        """Set the maximum number of centres, and drop the smallest beyond it at once.

        The parameter `budget` is set too, so it also holds for later calls of `fit`.
        """
        learner, budget = self._fitted(), whole("budget", budget, at_least=1, at_most=10**9)
        self._require_unchanged(but="budget")
        learner.set_budget(budget)
        self.budget = budget
        self._learns_with = {**self._learns_with, "budget": budget}
        return self

    def _kernels(self, params: dict[str, Any]) -> tuple[kernels.Kernel, ...]:
        return _terms(self.kernel_) if not self._by_name(params) else self._scaled(params)

    def _by_name(self, params: dict[str, Any]) -> bool:
        named = kernels.named(params["kernel"]) is not None
        return named and hasattr(_innermost(self.kernel_), "gamma")

    def _scaled(self, params: dict[str, Any]) -> tuple[kernels.Kernel, ...]:
        widths = params["widths"]
        if not isinstance(widths, tuple | list) or not widths:
            raise TypeError(f"widths must be a tuple of numbers, got {widths!r}")
        factors = [real("each of widths", value, above=0, at_most=1e100) for value in widths]
        found = [_scaled(self.kernel_, factor) for factor in factors]
        unit = np.array([[1.0 / np.sqrt(_innermost(self.kernel_).gamma)]])
        own = float(self.kernel_(unit, unit)[0, 0])
        sizes = [own / float(kernel(unit, unit)[0, 0]) for kernel in found]
        return tuple(k if size == 1.0 else size * k for k, size in zip(found, sizes, strict=True))

    def _build(
        self, params: dict[str, Any], n_features: int, n_outputs: int, *, at_once: bool = True
    ) -> _core.Filter:
        budget = params["budget"]
        return _core.multi_kernel_filter(
            [kernel.core() for kernel in self._kernels(params)],
            n_features,
            n_outputs,
            self._has_intercept(params),
            real("step_size", params["step_size"], above=0, below=2),
            real("coherence", params["coherence"], at_least=0, at_most=1),
            real("ridge", params["ridge"], at_least=0),
            0 if budget is None else whole("budget", budget, at_least=1, at_most=10**9),
        )


def _terms(kernel: kernels.Kernel) -> tuple[kernels.Kernel, ...]:
    """Return the terms of a sum of kernels."""
    if isinstance(kernel, kernels.Sum):
        return (*_terms(kernel.left), *_terms(kernel.right))
    return (kernel,)


def _innermost(kernel: Any) -> Any:
    return kernel.kernel if isinstance(kernel, kernels.SinglePrecision) else kernel


def _scaled(kernel: Any, factor: float) -> kernels.Kernel:
    """Return a kernel with its gamma multiplied by a factor."""
    if isinstance(kernel, kernels.SinglePrecision):
        return kernel.around(_scaled(kernel.kernel, factor))
    assert any(field.name == "gamma" for field in fields(kernel))
    scaled: kernels.Kernel = replace(kernel, gamma=kernel.gamma * factor)
    return scaled

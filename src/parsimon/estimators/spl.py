"""Sequential projection learning."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon._docs import documented
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["SPLRegressor"]


@documented
class SPLRegressor(StreamRegressor):
    """Sequential projection learning: gradient steps projected onto a sparse dictionary.

    The cost is O(m^2) per sample, with m centres. With e = y - f(x), each sample (x, y) makes the
    step f <- f + eta e k(x, .), where eta is `step_size`. If x is admitted, it becomes a centre
    with weight eta e. Otherwise the step is projected onto the span of the centres d_j. Their
    weights w become w + eta e K^-1 h, where K is the Gram matrix of the centres and h_j = k(x,
    d_j).

    - Admission "residual" (basic SPL): x is admitted if the distance of the step from the span of
      the centres is greater than eps0 (`tolerance`, a norm). Then centres are projected out, those
      first whose removal changes f least, as long as each removal moves f by at most eps0.
    - Admission "coherence": x is admitted if its coherence with every centre is at most mu0
      (`coherence`). When the budget is exceeded, one of the two most coherent centres is projected
      out. With coherence="adaptive" the dictionary is first filled to the budget. Then only samples
      that are less coherent than the dictionary are admitted, so its coherence never increases.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="matern32"
        {kernel}
    gamma : float, "scale" or "median", default="scale"
        {gamma}
    step_size : float > 0, default=0.25
        {squared_step_size}
    admission : "residual" or "coherence", default="residual"
        Rule by which samples become centres.
    tolerance : float >= 0, default=0.03
        Threshold eps0, a norm. Larger values admit fewer centres and remove more. Only for
        admission "residual".
    coherence : float in [0, 1] or "adaptive", default=0.5
        Threshold mu0: largest coherence at which a sample is admitted. Larger values admit more
        centres. "adaptive" uses the coherence mu_t of the dictionary and needs a budget. Only for
        admission "coherence".
    budget : int or None, default=300
        Maximum number of centres m0. When it is exceeded, one centre is projected out. With
        admission "residual" this is the centre whose removal changes f least. None means no limit.
        Larger budgets can fit more detail and cost more time per sample.
        With the default and 10 features, the model takes 0.52 MB.
    removal : "older" or "cheaper", default="older"
        Which of the two most coherent centres is projected out: the older one, or the one whose
        removal changes f less. Only for admission "coherence".
    step : "invariant" or "explicit", default="invariant"
        {step}
    fit_intercept : bool, default=True
        {mean_intercept}
    target_scale : float > 0 or "auto", default="auto"
        Unit of y for `tolerance`. A number fixes the unit. "auto" is the root mean squared
        distance of the targets from the intercept so far. Then the result does not depend on the
        unit of y.
    n_passes : int, default=5
        {n_passes}
    shuffle : bool, default=True
        {shuffle}
    random_state : int or None, default=None
        {random_state}

    Attributes
    ----------
    {centers_}
    {outputs_}
    {fitted_}

    Notes
    -----
    A sample of weight 2 counts as two samples (step "invariant"), or takes a step of twice the
    length ("explicit"). A sample of weight 0 changes nothing. Weights should be about 1 on average,
    because the tolerance does not scale with them. ``published(SPLRegressor)`` is the algorithm of
    Dodd, with an explicit step.

    `POLKRegressor` takes the same steps. The two differ in how they make f sparse. SPL decides
    first whether the new sample becomes a centre, and compares each removal with the tolerance.
    POLK admits every sample, and then removes the cheapest centres while the errors of the step sum
    to at most eps^2. With tolerance 0 and parsimony 0 they are the same algorithm, bit for bit.

    The paper's test (10) is strict, coherence < mu0. Here a coherence of exactly mu0 is admitted
    too, as by Honeine et al. 2007. Equation (15) of the paper allows either of the two most
    coherent centres to be removed. The rule "cheaper" is ours. A sample that lies in the span of
    the centres up to rounding is projected instead of being admitted.

    References
    ----------
    J.-B. Pothin, C. Richard, *Online learning with kernels: a new approach for sparsity control
    based on a coherence criterion*, MLSP 2006.

    T. J. Dodd, V. Kadirkamanathan, R. F. Harrison, *Function estimation in Hilbert space using
    sequential projections*, IFAC Conference on Intelligent Control Systems and Signal Processing
    2003 (admission "residual").

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import SPLRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 1))
    >>> options = {"admission": "coherence", "coherence": 0.8, "budget": 12, "random_state": 0}
    >>> model = SPLRegressor("gaussian", **options).fit(X, np.sin(X[:, 0]))
    >>> bool(model.n_centers_ <= 12), bool(model.score(X, np.sin(X[:, 0])) > 0.99)
    (True, True)
    """

    _algorithm = staticmethod(algorithms.spl)

    def __init__(
        self,
        kernel: Any = "matern32",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.25,
        admission: str = "residual",
        tolerance: float = 0.03,
        coherence: float | str = 0.5,
        budget: int | None = 300,
        removal: str = "older",
        step: str = "invariant",
        fit_intercept: bool = True,
        target_scale: float | str = "auto",
        n_passes: int = 5,
        shuffle: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.admission = admission
        self.tolerance = tolerance
        self.coherence = coherence
        self.budget = budget
        self.removal = removal
        self.step = step
        self.fit_intercept = fit_intercept
        self.target_scale = target_scale
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.random_state = random_state

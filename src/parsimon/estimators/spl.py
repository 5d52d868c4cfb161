"""Sequential projection learning."""

from __future__ import annotations

from typing import Any

from parsimon import algorithms
from parsimon.estimators.regressor import StreamRegressor

__all__ = ["SPLRegressor"]


class SPLRegressor(StreamRegressor):
    """Sequential projection learning: gradient steps in function space, projected onto a sparse
    dictionary. O(m^2) a sample.

    With e = y - f(x) the step is f + eta e k(x, .). If x is admitted it becomes a centre of weight
    eta e; if not, the step is projected onto the span of the centres, w <- w + eta e K^-1 h.

    - admission "residual" (basic SPL): admitted if the step leaves the span by a norm > eps0; then
      every centre whose removal moves f by a norm of at most eps0 is projected onto the others, the
      cheapest first.
    - admission "coherence": admitted if the coherence with every centre is at most mu0. Beyond the
      budget m0 one of the two most coherent centres is projected onto the others. With
      coherence="adaptive" the dictionary first fills to the budget, then admits only what is less
      coherent than itself, and becomes ever less coherent.

    Parameters
    ----------
    kernel, gamma : as in `KNLMSRegressor`.
    step_size : float > 0, default=0.5
        eta. The paper's condition 0 < eta < 2 / k(x, x) is checked.
    admission : "residual" or "coherence", default="residual"
    tolerance : float >= 0, default=0.01
        eps0, a norm; for admission "residual".
    coherence : float in [0, 1] or "adaptive", default=0.5
        mu0, or mu_t; for admission "coherence".
    budget : int or None, default=None
        m0, the most centres held. With admission "residual" the centre of least removal cost leaves
        beyond it.
    removal : "older" or "cheaper", default="older"
        Which of the two most coherent centres leaves; for admission "coherence".
    n_passes : int, default=1
        Passes over the data in `fit`.

    Attributes
    ----------
    centers_, weights_, n_centers_, n_samples_seen_, nbytes_, kernel_ : as in `KNLMSRegressor`.

    Notes
    -----
    The paper's test (10) is strict, coherence < mu0; here a coherence of exactly mu0 is admitted
    too, as in Honeine et al. 2007. Which of the two most coherent centres leaves is open in (15);
    "cheaper" is a choice of ours. An admitted sample that lies in the span of the centres up to
    rounding is projected instead.

    `sample_weight` is a factor on the sample's gradient, so on its step eta e; weight eta k(x, x)
    must stay below 2. A sample of weight 0 changes nothing. Weights should be about 1 on average:
    the tolerance does not shrink with them.

    References
    ----------
    J.-B. Pothin, C. Richard, *Online learning with kernels: a new approach for sparsity control
    based on a coherence criterion*, MLSP 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import SPLRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 1))
    >>> model = SPLRegressor(gamma=1.0, admission="coherence", coherence=0.8, budget=12).fit(X, np.sin(X[:, 0]))
    >>> model.n_centers_, bool(model.score(X, np.sin(X[:, 0])) > 0.999)
    (10, True)
    """

    _algorithm = staticmethod(algorithms.spl)

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        gamma: float | str = "scale",
        step_size: float = 0.5,
        admission: str = "residual",
        tolerance: float = 0.01,
        coherence: float | str = 0.5,
        budget: int | None = None,
        removal: str = "older",
        n_passes: int = 1,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.step_size = step_size
        self.admission = admission
        self.tolerance = tolerance
        self.coherence = coherence
        self.budget = budget
        self.removal = removal
        self.n_passes = n_passes

"""Merging and compressing models that learn."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import _core, _threads
from parsimon.merging.alike import require_alike, require_information, shares_of
from parsimon.merging.compressing import Kept, keep_by_cost, keep_newest, require_limit
from parsimon.merging.functions import quadratic_forms
from parsimon.merging.limits import one_thread
from parsimon.merging.pooling import Pool
from parsimon.merging.together import Together

__all__ = ["Merged", "compress", "merge"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Merged:
    """The result of a merge or a compression.

    Below, f is the exact weighted sum (or the model that was compressed), and f~ the function of
    `model`.
    """

    model: Any = field(repr=False)
    #: ||f - f~||, the squares of the outputs summed: the distance of the model to the exact sum.
    distance: float
    #: The number of distinct centres before, and the number of centres of the model.
    n_before: int
    n_centers: int

    def bound(self, X: ArrayLike) -> Array:
        """Return `distance` times sqrt(k(x, x)) for each row x of X (n, d), an array (n,).

        No output of the model differs from the exact sum at x by more than this bound.
        """
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] != self.model.n_features_in_:
            raise ValueError(f"X must have {self.model.n_features_in_} columns, got shape {shape}")
        bounds: Array = self.distance * np.sqrt(np.maximum(self.model.kernel_.diagonal(X), 0.0))
        return bounds


def merge(
    models: Sequence[Any],
    weights: ArrayLike | Literal["information"] | None = None,
    *,
    since: Any = None,
    budget: int | None = None,
    tolerance: float | None = None,
    n_jobs: int | None = None,
) -> Merged:
    """Return the weighted sum of models as one model of the same kind, and its error.

    The exact sum is f = sum_i p_i f_i, where f_i is model i and p_i its factor. It has the centres
    of all models. Intercepts are added with the same factors. Then centres are projected out, those
    first whose removal changes f least (destructive kernel matching pursuit). This is repeated
    while there are more centres than the budget, or while the remaining function f~ stays within
    the tolerance of f.

    Parameters
    ----------
    models : list of fitted models of one class, with the same parameters and the same kernel
        Parameters that are computed from the first block must have come to the same values.
        Classifiers may have seen different classes. A model has f_c = 0 for a class that it has not
        seen.
    weights : array of shape (n_models,), "information" or None, default=None
        The factors p_i. None uses each model's share of all samples seen. These shares sum to 1.
        "information" is for KRLS with ``admission="ald"``. It selects the centres to keep in the
        same way as None. Then the weights of these centres are the least-squares fit to the samples
        of all models.
        Use it when the models have seen different regions. `distance` still refers to the weighted
        sum.
    since : fitted model or None, default=None
        The model f_0 that all models were continued from, if there is one. Then
        f = f_0 + sum_i p_i (f_i - f_0), and the samples of f_0 count once. By default p_i is the
        share of model i in the samples seen after f_0. With p_i = 1 the increments are added.
    budget : int or None, default=None
        The largest number of centres, now and later: it becomes the parameter `budget` of the
        result. None keeps the budget of the models.
    tolerance : float >= 0 or None, default=None
        The largest RKHS norm ||f - f~||. A budget is kept even if the distance then exceeds the
        tolerance. Centres that cannot be held (see Returns) are projected out in any case.
    n_jobs : int or None, default=None
        The number of threads; -1 uses all cores. The result does not depend on it.

    Returns
    -------
    Merged
        `model`, `distance` (the RKHS norm ||f - f~||), and `bound(X)`. If every centre is kept,
        `distance` is 0 and the model equals the sum up to rounding. Centres are projected out for
        two reasons. The first is a budget, also that of the models, or a tolerance. The second is a
        factor of the Gram matrix, which a model keeps for ALD or to find the cheapest centre: it
        cannot hold centres that are too close to the span of the others. `distance` includes both
        errors, and can be well above rounding.

    Notes
    -----
    The result can go on learning:

    - KLMS, KNLMS, SPL, POLK, BSGD: f is their whole state, besides the numbers of samples seen.
      These numbers are added, because learning rates depend on them. Averages (`average`) are
      merged in the same way.
    - KAP: as for KNLMS, but the result begins without recent samples.
    - NORMA, and KLMS, KNLMS and KAP with ``compression="oldest"``: centres are sorted by age,
      counted from the newest centre of each model. When the budget is exceeded, the oldest centres
      are dropped, as in learning.
    - KRLS: the information matrices sum_t a_t a_t' are added over the union of the centres, and
      projected when centres are projected out. a_t holds the coefficients that express sample t by
      the centres ("ald"), or its kernel values with the centres ("coherence"). f is the weighted
      sum, or with "information" the least-squares fit. Later samples are weighted correctly
      relative to all samples seen.
    - Sliding-window and fixed-budget KRLS: the weights w are taken as the fit to the targets
      (K + ridge I) w, with the Gram matrix K of the centres.
    - SOG: A'A, A'y and A'e are added in the same way. Row t of A holds the coefficients that
      express sample t by the centres, y are the targets and e is a vector of ones. `ascend` then
      moves f from the weighted sum towards the fit to all samples.
    - In KRLS and SOG, each model expresses its samples by its own centres. If the union has many
      more centres than each model, the samples do not determine f between the centres. Give a
      budget close to the number of centres that one model of all samples would have.
    - Dictionary learning is not supported: atoms are not functions that could be added. Nor are
      KRLS-T and extended KRLS, whose covariance belongs to their own samples, and filters that are
      no expansion in one kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import clone
    >>> from parsimon import KNLMSRegressor, merge
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> y = np.sin(X[:, 0])
    >>> model = KNLMSRegressor("gaussian", gamma=1.0, step_size=0.5)
    >>> parts = [clone(model).partial_fit(X[i::2], y[i::2]) for i in range(2)]
    >>> merged = merge(parts)
    >>> mean = (parts[0].predict(X) + parts[1].predict(X)) / 2
    >>> bool(np.abs(merged.model.predict(X) - mean).max() < 1e-12), merged.n_before
    (True, 11)
    >>> smaller = merge(parts, budget=8)
    >>> bool((np.abs(smaller.model.predict(X) - mean) <= smaller.bound(X) + 1e-12).all())
    True
    """
    models = list(models)
    all_models = models if since is None else [*models, since]
    require_alike(all_models, budget)
    if budget is not None and "budget" not in models[0]._learns_with:
        raise TypeError(f"{type(models[0]).__name__} has no budget")
    times = [1] * len(models) + ([] if since is None else [1 - len(models)])
    together = Together(all_models, times)
    model = _like(models[0], together)
    if budget is not None:
        model.budget = budget
        model._learns_with["budget"] = budget
    informed = isinstance(weights, str)
    if isinstance(weights, str):
        require_information(model, weights)
        weights = None
    shares = shares_of([state["seen"] for state in together.states], weights, since is not None)
    limits = model._learns_with.get("budget"), tolerance
    return _sum(model, together, shares, *limits, informed, _threads.count(n_jobs))


def compress(
    model: Any, budget: int | None, tolerance: float | None, n_jobs: int | None = None
) -> Merged:
    """Return a model with fewer centres, and its distance from the given model.

    ``model.compress(...)`` does the same in place.

    >>> from parsimon import KRLSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 1))
    >>> model = KRLSRegressor("gaussian", gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> smaller = compress(model, 6, None)
    >>> smaller.model.n_centers_, bool(smaller.distance < model.norm())
    (6, True)
    """
    require_limit(budget, tolerance)
    require_alike([model], budget)
    alone = Together([model], [1])
    threads = _threads.count(n_jobs)
    return _sum(_like(model, alone), alone, np.ones(1), budget, tolerance, False, threads)


@one_thread
def _sum(
    model: Any,
    together: Together,
    shares: Array,
    budget: int | None,
    tolerance: float | None,
    informed: bool,
    threads: int,
) -> Merged:
    """Make `model` the compressed weighted sum of the models; with `informed`, the fit to all."""
    recipe, kernel, centres = model._recipe(model._learns_with), model.kernel_, together.centres
    learner = recipe.build(model.n_features_in_, together.n_outputs)
    W = together.weights(shares)
    has_factor, _, ridge, pairs = learner.needs
    # With pairs, the ridge lets a dictionary hold any centre.
    independent = has_factor and not pairs
    if recipe.compression.drops_oldest and tolerance is None:
        kept, costs = keep_newest(kernel, centres, together.rows, W, budget)
    else:
        factor = together.first_factor() if has_factor and ridge == 0.0 else None
        kept, costs = keep_by_cost(
            kernel, centres, W, budget, tolerance, threads, factor=independent, known_factor=factor
        )
    dictionary = _core.Dictionary(
        recipe.kernel.core(), model.n_features_in_, W.shape[1], *learner.needs
    )
    weights = np.ascontiguousarray(kept.weights)
    if kept.factor is not None and learner.needs == (True, False, 0.0, False):
        dictionary.adopt(centres[kept.rows], weights, np.ascontiguousarray(kept.factor))
    else:
        entered = np.array(dictionary.add(centres[kept.rows], weights), dtype=bool)
        if not entered.all():  # with a ridge, fewer may enter
            kept = Kept(kept.rows[entered], np.ascontiguousarray(dictionary.weights()))
            costs = quadratic_forms(kernel, centres, kept.differences(W))
    pool = Pool(recipe.kernel, centres, together.parts(shares), kept.rows, together.n_outputs)
    sums = pool.total()
    if informed:
        fit = pool.fit(kept.weights, recipe.admission.span_tolerance)
        kept = Kept(kept.rows, fit)
        costs = quadratic_forms(kernel, centres, kept.differences(W))
        dictionary.set_weights(np.ascontiguousarray(fit))
    cost = float(together.predicted(costs).sum())
    alive = int(np.any(W[:, : together.n_outputs] != 0.0, axis=0).sum()) if together.averaged else 0
    learner.adopt(
        dictionary,
        sums,
        seen=together.seen,
        averaged=together.averaged,
        alive=alive,
        spent=max(together.total("spent"), 0.0) + cost,
        **together.intercepts(shares),
    )
    model._learner = learner
    return Merged(model, float(np.sqrt(cost)), len(centres), learner.n_centers)


def _like(model: Any, together: Together) -> Any:
    """Return a model with the parameters of another model and the classes of all models."""
    result = object.__new__(type(model))
    result.__dict__.update(
        {name: value for name, value in model.__dict__.items() if name != "_learner"}
    )
    result._learns_with = copy.deepcopy(model._learns_with)
    result.set_params(**result._learns_with)
    if together.labels is not None:
        result._set_classes(together.labels)
    return result

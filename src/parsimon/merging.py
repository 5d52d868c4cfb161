"""Models as functions: their sums, norms and distances in the RKHS, and what is left of them with
fewer centres.

Two kernel expansions add up to a kernel expansion, so models can be learned in parts and merged.
With f the (weighted) sum over all their centres and f~ what is kept of it,

    ||f - f~||^2 = c'K c,    c the differences of the coefficients,    |f(x) - f~(x)| <= ||f - f~|| sqrt(k(x, x)),

and both are known exactly: a merge says what it cost.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from parsimon import _core, _pursuit, _threads, updates
from parsimon._parts import joined, real, whole
from parsimon.admission import LinearDependence
from parsimon.compression import Oldest
from parsimon.kernels import Kernel

if TYPE_CHECKING:
    from parsimon.algorithms import Recipe

__all__ = ["Merged", "distance", "merge", "norm"]

Array = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., Any])


class _OneThread:
    """Lets matrix products compute with one thread each: they round differently with their number,
    and a merge is the same wherever it is done. What several threads do is cut up by us.

    The number is the process's: the first merge sets it, and the last one that is under way puts it
    back. (Where another thread holds a limit of its own, that one stays.)
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limits = threadpool_limits(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()


_one_thread = _OneThread()


def one_thread(function: F) -> F:
    """Let a function compute so."""

    @wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Any:
        with _one_thread:
            return function(*args, **kwargs)

    return limited  # type: ignore[return-value]


Indices = NDArray[np.int64]

#: Parameters in which models that are merged may differ.
FREE = ("n_passes", "shuffle", "random_state")


@dataclass(frozen=True)
class Merged:
    """What a merge or a compression came to."""

    model: Any = field(repr=False)
    #: ||f - f~||, the outputs' squares summed: how far the model is from the sum before anything
    #: left it.
    distance: float
    #: How many centres there were, exact copies counted once, and how many there are.
    n_before: int
    n_centers: int

    def bound(self, X: ArrayLike) -> Array:
        """Return for each row of X (n, d) what no output of the model can differ by from the sum:
        ||f - f~|| sqrt(k(x, x)), (n,).
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
    """Return the weighted sum of models as one model of the same kind, and how far it is from that
    sum.

    f = sum_i p_i f_i over the union of the dictionaries; then the centres without which f moves
    least are projected onto the others (destructive kernel matching pursuit) as long as it stays
    within the tolerance or there are more than the budget.

    Parameters
    ----------
    models : fitted models of one class, with the same parameters and the same kernel
        Classifiers may know different classes: a model has f_c = 0 for a class it has not met.
    weights : (n_models,), "information" or None
        p. None: the shares of samples seen, which sum to 1. "information" (KRLS with admission
        "ald"): with those, and then the least-squares fit to all that the parts have seen over the
        centres that are left. It is the one to take where the parts are not alike: each function
        counts where its part has seen something. `distance` is still that to the sum.
    since : a fitted model or None
        The model that all of them went on from, if there is one: f = f_0 + sum_i p_i (f_i - f_0)
        then, and what it had seen counts once. By default p is the shares of what was seen since,
        which gives the mean; ones add all increments up.
    budget : int or None
        The most centres held, from now on (the parameter `budget` of the result). None: that of the
        models.
    tolerance : float >= 0 or None
        The largest ||f - f~||, a norm. A budget is kept even beyond it, and centres that cannot be
        held (see below) leave in any case.
    n_jobs : int or None
        Threads to compute with; -1: one for each core. The result is the same to the last bit.

    Returns
    -------
    Merged
        `model`, `distance`, and `bound(X)`. Without a budget or tolerance nothing leaves, and the
        model is the sum up to rounding. (Models that keep a factor of the Gram matrix cannot hold
        centres that lie in the span of the others up to rounding: those are projected, and
        `distance` says what it cost.)

    Notes
    -----
    The result goes on learning:

    - KLMS, KNLMS, SPL, POLK, BSGD: f is all their state, and the samples seen are added up (which
      is what schedules count). Means (`average`) are merged likewise.
    - NORMA, and KLMS and KNLMS with compression "oldest": centres are put in the order of their
      ages, counted from the newest of each part; beyond the budget the oldest leave as they do in
      learning.
    - KRLS: what was seen adds up. With every sample written as a combination of the centres
      ("ald"), or by its kernel row ("coherence"), the information matrices P^-1 are summed over the
      union and taken through the projections. f is the weighted sum, or with "information" the
      least-squares fit to all; what comes next is weighed against all that was seen.
    - SOG: A'A, A'y and A'e add up in the same way, and `ascend` leads from the weighted sum to the
      fit to all that was seen.
    - For both: a sample is known by the centres of its own part alone, and a union much denser than
      the tolerance of each part leaves f free between them. Give a budget of about the centres that
      one model of everything would have.
    - Dictionary learning: atoms are no function that could be added. Refused.

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import KNLMSRegressor, merge
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 1))
    >>> y = np.sin(X[:, 0])
    >>> parts = [KNLMSRegressor(gamma=1.0, step_size=0.5).fit(X[i::2], y[i::2]) for i in range(2)]
    >>> merged = merge(parts)
    >>> mean = (parts[0].predict(X) + parts[1].predict(X)) / 2
    >>> bool(np.abs(merged.model.predict(X) - mean).max() < 1e-12), merged.n_before
    (True, 11)
    >>> smaller = merge(parts, budget=8)
    >>> bool((np.abs(smaller.model.predict(X) - mean) <= smaller.bound(X) + 1e-12).all())
    True
    """
    models = list(models)
    every = models if since is None else [*models, since]
    _require_alike(every, budget)
    if budget is not None and "budget" not in models[0]._learns_with:
        raise TypeError(f"{type(models[0]).__name__} has no budget")
    parts = _Parts(every, [1] * len(models) + ([] if since is None else [1 - len(models)]))
    model = _like(models[0], parts)
    if budget is not None:
        model.budget = budget
        model._learns_with["budget"] = budget
    informed = isinstance(weights, str)
    if isinstance(weights, str):
        _require_information(model, weights)
        weights = None
    shares = _shares(models, weights, since)
    return _merged(
        model,
        parts,
        shares,
        model._learns_with.get("budget"),
        tolerance,
        informed,
        _threads.count(n_jobs),
    )


def compress(
    model: Any, budget: int | None, tolerance: float | None, n_jobs: int | None = None
) -> Merged:
    """Return a model with fewer centres, and how far it is from what it was.

    The same as ``model.compress(...)``, which does it in place.
    """
    _require_limit(budget, tolerance)
    _require_alike([model], budget)
    parts = _Parts([model], [1])
    return _merged(
        _like(model, parts), parts, np.ones(1), budget, tolerance, False, _threads.count(n_jobs)
    )


@one_thread
def compressed(
    kernel: Kernel,
    centres: Array,
    weights: Array,
    budget: int | None,
    tolerance: float | None,
    n_jobs: int | None = None,
) -> tuple[Array, Array, float, int]:
    """Return centres (m, d) and weights (m, C) of what is left of sum_j w_j k(d_j, .), how far it
    is from that, and how many different centres there were.
    """
    _require_limit(budget, tolerance)
    distinct, (rows,) = union([centres])
    W = np.zeros((len(distinct), weights.shape[1]))
    np.add.at(W, rows, weights)
    kept, cost = _compressed(
        kernel, distinct, W, budget, tolerance, _threads.count(n_jobs), factor=False
    )
    return distinct[kept.rows], kept.weights, float(np.sqrt(cost.sum())), len(distinct)


@one_thread
def _merged(
    model: Any,
    parts: _Parts,
    shares: Array,
    budget: int | None,
    tolerance: float | None,
    informed: bool,
    threads: int,
) -> Merged:
    """Let the model be the weighted sum of the parts, compressed; or over the centres that are left
    the fit to all that they have seen.
    """
    recipe = model._recipe(model._learns_with)
    learner = recipe.build(model.n_features_in_, parts.n_outputs)
    W = parts.weights(shares)
    if isinstance(recipe.compression, Oldest) and tolerance is None:
        kept, costs = _newest(model.kernel_, parts, W, budget)
    else:
        known = parts.factor if learner.needs[0] and learner.needs[2] == 0.0 else None
        kept, costs = _compressed(
            model.kernel_,
            parts.centres,
            W,
            budget,
            tolerance,
            threads,
            factor=learner.needs[0],
            known=known,
        )
    held = _core.Dictionary(recipe.kernel.core(), model.n_features_in_, W.shape[1], *learner.needs)
    centres, weights = parts.centres[kept.rows], np.ascontiguousarray(kept.weights)
    if kept.factor is not None and learner.needs == (True, False, 0.0):
        held.adopt(centres, weights, np.ascontiguousarray(kept.factor))
    else:
        entered = np.array(held.add(centres, weights), dtype=bool)
        if not entered.all():  # a ridge may let fewer in
            kept = _Kept(kept.rows[entered], np.ascontiguousarray(held.weights()))
            costs = _quadratic(model.kernel_, parts.centres, kept.differences(W))
    more, steps, fitted = _learned(recipe, parts, shares, kept, informed)
    if fitted is not None:
        kept = _Kept(kept.rows, fitted)
        costs = _quadratic(model.kernel_, parts.centres, kept.differences(W))
        held.set_weights(np.ascontiguousarray(fitted))
    cost = float(parts.shown(costs).sum())
    centre_arrays, centre_counts = held.state()
    arrays = {f"dictionary.{name}": value for name, value in centre_arrays.items()}
    arrays.update({f"update.{name}": value for name, value in more.items()})
    counts = {f"dictionary.{name}": value for name, value in centre_counts.items()}
    counts.update({f"update.{name}": value for name, value in steps.items()})
    counts.update(seen=parts.total("seen"), averaged=parts.averaged)
    counts["alive"] = (
        int(np.any(W[:, : parts.n_outputs] != 0.0, axis=0).sum()) if parts.averaged else 0
    )
    spent = sum(
        n * part["spent"][0] for n, (part, _) in zip(parts.times, parts.states, strict=True)
    )
    arrays["spent"] = np.array([max(spent, 0.0) + cost])
    learner.restore(arrays, counts)
    model._learner = learner
    return Merged(model, float(np.sqrt(cost)), len(parts.centres), learner.n_centers)


def norm(model: Any) -> float:
    """Return ||f|| in the RKHS, the outputs' squares summed. The same as ``model.norm()``."""
    return float(np.sqrt(squared_norm(model)))


def squared_norm(model: Any) -> float:
    """Return sum_c ||f_c||^2 in the RKHS."""
    return float(_quadratic(_kernel(model), *_expansion(model)).sum())


def distance(model: Any, other: Any) -> float:
    """Return ||f - g|| in the RKHS, the outputs' squares summed.

    The same as ``model.distance(other)``.

    Outputs are paired in order, those of classifiers by their classes; a class that one of them has
    not met is zero there.
    """
    if _kernel(model) != _kernel(other):
        raise ValueError(
            f"the models have different kernels, {_kernel(model)!r} and {_kernel(other)!r}"
        )
    (A, V), (B, W) = _expansion(model), _expansion(other)
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"the models have different numbers of features, {A.shape[1]} and {B.shape[1]}"
        )
    labels = [
        list(getattr(m, "_output_labels", range(w.shape[1]))) for m, w in ((model, V), (other, W))
    ]
    named = [hasattr(m, "_output_labels") for m in (model, other)]
    if named[0] != named[1]:
        raise TypeError(
            f"one of the models tells classes apart, the other does not: {type(model).__name__}, {type(other).__name__}"
        )
    if named[0]:
        # Refuses labels of different kinds
        joined(np.array(labels[0]), np.array(labels[1]), "other")
    elif labels[0] != labels[1]:
        raise ValueError(
            f"the models have different outputs, {V.shape[1]} and {W.shape[1]} of them"
        )
    every = list(dict.fromkeys([*labels[0], *labels[1]]))
    columns = [
        np.array([every.index(label) for label in known], dtype=np.int64) for known in labels
    ]
    centres, (first, second) = union([A, B])
    D = np.zeros((len(centres), len(every)))
    np.add.at(D, np.ix_(first, columns[0]), V)
    np.subtract.at(D, np.ix_(second, columns[1]), W)
    return float(np.sqrt(_quadratic(_kernel(model), centres, D).sum()))


def union(dictionaries: Sequence[Array]) -> tuple[Array, list[Indices]]:
    """Return the centres of all dictionaries, exact copies once and the first where it was first,
    and where those of each are.
    """
    rows = np.ascontiguousarray(np.concatenate(dictionaries)) + 0.0  # -0.0 is 0.0
    places: dict[bytes, int] = {}
    index = np.array(
        [places.setdefault(row.tobytes(), len(places)) for row in rows], dtype=np.int64
    )
    first = np.unique(index, return_index=True)[1]
    return rows[first], np.split(index, np.cumsum([len(d) for d in dictionaries])[:-1])


@dataclass
class _Kept:
    """Which of the centres are left, their weights (m, outputs), and S with S'S = K^-1 over them
    where it is known.
    """

    rows: Indices
    weights: Array
    factor: Array | None = None

    def differences(self, W: Array) -> Array:
        """Return the coefficients of f - f~ over all centres."""
        D = W.copy()
        D[self.rows] -= self.weights
        return D


def _compressed(
    kernel: Kernel,
    centres: Array,
    W: Array,
    budget: int | None,
    tolerance: float | None,
    threads: int,
    *,
    factor: bool,
    known: Array | None = None,
) -> tuple[_Kept, Array]:
    """Return what is kept of the function with weights W over centres, and ||f - f~||^2 for each
    output. `known` is the inverse factor of the first centres.
    """
    most = len(centres) if budget is None else whole("budget", budget, at_least=1)
    allowance = 0.0 if tolerance is None else real("tolerance", tolerance, at_least=0) ** 2
    if not len(centres) or (not factor and len(centres) <= most and allowance == 0.0):
        return _Kept(np.arange(len(centres)), W), np.zeros(W.shape[1])
    # Centres that a factor can bear, then f projected onto their span, then matching pursuit within
    # it: the two errors are orthogonal.
    K = _pursuit.gram(kernel, centres, threads)
    rows, S = _bearable(kernel, centres, K, threads, known)
    values, aside = _pursuit.product(K, W), np.setdiff1d(np.arange(len(K)), rows)
    cost = 0.0
    if len(aside):
        onto = _Kept(rows, _pursuit.solve(S, values[rows]))
        cost = float(_pursuit.squares(K, onto.differences(W)).sum())
        if factor or cost <= allowance or len(K) > most:
            aside = aside[:0]
        else:  # nothing asks them to leave
            cost, values = 0.0, values - kernel(centres, centres[aside]) @ W[aside]
    if len(rows) > most or allowance > 0.0:
        left, S_left = _pursuit.pursue(
            kernel, centres, K, values, rows, S, most, max(allowance - cost, 0.0), threads
        )
        if S_left is not None:
            rows, S = left, S_left
        elif len(left) < len(rows):
            among, S = _bearable(kernel, centres[left], _pursuit.among(K, left), threads)
            rows = left[among]
    if not len(aside) and len(rows) == len(K):
        return _Kept(rows, W, S), np.zeros(W.shape[1])
    weights = _pursuit.solve(S, values[rows])
    kept = _Kept(
        np.concatenate([rows, aside]),
        np.concatenate([weights, W[aside]]),
        None if len(aside) or not len(rows) else S,
    )
    return kept, _pursuit.squares(K, kept.differences(W))


def _bearable(
    kernel: Kernel, centres: Array, K: Array, threads: int, known: Array | None = None
) -> tuple[Indices, Array]:
    """Return the centres of which a dictionary can keep a factor, and that factor; `known` is that
    of the first of them.
    """
    if not len(K):
        return np.arange(0), K
    diagonal = np.diag(K)
    S = None
    if diagonal.min(initial=1.0) > 1e-100:
        S = (
            _pursuit.inverse_factor(K, threads)
            if known is None
            else _pursuit.extended(known, K, threads)
        )
    if S is not None and _pursuit.is_sound(S, diagonal):
        return np.arange(len(K)), S
    dictionary = _core.Dictionary(kernel.core(), centres.shape[1], 1, True, False, reserve=len(K))
    entered = np.array(dictionary.add(centres, np.zeros((len(K), 1))), dtype=bool)
    return np.flatnonzero(entered), dictionary.factor()


def _newest(kernel: Kernel, parts: _Parts, W: Array, budget: int | None) -> tuple[_Kept, Array]:
    """Return the centres in the order of their ages, and of more than the budget the newest: models
    that let the oldest go know no other order.
    """
    age = np.full(len(W), -np.inf)
    for rows in parts.rows:
        np.maximum.at(age, rows, np.arange(1, len(rows) + 1) - len(rows))
    order = np.argsort(age, kind="stable")
    rows = order if budget is None else order[-budget:]
    kept = _Kept(rows, np.ascontiguousarray(W[rows]))
    return kept, _quadratic(kernel, parts.centres, kept.differences(W))


def _quadratic(kernel: Kernel, centres: Array, C: Array) -> Array:
    """Return C_c'K C_c for each column, in blocks."""
    used = np.flatnonzero(np.any(C != 0.0, axis=1))
    X, C = centres[used], C[used]
    total = np.zeros(C.shape[1])
    for first in range(0, len(X), 512):
        block = slice(first, first + 512)
        total += np.einsum("ic,ic->c", C[block], kernel(X[block], X) @ C)
    return np.maximum(total, 0.0)


class _Parts:
    """The states of the models, and where each one's centres and outputs are among all."""

    def __init__(self, models: list[Any], times: list[int]) -> None:
        # How often what each has seen counts: that of a model the others went on from is in theirs
        self.times = times
        self.states = [model._learner.state() for model in models]
        d = models[0].n_features_in_
        dictionaries = [arrays["dictionary.points"].reshape(-1, d) for arrays, _ in self.states]
        self.centres, self.rows = union(dictionaries)
        self.met = _met(models)
        self.n_outputs = models[0]._learner.n_outputs if self.met is None else len(self.met)
        place = {} if self.met is None else {label: i for i, label in enumerate(self.met.tolist())}
        self.columns = [
            np.array([place[label] for label in model._met.tolist()], dtype=np.int64)
            if place
            else np.arange(self.n_outputs)
            for model in models
        ]
        self.averages = models[0]._recipe(models[0]._learns_with).average_after is not None
        # A part whose means began anew counts from there.
        self.averaged = max(
            self.total("averaged"), *(counts["averaged"] for _, counts in self.states)
        )

    @property
    def factor(self) -> Array | None:
        """The inverse factor of the first model's own centres, which are the first, if it keeps one
        and they are most: to extend it by many takes longer than to begin anew.
        """
        packed = self.states[0][0].get("dictionary.factor.rows")
        if packed is None or len(self.rows[0]) < 0.75 * len(self.centres):
            return None
        return _triangle(packed)

    def total(self, name: str) -> int:
        return sum(
            times * counts[name] for times, (_, counts) in zip(self.times, self.states, strict=True)
        )

    def own_weights(self, i: int) -> Array:
        """Return the weights of model i, (m, outputs) in its own order."""
        n = len(self.columns[i]) * (2 if self.averages else 1)
        values: Array = self.states[i][0]["dictionary.weights"].reshape(n, len(self.rows[i])).T
        return values

    def weights(self, shares: Array) -> Array:
        """Return the weighted sum of the weights, (M, outputs); where there are means, theirs
        beside them.
        """
        C = self.n_outputs
        W = np.zeros((len(self.centres), 2 * C if self.averages else C))
        for i, share in enumerate(shares):
            own, k = self.own_weights(i), len(self.columns[i])
            np.add.at(W, np.ix_(self.rows[i], self.columns[i]), share * own[:, :k])
            if self.averages:  # what is predicted with: f itself until there is a mean
                means = own[:, k:] if self.states[i][1]["averaged"] else own[:, :k]
                np.add.at(W, np.ix_(self.rows[i], C + self.columns[i]), share * means)
        return W

    def shown(self, columns: Array) -> Array:
        """Return those of the columns that are predicted with."""
        return columns[self.n_outputs :] if self.averaged else columns[: self.n_outputs]


def _learned(
    recipe: Recipe, parts: _Parts, shares: Array, kept: _Kept, informed: bool
) -> tuple[dict[str, Array], dict[str, int], Array | None]:
    """Return what the update keeps of all that was seen besides f, added up: P^-1 of recursive
    least squares, A'A and its kin. Last the weights of the fit to all, if that is asked for.
    """
    update, kernel = recipe.update, recipe.kernel
    if not isinstance(update, updates.SpanRLS | updates.DualAscent):
        return {}, {}, None
    K = kernel(parts.centres[kept.rows])
    # Rows are zero where a centre was not there, and a centre that has left has no weight; or
    # samples are combinations of the centres, and those of the ones that are left.
    in_rows = isinstance(update, updates.RowRLS)
    onto = _selections(parts, kept) if in_rows else _projections(kernel, parts, kept, K)
    if min(parts.times) < 0 and getattr(update, "forgetting", 1.0) < 1.0:
        raise ValueError(
            "models that forget cannot be merged with `since`: what it had seen is not known by them any more"
        )
    states = [arrays for arrays, _ in parts.states]
    in_span = knows_fit(update)  # P is that of the weights; that of the values is K P K
    roots = []  # of each P^-1, in the coordinates of the centres that are left
    images = np.zeros((len(K), parts.n_outputs))  # the sum of P^-1 f there
    for i, (arrays, rows, B) in enumerate(zip(states, parts.rows, onto, strict=True)):
        R = _triangle(arrays["update.covariance.factor.rows"]) * arrays["update.covariance.scale"]
        if in_span:
            B = cho_solve(cho_factor(kernel(parts.centres[rows]), lower=True), B)
        roots.append(solve_triangular(R, B, trans="T", lower=True))
        own = solve_triangular(R, parts.own_weights(i), trans="T", lower=True)
        images[:, parts.columns[i]] += parts.times[i] * (roots[-1].T @ own)
    V = _inverse_root(roots, parts.times)
    if in_span:
        V = cho_solve(cho_factor(K, lower=True), V.T).T
    factor = _lower(V)
    variances = np.einsum("ij,ij->j", factor, factor)
    kept_arrays = {
        "covariance.scale": np.ones(1),
        "covariance.factor.rows": factor[np.tril_indices(len(factor))],
        "covariance.factor.diagonal": variances,
        "covariance.factor.summed": variances.copy(),
    }
    if isinstance(update, updates.RowRLS):
        return kept_arrays, {}, None
    if in_span:
        fit = None
        if informed:
            information = sum(
                n * (root.T @ root) for n, root in zip(parts.times, roots, strict=True)
            )
            fit = _fit(K, kept.weights, information, images, _tolerance(recipe))
        return (
            kept_arrays,
            {"since": max(counts["update.since"] for _, counts in parts.states)},
            fit,
        )
    kept_arrays |= _dual(parts, shares, onto, K, kept.weights, V)
    return kept_arrays, {"steps": parts.total("update.steps")}, None


def _tolerance(recipe: Recipe) -> float:
    return recipe.admission.tolerance if isinstance(recipe.admission, LinearDependence) else 0.0


def _fit(K: Array, W: Array, information: Array, images: Array, tolerance: float) -> Array:
    """Return the weights of the fit to what was seen, v'(information) v - 2 images'v in the values
    v = K w, no further from W than that demands.

    How samples of one part look at the centres of another is known up to the tolerance, in squared
    norms: that much of ||f - f_W||^2 is added, which settles what no sample tells.
    """
    L = np.linalg.cholesky(K)
    whitened = L.T @ information @ L  # in coordinates in which the RKHS norm is the plain one
    gap = L.T @ (images - information @ (K @ W))
    step = np.linalg.solve(whitened + max(tolerance, 1e-10) * np.eye(len(K)), gap)
    fit: Array = W + solve_triangular(L, step, trans="T", lower=True)
    return fit


def _dual(
    parts: _Parts, shares: Array, onto: list[Array], K: Array, W: Array, V: Array
) -> dict[str, Array]:
    """Return A'A, A'e, and for each output alpha* + alpha, Q A'y, f, A'(y - A f) and Q A'(y - A f),
    as `core/dual_ascent.hpp` keeps them.
    """
    m, C = len(K), parts.n_outputs
    counts, ones, images, sums = np.zeros((m, m)), np.zeros(m), np.zeros((m, C)), np.zeros((m, C))
    for i, (share, B) in enumerate(zip(shares, onto, strict=True)):
        own = _triangle(parts.states[i][0]["update.counts.rows"])
        own = own + own.T
        kept = parts.states[i][0]["update.kept"].reshape(5, -1, len(B))
        counts += parts.times[i] * (B.T @ own @ B)
        ones += parts.times[i] * (B.T @ parts.states[i][0]["update.ones"])
        images[:, parts.columns[i]] += parts.times[i] * (B.T @ (own @ kept[1].T))
        sums[:, parts.columns[i]] += share * (B.T @ kept[0].T)
    fit = V.T @ (V @ images)
    values = K @ W
    gap = fit - values
    packed = np.tril_indices(m)
    halves = 1.0 - 0.5 * np.eye(m)
    return {
        "gram.rows": (halves * K)[packed],
        "counts.rows": (halves * counts)[packed],
        "ones": ones,
        "kept": np.concatenate([a.T.ravel() for a in (sums, fit, values, counts @ gap, gap)]),
    }


def _selections(parts: _Parts, kept: _Kept) -> list[Array]:
    """Return for each model which of its centres are which of those that are left, (m_i, m)."""
    place = np.zeros((len(parts.centres), len(kept.rows)))
    place[kept.rows, np.arange(len(kept.rows))] = 1.0
    return [place[rows] for rows in parts.rows]


def _projections(kernel: Kernel, parts: _Parts, kept: _Kept, K: Array) -> list[Array]:
    """Return for each model its centres as combinations of those that are left, (m_i, m), whose
    Gram matrix is K.
    """
    found = _selections(parts, kept)
    factor = cho_factor(K, lower=True)
    for B, rows in zip(found, parts.rows, strict=True):
        gone = ~B.any(axis=1)
        if gone.any():
            B[gone] = cho_solve(
                factor, kernel(parts.centres[kept.rows], parts.centres[rows[gone]])
            ).T
    return found


def _inverse_root(roots: list[Array], times: list[int]) -> Array:
    """Return V with V'V = (sum_i times_i root_i'root_i)^-1."""
    if min(times) >= 0:
        roots = [root for n, root in zip(times, roots, strict=True) if n]
        U = qr(np.concatenate(roots), mode="r")[0][: roots[0].shape[1]]
        result: Array = solve_triangular(U, np.eye(len(U)), trans="T")
        return result
    total = sum(n * (root.T @ root) for n, root in zip(times, roots, strict=True))
    values, axes = np.linalg.eigh(total)
    scaled: Array = axes.T / np.sqrt(np.maximum(values, 1e-13 * values[-1]))[:, np.newaxis]
    return scaled


def _triangle(packed: Array) -> Array:
    """Return the lower triangular matrix of which these are the rows."""
    m = int(np.sqrt(2 * len(packed)))
    T = np.zeros((m, m))
    for i in range(m):
        T[i, : i + 1] = packed[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2]
    return T


def _lower(V: Array) -> Array:
    """Return the lower triangular R of positive diagonal with R'R = V'V."""
    R: Array = qr(V[:, ::-1], mode="r")[0][: V.shape[1]][::-1, ::-1]
    return R * np.sign(np.diag(R))[:, np.newaxis]


def _require_alike(models: list[Any], budget: int | None) -> None:
    """Refuse models that are not parts of one."""
    if not models:
        raise ValueError("there are no models to merge")
    first = models[0]
    for i, model in enumerate(models):
        if not hasattr(type(model), "_algorithm"):
            raise TypeError(
                f"models[{i}] is a {type(model).__name__}: what can be merged are the estimators that learn one kernel expansion"
            )
        if type(model) is not type(first):
            raise TypeError(
                f"models[0] is a {type(first).__name__}, models[{i}] a {type(model).__name__}"
            )
        check_is_fitted(model)
        model._require_unchanged()
        for name, value in model._learns_with.items():
            if (
                name in FREE
                or (name == "budget" and budget is not None)
                or name in ("kernel", "gamma")
            ):
                continue
            if value is not first._learns_with[name] and value != first._learns_with[name]:
                raise ValueError(
                    f"{name} is {first._learns_with[name]!r} in models[0] and {value!r} in models[{i}]"
                )
        if model.kernel_ != first.kernel_:
            raise ValueError(
                f"the kernel of models[0] is {first.kernel_!r}, that of models[{i}] {model.kernel_!r}: only functions of one kernel add up (give gamma as a number)"
            )
        names, others = (getattr(m, "feature_names_in_", None) for m in (first, model))
        if names is not None and others is not None and list(names) != list(others):
            raise ValueError(
                f"models[0] has the features {list(names)}, models[{i}] {list(others)}"
            )
        if model.n_features_in_ != first.n_features_in_:
            raise ValueError(
                f"models[0] has {first.n_features_in_} features, models[{i}] {model.n_features_in_}"
            )
        if not hasattr(model, "_met") and model._learner.n_outputs != first._learner.n_outputs:
            raise ValueError(
                f"models[0] has {first._learner.n_outputs} outputs, models[{i}] {model._learner.n_outputs}"
            )


def _require_limit(budget: int | None, tolerance: float | None) -> None:
    if budget is None and tolerance is None:
        raise TypeError("compress needs a budget or a tolerance")


def knows_fit(update: updates.Update) -> bool:
    """Return whether the fit to what several models have seen can be had from them: samples are
    combinations of centres, whosever they are.

    (A row of kernel values, as `RowRLS` has them, does not say what it would be at the centres of
    another.)
    """
    return isinstance(update, updates.SpanRLS) and not isinstance(update, updates.RowRLS)


def _require_information(model: Any, weights: str) -> None:
    if weights != "information":
        raise ValueError(f"weights must be numbers, 'information' or None, got {weights!r}")
    update = model._recipe(model._learns_with).update
    if isinstance(update, updates.DualAscent):
        raise ValueError(
            f"weights='information' is for KRLS: call ascend on the merged {type(model).__name__} instead"
        )
    if not knows_fit(update):
        raise ValueError(
            "weights='information' is for KRLS with admission='ald', which knows how all samples add up"
        )


def _shares(models: list[Any], weights: ArrayLike | None, since: Any) -> Array:
    """Return the factor on each function; last, if there is one, on that which they went on from."""
    if weights is None:
        before = 0 if since is None else since.n_samples_seen_
        seen = [model.n_samples_seen_ - before for model in models]
        if min(seen) < 0 or sum(seen) == 0:
            raise ValueError("the models have not seen more than the one that they went on from")
        weights = [n / sum(seen) for n in seen]
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != (len(models),):
        raise ValueError(f"weights must have shape ({len(models)},), got {shares.shape}")
    if not (np.abs(shares) <= 1e100).all():
        raise ValueError(f"weights must be numbers of at most 1e100, got {shares.tolist()}")
    return shares if since is None else np.append(shares, 1.0 - shares.sum())


def _like(model: Any, parts: _Parts) -> Any:
    """Return a model with the parameters of another and the classes of all."""
    result = object.__new__(type(model))
    result.__dict__.update(
        {name: value for name, value in model.__dict__.items() if name != "_learner"}
    )
    result._learns_with = copy.deepcopy(model._learns_with)
    result.set_params(**result._learns_with)
    if parts.met is not None:
        result._set_classes(parts.met)
    return result


def _met(models: list[Any]) -> NDArray[Any] | None:
    """Return the labels of all models in the order of the outputs of their sum; None for
    regressors.
    """
    if not hasattr(models[0], "_met"):
        return None
    met: NDArray[Any] = models[0]._met
    for i, model in enumerate(models[1:], start=1):
        known = set(met.tolist())
        new = np.array([label not in known for label in model._met.tolist()])
        met = joined(met, model._met[new], f"models[{i}]")
    return met


def _kernel(model: Any) -> Kernel:
    if not hasattr(type(model), "weights_"):
        raise TypeError(f"expected a model of one kernel expansion, got {model!r}")
    if hasattr(model, "fit"):
        check_is_fitted(model)
    kernel: Kernel = model.kernel_
    return kernel


def _expansion(model: Any) -> tuple[Array, Array]:
    """Return centres (m, d) and weights (m, C) of what a model predicts with."""
    W = np.asarray(model.weights_, dtype=np.float64)
    return model.centers_, W if W.ndim == 2 else W[:, np.newaxis]

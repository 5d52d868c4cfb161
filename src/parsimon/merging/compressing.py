"""Projection and matching pursuit: approximate a function over many centres by one over fewer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parsimon import _core, _threads
from parsimon._parts import real, whole
from parsimon.kernels import Kernel
from parsimon.merging import pursuit
from parsimon.merging.functions import quadratic_forms, union
from parsimon.merging.limits import one_thread

__all__ = ["Kept", "compressed", "keep_by_cost", "keep_newest", "require_limit"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass
class Kept:
    """The m centres that are kept.

    `rows` are their places among all centres, and `weights` their weights (m, n_outputs). `factor`
    is the lower triangular S with S'S = K^-1, if it is known, where K is the Gram matrix of these
    centres.
    """

    rows: Indices
    weights: Array
    factor: Array | None = None

    def differences(self, W: Array) -> Array:
        """Return the coefficients, over all centres, of f minus the function that is kept.

        W are the coefficients of f.
        """
        D = W.copy()
        D[self.rows] -= self.weights
        return D


@one_thread
def compressed(
    kernel: Kernel,
    centres: Array,
    weights: Array,
    budget: int | None,
    tolerance: float | None,
    n_jobs: int | None = None,
) -> tuple[Array, Array, float, int]:
    """Compress f = sum_j w_j k(d_j, .), given centres d_j and weights w_j, to a function f~.

    Return the centres (m, d) and weights (m, C) of f~, the RKHS norm ||f - f~||, and the number of
    distinct centres before.
    """
    require_limit(budget, tolerance)
    distinct, (rows,) = union([centres])
    W = np.zeros((len(distinct), weights.shape[1]))
    np.add.at(W, rows, weights)
    kept, cost = keep_by_cost(
        kernel, distinct, W, budget, tolerance, _threads.count(n_jobs), factor=False
    )
    return distinct[kept.rows], kept.weights, float(np.sqrt(cost.sum())), len(distinct)


def keep_by_cost(
    kernel: Kernel,
    centres: Array,
    W: Array,
    budget: int | None,
    tolerance: float | None,
    threads: int,
    *,
    factor: bool,
    known_factor: Array | None = None,
) -> tuple[Kept, Array]:
    """Return the centres kept for a function f, and ||f - f~||^2 per output.

    f has the weights W, and f~ is its projection onto the centres kept. Centres are projected out,
    those first whose removal changes f least. With `factor`, the result has the inverse factor, a
    triangular S with S'S = K^-1, where K is the Gram matrix of the centres kept. Then centres that
    are too close to the span of the other centres for such a factor are projected out too.
    `known_factor` is the inverse factor of the first centres.
    """
    most = len(centres) if budget is None else whole("budget", budget, at_least=1)
    allowance = 0.0 if tolerance is None else real("tolerance", tolerance, at_least=0) ** 2
    if not len(centres) or (not factor and len(centres) <= most and allowance == 0.0):
        return Kept(np.arange(len(centres)), W), np.zeros(W.shape[1])
    # First the centres that a factor can hold, then f projected onto their span, then matching
    # pursuit within it. The two errors are orthogonal, so their squares add up.
    K = pursuit.gram(kernel, centres, threads)
    rows, S = _independent(kernel, centres, K, threads, known_factor)
    values, aside = pursuit.product(K, W), np.setdiff1d(np.arange(len(K)), rows)
    cost = 0.0
    if len(aside):
        onto = Kept(rows, pursuit.solve(S, values[rows]))
        cost = float(pursuit.squares(K, onto.differences(W)).sum())
        if factor or cost <= allowance or len(K) > most:
            aside = aside[:0]
        else:  # the limits allow them to stay
            cost, values = 0.0, values - kernel(centres, centres[aside]) @ W[aside]
    if len(rows) > most or allowance > 0.0:
        left, S_left = pursuit.pursue(
            kernel, centres, K, values, rows, S, most, max(allowance - cost, 0.0), threads
        )
        if S_left is not None:
            rows, S = left, S_left
        elif len(left) < len(rows):
            places, S = _independent(kernel, centres[left], pursuit.among(K, left), threads)
            rows = left[places]
    if not len(aside) and len(rows) == len(K):
        return Kept(rows, W, S), np.zeros(W.shape[1])
    weights = pursuit.solve(S, values[rows])
    kept = Kept(
        np.concatenate([rows, aside]),
        np.concatenate([weights, W[aside]]),
        None if len(aside) or not len(rows) else S,
    )
    return kept, pursuit.squares(K, kept.differences(W))


def keep_newest(
    kernel: Kernel, centres: Array, rows_of_models: list[Indices], W: Array, budget: int | None
) -> tuple[Kept, Array]:
    """Return the newest centres, in the order of their ages, and ||f - f~||^2 per output.

    f has the weights W, and f~ is f without the terms of the other centres. Ages are counted from
    the newest centre of each model. This is for models that drop the oldest centre.
    """
    age = np.full(len(W), -np.inf)
    for rows in rows_of_models:
        np.maximum.at(age, rows, np.arange(1, len(rows) + 1) - len(rows))
    order = np.argsort(age, kind="stable")
    rows = order if budget is None else order[-budget:]
    kept = Kept(rows, np.ascontiguousarray(W[rows]))
    return kept, quadratic_forms(kernel, centres, kept.differences(W))


def require_limit(budget: int | None, tolerance: float | None) -> None:
    """Raise an error unless a compression has a limit."""
    if budget is None and tolerance is None:
        raise TypeError("compress needs a budget or a tolerance")


def _independent(
    kernel: Kernel, centres: Array, K: Array, threads: int, known_factor: Array | None = None
) -> tuple[Indices, Array]:
    """Return centres that are linearly independent up to rounding, and their inverse factor."""
    if not len(K):
        return np.arange(0), K
    diagonal = np.diag(K)
    S = None
    if diagonal.min(initial=1.0) > 1e-100:
        S = (
            pursuit.inverse_factor(K, threads)
            if known_factor is None
            else pursuit.extended(known_factor, K, threads)
        )
    if S is not None and pursuit.is_sound(S, diagonal):
        return np.arange(len(K)), S
    dictionary = _core.Dictionary(kernel.core(), centres.shape[1], 1, True, False, reserve=len(K))
    entered = np.array(dictionary.add(centres, np.zeros((len(K), 1))), dtype=bool)
    return np.flatnonzero(entered), dictionary.factor()

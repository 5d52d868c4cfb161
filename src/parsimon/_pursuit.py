"""Destructive matching pursuit over a given Gram matrix: what `Dictionary.prune` does to a dictionary that learns, with matrix products where thousands of centres are there at once.

Gram matrices here are symmetric (M, M) with the lower triangle filled in; what is above it is not looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from parsimon import _core
from parsimon.kernels import Kernel

__all__ = ["extended", "gram", "inverse_factor", "is_sound", "product", "pursue", "solve", "squares"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Centres that leave between two updates of the inverse Gram matrix.
BLOCK = 128
#: The share of centres up to which it is quicker to let them leave one by one.
FEW = 0.1
#: How far an entry of its diagonal may fall before it has lost too many digits: within a block, and before the next one.
LOST, WORN = 1e-7, 1e-4


def gram(kernel: Kernel, X: Array) -> Array:
    """Return the Gram matrix of the rows of X."""
    return kernel.core().gram(np.ascontiguousarray(X))


def product(K: Array, W: Array) -> Array:
    """Return K W (M, C)."""
    result: Array = blas.dsymm(1.0, K.T, W, lower=0)
    return np.ascontiguousarray(result)


def squares(K: Array, W: Array) -> Array:
    """Return w_c'K w_c for each column of W (M, C)."""
    total: Array = np.einsum("ic,ic->c", W, product(K, W))
    return np.maximum(total, 0.0)


def among(K: Array, rows: Indices) -> Array:
    """Return the Gram matrix of some of the centres, rising."""
    result = np.empty((len(rows), len(rows)))
    for i, row in enumerate(rows):
        np.take(K[row], rows, out=result[i], mode="clip")
    return result


def inverse_factor(K: Array) -> Array | None:
    """Return the lower triangular S with S'S = K^-1, or None if K is not positive definite."""
    factor, failed = lapack.dpotrf(K.T, lower=0, clean=1)
    if failed:
        return None
    inverse, failed = lapack.dtrtri(factor, lower=0, overwrite_c=1)
    return None if failed else inverse.T


def extended(S: Array, K: Array) -> Array | None:
    """Return the inverse factor of K, of which S is that of the first centres, or None if K is not positive definite."""
    m, n = len(S), len(K)
    if m == n:
        return S
    result = np.zeros((n, n))
    T = S @ K[m:, :m].T
    last = inverse_factor(np.tril(K[m:, m:] - T.T @ T))
    if last is None:
        return None
    result[:m, :m], result[m:, m:] = S, last
    result[m:, :m] = -(last @ T.T) @ S
    return result


def is_sound(S: Array, diagonal: Array) -> bool:
    """Return whether every centre is as far from the span of those before it as a dictionary asks."""
    return bool(_core.Dictionary.floor * np.einsum("ij,ij,j->i", S, S, diagonal).max(initial=0.0) < 1.0)


def solve(S: Array, values: Array) -> Array:
    """Return the weights of the function in the span that has these values (m, C) at the centres."""
    result: Array = S.T @ (S @ values)
    return result


def pursue(
    kernel: Kernel, centres: Array, K: Array, values: Array, rows: Indices, S: Array, most: int, allowance: float
) -> tuple[Indices, Array | None]:
    """Return which of the centres `rows` are left when those without which f moves least go one by one, and their inverse factor if that came with it.

    They go as long as there are more than `most`, or what they take of f, a squared norm, stays within the allowance. f has the given values (M, C) at all centres, and S is the inverse factor of those in `rows`.
    """
    if not len(rows):
        return rows, S
    if allowance == 0.0 and len(rows) - most <= FEW * len(rows):
        return _one_by_one(kernel, centres, rows, S, solve(S, values[rows]), most, allowance)
    while True:
        W = solve(S, values[rows])
        left, spent, done = _prune(S, W, most, allowance)
        kept = rows[left]
        if done:
            return kept, None
        fresh = inverse_factor(among(K, kept)) if len(kept) <= 0.9 * len(rows) else None
        if fresh is None:  # centres so close that the explicit inverse is of no use: one at a time, by the factor
            return _one_by_one(kernel, centres, rows, S, W, most, allowance)
        rows, S, allowance = kept, fresh, max(allowance - spent, 0.0)


def _prune(S: Array, W: Array, most: int, allowance: float) -> tuple[Indices, float, bool]:
    """Return which centres are left, what the others took, and whether that is all; if not, the inverse has lost its digits.

    Without centre j the weights are W - P_j w_j / P_jj and the inverse Gram matrix P - P_j P_j' / P_jj. The columns of the last few removals are kept beside P.
    """
    P = _gram_of_columns(S)
    W, left, gone, spent = W.copy(), np.arange(len(P)), np.zeros(len(P), dtype=bool), 0.0
    before, diagonal = np.diag(P).copy(), np.diag(P).copy()
    while True:
        U = np.empty((min(BLOCK, len(P)), len(P)))
        sums, n, stop = np.einsum("ij,ij->i", W, W), 0, False
        while n < len(U) and not stop:
            costs = np.divide(sums, diagonal, out=np.full(len(P), np.inf), where=~gone)
            j = int(np.argmin(costs))
            cost = float(costs[j])
            if gone[j] or (len(P) - gone.sum() <= most and not cost <= allowance):
                return left[~gone], spent, True
            u = np.concatenate([P[j, : j + 1], P[j + 1 :, j]]) - U[:n, j] @ U[:n]
            if not (u[j] > 0.0 and np.isfinite(cost)):
                return left[~gone], spent, False
            u *= ~gone / np.sqrt(u[j])
            U[n] = u
            W -= np.outer(u, W[j] / u[j])
            diagonal -= u * u
            sums = np.einsum("ij,ij->i", W, W)
            allowance, spent, gone[j], n = allowance - cost, spent + cost, True, n + 1
            stop = bool(np.any((diagonal < LOST * before) & ~gone))
        if np.any((diagonal < WORN * before) & ~gone):
            return left[~gone], spent, False
        blas.dsyrk(-1.0, U[:n].T, beta=1.0, c=P.T, overwrite_c=1)
        if gone.mean() > 0.25:
            keep = np.flatnonzero(~gone)
            P, left, W, before, gone = among(P, keep), left[keep], W[keep], before[keep], gone[keep]
            if not len(keep):
                return left, spent, True
        diagonal = np.diag(P).copy()


def _gram_of_columns(S: Array) -> Array:
    """Return S'S for lower triangular S."""
    result, _ = lapack.dlauum(S.T, lower=0)
    P: Array = result.T
    return P


def _one_by_one(
    kernel: Kernel, centres: Array, rows: Indices, S: Array, W: Array, most: int, allowance: float
) -> tuple[Indices, Array]:
    """The same by a dictionary and its factor: no inverse is needed, but every few removals are a sweep over all of it."""
    dictionary = _core.Dictionary(kernel.core(), centres.shape[1], W.shape[1], True, False, reserve=len(rows))
    dictionary.adopt(centres[rows], np.ascontiguousarray(W), np.ascontiguousarray(S))
    dictionary.prune(allowance, most)
    places = {row.tobytes(): i for i, row in zip(rows.tolist(), centres[rows], strict=True)}
    left = np.array([places[row.tobytes()] for row in dictionary.centers() + 0.0], dtype=np.int64)
    return left, dictionary.factor()

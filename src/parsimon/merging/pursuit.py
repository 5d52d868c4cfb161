"""Destructive matching pursuit over a given Gram matrix, for thousands of centres at once.

It gives the same result as `Dictionary.project_out_cheapest`, which is for a dictionary that
learns. Here matrix products are used instead.

A Gram matrix K here is symmetric (M, M), for M centres, and only its lower triangle is used. Its
*inverse factor* is the lower triangular S with S'S = K^-1. Weights (M, C) have one column per
output. Matrix products are split into panels that several threads can compute.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from parsimon import _core
from parsimon._threads import each
from parsimon.kernels import Kernel

__all__ = [
    "extended",
    "gram",
    "inverse_factor",
    "is_sound",
    "product",
    "pursue",
    "solve",
    "squares",
]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: Rows or columns in a panel, and the number of centres up to which LAPACK alone is quicker.
PANEL, SMALL = 256, 512
#: Centres projected out between two updates of the inverse Gram matrix.
BLOCK = 128
#: The share of centres up to which it is quicker to project them out one by one.
FEW = 0.1
#: How far an entry of its diagonal may fall before it has lost too many digits: within a block, and
#: before the next one.
LOST, WORN = 1e-7, 1e-4


def gram(kernel: Kernel, X: Array, threads: int = 1) -> Array:
    """Return the Gram matrix of the rows of X."""
    rows, K = _core.Gram(kernel.core(), np.ascontiguousarray(X)), np.zeros((len(X), len(X)))
    each(lambda i, j: rows.fill(i, j, K), len(X), PANEL, threads)
    return K


def product(K: Array, W: Array) -> Array:
    """Return K W (M, C)."""
    result: Array = blas.dsymm(1.0, K.T, W, lower=0)
    return np.ascontiguousarray(result)


def squares(K: Array, W: Array) -> Array:
    """Return w'K w for each column w of W (M, C)."""
    total: Array = np.einsum("ic,ic->c", W, product(K, W))
    return np.maximum(total, 0.0)


def among(K: Array, rows: Indices) -> Array:
    """Return the Gram matrix of some of the centres, in increasing order."""
    result = np.empty((len(rows), len(rows)))
    for i, row in enumerate(rows):
        np.take(K[row], rows, out=result[i], mode="clip")
    return result


def inverse_factor(K: Array, threads: int = 1) -> Array | None:
    """Return the lower triangular S with S'S = K^-1, or None if K is not positive definite."""
    S, half = _lower(K), _half(len(K))
    return S if _invert(S, _rooms(max(len(K) - half, 0), half), threads) else None


def extended(S: Array, K: Array, threads: int = 1) -> Array | None:
    """Return the inverse factor of K, given the inverse factor S of its first centres.

    Return None if K is not positive definite.
    """
    m = len(S)
    if m == len(K):
        return S
    result = _lower(K)
    result[:m, :m] = S
    return result if _extend(result, m, _rooms(len(K) - m, m), threads) else None


def _lower(K: Array) -> Array:
    """Return a copy of the lower triangle, with zeros above it."""
    result = np.zeros(K.shape)
    for i, row in enumerate(K):
        result[i, : i + 1] = row[: i + 1]
    return result


def _half(n: int) -> int:
    """Return about n / 2, in whole panels."""
    return -(-n // (2 * PANEL)) * PANEL


def _rooms(n: int, m: int) -> Array:
    """Return working memory for `_extend` with n rows after m, or fewer."""
    return np.empty((2, n * max(n, m)))


def _invert(S: Array, rooms: Array, threads: int) -> bool:
    """Replace a lower triangle by its inverse factor, by halves. Return whether it exists."""
    if len(S) <= SMALL:
        factor, failed = lapack.dpotrf(S.T, lower=0, clean=1)
        if not failed:
            S[:] = lapack.dtrtri(factor, lower=0, overwrite_c=1)[0].T
        return not failed
    half = _half(len(S))
    return _invert(S[:half, :half], rooms, threads) and _extend(S, half, rooms, threads)


def _extend(S: Array, m: int, rooms: Array, threads: int) -> bool:
    """Replace a lower triangle by its inverse factor, whose first m rows are known.

    Let S_A be these first m rows, and [B G] the rows after them. With T = B S_A' and S_G the
    inverse factor of G - T T', the rows [B G] become [-S_G T S_A, S_G]. Return whether there is
    such a factor.
    """
    n = len(S) - m
    first, below, last = S[:m, :m], S[m:, :m], S[m:, m:]
    T, squares = rooms[0, : n * m].reshape(n, m), rooms[1, : n * n].reshape(n, n)

    def project(i: int, j: int) -> None:
        np.matmul(below[:, :j], first[i:j, :j].T, out=T[:, i:j])

    def complement(i: int, j: int) -> None:
        np.matmul(T[i:j], T[:j].T, out=squares[i:j, :j])
        last[i:j, :j] -= squares[i:j, :j]
        below[i:j] = T[i:j]  # which makes room

    def through_last(i: int, j: int) -> None:
        np.matmul(last[i:j, :j], below[:j], out=T[i:j])
        np.negative(T[i:j], out=T[i:j])

    def through_first(i: int, j: int) -> None:
        np.matmul(T[:, i:], first[i:, i:j], out=below[:, i:j])

    each(project, m, PANEL, threads)
    each(complement, n, PANEL, threads)
    if not _invert(last, rooms, threads):
        return False
    each(through_last, n, PANEL, threads)
    each(through_first, m, PANEL, threads)
    return True


def is_sound(S: Array, diagonal: Array) -> bool:
    """Return whether every centre is far enough from the span of the centres before it."""
    return bool(
        _core.Dictionary.floor * np.einsum("ij,ij,j->i", S, S, diagonal).max(initial=0.0) < 1.0
    )


def solve(S: Array, values: Array) -> Array:
    """Return the weights of the function in the span with given values (m, C) at the centres."""
    result: Array = S.T @ (S @ values)
    return result


def pursue(
    kernel: Kernel,
    centres: Array,
    K: Array,
    values: Array,
    rows: Indices,
    S: Array,
    most: int,
    allowance: float,
    threads: int = 1,
) -> tuple[Indices, Array | None]:
    """Project out the cheapest of the centres `rows`, one after the other.

    The cheapest centre is the one whose removal changes f least. Centres are projected out while
    there are more than `most`, or while the squared norm of the change of f stays within the
    allowance. f has the given values (M, C) at all centres, and S is the inverse factor of the
    centres in `rows`. Return the centres that are left, and their inverse factor if it was
    computed.
    """
    if not len(rows):
        return rows, S
    if allowance == 0.0 and len(rows) - most <= FEW * len(rows):
        return _one_by_one(kernel, centres, rows, S, solve(S, values[rows]), most, allowance)
    while True:
        W = solve(S, values[rows])
        left, spent, done = _prune(S, W, most, allowance, threads)
        kept = rows[left]
        if done:
            return kept, None
        fresh = inverse_factor(among(K, kept), threads) if len(kept) <= 0.9 * len(rows) else None
        # The centres are too close together for the explicit inverse
        if fresh is None:
            return _one_by_one(kernel, centres, rows, S, W, most, allowance)
        rows, S, allowance = kept, fresh, max(allowance - spent, 0.0)


def _prune(
    S: Array, W: Array, most: int, allowance: float, threads: int
) -> tuple[Indices, float, bool]:
    """Project out the cheapest centres with the explicit inverse of the Gram matrix.

    Return the centres that are left, the squared norm of the change, and whether the pursuit is
    complete. It is not if the inverse has lost its accuracy.
    """
    P = _gram_of_columns(S, threads)
    W, left, gone, total = (
        np.array(W.T, order="C"),
        np.arange(len(P)),
        np.zeros(len(P), dtype=bool),
        0.0,
    )
    before, diagonal = np.diag(P).copy(), np.diag(P).copy()
    rooms = [np.empty(PANEL * len(P)) for _ in range(min(threads, -(-len(P) // PANEL)))]
    while True:
        U = np.empty((min(BLOCK, len(P)), len(P)))
        n, spent, done, lost = _core.remove_cheapest(
            P, W, diagonal, before, gone, U, most, allowance, LOST
        )
        allowance, total = allowance - spent, total + spent
        if done or lost or np.any((diagonal < WORN * before) & ~gone):
            return left[~gone], total, done
        _downdate(P, U[:n], rooms, threads)
        if gone.mean() > 0.25:
            keep = np.flatnonzero(~gone)
            P, left, before, gone = among(P, keep), left[keep], before[keep], gone[keep]
            W = np.ascontiguousarray(W[:, keep])
            if not len(keep):
                return left, total, True
        diagonal = np.diag(P).copy()


def _gram_of_columns(S: Array, threads: int) -> Array:
    """Return S'S for lower triangular S."""
    P = np.zeros(S.shape)

    def rows(i: int, j: int) -> None:
        np.matmul(S[i:, i:j].T, S[i:, :j], out=P[i:j, :j])

    each(rows, len(S), PANEL, threads)
    return P


def _downdate(P: Array, U: Array, rooms: list[Array], threads: int) -> None:
    """Subtract U'U from P. `rooms` has working memory for a panel per thread."""

    def rows(i: int, j: int) -> None:
        room = rooms.pop()
        squares = room[: (j - i) * j].reshape(j - i, j)
        P[i:j, :j] -= np.matmul(U[:, i:j].T, U[:, :j], out=squares)
        rooms.append(room)

    each(rows, len(P), PANEL, threads)


def _one_by_one(
    kernel: Kernel, centres: Array, rows: Indices, S: Array, W: Array, most: int, allowance: float
) -> tuple[Indices, Array]:
    """Project out the cheapest centres with a dictionary and its inverse factor.

    Unlike `_prune` this needs no inverse, but every few removals need a pass over the whole factor.
    """
    dictionary = _core.Dictionary(
        kernel.core(), centres.shape[1], W.shape[1], True, False, reserve=len(rows)
    )
    dictionary.adopt(centres[rows], np.ascontiguousarray(W), np.ascontiguousarray(S))
    dictionary.project_out_cheapest(allowance, most)
    places = {row.tobytes(): i for i, row in zip(rows.tolist(), centres[rows], strict=True)}
    left = np.array([places[row.tobytes()] for row in dictionary.centers() + 0.0], dtype=np.int64)
    return left, dictionary.factor()

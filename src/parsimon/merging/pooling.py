"""What updates have learned besides f, added up over models.

Recursive least squares and the dual ascent keep sums over all samples: an information matrix
sum_t a_t a_t', moments sum_t z_t a_t, and so on. `core/sums.hpp` says how they change with the
centres. Here they are brought to the centres that are kept, and added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular

from parsimon import _core
from parsimon.kernels import Kernel

__all__ = ["Part", "Pool"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

#: The part of ||f - f_W||^2 that a fit adds at least, so that it has one solution.
LEAST_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Part:
    """One of the models: its sums, where its centres and outputs are, how often it counts."""

    sums: _core.Sums
    weights: Array  # (m_i, C_i), of f
    rows: Indices  # its centres among all
    columns: Indices  # its outputs among all
    times: int
    share: float


class Pool:
    """The sums of several models over the centres that are kept.

    `kept` are their places among all `centres`.
    """

    def __init__(
        self, kernel: Kernel, centres: Array, parts: list[Part], kept: Indices, n_outputs: int
    ) -> None:
        self.parts, self.n_outputs = parts, n_outputs
        self.coordinates = parts[0].sums.coordinates
        if self.coordinates == "none":
            return
        self.gram = kernel(centres[kept])
        self.changes = _selections(parts, len(centres), kept)
        if self.coordinates != "rows":
            _project(self.changes, kernel, centres, parts, kept, self.gram)
        self.roots = [self._root(kernel, centres, i) for i in range(len(parts))]

    def total(self) -> _core.Sums:
        """Return the sums of all models, for the update of the merged one."""
        parts, C = self.parts, self.n_outputs
        steps = max(sum(part.times * part.sums.steps for part in parts), 0)
        age = max(part.sums.age for part in parts)
        # A model without centres has nothing to add.
        parts, changes = self._filled()
        if not parts:
            empty = np.zeros((0, C, 0))
            nothing = np.zeros((0, 0))
            return _core.Sums(self.coordinates, nothing, None, nothing, empty, empty, steps, age)
        m, first = len(self.gram), parts[0].sums
        squares = None if first.squares is None else np.zeros((m, m))
        moments = np.zeros((len(first.moments), m))
        output_moments = np.zeros((len(first.output_moments), C, m))
        terms = np.zeros((len(first.terms), C, m))
        for part, B in zip(parts, changes, strict=True):
            own = part.sums.squares
            if squares is not None and own is not None:
                squares += part.times * (B.T @ own @ B)
            moments += part.times * (part.sums.moments @ B)
            output_moments[:, part.columns] += part.times * (part.sums.output_moments @ B)
            terms[:, part.columns] += part.share * (part.sums.terms @ B)
        V = _inverse_root(self.roots, [part.times for part in self.parts])
        if self.coordinates == "weights":
            V = cho_solve(cho_factor(self.gram, lower=True), V.T).T
        factor = np.ascontiguousarray(_lower(V))
        return _core.Sums(
            self.coordinates, factor, squares, moments, output_moments, terms, steps, age
        )

    def _filled(self) -> tuple[list[Part], list[Array]]:
        """Return the models that have centres, and how their centres change."""
        if self.coordinates == "none" or not len(self.gram):
            return [], []
        filled = [i for i, part in enumerate(self.parts) if len(part.rows)]
        return [self.parts[i] for i in filled], [self.changes[i] for i in filled]

    def fit(self, W: Array, tolerance: float) -> Array:
        """Return the weights of the least-squares fit to the samples of all models.

        With v = K w the values at the centres, the squared error is v'I v - 2 b'v up to a constant,
        where I is the information matrix and b the image of the targets. How a sample of one model
        depends on the centres of another is known up to the tolerance of the models, a squared
        norm. That part of ||f - f_W||^2 is added, so the fit stays near W where no sample decides.
        """
        K = self.gram
        information = sum(
            part.times * (root.T @ root) for part, root in zip(self.parts, self.roots, strict=True)
        )
        image = np.zeros((len(K), self.n_outputs))
        for part, root in zip(self.parts, self.roots, strict=True):
            own = solve_triangular(part.sums.factor, part.weights, trans="T", lower=True)
            image[:, part.columns] += part.times * (root.T @ own)
        L = np.linalg.cholesky(K)
        # In these coordinates the RKHS norm is the Euclidean norm.
        whitened = L.T @ information @ L
        slope = L.T @ (image - information @ (K @ W))
        step = np.linalg.solve(whitened + max(tolerance, LEAST_TOLERANCE) * np.eye(len(K)), slope)
        fit: Array = W + solve_triangular(L, step, trans="T", lower=True)
        return fit

    def _root(self, kernel: Kernel, centres: Array, i: int) -> Array:
        """Return a matrix whose square is the information of a model at the kept centres."""
        part, B = self.parts[i], self.changes[i]
        if self.coordinates == "weights":
            B = cho_solve(cho_factor(kernel(centres[part.rows]), lower=True), B)
        root: Array = solve_triangular(part.sums.factor, B, trans="T", lower=True)
        return root


def _selections(parts: list[Part], n: int, kept: Indices) -> list[Array]:
    """Return for each model which of its centres is which kept centre, (m_i, m) of 0 and 1."""
    places = np.zeros((n, len(kept)))
    places[kept, np.arange(len(kept))] = 1.0
    return [places[part.rows] for part in parts]


def _project(
    selections: list[Array],
    kernel: Kernel,
    centres: Array,
    parts: list[Part],
    kept: Indices,
    K: Array,
) -> None:
    """Write centres that are not kept as combinations of those that are, with Gram matrix K."""
    factor = cho_factor(K, lower=True)
    for B, part in zip(selections, parts, strict=True):
        missing = ~B.any(axis=1)
        if missing.any():
            B[missing] = cho_solve(factor, kernel(centres[kept], centres[part.rows[missing]])).T


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


def _lower(V: Array) -> Array:
    """Return the lower triangular R with positive diagonal and R'R = V'V."""
    R: Array = qr(V[:, ::-1], mode="r")[0][: V.shape[1]][::-1, ::-1]
    return R * np.sign(np.diag(R))[:, np.newaxis]

"""The sums that updates keep besides f, added over models.

Recursive least squares and the dual ascent keep sums over all samples t: an information matrix
sum_t a_t a_t', moments sum_t z_t a_t, and so on. The vector a_t holds the coefficients that express
sample t by the centres, or its kernel values with the centres. z_t is a number, such as the target
of sample t. `core/sums.hpp` says how they change with the centres. Here the sums are expressed over
the centres that are kept, and added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
    """One of the models: its sums, where its centres and outputs are, and how often it counts."""

    sums: _core.Sums
    weights: Array  # (m_i, C_i), of f
    rows: Indices  # its centres among all
    columns: Indices  # its outputs among all
    times: int
    share: float
    shift: Array  # (C_i,): its intercepts minus those of the sum

    @cached_property
    def factor(self) -> Array:
        """R with R'R = (sum_t a_t a_t')^-1, cached because the core copies it on each access."""
        return self.sums.factor


class Pool:
    """The sums of several models over the centres that are kept.

    `kept` are the places of these centres among all `centres`. A model without centres has nothing
    to add.
    """

    def __init__(
        self, kernel: Kernel, centres: Array, parts: list[Part], kept: Indices, n_outputs: int
    ) -> None:
        self.n_outputs, self.coordinates = n_outputs, parts[0].sums.coordinates
        self.steps = max(sum(part.times * part.sums.steps for part in parts), 0)
        self.age = max(part.sums.age for part in parts)
        self.noise, self.n_errors = _noise(parts, n_outputs)
        self.parts = [part for part in parts if len(part.rows)]
        self.kernel, self.centres = kernel, centres
        if self.coordinates == "none" or not len(kept):
            self.parts = []
        if not self.parts:
            return
        self.gram = kernel(centres[kept])
        self.changes = _selections(self.parts, len(centres), kept)
        if self.coordinates != "rows":
            _project(self.changes, kernel, centres, self.parts, kept, self.gram)
        pairs = zip(self.parts, self.changes, strict=True)
        self.roots = [self._root(kernel, centres, part, B) for part, B in pairs]

    def total(self) -> _core.Sums:
        """Return the sums of all models, for the update of the merged model."""
        C = self.n_outputs
        if not self.parts:
            none, empty = np.zeros((0, 0)), np.zeros((0, C, 0))
            return self._sums(none, None, none, empty, empty)
        m, first = len(self.gram), self.parts[0].sums
        moments = np.zeros((len(first.moments), m))
        output_moments = np.zeros((len(first.output_moments), C, m))
        terms = np.zeros((len(first.terms), C, m))
        squares: Array | None = None
        for part, B in zip(self.parts, self.changes, strict=True):
            own = part.sums.squares
            if own is not None:
                added: Array = part.times * (B.T @ own @ B)
                squares = added if squares is None else squares + added
            moments += part.times * (part.sums.moments @ B)
            own_moments = part.sums.output_moments
            if len(own_moments):  # of targets, which are relative to the intercept
                own_moments = own_moments + part.shift[:, np.newaxis] * part.sums.moments[:1]
            output_moments[:, part.columns] += part.times * (own_moments @ B)
            terms[:, part.columns] += part.share * (part.sums.terms @ B)
        V = _inverse_root(self.roots, [part.times for part in self.parts])
        if self.coordinates == "weights":
            V = cho_solve(cho_factor(self.gram, lower=True), V.T).T
        factor = np.ascontiguousarray(_lower(V))
        return self._sums(factor, squares, moments, output_moments, terms)

    def _sums(
        self, factor: Array, squares: Array | None, moments: Array, by_output: Array, terms: Array
    ) -> _core.Sums:
        return _core.Sums(
            self.coordinates,
            factor,
            squares,
            moments,
            by_output,
            terms,
            self.steps,
            self.age,
            self.noise,
            self.n_errors,
        )

    def fit(self, W: Array, tolerance: float) -> Array:
        """Return the weights of the least-squares fit to the samples of all models.

        Let K be the Gram matrix of the centres, w the weights, and v = K w the values at the
        centres. Let a_t be the coefficients that express sample t by the centres, and y_t its
        target. Up to a constant the squared error is v'A v - 2 b'v, with the information matrix A =
        sum_t a_t a_t' and b = sum_t y_t a_t. The models do not say exactly how a sample of one
        model depends on the centres of another: this is known only up to the tolerance of the
        models, a squared norm. So the tolerance times ||f - f_W||^2 is added to the error, where
        f_W is the function with weights W. The fit then stays near f_W where the samples do not
        determine it.
        """
        if not self.parts:
            return W
        K = self.gram
        information, image = np.zeros_like(K), np.zeros((len(K), self.n_outputs))
        for part, root in zip(self.parts, self.roots, strict=True):
            own = solve_triangular(part.factor, self._shifted(part), trans="T", lower=True)
            information += part.times * (root.T @ root)
            image[:, part.columns] += part.times * (root.T @ own)
        L = np.linalg.cholesky(K)
        # In these coordinates the RKHS norm is the Euclidean norm.
        whitened = L.T @ information @ L
        slope = L.T @ (image - information @ (K @ W))
        step = np.linalg.solve(whitened + max(tolerance, LEAST_TOLERANCE) * np.eye(len(K)), slope)
        fit: Array = W + solve_triangular(L, step, trans="T", lower=True)
        return fit

    def _shifted(self, part: Part) -> Array:
        """Return the weights of a model for targets relative to the intercept of the sum."""
        if not part.shift.any():
            return part.weights
        gram = cho_factor(self.kernel(self.centres[part.rows]), lower=True)
        ones: Array = cho_solve(gram, np.ones(len(part.rows)))
        return part.weights + np.outer(ones, part.shift)

    def _root(self, kernel: Kernel, centres: Array, part: Part, B: Array) -> Array:
        """Return a matrix R such that R'R is the information matrix of a model.

        B maps the centres of the model to the kept centres.
        """
        if self.coordinates == "weights":
            B = cho_solve(cho_factor(kernel(centres[part.rows]), lower=True), B)
        root: Array = solve_triangular(part.factor, B, trans="T", lower=True)
        return root


def _selections(parts: list[Part], n: int, kept: Indices) -> list[Array]:
    """Return for each model a matrix (m_i, m) of 0 and 1 that maps its centres to kept centres."""
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
    """Write centres that are not kept as combinations of the kept centres, with Gram matrix K."""
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


def _noise(parts: list[Part], n_outputs: int) -> tuple[Array, Array]:
    """Return the mean noise of the models (C,), weighted by their errors, and their numbers (C,).

    Both are empty if the models do not estimate noise.
    """
    if not any(len(part.sums.noise) for part in parts):
        return np.zeros(0), np.zeros(0)
    total, counts = np.zeros(n_outputs), np.zeros(n_outputs)
    for part in parts:
        if part.times > 0:
            count = part.times * part.sums.n_errors
            total[part.columns] += count * part.sums.noise
            counts[part.columns] += count
    return total / np.maximum(counts, 1), counts

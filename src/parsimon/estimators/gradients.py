"""The derivative of a model with respect to its inputs."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Differentiable"]

Array = NDArray[np.float64]


class Differentiable:
    """A model f(x) = sum_j w_j k(d_j, x), perhaps with an offset: centres d_j, weights w_j."""

    def gradient(self, X: ArrayLike, *, n_jobs: int | None = None) -> Array:
        """Return the derivative of f with respect to the inputs, for each row of X (n, d).

        df(x)/dx_i = sum_j w_j dk(d_j, x)/dx_i

        d_j are the centres and w_j their weights. f is the function that `predict_link` returns, or
        `decision_function` of a classifier. It is neither a probability nor a prediction through an
        inverse link, as with ``loss="poisson"``.

        Parameters
        ----------
        X : array of shape (n, d)
            Points.
        n_jobs : int, default=None
            Number of threads that share the rows (-1: one per core). The result does not depend on
            it, and a block equals its rows, bit for bit.

        Returns
        -------
        ndarray of shape (n, d) or (n, C, d)
            The derivatives. The shape is (n, d) if f has shape (n,). It is (n, C, d) if f has
            shape (n, C).

        Notes
        -----
        The Laplacian kernel has no derivative where a feature of x equals that of a centre. There
        sign(0) = 0 is used. So is 0 where a normalised kernel has a norm of zero. With
        `SinglePrecision` it is the derivative at the rounded point. A kernel that is a Python
        function has no derivative, and raises a TypeError. The time is about 1.5 to 3 times that of
        `predict` for one output. Each further output adds 0.5 to 2 times that of `predict`.

        Examples
        --------
        >>> import numpy as np
        >>> from parsimon import KRLSRegressor, kernels
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
        >>> model = KRLSRegressor(kernels.Polynomial(2)).fit(X, X[:, 0] * X[:, 1])
        >>> model.gradient([[0.5, 0.2], [-0.3, 0.7]]).round(2)
        array([[ 0.2,  0.5],
               [ 0.7, -0.3]])
        """
        return self._as_decided(self._derivatives(X, n_jobs))

    @abstractmethod
    def _derivatives(self, X: ArrayLike, n_jobs: int | None) -> Array:
        """Return the derivatives of all outputs, (n, C, d)."""

    @abstractmethod
    def _as_decided(self, values: Array) -> Array:
        """Return f, or its derivatives, in the form that users see. Axis 1 is that of outputs."""

"""Plain NumPy versions of the filters that are linear in features."""

import numpy as np


class MultiKernel:
    """Multi-kernel NLMS with coherence (Yukawa 2012).

    Over the budget, the centre with the smallest weights is dropped, but not the newest.
    """

    def __init__(self, kernels, step_size, coherence, ridge, budget):
        self.kernels, self.step_size = kernels, step_size
        self.coherence, self.ridge, self.budget = coherence, ridge, budget
        self.X, self.w = None, np.zeros((0, len(kernels)))

    def rows(self, x):
        if self.X is None:
            return np.zeros((0, len(self.kernels)))
        return np.column_stack([k(x[None], self.X)[0] for k in self.kernels])

    def diagonals(self, X):
        return np.column_stack([k.diagonal(X) for k in self.kernels])

    def predict(self, x):
        return np.sum(self.rows(x) * self.w)

    def learn(self, x, y):
        h, own = self.rows(x), self.diagonals(x[None])[0]
        e = y - np.sum(h * self.w)
        largest = np.max(np.abs(h) / np.sqrt(own * self.diagonals(self.X))) if len(h) else 0.0
        if largest <= self.coherence:
            self.X = x[None] if self.X is None else np.vstack([self.X, x])
            self.w = np.vstack([self.w, np.zeros(len(self.kernels))])
            h = np.vstack([h, own])
        self.w = self.w + self.step_size * e * h / (self.ridge + np.sum(h**2))
        if self.budget is not None and len(self.X) > self.budget:
            j = int(np.argmin(np.sum(self.w**2 * self.diagonals(self.X), axis=1)[:-1]))
            self.X, self.w = np.delete(self.X, j, 0), np.delete(self.w, j, 0)


class Fourier:
    """LMS over random Fourier features (Bouboulis, Pougkakiotis & Theodoridis 2016).

    As in the paper, psi has no factor sqrt(2 / D), and the prediction is 2 theta'psi / D.
    """

    def __init__(self, frequencies, phases, step_size):
        self.frequencies, self.phases, self.step_size = frequencies, phases, step_size
        self.theta = np.zeros(len(phases))

    def psi(self, x):
        return np.cos(self.frequencies @ x + self.phases)

    def predict(self, x):
        return 2 * self.theta @ self.psi(x) / len(self.theta)

    def learn(self, x, y):
        self.theta = self.theta + self.step_size * (y - self.predict(x)) * self.psi(x)

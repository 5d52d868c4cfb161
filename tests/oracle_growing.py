"""Plain NumPy versions of the recursive filters in which every sample becomes a centre.

Each class has `predict(x)` and `learn(x, y)`, and follows the recursion of its paper with explicit
matrices. `kernel(A, B)` returns the Gram matrix of the rows of A and B.
"""

import numpy as np


class Window:
    """Kernel ridge regression on the pairs that are kept, solved anew for each sample."""

    def __init__(self, kernel, ridge, budget, oldest):
        self.kernel, self.ridge, self.budget, self.oldest = kernel, ridge, budget, oldest
        self.X, self.y, self.w = [], [], np.zeros(0)

    def predict(self, x):
        return self.kernel(x[None], np.array(self.X))[0] @ self.w if self.X else 0.0

    def solve(self):
        P = np.linalg.inv(
            self.kernel(np.array(self.X), np.array(self.X)) + self.ridge * np.eye(len(self.X))
        )
        self.w = P @ np.array(self.y)
        return P

    def learn(self, x, y):
        self.X.append(x)
        self.y.append(y)
        P = self.solve()
        if self.budget is not None and len(self.X) > self.budget:
            j = 0 if self.oldest else int(np.argmin(np.abs(self.w) / np.diag(P)))
            del self.X[j], self.y[j]
            self.solve()


class Tracker:
    """KRLS-T with explicit Q, mu and Sigma (van Vaerenbergh et al. 2012)."""

    def __init__(self, kernel, forgetting, noise, jitter, budget):
        self.kernel, self.forgetting, self.noise = kernel, forgetting, noise
        self.jitter, self.budget = jitter, budget
        self.X = None

    def gram(self):
        return self.kernel(self.X, self.X) + self.jitter * np.eye(len(self.X))

    def predict(self, x):
        if self.X is None:
            return 0.0
        return self.kernel(x[None], self.X)[0] @ self.Q @ self.mu

    def variance(self, x):
        """Return the variance of a new target at x."""
        h = self.kernel(x[None], self.X)[0]
        k = self.kernel(x[None], x[None])[0, 0] + self.jitter
        M = self.Q @ self.Sigma @ self.Q - self.Q
        return self.power * (self.noise + k + h @ M @ h)

    def learn(self, x, y):
        k = self.kernel(x[None], x[None])[0, 0] + self.jitter
        if self.X is None:
            self.X = x[None]
            self.Q = np.array([[1 / k]])
            self.mu = np.array([y * k / (k + self.noise)])
            self.Sigma = np.array([[k - k**2 / (k + self.noise)]])
            self.power, self.t = y**2 / (k + self.noise), 1
            return
        lam = self.forgetting
        self.Sigma = lam * self.Sigma + (1 - lam) * self.gram()
        self.mu = np.sqrt(lam) * self.mu
        h = self.kernel(x[None], self.X)[0]
        q = self.Q @ h
        m, gamma2, g = q @ self.mu, k - h @ q, self.Sigma @ q
        sf2 = gamma2 + q @ g
        sy2 = self.noise + sf2
        old = self.Q
        t = np.append(q, -1.0)
        self.Q = np.pad(old, (0, 1)) + np.outer(t, t) / gamma2
        p = np.append(g, sf2)
        self.mu = np.append(self.mu, m) + p * (y - m) / sy2
        self.Sigma = np.block([[self.Sigma, g[:, None]], [g[None], sf2]]) - np.outer(p, p) / sy2
        self.X = np.vstack([self.X, x])
        self.t += 1
        self.power += max(1 / self.t, 1 - lam) * ((y - m) ** 2 / sy2 - self.power)
        if gamma2 < self.jitter:
            self.remove(len(self.X) - 1, old)
        elif self.budget is not None and len(self.X) > self.budget:
            j = int(np.argmin(np.abs(self.Q @ self.mu) / np.diag(self.Q)))
            Q = self.Q - np.outer(self.Q[j], self.Q[j]) / self.Q[j, j]
            self.remove(j, np.delete(np.delete(Q, j, 0), j, 1))

    def remove(self, j, Q):
        self.X, self.mu, self.Q = np.delete(self.X, j, 0), np.delete(self.mu, j), Q
        self.Sigma = np.delete(np.delete(self.Sigma, j, 0), j, 1)


class Extended:
    """Extended KRLS for a random walk (Liu et al. 2009). Over the budget, the oldest leaves."""

    def __init__(self, kernel, transition, forgetting, ridge, state_noise, budget):
        self.kernel, self.a, self.b = kernel, transition, forgetting
        self.ridge, self.q, self.budget = ridge, state_noise, budget
        self.X, self.i = None, 1

    def predict(self, x):
        return self.kernel(x[None], self.X)[0] @ self.w if self.X is not None else 0.0

    def learn(self, x, y):
        a, b, ridge, q = self.a, self.b, self.ridge, self.q
        k = self.kernel(x[None], x[None])[0, 0]
        if self.X is None:
            self.X, self.w = x[None], np.array([a * y / (ridge * b + k)])
            self.rho = ridge * b / (a**2 * b + ridge * q)
            self.Q = np.array([[a**2 / ((b * ridge + k) * (a**2 + b * ridge * q))]])
            return
        self.i += 1
        h = self.kernel(x[None], self.X)[0]
        z = self.Q @ h
        e = y - h @ self.w
        noise = b**self.i * self.rho
        r = noise + k - h @ z
        self.w = a * np.append(self.w - z * e / r, e / r)
        u = a**2 + noise * q
        self.rho /= u
        t = np.append(-z, 1.0)
        self.Q = a**2 / u * (np.pad(self.Q, (0, 1)) + np.outer(t, t) / r)
        self.X = np.vstack([self.X, x])
        if self.budget is not None and len(self.X) > self.budget:
            # Without the first observation, its row and column leave the inverse of Q
            kept = np.linalg.inv(self.Q)[1:, 1:]
            self.w = self.w[1:] - self.Q[1:, 0] * self.w[0] / self.Q[0, 0]
            self.Q = np.linalg.inv(kept)
            self.X = self.X[1:]

"""Streams made from a seed, each with one property that a default model has to bear."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["MADE", "made"]

ROWS = 4000


def abrupt_drift(rng):
    """Numbers: the function changes twice, at once."""
    X = rng.normal(size=(ROWS, 6))
    part = np.arange(ROWS) * 3 // ROWS
    functions = [
        np.sin(2.0 * X[:, 0]) + X[:, 1],
        X[:, 2] * X[:, 3] - X[:, 1],
        np.abs(X[:, 4]) - np.sin(2.0 * X[:, 0]),
    ]
    return X, np.choose(part, functions) + 0.1 * rng.normal(size=ROWS)


def gradual_drift(rng):
    """Classes: a boundary that turns slowly, with a tenth of the labels flipped."""
    X = rng.normal(size=(ROWS, 8))
    angle = np.linspace(0.0, np.pi, ROWS)
    side = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] + 0.5 * X[:, 2] > 0.0
    return X, (side ^ (rng.random(ROWS) < 0.1)).astype(int)


def recurring_drift(rng):
    """Numbers: two functions take turns every 500 rows."""
    X = rng.normal(size=(ROWS, 5))
    first = np.arange(ROWS) // 500 % 2 == 0
    y = np.where(first, np.sin(2.0 * X[:, 0]) + X[:, 1], X[:, 2] ** 2 - X[:, 1])
    return X, y + 0.1 * rng.normal(size=ROWS)


def irrelevant_features(rng):
    """Numbers: 2 of 20 features matter."""
    X = rng.normal(size=(ROWS, 20))
    return X, np.sin(2.0 * X[:, 3]) * X[:, 11] + 0.1 * rng.normal(size=ROWS)


def noise_only(rng):
    """Numbers: the target does not depend on anything."""
    return rng.normal(size=(ROWS, 5)), rng.normal(size=ROWS)


def constant_columns(rng):
    """Classes: two features matter, three are constant and one is a copy."""
    X = rng.normal(size=(ROWS, 2))
    label = (X[:, 0] ** 2 + np.sin(2.0 * X[:, 1]) > 0.7) ^ (rng.random(ROWS) < 0.05)
    constants = np.tile([0.0, 1.0, -7.5e6], (ROWS, 1))
    return np.hstack([X, constants, X[:, :1]]), label.astype(int)


def one_class(rng):
    """Classes: there is only one."""
    return rng.normal(size=(ROWS, 4)), np.full(ROWS, 3)


def alternating_labels(rng):
    """Classes: labels alternate, and the only feature is constant."""
    return np.ones((ROWS, 1)), np.arange(ROWS) % 2


def heavy_tails(rng):
    """Numbers: noise of Student's t with 2 degrees of freedom, whose variance is infinite."""
    X = rng.normal(size=(ROWS, 6))
    return X, X[:, 0] + np.sin(2.0 * X[:, 1]) + rng.standard_t(2, size=ROWS)


def forty_classes(rng):
    """Classes: 40 Gaussian groups that overlap a little."""
    centres = 2.0 * rng.normal(size=(40, 10))
    y = rng.integers(40, size=ROWS)
    return centres[y] + rng.normal(size=(ROWS, 10)), y


def random_walk(rng):
    """Numbers: the target is a random walk that the features say nothing about."""
    return rng.normal(size=(ROWS, 4)), np.cumsum(rng.normal(size=ROWS))


#: Functions that make a stream from a generator of random numbers.
MADE: dict[str, Callable] = {
    function.__name__: function
    for function in (
        abrupt_drift,
        gradual_drift,
        recurring_drift,
        irrelevant_features,
        noise_only,
        constant_columns,
        one_class,
        alternating_labels,
        heavy_tails,
        forty_classes,
        random_walk,
    )
}


def made(name):
    """Return X (n, d) and y (n,) of a stream. Integer targets are classes."""
    return MADE[name](np.random.default_rng(20 + list(MADE).index(name)))

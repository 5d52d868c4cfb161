"""Learners at work on m centres, and what a sample of theirs needs at least.

Two streams, both with a dictionary of exactly m centres before and after each sample. "Nothing
new": points beside the centres, none of which enters. "All new": points far from every centre, each
of which enters and makes another leave. Centres are far apart, gamma = 1/d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from common import Times, cpu_seconds

from parsimon import algorithms
from parsimon.kernels import Gaussian
from parsimon.losses import Squared


@dataclass(frozen=True)
class Need:
    """Of one sample: operations, exponentials, bytes that are read, bytes that are read and
    written, and the bytes gone over from sample to sample.
    """

    flops: float
    exps: float
    read: float
    moved: float
    held: float

    def seconds(self, peaks):
        """At least so long, by a model that overlaps computing and memory.

        And whether it is memory that decides.
        """
        computing = self.flops / peaks.flops + self.exps / peaks.exponentials
        reading = peaks.bytes_a_second(self.held, peaks.reading)
        moving = peaks.bytes_a_second(self.held, peaks.bandwidth)
        memory = self.read / reading + self.moved / moving
        return max(computing, memory), memory > computing


@dataclass(frozen=True)
class Workload:
    """`recipe(m, d)` is how it is made.

    `squares`: of m^2, flops, bytes read and bytes moved a sample, beyond the kernel row.
    """

    name: str
    recipe: Callable
    novel: bool
    squares: tuple[float, float, float] = (0.0, 0.0, 0.0)
    kept: float = 0.0  # bytes of m^2 that it holds
    each: float = 0.0  # flops of m^2 for each output
    batch: int = 1
    rows: int = 1  # kernel rows per sample
    exps: float = 0.0  # of m, beyond the kernel rows
    power: int = 1  # of m in the cost, by theory

    def need(self, m, d, C):
        flops, read, moved = self.squares
        row = Need(
            2 * m * d + 2 * m * C, m, 8 * m * d / self.batch + 8 * m * C, 0.0, 8 * m * (d + C)
        )
        return Need(
            self.rows * row.flops + 2 * m * C + (flops + self.each * C) * m * m,
            (self.rows + self.exps) * m,
            self.rows * row.read + read * m * m,
            16 * m * C + moved * m * m,
            row.held + self.kept * m * m,
        )


def gaussian(d):
    return Gaussian(1.0 / d)


def polk(batch):
    def recipe(m, d):
        return algorithms.polk(
            gaussian(d),
            loss=Squared(),
            step_size=0.5,
            alpha=1e-6,
            parsimony=0.0,
            budget=m,
            batch_size=batch,
        )

    return recipe


# S or R, a triangle: m^2 / 2 numbers, 4 m^2 bytes. t = S h and a = S't: m^2 operations each, and
# one reading. Carlson's update: m^2 for R a and 5 for each number, which is read and written. A
# centre that leaves turns, on average, two thirds of the triangle: 6 operations a number.
PROJECT, ABSORB, REMOVE = (
    np.array([2.0, 4.0, 0.0]),
    np.array([3.5, 0.0, 8.0]),
    np.array([2.0, 0.0, 16.0 / 3.0]),
)
# A change of rank one of a symmetric matrix, and the reading of two; what they are multiplied with
# is one vector an output.
OUTER, PRODUCTS = np.array([1.0, 0.0, 8.0]), np.array([0.0, 8.0, 0.0])
BATCH = 32
# In a batch the factor is read once for all, and read and written once for all that leave.
BATCHED = PROJECT + REMOVE - [0.0, 4.0 * (1 - 1 / BATCH), 16.0 / 3.0 - 8.0 / BATCH]

WORKLOADS = [
    Workload(
        "KNLMS, nothing new",
        lambda m, d: algorithms.knlms(gaussian(d), step_size=0.1, coherence=0.5),
        False,
    ),
    Workload(
        "NORMA, all new",
        lambda m, d: algorithms.norma(gaussian(d), step_size=0.1, alpha=0.01, budget=m),
        True,
    ),
    Workload(
        "KRLS (dependence), nothing new",
        lambda m, d: algorithms.krls(gaussian(d), tolerance=0.5, budget=m),
        False,
        tuple(PROJECT + ABSORB),
        8.0,
        power=2,
    ),
    Workload(
        "KRLS (dependence), all new",
        lambda m, d: algorithms.krls(gaussian(d), tolerance=0.5, budget=m),
        True,
        tuple(PROJECT + ABSORB + 2 * REMOVE),
        8.0,
        power=2,
    ),
    Workload(
        "KRLS (coherence), nothing new",
        lambda m, d: algorithms.krls(gaussian(d), admission="coherence", coherence=0.5, ridge=0.01),
        False,
        tuple(ABSORB),
        4.0,
        power=2,
    ),
    Workload(
        "SPL, all new",
        lambda m, d: algorithms.spl(gaussian(d), step_size=0.5, tolerance=1e-6, budget=m),
        True,
        tuple(PROJECT + REMOVE),
        4.0,
        power=2,
    ),
    Workload("POLK, all new", polk(1), True, tuple(PROJECT + REMOVE), 4.0, power=2),
    Workload(
        f"POLK in batches of {BATCH}, all new",
        polk(BATCH),
        True,
        tuple(BATCHED),
        4.0,
        batch=BATCH,
        power=2,
    ),
    Workload(
        "BSGD (merging), all new",
        lambda m, d: algorithms.bsgd(gaussian(d), alpha=1e-6, step_size=0.5, budget=m),
        True,
        rows=2,
        exps=54.0,  # golden section: 27 places a centre, two exponentials each
    ),
    Workload(
        "SOG-SVR, nothing new",
        lambda m, d: algorithms.sog(gaussian(d), loss=Squared(), tolerance=0.5, epsilon=0.01),
        False,
        tuple(PROJECT + ABSORB + OUTER + PRODUCTS),
        16.0,
        each=4.0,
        power=2,
    ),
]


def named(name):
    return next(workload for workload in WORKLOADS if workload.name == name)


class Work:
    """A learner with m centres, and blocks of samples that keep it so."""

    def __init__(self, workload, m, d, C, seed=0):
        self.rng, self.m, self.d, self.C, self.workload = (
            np.random.default_rng(seed),
            m,
            d,
            C,
            workload,
        )
        # Whose labels are drawn anew: it is wrong for ever
        self.classes = workload.name.startswith("BSGD")
        self.seen = 0
        outputs = max(C, 2) if self.classes else C
        self.learner = workload.recipe(m, d).build(d, outputs)
        while self.learner.n_centers < m:
            points = 3.0 * self.rng.normal(size=(m - self.learner.n_centers, d))
            self.learner.learn(points, self.targets(points))
        self.centres = self.learner.centers()
        self.n = self.count()

    def targets(self, X):
        if self.classes:
            C = max(self.C, 2)
            return np.stack([self.rng.integers(C, size=len(X)), np.full(len(X), C)], axis=1).astype(
                float
            )
        Y = self.rng.normal(size=(len(X), self.C))
        if self.workload.novel:
            # Ever larger, or what was largest would stay for ever and the newest leave: this way
            # old and young do.
            Y *= np.exp((self.seen + np.arange(len(X))) / self.m)[:, None]
            self.seen += len(X)
        return Y

    def samples(self, n):
        if self.workload.novel:
            return 3.0 * self.rng.normal(size=(n, self.d))
        noise = 0.3 / np.sqrt(self.d) * self.rng.normal(size=(n, self.d))
        return self.centres[self.rng.integers(self.m, size=n)] + noise

    def block(self, n):
        X = self.samples(n)
        return X, self.targets(X)

    def count(self, aim=0.05):
        """Samples, in whole batches, that take about `aim` seconds."""
        batch = self.workload.batch
        blocks = [self.block(batch) for _ in range(3)]
        once = (
            min(cpu_seconds(lambda block=block: self.learner.learn(*block)) for block in blocks)
            / batch
        )
        most = 4 * self.m if self.workload.novel else 20_000
        return max(1, min(round(aim / once), most) // batch) * batch

    def times(self, rounds):
        """Seconds a sample, each round on fresh samples."""
        taken = []
        for _ in range(rounds):
            block = self.block(self.n)
            taken.append(cpu_seconds(lambda block=block: self.learner.learn(*block)) / self.n)
        if self.learner.n_centers != self.m:
            raise AssertionError(
                f"{self.workload.name}: {self.learner.n_centers} centres and not {self.m}"
            )
        return Times(np.array(taken))


def measure(workload, m, d, C, rounds):
    return Work(workload, m, d, C).times(rounds)

"""Dictionary learning at work on m stored samples with K atoms, and what a sample of it needs at
least.
"""

from __future__ import annotations

import numpy as np
from common import Times, cpu_seconds
from workloads import Need

from parsimon import KernelDictionaryLearning

ATOMS = 50
UPDATES = ("feature", "parameter")


def need(update, m, d, K, active):
    """Of a sample that is learned and stored while another leaves, with so many atoms `active` in
    its code.

    Both: the kernel row, D'phi(x) = Omega'h, one product of the active columns of D'D for the code,
    the row of Omega that is least. In feature space: Omega scaled and changed along the code, D'D
    changed by rank two, twice (the step, and what leaves). In parameter space: the gradient, the
    stored Gram matrix times that, Omega and K Omega changed by it, D'D made of them.
    """
    row = 2 * m * d + 2 * m * K + 2 * K * active + 2 * m * K
    read, held = 8 * m * d + 16 * m * K, 8 * m * (d + K) + 8 * K * K + 4 * m * m
    if update == "feature":
        return Need(
            row + m * K + 4 * m * active + 2 * m * K + 8 * K * K,
            m,
            read,
            16 * m * K + 32 * K * K,
            held,
        )
    flops = row + 2 * m * m * K + m * K * K + 12 * m * K
    return Need(flops, m, read + 4 * m * m + 16 * m * K, 48 * m * K + 16 * K * K, held + 24 * m * K)


def measure(update, m, d, rounds, K=ATOMS, n=50):
    """Seconds a sample, and how many atoms are active in a code on average."""
    rng = np.random.default_rng(0)
    model = KernelDictionaryLearning(
        K,
        gamma=0.5 / d,
        update=update,
        budget=m,
        alpha=0.1,
        step_size=0.1,
        shuffle=False,
        random_state=0,
    )
    model.partial_fit(rng.normal(size=(m + 50, d)))
    taken = []
    for _ in range(rounds):
        X = rng.normal(size=(n, d))
        learned = model.n_samples_learned_
        taken.append(cpu_seconds(lambda X=X: model.partial_fit(X)) / n)
        assert model.n_samples_learned_ == learned + n
        assert model.n_centers_ == m
    active = np.count_nonzero(model.transform(rng.normal(size=(200, d)))) / 200
    return Times(np.array(taken)), active

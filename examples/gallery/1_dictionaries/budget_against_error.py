"""
Budget against error
====================

The parameter `budget` is the largest number of centres, and so it bounds memory and time. This
example shows what a larger budget buys, for two algorithms and the same stream.
"""

import matplotlib.pyplot as plt

from parsimon import KNLMSRegressor, KRLSRegressor
from parsimon.datasets import make_wiener
from parsimon.evaluation import size_sweep


def stream(seed):
    """Return one stream: a linear filter followed by a nonlinearity."""
    return make_wiener(1000, random_state=seed)


# %%
# `size_sweep` sets one parameter to several values. It reports the error at the end of the stream,
# averaged over runs, against the number of centres.
budgets = [5, 10, 20, 40, 80, 160]
models = {
    "KNLMS": KNLMSRegressor("gaussian", gamma=0.1, coherence=0.95, step_size=0.5),
    "KRLS": KRLSRegressor("gaussian", gamma=0.1, tolerance=1e-4),
}
figure, ax = plt.subplots(figsize=(6, 3.8))
for name, model in models.items():
    sweep = size_sweep(model, "budget", budgets, stream, runs=5)
    ax.plot(sweep.sizes, sweep.mean, ".-", label=name)
    ax.fill_between(sweep.sizes, *sweep.band.T, alpha=0.2)
ax.set(xscale="log", xlabel="centres", ylabel="squared error (dB)")
ax.legend()

"""
Tracking a channel that switches
================================

After 800 samples the channel changes. A filter that forgets adapts quickly, a filter that does not
forget keeps averaging over both channels. The curves are means over runs, in dB.
"""

import matplotlib.pyplot as plt

from parsimon import KNLMSRegressor, KRLSRegressor, KRLSTRegressor, published
from parsimon.datasets import make_wiener
from parsimon.evaluation import learning_curve

shared = {"kernel": "gaussian", "gamma": 0.1, "budget": 100}
filters = {
    "KNLMS": published(KNLMSRegressor, coherence=0.95, step_size=0.5, **shared),
    "KRLS": published(KRLSRegressor, tolerance=1e-2, ridge=0.1, **shared),
    "KRLS, forgetting 0.98": published(
        KRLSRegressor, tolerance=1e-2, ridge=0.1, forgetting=0.98, **shared
    ),
    "KRLS-T, forgetting 0.995": published(KRLSTRegressor, forgetting=0.995, noise=0.01, **shared),
}


def stream(seed):
    """Return a Wiener system that switches, and its output without noise."""
    X, d = make_wiener(1600, switch=800, random_state=seed)
    _, clean = make_wiener(1600, switch=800, snr=None, random_state=seed)
    return X, d, clean


# %%
# Errors are measured against the output without noise, so the floor is the error of the filter.
figure, ax = plt.subplots(figsize=(8, 4.2))
for name, model in filters.items():
    curve = learning_curve(model, stream, runs=6, window=30)
    ax.plot(curve.samples, curve.mean, label=name)
ax.axvline(800, color="0.6", linestyle=":")
ax.set(xlabel="samples", ylabel="squared error (dB)")
ax.legend()

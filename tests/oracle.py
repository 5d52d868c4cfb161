"""Each paper's pseudo-code in plain NumPy: the readable specification, and the proof that the core follows it."""

import numpy as np


def coherence(k, x, centres):
    if not len(centres):
        return 0.0
    norms = np.sqrt(k.diagonal(x[None]) * k.diagonal(np.array(centres)))
    return np.max(np.abs(k(x[None], np.array(centres))[0]) / norms)


def knlms(k, X, Y, step_size, mu0, ridge=0.0):
    """Honeine, Richard & Bermudez 2007, section V.A. Y is (n, C). Returns predictions before each update, centres, weights."""
    centres, w, predictions = [], np.zeros((0, Y.shape[1])), []
    for x, y in zip(X, Y, strict=True):
        h = k(x[None], np.array(centres))[0] if centres else np.zeros(0)
        predictions.append(h @ w)
        if coherence(k, x, centres) <= mu0:  # Case 2
            centres.append(x)
            h, w = np.append(h, k.diagonal(x[None])), np.vstack([w, np.zeros(Y.shape[1])])
        w = w + step_size / (ridge + h @ h) * np.outer(h, y - h @ w)  # (8)
    return np.array(predictions), np.array(centres), w

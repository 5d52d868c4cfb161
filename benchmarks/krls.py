"""KRLS beside dlib's: time and accuracy on the same stream, same kernel, tolerance and cap."""

from __future__ import annotations

import ctypes

import numpy as np
from common import build, doubles, markdown, seconds

from parsimon import KRLSRegressor

GAMMA, D = 0.1, 8


class Dlib:
    """dlib's krls, if it could be built."""

    def __init__(self, library, tolerance, cap):
        self.library = library
        library.krls_new.restype = ctypes.c_void_p
        library.krls_new.argtypes = [ctypes.c_double, ctypes.c_double, ctypes.c_ulong]
        library.krls_delete.argtypes = library.krls_size.argtypes = [ctypes.c_void_p]
        library.krls_size.restype = ctypes.c_ulong
        pointer = ctypes.POINTER(ctypes.c_double)
        library.krls_train.argtypes = [ctypes.c_void_p, pointer, pointer, ctypes.c_ulong, ctypes.c_int]
        library.krls_train.restype = ctypes.c_double
        self.filter = library.krls_new(GAMMA, tolerance, cap)

    def __del__(self):
        self.library.krls_delete(self.filter)

    def size(self):
        return self.library.krls_size(self.filter)

    def learn(self, X, y, score=False):
        return self.library.krls_train(self.filter, doubles(X), doubles(y), len(X), int(score))


def target(X, rng):
    return np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=len(X))


def measure(m, novel, library, repeats):
    rng = np.random.default_rng(m)
    first = rng.normal(size=(m if not novel else 2 * m, D))
    n = {50: 4000, 200: 1000, 1000: 60}[m]
    tolerance = 1e-5 if novel else 1e-4

    def block():
        # Nothing new: points so near the centres that the tolerance rejects them. All new: fresh points, the dictionary at its cap.
        X = rng.normal(size=(n, D)) if novel else first[rng.integers(m, size=n)] + 1e-3 * rng.normal(size=(n, D))
        return np.ascontiguousarray(X), target(X, rng)

    yf = target(first, rng)
    model = KRLSRegressor(gamma=GAMMA, tolerance=tolerance, budget=m).fit(first, yf)
    peer = Dlib(library, tolerance, m) if library is not None else None
    if peer:
        peer.learn(first, yf)
    full = model.n_centers_, peer.size() if peer else None
    X, y = block()
    error = float(np.mean((y - model.predict_then_learn(X, y)) ** 2))
    peer_error = peer.learn(X, y, score=True) / n if peer else np.nan
    ours, theirs = np.inf, np.inf
    for _ in range(repeats):
        X, y = block()
        Y = np.ascontiguousarray(y[:, None])
        ours = min(ours, seconds(lambda X=X, Y=Y: model._learner.learn(X, Y)) / n * 1e6)
        if peer:
            theirs = min(theirs, seconds(lambda X=X, y=y: peer.learn(X, y)) / n * 1e6)
    return full, ours, theirs, error, peer_error


def section(folder, repeats):
    library, reason = build(
        "dlib_krls.cpp", folder, "-DDLIB_USE_BLAS", "-DDLIB_NO_GUI_SUPPORT", "-lopenblas", "-lpthread"
    )
    header = ["m", "stream", "centres (dlib's)", "parsimon", "dlib", "dlib / parsimon", "error", "dlib's error"]
    rows = []
    for m in (50, 200, 1000):
        for novel in (False, True):
            print(f"KRLS, m = {m}, {'every sample new' if novel else 'nothing new'} ...", flush=True)
            (size, peer_size), ours, theirs, error, peer_error = measure(m, novel, library, repeats)
            against = [f"{theirs:.0f}", f"{theirs / ours:.0f}"] if library else [f"absent: {reason}", ""]
            rows.append(
                [
                    f"{m}",
                    "every sample new, one evicted" if novel else "nothing new",
                    f"{size} ({peer_size})",
                    f"{ours:.1f}",
                    *against,
                    f"{error:.3f}",
                    f"{peer_error:.3f}",
                ]
            )
    return f"""## KRLS: microseconds a sample, beside dlib

d = {D}, Gaussian kernel with gamma = {GAMMA}, the same tolerance, the dictionary at its cap of m. The best of {repeats} runs, taken in turn, one thread. dlib (`krls`, with OpenBLAS, `-O3 -march=native`) evicts its oldest
centre, parsimon the one whose absence raises the squared error least. The error is the mean squared error before learning over the stream. Where every sample is new, KRLS without a ridge fits each value exactly,
noise and all: a stream to measure eviction on, not one to use KRLS for.

{markdown(header, rows)}
"""

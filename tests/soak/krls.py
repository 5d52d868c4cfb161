"""A million samples of a switching nonlinear channel through KRLS with forgetting and a budget:
``make soak``.

Segments of 50,000 samples, the channel switching at each: inputs over the whole range, confined to
a corner, and constant. After each segment everything must be finite, the factor's drift at most
1e-5, the covariance positive definite and bounded, and the error must be back at its floor.
"""

import sys
import time

import numpy as np

from parsimon import KRLSRegressor, published

SEGMENT, NOISE = 50_000, 0.1
KINDS = [
    "all",
    "all",
    "corner",
    "all",
    "constant",
    "all",
    "corner",
    "corner",
    "constant",
    "constant",
] * 2


def channel(X, which):
    """A memory-one channel with a saturating nonlinearity; the two differ in sign and curvature."""
    z = X[:, 0] + 0.5 * X[:, 1]
    return np.tanh(1.5 * z) + 0.3 * z**2 if which == 0 else -np.tanh(z) + 0.2 * np.sin(3 * z)


def inputs(kind, rng):
    if kind == "constant":
        return np.full((SEGMENT, 2), 0.3)
    low, high = (0.6, 1.0) if kind == "corner" else (-1.0, 1.0)
    return rng.uniform(low, high, size=(SEGMENT, 2))


def run(admission):
    rng = np.random.default_rng(0)
    model = published(
        KRLSRegressor,
        gamma=4.0,
        admission=admission,
        tolerance=3e-4,
        coherence=0.9,
        ridge=1e-3,
        forgetting=0.999,
        budget=100,
    )
    failures, first_bytes = 0, None
    print(f"\nKRLS, admission {admission!r}")
    print(
        "segment  input      centres  floor    after 5,000  largest P_ii  least eigenvalue of P  "
        "drift    largest weight  us/sample"
    )
    for i, kind in enumerate(KINDS):
        X = inputs(kind, rng)
        y = channel(X, i % 2) + NOISE * rng.normal(size=SEGMENT)
        start = time.perf_counter()
        errors = (y - model.predict_then_learn(X, y)) ** 2
        elapsed = time.perf_counter() - start
        floor, settled = errors[-10_000:].mean(), errors[5_000:15_000].mean()
        R = model._learner.covariance_factor()
        if admission == "ald":
            R = R @ model.kernel_(model.centers_)  # what is held: the values at the centres
        P = R.T @ R
        # P = R'R cannot be anything but symmetric and semidefinite; definite it is if R is not
        # singular.
        largest, least = np.diag(P).max(), np.linalg.svd(R, compute_uv=False)[-1] ** 2
        drift, weight = model._learner.drift(), np.abs(model.weights_).max()
        first_bytes = first_bytes or model.nbytes_
        checks = {
            "finite": np.isfinite(errors).all()
            and np.isfinite(model.weights_).all()
            and np.isfinite(P).all(),
            # By coherence no Gram matrix is factored
            "drift": admission == "coherence" or drift <= 1e-5,
            "definite": least > 0,
            # 2e3, or 1e6 times the first, 1 / ridge
            "bounded": largest <= (2.2e3 if admission == "ald" else 1.1e9),
            "floor": floor <= 1.15 * NOISE**2,
            "back": settled <= 1.1 * floor,
            "memory": model.nbytes_ == first_bytes and model.n_centers_ <= 100,
        }
        bad = [name for name, good in checks.items() if not good]
        failures += len(bad)
        print(
            f"{i:7d}  {kind:9s}  {model.n_centers_:7d}  {floor:.5f}  {settled:.5f}      "
            f"{largest:12.3g}  {least:21.3g}  "
            f"{'none   ' if admission == 'coherence' else f'{drift:.1e}'}  "
            f"{weight:14.3g}  {elapsed / SEGMENT * 1e6:9.1f}  "
            f"{'FAILED: ' + ', '.join(bad) if bad else ''}",
            flush=True,
        )
    print(
        f"{model.n_samples_seen_:,} samples, {model._learner.rebuilds} rebuilds of the factor, "
        f"noise {NOISE**2}"
    )
    return failures


if __name__ == "__main__":
    failed = sum(run(admission) for admission in ("ald", "coherence"))
    print("all held" if not failed else f"{failed} checks failed")
    sys.exit(bool(failed))

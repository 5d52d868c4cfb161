"""Ten classes of 50,000 samples each through dictionary learning, every sample admitted: ``make
soak``.

Images of 16 x 16 pixels, a budget of 100 stored samples and 50 atoms a class, updates in parameter
space: the heaviest setting of Lee & Kim 2016. After each tenth everything must be finite, the
atoms' Gram matrix what their coefficients say, and the model's memory flat. The time of it all is
printed.
"""

import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from parsimon import KernelDictionaryClassifier, kernels

CLASSES, IMAGES, PASSES, TENTHS = 10, 250, 200, 10


def images(seed=0):
    """Smooth random patterns, shifted and disturbed: unit vectors (n, 256), and their classes."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(CLASSES):
        spectrum = np.fft.fft2(rng.normal(size=(16, 16))) * np.exp(
            -0.8 * np.minimum(np.arange(16), 16 - np.arange(16)) ** 2 / 4
        )
        pattern = np.real(
            np.fft.ifft2(
                spectrum.T * np.exp(-0.2 * np.minimum(np.arange(16), 16 - np.arange(16)) ** 2)
            )
        )
        pattern /= np.linalg.norm(pattern)
        for _ in range(IMAGES):
            shifted = np.roll(
                pattern, rng.integers(-2, 3, size=2), axis=(0, 1)
            ) + 0.02 * rng.normal(size=(16, 16))
            rows.append(shifted.ravel() / np.linalg.norm(shifted))
    return np.array(rows), np.repeat(np.arange(CLASSES), IMAGES)


def main():
    X, y = images()
    kernel = kernels.Polynomial(degree=4, gamma=1.0, offset=1.0)
    model = KernelDictionaryClassifier(50, kernel, admission="always", budget=100, random_state=0)
    rng, total, failures, sizes = np.random.default_rng(1), 0.0, 0, set()
    print("samples  error of Gram  model (kB)  us/sample")
    for tenth in range(TENTHS):
        start = time.perf_counter()
        for _ in range(PASSES // TENTHS):
            order = rng.permutation(len(X))
            model.partial_fit(X[order], y[order])
        elapsed = time.perf_counter() - start
        total += elapsed
        worst, finite = 0.0, True
        for atoms in model._learners.values():
            stored, Omega = atoms.centers(), atoms.coefficients()
            finite &= bool(np.isfinite(Omega).all())
            worst = max(
                worst, np.abs(Omega.T @ kernel(stored, stored) @ Omega - atoms.gram()).max()
            )
        sizes.add(model.nbytes_)
        bad = [
            name
            for name, good in {
                "finite": finite,
                "Gram": worst < 1e-8,
                "memory": len(sizes) == 1,
            }.items()
            if not good
        ]
        failures += len(bad)
        learned = len(X) * PASSES // TENTHS
        print(
            f"{(tenth + 1) * learned:7d}  {worst:13.1e}  {model.nbytes_ / 1024:10.0f}  "
            f"{elapsed / learned * 1e6:9.1f}  {'FAILED: ' + ', '.join(bad) if bad else ''}",
            flush=True,
        )
    print(
        f"{CLASSES * IMAGES * PASSES} samples in {total:.1f} s; error on the images: "
        f"{1 - model.score(X, y):.2%}"
    )
    return failures


if __name__ == "__main__":
    sys.exit(1 if main() else 0)

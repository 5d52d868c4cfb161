"""The machine's peaks, measured: matrix products, memory, exponentials."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
from common import build, cpu_seconds, doubles

#: Bytes of the arrays that memory is measured with: in every cache, and in none.
SIZES = [2**k for k in range(14, 29, 2)]


@dataclass(frozen=True)
class Peaks:
    flops: float  # a second, of a large matrix product
    exponentials: float  # a second
    exponentials_by: str
    bandwidth: dict[int, float]  # bytes per second of the triad, by the bytes it goes over
    reading: dict[int, float]

    def bytes_a_second(self, size, table):
        """What memory gives an algorithm that goes over `size` bytes again and again: between the
        sizes measured, on a logarithmic scale.
        """
        sizes = np.array(sorted(table))
        return float(np.interp(np.log(size), np.log(sizes), [table[s] for s in sizes]))


def aligned(n):
    """Zeros that begin with a cache line."""
    room = np.zeros(n + 8)
    skip = (-room.ctypes.data % 64) // 8
    return room[skip : skip + n]


def dgemm(n=1000, rounds=5):
    A, B = np.random.default_rng(0).normal(size=(2, n, n))
    out = np.empty((n, n))
    return 2.0 * n**3 / min(cpu_seconds(lambda: np.matmul(A, B, out=out)) for _ in range(rounds))


def library(folder):
    """The loops of peaks.cpp, or None and the reason."""
    found, reason = build("peaks.cpp", folder, "-ffast-math", "-lm")
    if found is None:
        return None, reason
    pointer, size = ctypes.POINTER(ctypes.c_double), ctypes.c_size_t
    found.read_array.argtypes, found.read_array.restype = [pointer, size, size], ctypes.c_double
    found.triad.argtypes, found.triad.restype = (
        [pointer, pointer, pointer, ctypes.c_double, size, size],
        None,
    )
    found.exponentials.argtypes, found.exponentials.restype = [pointer, pointer, size, size], None
    return found, ""


def vector_exp(loops, n=4096, rounds=5):
    """Exponentials a second, in the first cache: the compiler's vector mathematics or NumPy's,
    whichever is faster; and which that was.
    """
    x, y, turns = aligned(n), aligned(n), 100
    x[:] = np.random.default_rng(0).uniform(-20, 0, size=n)
    tasks = {
        "NumPy": lambda: [np.exp(x, out=y) for _ in range(turns)],
        "C++": lambda: loops.exponentials(doubles(x), doubles(y), n, turns),
    }
    rates = {
        name: n * turns / min(cpu_seconds(task) for _ in range(rounds))
        for name, task in tasks.items()
    }
    best = max(rates, key=rates.get)
    return rates[best], best


def measure(folder, quick):
    """All peaks, or None and the reason: without compiled loops they would be those of NumPy's
    passes over memory, and far too low.
    """
    # The first touches the memory, and is never the best
    rounds, work = (2, 2e7) if quick else (5, 2e8)
    loops, reason = library(folder)
    if loops is None:
        return None, reason
    bandwidth, reading = {}, {}
    for size in SIZES:
        n = size // 8 // 3
        a, b, c = aligned(n), aligned(n), aligned(n)
        whole, turns = aligned(size // 8), max(1, int(work / size))

        def move(a=a, b=b, c=c, n=n, turns=turns):
            loops.triad(doubles(a), doubles(b), doubles(c), 0.5, n, turns)

        def read(whole=whole, turns=turns):
            loops.read_array(doubles(whole), len(whole), turns)

        bandwidth[size] = 24.0 * n * turns / min(cpu_seconds(move) for _ in range(rounds))
        reading[size] = 8.0 * len(whole) * turns / min(cpu_seconds(read) for _ in range(rounds))
    rate, by = vector_exp(loops)
    return Peaks(dgemm(rounds=rounds), rate, by, bandwidth, reading), ""

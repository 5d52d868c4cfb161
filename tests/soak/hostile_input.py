"""Hostile streams and calls by the ten thousand: ``make soak``, or ``python
tests/soak/hostile_input.py --seed 1 --cases 50000``.

The generators of `tests/hostile.py` and the properties of `tests/sound.py`, with larger blocks too.
A case is a history of calls (three fifths of them), a block beside its rows, or a block in another
form. What fails is printed once for each kind of failure, and all are counted:
`tests/test_hostile.py` finds the smallest case of a kind.
"""

import argparse
import faulthandler
import os
import re
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import hostile
import sound
from drawing import drawn
from hypothesis import given, seed

CHUNK = 100


def histories(case):
    return sound.check(case)


def rows(case):
    good = sound.check_block(*case)
    return [int(good), int(not good)]


def forms(case):
    good = sound.check_form(*case)
    return [int(good), int(not good)]


#: The property, its strategy for an estimator and the most rows of a block, and its share of the
#: cases.
PROPERTIES = [
    (histories, lambda cls, most: hostile.cases(cls, most), 0.6),
    (rows, lambda cls, most: hostile.blocks(cls, min(most, 200)), 0.2),
    (forms, lambda cls, most: hostile.forms(cls), 0.2),
]


def run(prove, strategy, n, number, failures):
    """Prove a property for n cases drawn with a seed.

    Returns how many cases there were, and calls accepted and refused.
    """
    counts = [0, 0, 0]

    @seed(number)
    @drawn(n)
    @given(strategy)
    def each(case):
        counts[0] += 1
        try:
            good, bad = prove(case)
        except Exception as error:
            kind = re.sub(r"[\d.]+", "#", f"{prove.__name__}, {type(error).__name__}: {error}")[
                :120
            ]
            if kind not in failures:
                print(f"FAILED, seed {number}: {kind}\n{case}"[:4000], flush=True)
            failures[kind] += 1
        else:
            counts[1] += good
            counts[2] += bad

    faulthandler.dump_traceback_later(600, exit=True)  # nothing takes so long but what hangs
    each()
    faulthandler.cancel_dump_traceback_later()
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--cases",
        type=int,
        default=24_000,
        help="in all; rounded up to whole chunks for each estimator",
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of hypothesis; where cases run they are errors
    table, kinds, begun = [], Counter(), time.perf_counter()
    for cls in hostile.ALL:
        start, counts, failures = time.perf_counter(), [0, 0, 0], Counter()
        for prove, strategy, share in PROPERTIES:
            chunks = -(-int(share * arguments.cases / len(hostile.ALL)) // CHUNK)
            for chunk in range(chunks):
                most = 1500 if chunk % 8 == 7 else 60
                found = run(
                    prove, strategy(cls, most), CHUNK, 1000 * arguments.seed + chunk, failures
                )
                counts = [a + b for a, b in zip(counts, found, strict=True)]
            print(
                f"{cls.__name__}, {prove.__name__}: {counts[0]} cases, {sum(failures.values())} "
                "failed",
                flush=True,
            )
        table.append((cls.__name__, *counts, sum(failures.values()), time.perf_counter() - start))
        kinds += failures
    print(
        f"\n{'estimator':28s}{'cases':>8s}{'accepted':>10s}{'refused':>10s}{'failed':>8s}{'seconds':>9s}"
    )
    for name, cases, good, bad, failed, seconds in table:
        print(f"{name:28s}{cases:8d}{good:10d}{bad:10d}{failed:8d}{seconds:9.1f}")
    print(
        f"{sum(row[1] for row in table)} cases in {time.perf_counter() - begun:.0f} s, seed "
        f"{arguments.seed}"
    )
    for kind, count in kinds.most_common():
        print(f"{count:6d}  {kind}")
    return sum(kinds.values())


if __name__ == "__main__":
    sys.exit(1 if main() else 0)

"""Learning in parts on Dask workers beside one pass over everything: error, time and bytes sent,
and what a second worker brings.

    python benchmarks/shards.py --data-dir FOLDER    # MNIST (mnist.npz) in eight shards
    python benchmarks/shards.py                      # generated points in the plane
    python benchmarks/shards.py --quick              # a smoke test

Every worker is a process of one thread. Seconds are from rows in this process to the merged model
in this process; starting the workers is not counted.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is loaded, for the workers too

from importlib import import_module

import numpy as np
from common import markdown, processor, seconds
from dask.distributed import Client, LocalCluster
from sklearn.base import clone

from parsimon import POLKClassifier, published
from parsimon.datasets import load_mnist, make_multidist
from parsimon.distributed import fit

SHARDS, ROUNDS, REPEATS = 8, 16, 2
#: What suits one pass better than means over shards.
TUNED = {"MNIST": {"step_size": 60.0}}


def task(data_dir, quick):
    """The name of the data, a model for them, and both parts."""
    if data_dir is not None:
        n = 2000 if quick else 60_000
        split = load_mnist(data_dir)
        model = published(
            POLKClassifier,
            gamma=0.03,
            step_size=150.0,
            parsimony=1e-4,
            budget=100 if quick else 2100,
            batch_size=32,
            alpha=1e-6,
        )
        return "MNIST", model, split.X_train[:n], split.y_train[:n], split.X_test, split.y_test
    n = 2000 if quick else 60_000
    model = published(
        POLKClassifier, gamma=1.4, step_size=3.0, budget=30 if quick else 150, batch_size=32
    )
    return (
        "multidist",
        model,
        *make_multidist(n, random_state=0),
        *make_multidist(10_000, random_state=1),
    )


def on_workers(n_workers, model, shards, rounds, repeats):
    """The quickest of several runs; they all give the same model."""
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(import_module, "parsimon.distributed.dask")
        results = [
            fit(model, shards, engine="dask", client=client, rounds=rounds) for _ in range(repeats)
        ]
    return min(results, key=lambda result: result.seconds)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    name, model, X, y, X_test, y_test = task(args.data_dir, args.quick)
    shards = [(np.ascontiguousarray(X[i::SHARDS]), y[i::SHARDS]) for i in range(SHARDS)]
    rows = []

    def tell(what, learned, taken, sent):
        error = 100 * (1 - learned.score(X_test, y_test))
        rows.append(
            [what, f"{error:.2f}", str(learned.n_centers_), f"{taken:.1f}", f"{sent / 1e6:.1f}"]
        )
        print(", ".join(rows[-1]), flush=True)

    one, two = (on_workers(n, model, shards, 1, REPEATS) for n in (1, 2))
    tell("1 round, 1 worker", one.model, one.seconds, one.bytes_sent)
    tell("1 round, 2 workers", two.model, two.seconds, two.bytes_sent)
    alone = min(
        (clone(model).partial_fit(*shard) for shard in shards),
        key=lambda m: -m.score(X_test, y_test),
    )
    tell("the best shard alone", alone, 0.0, 0)
    tuned = TUNED.get(name, {})
    for what, options in (
        ("one pass, no shards", {}),
        (f"one pass, {tuned or 'the same'}", tuned),
        ("the same, mean over the second half", {**tuned, "average": len(X) // 2}),
    ):
        sequential = clone(model).set_params(**options)
        taken = seconds(lambda sequential=sequential: sequential.partial_fit(X, y))
        tell(what, sequential, taken, 0)
    many = on_workers(2, model, shards, ROUNDS, 1)
    tell(f"{ROUNDS} rounds, 2 workers", many.model, many.seconds, many.bytes_sent)

    print(f"\n{name}, {len(X):,} rows of {X.shape[1]} in {SHARDS} shards, {model}\n")
    print(markdown(["", "error, %", "centres", "seconds", "MB of models sent"], rows))
    print(
        f"\nWith a second worker: {one.seconds / two.seconds:.2f} times as fast "
        f"(best of {REPEATS}, one round). {processor()}, {os.cpu_count()} cores."
    )


if __name__ == "__main__":
    main()

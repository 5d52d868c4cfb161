"""`parsimon learn` on a CSV of 1,000,000 rows and 10 columns, against the library on the same
arrays in memory, with the resident memory of the process along the way.

    OPENBLAS_NUM_THREADS=1 python benchmarks/cli.py

`section` is the same in `make bench`, with fewer rows, as a table and a bar.

The command reads, parses, encodes, scales, learns and scores. Beside it, on arrays in memory:
`TableModel.learn`, which does all that but read and parse, and `KNLMSRegressor.predict_then_learn`
on rows and targets standardised beforehand, with the parameters that the command has: the filter
and nothing else. The command uses a second thread to read ahead.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import Bar, Section, markdown, processor

import parsimon
from parsimon.tables import TableModel, make_estimator


def stream(n, columns=10):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, columns - 1))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 2] ** 2 + 0.1 * rng.normal(size=n)


def write(path, X, y):
    import pyarrow as pa
    import pyarrow.csv

    columns = {**{f"x{i}": x for i, x in enumerate(X.T)}, "y": y}
    pa.csv.write_csv(pa.table(columns), path)


def library(X, y, gamma, budget, block=8192):
    X = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -3, 3)
    y = (y - y.mean()) / y.std()
    model = make_estimator("knlms", "regression", budget).set_params(gamma=gamma)
    start = time.perf_counter()
    for first in range(0, len(y), block):
        model.predict_then_learn(X[first : first + block], y[first : first + block])
    return len(y) / (time.perf_counter() - start), model


def table_model(X, y, budget, block=8192):
    model = TableModel("y", algorithm="knlms", budget=budget, task="regression")
    columns = {**{f"x{i}": np.ascontiguousarray(x) for i, x in enumerate(X.T)}, "y": y}
    start = time.perf_counter()
    for first in range(0, len(y), block):
        model.learn({name: values[first : first + block] for name, values in columns.items()})
    return len(y) / (time.perf_counter() - start)


def resident(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024
    except (OSError, TypeError):
        return 0


def spread():
    """Allow this process all processors: the command reads in a second thread."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))


def command(data, kept, budget):
    """Run the command; return its last line, the seconds it took in all, and the memory as it went,
    from its first rows on.
    """
    line = [
        sys.executable,
        "-m",
        "parsimon.cli",
        "learn",
        str(data),
        "--target",
        "y",
        "--algorithm",
        "knlms",
    ]
    line += [
        "--budget",
        str(budget),
        "--model",
        str(kept),
        "--json",
        "--overwrite",
        "--every",
        "20000",
    ]
    start, memory, event = time.perf_counter(), [], {}
    free = spread if hasattr(os, "sched_setaffinity") else None
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, preexec_fn=free) as process:
        for text in process.stdout:
            event = json.loads(text)
            if event["event"] == "progress":
                memory.append(resident(process.pid))
    return event, time.perf_counter() - start, memory


def section(context):
    """The command beside the library, in turn."""
    n, budget, rounds = 20_000 if context.quick else 500_000, 100, context.rounds(5)
    X, y = stream(n)
    data, kept = context.folder / "stream.csv", context.folder / "y.parsimon"
    write(data, X, y)
    rates = {"parsimon learn": [], "TableModel.learn": [], "the filter alone": []}
    for i in range(rounds):
        context.say(f"round {i + 1} of {rounds}")
        rates["parsimon learn"].append(command(data, kept, budget)[0]["rows_per_second"])
        gamma = parsimon.load(kept).estimator_.kernel_.gamma
        rates["TableModel.learn"].append(table_model(X, y, budget))
        rates["the filter alone"].append(library(X, y, gamma, budget)[0])
    best = {name: max(found) for name, found in rates.items()}
    alone = best["the filter alone"]
    rows = [[name, f"{rate:,.0f}", f"{rate / alone:.2f}"] for name, rate in best.items()]
    text = f"""`parsimon learn --algorithm knlms` on a CSV of {n:,} rows and 10 columns, with
{budget} centres, beside `TableModel.learn` and `KNLMSRegressor.predict_then_learn` on the same
numbers in memory. The command reads, parses, encodes, scales, learns and scores. It reads ahead in
a second thread, which may use another processor. Rates are by the clock, the best of {rounds}
rounds.

{markdown(["", "rows per second", "of the filter alone"], rows)}
"""
    bar = Bar(
        "rows per second of `parsimon learn` over those of the filter on arrays",
        best["parsimon learn"] / alone,
        0.85,
        at_least=True,
    )
    return Section("The command line", text, [bar])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--decimals", type=int, default=None, help="of the numbers in the file; default: all digits"
    )
    options = parser.parse_args()
    X, y = stream(options.rows)
    if options.decimals is not None:
        X, y = X.round(options.decimals), y.round(options.decimals)
    print(
        f"{processor()}, {options.rows:,} rows x {X.shape[1] + 1} columns, KNLMS, "
        f"{options.budget} centres\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        data, kept = Path(folder) / "stream.csv", Path(folder) / "y.parsimon"
        write(data, X, y)
        for _ in range(options.repeats):
            event, seconds, memory = command(data, kept, options.budget)
            learned = parsimon.load(kept)
            in_memory, model = library(X, y, learned.estimator_.kernel_.gamma, options.budget)
            whole = table_model(X, y, options.budget)
            rate = event["rows_per_second"]
            print(
                f"learn {rate:,.0f} rows/s ({event['centres']} centres); "
                f"TableModel in memory {whole:,.0f} ({rate / whole:.2f} of it); "
                f"the filter alone {in_memory:,.0f} ({model.n_centers_} centres; "
                f"{rate / in_memory:.2f} of it)"
            )
            print(
                f"  whole process {seconds:.1f} s for {data.stat().st_size / 1e6:.0f} MB of CSV; "
                f"resident memory {memory[0] / 1e6:.0f} MB at the first report, "
                f"at most {max(memory) / 1e6:.0f} MB, {memory[-1] / 1e6:.0f} MB at the last"
            )


if __name__ == "__main__":
    main()

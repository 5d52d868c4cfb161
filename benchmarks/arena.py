"""StreamArena's protocol over a folder of streams, with one configuration for all of them.

StreamArena is a public leaderboard of streaming models. Each row is predicted and then learned, in
one pass over the whole stream. Classes are ranked by log-loss, numbers by RMSE. Here the default
of `parsimon.tables.TableModel` runs over the .npz files of a folder (X and y, X_train and y_train,
or a series) and over the streams of `made_streams.py`:

    OPENBLAS_NUM_THREADS=1 python benchmarks/arena.py --data-dir DIR --baselines

`--out` gets a result file per stream in the format of StreamArena's submissions, and `measured/`
with the rest. `--report FILE` writes a page from all that `--out` holds. So parts can be run apart:

    python benchmarks/arena.py --data-dir DIR --cost
    python benchmarks/arena.py --data-dir DIR --peers --peer-rows 5000
    python benchmarks/arena.py --out results/arena --report benchmarks/ARENA.md --streams
"""

from __future__ import annotations

import argparse
import os

# Before NumPy is loaded, and for every child
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import json
import multiprocessing
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path

import numpy as np
from arena_bars import beside, fixed, verdicts
from arena_models import BASELINES, learn_table
from arena_report import bar_cells, library_commit, report
from arena_scores import metrics
from arena_streams import LEADERBOARD, load, names
from common import markdown

import parsimon

AUTHOR = "The parsimon developers"
#: To be replaced before a submission, as is the revision of the data.
CONTACT = "to be filled in"
REVISION = "copies in .npz files, not yet compared with the files of techynilesh/streamarena"


def measure(folder, name, rows, baselines):
    """Run one stream, and return what is kept of it."""
    stream = load(folder, name, rows)

    def say(text):
        print(f"  {name}: {text}", flush=True)

    say(f"{len(stream.y)} rows, {stream.X.shape[1]} features, {stream.task}")
    ours = learn_table(stream, say=say)
    runs = {"ours": ours}
    for label, baseline in BASELINES.items() if baselines else ():
        say(f"beside it: {label}")
        runs[label] = baseline(stream, say) if label == "former" else baseline(stream)
    return {
        "name": name,
        "commit": library_commit(),
        "dataset": stream.dataset,
        "task": stream.task,
        "rows": len(stream.y),
        "whole": rows is None,
        "features": stream.X.shape[1],
        "metrics": {label: metrics(stream, run) for label, run in runs.items()},
        "wall": {label: run.wall for label, run in runs.items()},
        "cpu": {label: run.cpu for label, run in runs.items()},
        "nbytes": {label: run.nbytes for label, run in runs.items()},
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "hyperparameters": ours.hyperparameters,
        "beside": beside(stream, runs),
        "fixed": fixed(stream, ours),
    }


def submission(found):
    """Return a record as StreamArena wants it."""
    packages = ("parsimon", "numpy", "scipy", "scikit-learn")
    return {
        "task": found["task"],
        "algorithm": "parsimon",
        "dataset": found["dataset"],
        "seed": 1,
        "status": "ok",
        "window_size": 1000,
        "max_instances": None if found["whole"] else found["rows"],
        "metrics": found["metrics"]["ours"],
        "wallclock_s": round(found["wall"]["ours"], 3),
        "cpu_time_s": round(found["cpu"]["ours"], 3),
        "peak_rss_mb": round(found["peak_rss_mb"], 1),
        "hyperparameters": found["hyperparameters"],
        "submission": {
            "author": AUTHOR,
            "contact_or_repo": CONTACT,
            "library_versions": {name: _version(name) for name in packages},
            "dataset_revision": REVISION,
            "notes": "TableModel, deterministic, one thread, blocks of 1000 rows that equal rows "
            f"one by one; the model takes {found['nbytes']['ours']} bytes",
        },
    }


def _version(name):
    return parsimon.__version__ if name == "parsimon" else version(name)


def store(found, out):
    stem = found["dataset"].replace("/", "__") + "__seed1"
    for path, value in (
        (out / found["task"] / "parsimon" / f"{stem}.json", submission(found)),
        (out / "measured" / f"{found['name']}.json", found),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1) + "\n")


def line(found):
    """Return the cells of one stream, for the screen."""
    key = "rmse" if found["task"] == "regression" else "log_loss"
    board = LEADERBOARD.get(found["name"], ("", {}))[1]
    best = min(board, key=board.get) if board else ""
    return [
        found["name"],
        str(found["rows"]),
        key,
        f"{found['metrics']['ours'][key]:.5g}",
        f"{best} {board[best]:g}" if board else "",
        f"{1e6 * found['wall']['ours'] / found['rows']:.0f}",
        f"{found['nbytes']['ours'] / 1e6:.1f}",
        *bar_cells(verdicts(found["beside"])),
    ]


HEADER = [
    "stream",
    "rows",
    "measure",
    "parsimon",
    "leader",
    "us per row",
    "MB",
    "/ former, all",
    "/ former, rows 201+",
    "/ best of three, all",
    "/ best of three, first 200",
]


def run_streams(options):
    chosen = names(options.data_dir) if options.streams is None else options.streams
    lines = []
    context = multiprocessing.get_context("spawn")
    # A process for each stream, so that its peak memory is its own
    with ProcessPoolExecutor(options.jobs, mp_context=context, max_tasks_per_child=1) as pool:
        pending = {
            name: pool.submit(measure, options.data_dir, name, options.rows, options.baselines)
            for name in chosen
        }
        for number, future in enumerate(pending.values(), 1):
            found = future.result()
            store(found, options.out)
            lines.append(line(found))
            print(f"{number} of {len(chosen)}: {' | '.join(lines[-1])}", flush=True)
    if lines:
        print("\n" + markdown(HEADER, lines), flush=True)


def parsed():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", help="a folder of .npz files; without it, made streams only")
    parser.add_argument("--streams", nargs="*", help="names of streams; all by default")
    parser.add_argument("--rows", type=int, help="only the first rows of each stream")
    parser.add_argument("--out", type=Path, default=Path("results/arena"))
    parser.add_argument("--jobs", type=int, default=1, help="streams at a time, each on one thread")
    parser.add_argument(
        "--baselines", action="store_true", help="mean, last, linear, former default, and the bars"
    )
    parser.add_argument("--cost", action="store_true", help="time and memory, in place of streams")
    parser.add_argument("--peers", action="store_true", help="CapyMOA, in place of streams")
    parser.add_argument("--peer-rows", type=int, default=5000, help="rows for CapyMOA")
    parser.add_argument(
        "--peer-python", default=sys.executable, help="a Python that has CapyMOA installed"
    )
    parser.add_argument("--report", type=Path, help="write a page from what --out holds")
    parser.add_argument("--note", default="", help="how the runs were made, for the page")
    return parser.parse_args()


def main():
    options = parsed()
    np.seterr(all="ignore")
    start = time.perf_counter()
    if options.cost:
        import arena_cost

        arena_cost.run(options)
    elif options.peers:
        import arena_peers

        arena_peers.run(options)
    else:
        run_streams(options)
    if options.report:
        options.report.write_text(report(options.out, options.note))
        print(f"wrote {options.report}")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()

"""The command line under fire: ``python tests/soak/cli.py [KILLS]``.

`parsimon learn` with checkpoints, killed at 50 random moments of its life, started again each time,
from the beginning when it has reached the end; for regression and for classification. The model and
the totals at the end are those of a run that was never interrupted, to the last bit.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from test_cli import COMMAND, learn_command, table, totals, write_csv

import parsimon
from parsimon import persistence

ROWS, KILLS = 60_000, 50


def run(arguments):
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=True)
    return totals(done.stdout)


def soak(folder, task, kills, rng):
    columns = table(ROWS)
    if task == "classification":
        columns["y"] = np.where(columns["y"] > 101, "high", "low")
    data = write_csv(folder / f"{task}.csv", columns)
    whole, kept = folder / f"{task}-whole", folder / f"{task}-killed"
    start = time.monotonic()
    expected = run(learn_command(data, whole))
    seconds = time.monotonic() - start
    at, ends = [], 0
    while len(at) < kills or kept.exists():
        with subprocess.Popen(
            [*COMMAND, *learn_command(data, kept)], stdout=subprocess.DEVNULL
        ) as process:
            if len(at) < kills:
                time.sleep(rng.uniform(0, seconds))
                process.kill()
        rows = parsimon.load(kept).n_rows_ if kept.exists() else 0
        if process.returncode != 0:
            at.append(rows)
            continue
        assert run(learn_command(data, kept)) == expected, "the totals differ"
        assert persistence.dumps(parsimon.load(kept)) == persistence.dumps(parsimon.load(whole)), (
            "the models differ"
        )
        kept.unlink()  # and from the beginning
        ends += 1
    print(
        f"{task}: killed {kills} times, with these rows stored: {at}\n{ends} ends, all with the "
        "same model and totals"
    )


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    with tempfile.TemporaryDirectory() as folder:
        for task in ("regression", "classification"):
            soak(Path(folder), task, kills, random.Random(0))


if __name__ == "__main__":
    main()

"""CapyMOA's forests and SOKNL beside the default, on the first rows of each stream.

CapyMOA needs Java 17. Install it where it does not touch this project, and say where:

    python -m venv elsewhere && elsewhere/bin/pip install capymoa
    python benchmarks/arena.py --peers --peer-python elsewhere/bin/python --data-dir DIR
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from arena_models import learn_table
from arena_scores import Run, metrics
from arena_streams import load, names
from common import HERE, markdown

__all__ = ["run"]

LEARNERS = {"classification": ("ARF", "SRP"), "regression": ("ARF", "SOKNL")}


def missing(python):
    """Return why CapyMOA cannot run, or None."""
    if shutil.which("java") is None:
        return "there is no Java (17 or later)"
    done = subprocess.run(
        [python, "-c", "import capymoa"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        return f"{Path(python).name} cannot import capymoa: {said[-1]}"
    return None


def learned(name, stream, python, folder):
    """Return the run of a learner of CapyMOA and its version."""
    labels, index = np.unique(stream.y, return_inverse=True)
    classes = stream.task == "classification"
    source, result = Path(folder) / "stream.npz", Path(folder) / "result.npz"
    np.savez(source, X=stream.X, y=index if classes else stream.y, classes=classes)
    subprocess.run(
        [python, str(HERE / "arena_capymoa.py"), name, str(source), str(result)],
        check=True,
        capture_output=True,
        text=True,
    )
    with np.load(result) as stored:
        found = stored["found"]
        made = Run(labels[found.argmax(axis=1)], found) if classes else Run(found)
        made.wall, made.cpu = float(stored["wall"]), float(stored["cpu"])
        return made, str(stored["version"])


def compare(stream, python, folder):
    runs, versions = {"ours": learn_table(stream)}, {}
    for name in LEARNERS[stream.task]:
        try:
            runs[name], versions["capymoa"] = learned(name, stream, python, folder)
        except subprocess.CalledProcessError as error:
            print(f"  {name}: {(error.stderr.strip().splitlines() or ['failed'])[-1]}")
    return {
        "name": stream.name,
        "task": stream.task,
        "rows": len(stream.y),
        "metrics": {name: metrics(stream, made) for name, made in runs.items()},
        "wall": {name: made.wall for name, made in runs.items()},
        "versions": versions,
    }


def cells(found):
    """Return the cells of one stream: error and microseconds per row of each."""
    key = "rmse" if found["task"] == "regression" else "log_loss"
    line = [found["name"], str(found["rows"]), key]
    for name in ("ours", "ARF", "SRP", "SOKNL"):
        if name in found["metrics"]:
            micro = 1e6 * found["wall"][name] / found["rows"]
            line.append(f"{found['metrics'][name][key]:.4g} ({micro:.0f})")
        else:
            line.append("")
    return line


HEADER = ["stream", "rows", "measure", "parsimon (us per row)", "ARF", "SRP", "SOKNL"]


def run(options):
    why = missing(options.peer_python)
    if why is not None:
        print(f"CapyMOA is not measured: {why}. See benchmarks/arena_peers.py.")
        return
    chosen = names(options.data_dir) if options.streams is None else options.streams
    folder = options.out / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    print(markdown(HEADER, []))
    for name in chosen:
        with tempfile.TemporaryDirectory() as scratch:
            stream = load(options.data_dir, name, options.peer_rows)
            found = compare(stream, options.peer_python, scratch)
        (folder / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
        print("| " + " | ".join(cells(found)) + " |", flush=True)

"""The page that `arena.py --report` writes, from what is stored in its folder of results."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import time
from importlib.metadata import version

import arena_cost
import arena_peers
from arena_bars import verdicts
from arena_models import SIMPLE
from arena_streams import LEADERBOARD
from common import HERE, markdown, processor

import parsimon

__all__ = ["bar_cells", "library_commit", "report"]

HEAD = """# StreamArena's protocol, and the bars of the default

Written by `benchmarks/arena.py --report`, from these runs (`make arena DATA=folder`):

    python benchmarks/arena.py --data-dir DIR --baselines
    python benchmarks/arena.py --data-dir DIR --cost
    python benchmarks/arena.py --data-dir DIR --peers --peer-python PYTHON --peer-rows ROWS

Each row is predicted and then learned, in one pass. parsimon is `TableModel("y", task=...)` with
its defaults for all streams. Its errors are deterministic. Times are not: others used the machine
at the same time, so read them as rough figures. Time per row is processor time on one thread.

The experts of the default were chosen on streams of this folder. So their errors here are not those
of unseen data. The made streams were written after that choice.
"""

BARS = """Each cell is our RMSE or log-loss over that of others. *Best of three* is the best of
three models without kernels. One is the running mean, or the label frequencies. One is the last
value, or the last label with the probability that repeating had so far. One is linear: recursive
least squares, or logistic regression by gradient steps of length 1 / (d + 1). *Former* is the
default before the mixtures, whose first 200 rows are a warm-up. So it is compared over all rows and
over the rows after that.

The bars are 1.03 for former, 1.05 for best of three and 1.3 for its first 200 rows. The difference
in brackets is in standard deviations of the target, or nats. *Within .005* marks a ratio above the
bar with a difference of at most .005. The first row does not count. A label that is new costs every
model 16 nats, because no model knows it. That hides differences at the beginning of a stream. So
*known labels* repeats the comparisons with the best of three without such rows, as information."""


def bar_cells(found):
    """Return one cell per bar: the ratio, and the difference if the ratio is above the bar."""
    return [
        f"{ratio:.3f}" if word == "held" else f"{ratio:.3f} ({difference:+.4f}, {word})"
        for ratio, difference, _, word in found.values()
    ]


def report(out, note=""):
    """Return the page, in Markdown. `note` says how the runs were made."""
    measured = [json.loads(path.read_text()) for path in sorted((out / "measured").glob("*.json"))]
    parts = [HEAD, f"{processor()}, {platform.system()}. {_versions(measured)}. {_today()}.\n"]
    parts += [f"{note}\n"] if note else []
    parts += ["## Failed\n", _failed(measured, out), ""]
    parts += ["## Beside the leaderboard\n", _leaderboard(measured), ""]
    parts += ["## Fixed bars\n", _fixed(measured), ""]
    parts += ["## Bars beside other models\n", BARS, "", _bars(measured), ""]
    parts += ["## Scores of all models\n", _scores(measured), ""]
    parts += ["## All metrics\n", *(_metrics(measured, task) for task in _KEYS)]
    if (out / "cost.json").exists():
        parts += ["## Cost\n", _cost(out, measured), ""]
    parts += ["## CapyMOA\n", _peers(out), ""]
    return "\n".join(parts)


def library_commit():
    """Return the last commit that changed the library."""
    git = ["git", "-C", str(HERE.parent), "log", "-1", "--format=%h", "--"]
    library = ["core", "bindings", "src", "CMakeLists.txt"]
    done = subprocess.run([*git, *library], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "not known"


def _versions(measured):
    """Return versions, with the commits of the library that were measured."""
    others = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    commits = ", ".join(sorted({found["commit"] for found in measured})) or "not known"
    return (
        f"parsimon {parsimon.__version__} (commit {commits}), "
        f"Python {platform.python_version()}, {others}"
    )


def _today():
    return time.strftime("%Y-%m-%d")


_KEYS = {
    "classification": (
        "log_loss",
        "accuracy",
        "kappa",
        "kappa_t",
        "kappa_m",
        "f1_score",
        "roc_auc",
        "pr_auc",
    ),
    "regression": ("rmse", "mae", "r2"),
}


def _failed(measured, out):
    """Return what failed, and what is above a ratio but does not count as failed."""
    failed, close = [], []
    for found in measured:
        bar = found["fixed"]
        if bar and bar["seen"] > bar["bound"]:
            text = f"- {found['name']}: {bar['seen']:.4g}, the fixed bar is {bar['bound']:g}"
            failed.append(text)
        for name, (ratio, difference, allowed, word) in verdicts(found["beside"]).items():
            text = f"- {found['name']}, {name}: {{:.3f}} times, the bar is {allowed:g}"
            by = "; the difference is {:.4f}"
            if word != "held":
                said = text.format(ratio) + by.format(difference)
                (failed if "failed" in word else close).append(said)
            ratio, difference, _, known = verdicts(found["beside"], "known")[name]
            if word == "held" and known != "held":
                said = text.format(ratio) + by.format(difference)
                close.append(said + ", only without rows that bring a new label")
    if (out / "cost.json").exists():
        cost = json.loads((out / "cost.json").read_text())
        failed += [f"- cost, {line}" for line in arena_cost.failed(cost)]
    parts = "\n".join(failed) or "None."
    if close:
        parts += "\n\nAbove a ratio, but not counted as failed:\n\n" + "\n".join(close)
    return parts


def _leaderboard(measured):
    lines = []
    for found in measured:
        if found["name"] not in LEADERBOARD:
            continue
        name, board = LEADERBOARD[found["name"]]
        key = _KEYS[found["task"]][0]
        ours = found["metrics"]["ours"][key]
        order = sorted(board.items(), key=lambda item: item[1])
        lines.append(
            [
                name,
                str(found["rows"]),
                key,
                f"{ours:.4g}",
                f"{ours / order[0][1]:.2f}",
                ", ".join(f"{model} {value:g}" for model, value in order),
                f"{found['wall']['ours']:.0f}",
                f"{found['cpu']['ours']:.0f}",
                f"{found['nbytes']['ours'] / 1e6:.1f}",
                f"{found['peak_rss_mb']:.0f}",
            ]
        )
    header = ["stream", "rows", "measure", "parsimon", "over the best", "leaderboard"]
    times = ["wall clock, s", "processor, s", "model, MB", "process, MB"]
    note = """

The leaderboard's figures are those it publishes, from its own machine. Our rows are copies of these
streams from other places, which were not compared with its files. The memory of the process
includes Python and the data."""
    return markdown([*header, *times], lines) + note


def _fixed(measured):
    words = {
        "loss": "RMSE or log-loss",
        "relative": "squared error over variance",
        "error": "share of wrong labels",
    }
    lines = [
        [
            found["name"],
            words[bar["what"]],
            str(bar["rows"]),
            f"{bar['bound']:g}",
            f"{bar['seen']:.4g}",
            "held" if bar["seen"] <= bar["bound"] else "**failed**",
        ]
        for found in measured
        if (bar := found["fixed"])
    ]
    return markdown(["stream", "measure", "rows that count", "bound", "seen", ""], lines)


def _bars(measured):
    lines = []
    for found in measured:
        cells = bar_cells(verdicts(found["beside"]))
        known = bar_cells(verdicts(found["beside"], "known"))[2:]
        if found["task"] == "regression":
            known = [""] * len(known)
        lines.append([found["name"], str(found["rows"]), *cells, *known])
    three = ["best of three, all", "best of three, first 200"]
    header = ["stream", "rows", "former, all", "former, rows 201 on", *three]
    return markdown([*header, *(f"{name}, known labels" for name in three)], lines)


def _scores(measured):
    models = ["ours", *SIMPLE, "former"]
    lines = []
    for found in measured:
        scores = found["beside"]["scores"]
        lines.append(
            [
                found["name"],
                _KEYS[found["task"]][0],
                *(f"{scores['all'].get(model, float('nan')):.4g}" for model in models),
                *(f"{scores['beginning'].get(model, float('nan')):.4g}" for model in models[:-1]),
                f"{1e6 * found['cpu']['ours'] / found['rows']:.0f}",
                f"{1e6 * found['cpu'].get('former', float('nan')) / found['rows']:.0f}",
            ]
        )
    header = ["stream", "measure", *models, *(f"{model}, first 200" for model in models[:-1])]
    note = "Rows as for the bars. The last two columns are microseconds per row.\n\n"
    return note + markdown([*header, "ours, us", "former, us"], lines)


def _metrics(measured, task):
    keys = _KEYS[task]
    lines = [
        [
            found["name"],
            *(
                ""
                if found["metrics"]["ours"][key] is None
                else f"{found['metrics']['ours'][key]:.5g}"
                for key in keys
            ),
        ]
        for found in measured
        if found["task"] == task
    ]
    return markdown(["stream", *keys], lines) + "\n"


def _cost(out, measured):
    found = json.loads((out / "cost.json").read_text())
    text = f"""Processor time per row from row 1001 to {found["rows"]}, the least of some rounds.
One thread over two is by the clock, the median of some rounds. It is judged only where two threads
with independent work are {arena_cost.FREE} times faster than one: virtual cores can share a real
one. Rows learned one at a time: each is the least of some rounds.

{arena_cost.tables(found)}

Processor time over that of the former default, over whole streams of at most 20 features. Here each
stream ran once, so these ratios are rougher. The bar is 4.

{_whole(measured)}
"""
    picture = out / "budgets.png"
    if picture.exists():
        shutil.copy(picture, arena_cost.PICTURE)
        text += f"\n![error against time per row](plots/{arena_cost.PICTURE.name})\n"
    return text


def _whole(measured):
    lines = []
    for found in measured:
        if found["features"] <= 20 and "former" in found["cpu"]:
            ours, former = (1e6 * found["cpu"][name] / found["rows"] for name in ("ours", "former"))
            ratio = f"{ours / former:.1f}" + ("" if ours <= 4.0 * former else " **failed**")
            lines.append([found["name"], str(found["rows"]), f"{ours:.0f}", f"{former:.0f}", ratio])
    return markdown(["stream", "rows", "us per row", "former default", "ratio"], lines)


def _peers(out):
    paths = sorted((out / "peers").glob("*.json"))
    if not paths:
        return "Not measured. `arena_peers.py` says how to install CapyMOA."
    found = [json.loads(path.read_text()) for path in paths]
    known = next((each["versions"] for each in found if each["versions"]), {})
    text = f"""CapyMOA {known.get("capymoa", "")}, defaults, on the first rows of each stream:
RMSE or log-loss, and microseconds per row by the clock in brackets.

"""
    return text + markdown(arena_peers.HEADER, [arena_peers.cells(each) for each in found])

"""Time and memory of the default, beside the default of earlier versions."""

from __future__ import annotations

import json
import time

import numpy as np
from arena_bars import BEGINNING
from arena_models import BLOCK, former_options, learn_table
from arena_streams import load, names
from common import HERE, markdown
from machine import thread_gain

from parsimon.mixtures import MixtureClassifier, MixtureRegressor
from parsimon.tables import TableModel

__all__ = ["run"]

#: Streams of at most 20 features: of the folder where they are, and made ones.
TIMED = ("electricity", "fried", "bike_sharing_hour", "irrelevant_features", "constant_columns")
PLOTTED = ("electricity", "fried", "bike_sharing_hour", "pumadyn32nm", "irrelevant_features")
#: Where the report has its picture.
PICTURE = HERE / "plots" / "arena_budgets.png"
BUDGETS = (300, 600, 1200, 2500, 5000)
ROWS = 4000
ROUNDS = 3
#: Rounds with one thread and two. The bar is for machines on which two threads with independent
#: work are at least so much faster than one.
THREAD_ROUNDS = 10
FREE = 1.8
#: Numbers of rows after which `nbytes_` is read.
SIZES = (200, 500, 1000, 2000, 4000, 8000, 16000)


def seconds(stream, first, **options):
    """Return seconds by the clock and of the processor for rows from `first` on."""
    model = TableModel("y", task=stream.task, **options)
    model.learn(stream.block(slice(0, first)))
    wall, cpu = time.perf_counter(), time.process_time()
    for start in range(first, len(stream.y), BLOCK):
        model.learn(stream.block(slice(start, min(start + BLOCK, len(stream.y)))))
    return time.perf_counter() - wall, time.process_time() - cpu


def pace(stream):
    """Return the least microseconds per row over some rounds, by the clock and the processor."""
    first = min(1000, len(stream.y) // 2)
    systems = {"ours": {}, "former": former_options(stream.task)}
    taken = {name: [] for name in systems}
    for _ in range(ROUNDS):
        for name, options in systems.items():
            taken[name].append(seconds(stream, first, **options))
    n = len(stream.y) - first
    return {name: (1e6 * np.min(each, axis=0) / n).tolist() for name, each in taken.items()}


def threads(stream):
    """Return for each round: time with one thread over two, and what the machine allows."""
    found = []
    for _ in range(THREAD_ROUNDS):
        before = thread_gain()
        one = seconds(stream, BLOCK)[0]
        two = seconds(stream, BLOCK, options={"n_jobs": 2})[0]
        found.append([one / two, (before + thread_gain()) / 2])
    return found


def rows_one_by_one(stream, first, last, table):
    """Return the seconds of each row from first to last: the least of some rounds, (n,).

    With `table`, rows are tables of one row. Otherwise `learn_one` of the estimator gets arrays.
    The work for a row is the same in every round, so the least is free of what others do.
    """
    taken = []
    for _ in range(ROUNDS):
        if table:
            model = TableModel("y", task=stream.task)
            learn, before = model.learn, [stream.block(slice(0, first))][: bool(first)]
            rows = [(stream.block(slice(i, i + 1)),) for i in range(first, last)]
            for block in before:
                model.learn(block)
        else:
            model = MixtureRegressor() if stream.task == "regression" else MixtureClassifier()
            learn, rows = model.learn_one, list(zip(stream.X, stream.y, strict=True))[first:last]
            if first:
                model.partial_fit(stream.X[:first], stream.y[:first])
        each = []
        for row in rows:
            start = time.perf_counter()
            learn(*row)
            each.append(time.perf_counter() - start)
        taken.append(each)
    return np.min(taken, axis=0)


def longest(stream):
    """Return, for a settled model and for the beginning: median and longest row, and which."""
    found = {}
    for part, first, last in (("2001 to 3500", 2000, 3500), ("1 to 600", 0, 600)):
        for how in ("learn_one", "TableModel.learn"):
            each = rows_one_by_one(stream, first, last, how != "learn_one")
            most = int(each.argmax())
            median, top = 1e6 * float(np.median(each)), 1e6 * float(each[most])
            found[f"{part}, {how}"] = [median, top, first + most + 1]
    return found


def memory(stream):
    """Return {rows: nbytes_}."""
    model, found, first = TableModel("y", task=stream.task), {}, 0
    for last in (size for size in SIZES if size <= len(stream.y)):
        model.learn(stream.block(slice(first, last)))
        found[last], first = int(model.nbytes_), last
    return found


def error(stream, run):
    loss = run.losses(stream)[BEGINNING:].mean()
    return float(loss / stream.y[BEGINNING:].var() if stream.task == "regression" else loss)


def curve(stream, say):
    """Return microseconds per row and error for each budget, and of the former default."""
    found = {}
    for budget in BUDGETS:
        made = learn_table(stream, budget=budget)
        found[str(budget)] = [1e6 * made.cpu / len(stream.y), error(stream, made)]
        say(f"budget {budget}: {found[str(budget)][0]:.0f} us, error {found[str(budget)][1]:.4f}")
    made = learn_table(stream, **former_options(stream.task))
    found["former"] = [1e6 * made.cpu / len(stream.y), error(stream, made)]
    return found


def draw(curves, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 5), layout="constrained")
    for number, (name, found) in enumerate(curves.items()):
        colour = f"C{number}"
        points = np.array([found[str(budget)] for budget in BUDGETS])
        axes.plot(*points.T, "o-", color=colour, label=name)
        axes.plot(*found["former"], "x", color=colour, markersize=9)
        for budget, point in zip(BUDGETS, points, strict=True):
            axes.annotate(str(budget), point, fontsize=7, xytext=(3, 4), textcoords="offset points")
    axes.plot([], [], "kx", label="former default")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="processor time per row, microseconds",
        ylabel="log-loss, or squared error over variance",
        title="Error against time per row, for several budgets (centres)",
    )
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def run(options):
    known = names(options.data_dir)
    rows = options.rows or ROWS

    def chosen(wanted):
        return [name for name in options.streams or wanted if name in known]

    found = {"rows": rows, "pace": {}, "threads": {}, "longest": {}, "memory": {}, "curves": {}}
    for name in chosen(TIMED):
        stream = load(options.data_dir, name)
        found["pace"][name] = pace(stream.first(rows))
        found["threads"][name] = threads(stream.first(rows))
        found["longest"][name] = longest(stream)
        found["memory"][name] = memory(stream)
        print(f"{name}: {found['pace'][name]} {found['longest'][name]}", flush=True)
    for name in chosen(PLOTTED):
        stream = load(options.data_dir, name, rows)
        print(f"{name}, budgets", flush=True)
        found["curves"][name] = curve(stream, lambda text: print(f"  {text}", flush=True))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "cost.json").write_text(json.dumps(found, indent=1) + "\n")
    draw(found["curves"], options.out / "budgets.png")
    print(tables(found))


def tables(found):
    """Return the tables of time and memory."""
    paces = [
        [
            name,
            f"{each['ours'][1]:.0f}",
            f"{each['former'][1]:.0f}",
            _judged(each["ours"][1] / each["former"][1], 4.0),
            _faster(found["threads"][name]),
        ]
        for name, each in found["pace"].items()
    ]
    longest = [
        [name, part, f"{median:.0f}", f"{most:.0f}", str(row), _judged(most / median, 20.0)]
        for name, parts in found["longest"].items()
        for part, (median, most, row) in parts.items()
    ]
    sizes = [
        [name, *(f"{each[str(n)] / 1e6:.2f}" if str(n) in each else "" for n in SIZES)]
        for name, each in (
            (name, {str(n): size for n, size in each.items()})
            for name, each in found["memory"].items()
        )
    ]
    return "\n\n".join(
        [
            markdown(
                [
                    "stream",
                    "us per row (processor)",
                    "former default",
                    "ratio (bar: 4)",
                    "faster with two threads (bar: 1.6)",
                ],
                paces,
            ),
            markdown(
                ["stream", "rows", "median us", "longest us", "at row", "ratio (bar: 20)"], longest
            ),
            markdown(["MB after rows", *map(str, SIZES)], sizes),
        ]
    )


def failed(found):
    """Return a line for each bar of cost that failed."""
    lines = []
    for name, each in found["pace"].items():
        ratio = each["ours"][1] / each["former"][1]
        if ratio > 4.0:
            lines.append(f"{name}: {ratio:.1f} times the former default per row, the bar is 4")
        seen, most = _speedups(found["threads"][name])
        if seen < 1.6 and most >= FREE:
            lines.append(f"{name}: {seen:.2f} times faster with two threads, not 1.6")
        for part, (median, most, _) in found["longest"][name].items():
            if most > 20.0 * median:
                lines.append(f"{name}, rows {part}: longest row {most / median:.0f} medians")
    return lines


def _speedups(rounds):
    """Return the median speed-up with two threads, and that of independent work."""
    return np.median(rounds, axis=0).tolist()


def _faster(rounds):
    """Return the median speed-up, judged if the machine has two free cores."""
    seen, most = _speedups(rounds)
    if most < FREE:
        return f"{seen:.2f} (not judged: independent work gains {most:.2f})"
    return _judged(seen, 1.6, at_least=True)


def _judged(value, bound, *, at_least=False):
    held = value >= bound if at_least else value <= bound
    return f"{value:.2f}" + ("" if held else " **failed**")

"""``parsimon compare``: several algorithms on one stream, beside doing nothing, a linear model, and
the streaming models of others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor

from parsimon import plots
from parsimon._extras import install_command
from parsimon.cli.curve import Curve
from parsimon.cli.display import Screen, as_json, honest, table, why_no_scores
from parsimon.cli.learn import Interrupt, Pace, require_apart, require_writable, task_note
from parsimon.cli.progress import Progress
from parsimon.cli.reading import (
    Block,
    Failure,
    Source,
    failure,
    in_good_parts,
    require_features,
    require_known,
)
from parsimon.cli.words import choose, plural
from parsimon.evaluation import METRICS, predict_then_learn
from parsimon.preprocessing import TableEncoder, TableError, TargetScaler, read_table
from parsimon.tables import ALGORITHMS, TASKS, TableModel

__all__ = ["PEERS", "Options", "compare"]

Array = NDArray[np.float64]
Labels = NDArray[Any]

#: Rows that all models learn before the next ones are cut, at the beginning and at most; as many as
#: take about this many seconds.
SLICE, LARGEST_SLICE, SECONDS = 256, 8192, 0.5
#: Rows that a peer learns between two looks at the clock.
PIECE = 16
#: Rows that a model of parsimon needs before it predicts.
WARMUP = TableModel("").warmup
#: Rows over which the rolling metrics go.
WINDOW = 1000
#: What is shown of each task, by metric; the first is what is drawn.
SHOWN = {
    "classification": {"accuracy": "accuracy", "kappa": "kappa", "log_loss": "log loss"},
    "regression": {"relative_mse": "error / variance", "mae": "absolute error", "r2": "R2"},
}


@dataclass
class Options:
    """What `compare` was asked for."""

    data: str
    target: str
    task: str = "auto"
    algorithms: list[str] = field(default_factory=list)
    peers: list[str] = field(default_factory=list)
    budget: int | None = None
    rows: int | None = None
    plot: Path | None = None
    ignore: list[str] = field(default_factory=list)
    as_lines: bool = False
    delimiter: str | None = None
    decimal: str | None = None
    date_format: list[str] = field(default_factory=list)
    bad_rows: str = "error"


def compare(options: Options) -> int:
    """Learn one stream with several models, and print how each did."""
    for name in options.algorithms:
        choose(ALGORITHMS, name, "algorithm")
    choose(dict.fromkeys(TASKS), options.task, "task")
    for name in options.peers:
        choose(PEERS, name, "peer").require()
    if options.target in options.ignore:
        raise Failure(f"--ignore {options.target} is the target")
    if options.plot is not None:
        require_apart({"DATA": options.data, "--plot": options.plot})
        require_writable(options.plot)
        plots.require_drawable(options.plot)
    title = f"{options.target} of {options.data}"
    interrupt = Interrupt()
    with (
        Source(
            options.data,
            unused=options.ignore,
            delimiter=options.delimiter,
            stopped=interrupt,
            decimal=options.decimal,
            date_formats=options.date_format,
            bad_rows=options.bad_rows,
        ) as source,
        interrupt,
        Screen(as_lines=options.as_lines, title=title) as screen,
    ):
        run = _Run(options, source, screen, interrupt)
        try:
            run.stream()
        except Failure:
            if run.rows:  # what is known of the rows before
                run.finish()
                run.end()
            raise
        run.finish()
    run.end()
    return 0 if interrupt.number is None else 128 + interrupt.number


class _Run:
    """One run of the command."""

    def __init__(
        self, options: Options, source: Source, screen: Screen, interrupt: Interrupt
    ) -> None:
        self.options, self.source, self.screen, self.interrupt = options, source, screen, interrupt
        self.models: dict[str, _Model] = {}
        self.task = options.task
        self.rows = 0
        self.consumed = 0  # rows of the data, bad ones included
        self.reader = TableModel(options.target, task=options.task, ignore=options.ignore)
        self.progress = Progress()
        # Of each model, the rolling and the total error
        self.curve: Curve[dict[str, tuple[float, float]]] = Curve()

    def stream(self) -> None:
        pace = Pace(SLICE, SLICE, LARGEST_SLICE, SECONDS)
        for i, block in enumerate(_blocks(self.source, WARMUP, self.options.rows)):
            if i == 0:
                if self.options.task != "classification":
                    self.source.require_plain(self.options.target)
                require_known(self.options.ignore, self.source.columns)
                require_features(
                    block.table,
                    [*self.options.ignore, self.options.target],
                    self.reader.max_categories,
                )
            block = self.sound(block)
            if not block.table.num_rows:
                continue
            if not self.models:
                block = self.begin(block)
            at, n = 0, block.table.num_rows
            self.progress.begin(block)
            while at < n and not self.interrupt():
                # The warm-up settles the columns, for all alike
                rows = min(pace.rows if self.rows else WARMUP, n - at)
                if self.rows and self.options.plot is not None:
                    rows = min(rows, self.curve.until(self.rows))
                start = time.perf_counter()
                self.slice(block.slice(at, rows))
                self.source.tell()
                pace.took(rows, time.perf_counter() - start)
                at += rows
                self.consumed = block.number(at - 1) + 1
                self.progress.learned(at)
            if self.interrupt():
                break
        if self.options.rows is None and not self.interrupt():
            self.consumed = self.source.rows
        self.source.tell()
        if not self.models:
            raise Failure(f"{self.options.data} has no rows")

    def finish(self) -> None:
        for model in self.models.values():
            model.finish()
        if self.models:
            self.note(last=True)
        self.screen.clear()

    def begin(self, block: Block) -> Block:
        """Make the models, of the task that the first rows tell, and return the rows that can be
        used.
        """
        options = self.options
        reader = self.reader
        block = self.sound(block)
        if not block.table.num_rows:
            return block
        try:
            reader.learn(block.table.slice(0, reader.warmup))
            self.task = task = reader.finish().task_
        except TableError as error:
            raise failure(error, block.first) from None
        if options.task == "auto":
            self.source.notes.append(task_note(reader))
        block = self.sound(block)
        try:
            y = reader._targets(read_table(block.table, [options.target])[options.target], task)
        except TableError as error:
            raise failure(error, block.first) from None
        asked = options.algorithms or list(ALGORITHMS)
        known = [name for name in asked if task in ALGORITHMS[name]]
        if not options.algorithms:  # all, but none under two names
            first = {ALGORITHMS[name][task]: name for name in reversed(known)}
            known = [name for name in known if name in first.values()]
        if not known:
            names = ", ".join(name for name, tasks in ALGORITHMS.items() if task in tasks)
            raise Failure(
                f"--algorithm {', '.join(asked)} is not for {task}, for which there are {names}"
            )
        self.models = {name: _Ours(options, task, name) for name in known}
        self.models["mean so far" if task == "regression" else "majority so far"] = _Usual(task)
        self.models["no change"] = _NoChange(task)
        classes = len(np.unique(y)) if task == "classification" else 0
        for name in ("linear SGD", *options.peers):
            self.models[name] = _Other(task, PEERS.get(name, LINEAR).make[task](), classes)
        self.encoding = _Encoding(options, task)
        return block

    def sound(self, block: Block) -> Block:
        """Return the rows of a block that can be used; all of them, if bad ones are errors."""
        if self.options.bad_rows != "skip":
            return block
        kept: list[Block] = []

        def take(at: int, n: int) -> None:
            self.reader._read(block.table.slice(at, n))
            kept.append(block.slice(at, n))

        def refuse(at: int, error: TableError) -> None:
            self.source.refuse(block.number(at), failure(error, block.number(at)))

        try:
            in_good_parts(take, 0, block.table.num_rows, refuse)
        except TableError as error:
            raise failure(error, block.first) from None
        return _joined(kept) if kept else block.slice(0, 0)

    def slice(self, block: Block) -> None:
        try:
            for model in self.models.values():
                if isinstance(model, _Ours):
                    model.learn(block.table)
                    self.show()
            rows = self.encoding.rows(block.table)
        except TableError as error:
            raise failure(error, block.first) from None
        for model in self.models.values():
            if not isinstance(model, _Ours):
                model.learn(rows, self.show)
        self.rows += block.table.num_rows
        self.note()

    def note(self, *, last: bool = False) -> None:
        """Take a point of each curve, if one is due."""
        if self.options.plot is None or (self.rows % self.curve.stride and not last):
            return
        key, found = next(iter(SHOWN[self.task])), {}
        for name, model in self.models.items():
            total, rolling = model.scores()
            if total and model.failed is None:
                found[name] = (rolling[key], total[key])
        if found:
            self.curve.add(self.rows, found, last=last)

    # What is shown

    def show(self) -> None:
        """Draw, if it is time."""
        if self.screen.live:
            self.screen.draw_all(*self.table(), self.progress.fraction, self.progress.left)

    def table(self) -> tuple[list[str], list[list[str]]]:
        shown = SHOWN[self.task]
        first = next(iter(shown))
        lines = []
        for name, model in self.models.items():
            total, rolling = model.scores()
            figures = [*(total.get(key) for key in shown), rolling.get(first)]
            texts = ["" if f is None or np.isnan(f) else f"{f:.4f}" for f in figures]
            centres = "" if model.centres is None else f"{model.centres:,}"
            cost = "" if not model.rows else f"{model.cost:,.1f}"
            lines.append([name, *texts, centres, cost, model.failed or ""])
        window = f"{self.window():,}" if self.window() else ""
        header = [
            self.task,
            *shown.values(),
            f"{shown[first]}, last {window or 'rows'}",
            "centres",
            "us/row",
            "",
        ]
        if not any(model.failed for model in self.models.values()):
            header, lines = header[:-1], [line[:-1] for line in lines]
        return header, lines

    def window(self) -> int:
        """Return over how many rows the rolling metrics really are."""
        found = (m.metrics.rolling()["rows"] for m in self.models.values() if m.metrics is not None)
        return int(max(found, default=0))

    def notes(self) -> list[str]:
        """Return what is to be known about the rows and the scores."""
        skipped = self.consumed - self.rows
        bad = f"; {plural(skipped, 'bad row')} skipped" if skipped else ""
        rows = "1 row" if self.rows == 1 else f"{self.rows:,} rows, each"
        notes = [f"{rows} predicted and then learned{bad}"]
        without: dict[str, list[str]] = {}
        for name, model in self.models.items():
            if reason := model.why_no_scores():
                without.setdefault(reason, []).append(name)
        for reason, names in without.items():
            which = "" if len(names) == len(self.models) else f" for {', '.join(names)}"
            notes.append(f"no scores{which}: {reason}")
        if not without:
            loss = ", which have no log loss" if self.task == "classification" else ""
            notes.append(
                f"parsimon's algorithms repeat the last target for the first {WARMUP} rows{loss}"
            )
        return notes

    def end(self) -> None:
        """Print and draw how it came out."""
        if self.options.as_lines:
            for name, model in self.models.items():
                total, rolling = model.scores()
                facts = {
                    "model": name,
                    "rows": model.rows,
                    "centres": model.centres,
                    "microseconds_a_row": model.cost,
                }
                facts["skipped"] = self.consumed - self.rows
                failed = {} if model.failed is None else {"failed": model.failed}
                print(as_json({**facts, "total": total, "rolling": rolling, **failed}))
        else:
            print(table(*self.table()))
            print("\n".join(self.notes()), flush=True)
        if self.options.plot is not None:
            with self.interrupt.reader(self.options.plot) as ready:
                if ready:
                    self.draw(self.options.plot)

    def draw(self, path: Path) -> None:
        classes = self.task == "classification"
        lines = {}
        for name in self.models:
            points = [(rows, *found[name]) for rows, found in self.curve.points if name in found]
            rows, last, total = np.array(points, dtype=np.float64).reshape(-1, 3).T
            lines[name] = (rows, 1.0 - last, 1.0 - total) if classes else (rows, last, total)
        ylabel = "share of wrong labels" if classes else "squared error / variance"
        title = f"{self.options.target} of {Path(self.options.data).name}"
        why = [m.why_no_scores() for m in self.models.values()]
        plots.compared(
            path,
            lines,
            ylabel=ylabel,
            title=title,
            window=self.window(),
            missing=f"no scores: {why[0] or 'no row was scored'}",
        )
        if not self.options.as_lines:
            print(f"drawn in {path}")


def _blocks(source: Source, least: int, limit: int | None) -> Iterator[Block]:
    """Yield the first `limit` rows in blocks, of which the first has at least a number of rows, if
    there are so many.
    """
    first: list[Block] = []
    rows, done = 0, 0.0
    for block in source.blocks():
        if limit is not None:
            n = min(block.table.num_rows, limit - rows)
            # Whichever ends first
            end = max(block.span[1] if block.span else 0.0, (rows + n) / limit)
            block, done = block.slice(0, n)._replace(span=(done, end)), end
        rows += block.table.num_rows
        first.append(block)
        if rows >= least or rows == limit:
            yield _joined(first)
            first = []
        if rows == limit:
            return
    if first:
        yield _joined(first)


def _joined(blocks: list[Block]) -> Block:
    spans = [b.span for b in blocks if b.span is not None]
    span = (spans[0][0], spans[-1][1]) if spans else None
    numbers = np.concatenate([b.all_numbers() for b in blocks])
    return Block(pa.concat_tables([b.table for b in blocks]), blocks[0].first, None, span, numbers)


# Rows as all but ours are given them


class _Rows(NamedTuple):
    """Targets y (n,), encoded rows X (n, d), for regression scaled targets and the function that
    scales predictions back; and the seconds that encoding took.
    """

    y: Labels
    X: Array
    scaled: Array | None
    back: Callable[[Array], Array] | None
    seconds: float


class _Encoding:
    """Makes of tables what the models of parsimon make of them."""

    def __init__(self, options: Options, task: str) -> None:
        self._reader = TableModel(options.target, task=task)
        self._encoder = TableEncoder(ignore=[options.target, *options.ignore])
        self._scaler = TargetScaler()

    def rows(self, block: Any) -> _Rows:
        start = time.perf_counter()
        target, task = self._reader.target, self._reader.task
        y = self._reader._targets(read_table(block, [target])[target], task)
        X = self._encoder.learn_transform(block)
        scaled, back = self._scaler.learn_transform(y) if task == "regression" else (None, None)
        return _Rows(y, X, scaled, back, time.perf_counter() - start)


# Models


class _Model:
    """What takes part: rows and seconds so far, and the row at which it failed and why."""

    rows = 0
    seconds = 0.0
    failed: str | None = None
    metrics: Any

    @property
    def centres(self) -> int | None:
        """How many centres it has, if it has any."""
        return None

    @property
    def cost(self) -> float:
        """Microseconds a row."""
        return 1e6 * self.seconds / self.rows if self.rows else np.nan

    def learn(self, rows: Any, show: Callable[[], None] = lambda: None) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        """Learn what is held back."""

    #: Rows that it does not predict itself.
    warmup = 0

    def scores(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the metrics over all rows and over the last rows."""
        return ({}, {}) if self.metrics is None else honest(self.metrics, self.warmup)

    def why_no_scores(self) -> str | None:
        """Return why there are no scores, or None if there are."""
        if self.failed is not None or self.metrics is None:
            return None
        return why_no_scores(self.metrics, self.warmup)


class _Ours(_Model):
    """An algorithm of parsimon."""

    warmup = WARMUP

    def __init__(self, options: Options, task: str, name: str) -> None:
        self._model = TableModel(
            options.target,
            task=task,
            algorithm=name,
            budget=options.budget,
            ignore=options.ignore,
            window=WINDOW,
        )

    def learn(self, rows: Any, show: Callable[[], None] = lambda: None) -> None:
        start = time.perf_counter()
        self._model.learn(rows)
        self.seconds += time.perf_counter() - start
        self.rows = self._model.n_rows_

    def finish(self) -> None:
        start = time.perf_counter()
        self._model.finish()
        self.seconds += time.perf_counter() - start

    @property
    def metrics(self) -> Any:
        return self._model.metrics_

    @property
    def centres(self) -> int | None:
        return None if self.metrics is None else self._model.n_centers_


class _Scored(_Model):
    """Any other model: it gives what it predicted for each row before it was learned."""

    def __init__(self, task: str) -> None:
        self.task, self.metrics = task, METRICS[task](WINDOW)

    def learn(self, rows: _Rows, show: Callable[[], None] = lambda: None) -> None:
        if self.failed is not None:
            return
        start = time.perf_counter()
        found = self.predict_then_learn(rows, show)
        if found is not None:
            self.metrics.update(rows.y, found)
            self.rows += len(rows.y)
        self.seconds += time.perf_counter() - start

    def predict_then_learn(self, rows: _Rows, show: Callable[[], None]) -> Labels | None:
        """Return what was predicted for each row, (n,), or None if the model failed."""
        raise NotImplementedError


class _NoChange(_Scored):
    """The last target."""

    _last: Labels | None = None

    def predict_then_learn(self, rows: _Rows, show: Callable[[], None]) -> Labels:
        before = np.concatenate([rows.y[:1] if self._last is None else self._last, rows.y[:-1]])
        self._last = rows.y[-1:]
        return before


class _Usual(_Scored):
    """The mean of the targets so far, or the most frequent label."""

    def __init__(self, task: str) -> None:
        super().__init__(task)
        self._sum = 0.0
        self._counts: dict[Any, int] = {}

    def predict_then_learn(self, rows: _Rows, show: Callable[[], None]) -> Labels:
        y = rows.y
        if self.task == "regression":
            sums = np.add.accumulate(np.concatenate([[self._sum], y]))
            self._sum = sums[-1]
            means: Labels = sums[:-1] / np.maximum(self.rows + np.arange(len(y)), 1)
            return means
        found, best = [], max(self._counts, key=self._counts.__getitem__, default=y[0].item())
        for label in y.tolist():
            found.append(best)
            self._counts[label] = self._counts.get(label, 0) + 1
            best = label if self._counts[label] > self._counts.get(best, 0) else best
        return np.array(found)


class _Other(_Scored):
    """A model of scikit-learn or River, which is given the encoded rows, one at a time, and for
    regression scaled targets. What encoding takes counts for it, as it does for ours.
    """

    def __init__(self, task: str, model: Any, classes: int) -> None:
        super().__init__(task)
        self._model = model
        if task == "classification" and hasattr(model, "partial_fit"):
            self._model = _Numbered(model, 2 if isinstance(model, SGDClassifier) else classes)

    def predict_then_learn(self, rows: _Rows, show: Callable[[], None]) -> Labels | None:
        self.seconds += rows.seconds
        targets = rows.y if rows.scaled is None else rows.scaled
        found = []
        for first in range(0, len(targets), PIECE):
            piece = slice(first, first + PIECE)
            try:
                found.append(predict_then_learn(self._model, rows.X[piece], targets[piece]).values)
            except (ArithmeticError, ValueError) as error:  # numbers that grew without bound
                self.failed = f"failed in rows {self.rows + first + 1:,} to {self.rows + first + PIECE:,}: {error}"
                return None
            start = time.perf_counter()
            show()
            self.seconds -= time.perf_counter() - start  # which is none of its own
        together = np.concatenate(found)
        return together if rows.back is None else rows.back(together)


class _Numbered:
    """A classifier of scikit-learn for classes that come as they come.

    It is told of numbers, which labels are given in the order in which they are met.

    A linear model that has no number left is given another one-against-all function, 0 but for an
    intercept of -1. Others cannot grow: labels beyond the numbers that they began with they do not
    learn.
    """

    def __init__(self, model: Any, numbers: int) -> None:
        self._model, self._classes = model, np.arange(max(numbers, 2))
        self._numbers: dict[Any, int] = {}
        self._labels: list[Any] = []

    def predict(self, X: Array) -> list[Any]:
        """Predict the label of one row."""
        if not self._labels:
            raise NotFittedError
        return [self._labels[min(int(self._model.predict(X)[0]), len(self._labels) - 1)]]

    def partial_fit(self, X: Array, y: list[Any]) -> None:
        """Learn one row."""
        number = self._numbers.setdefault(y[0], len(self._numbers))
        if number == len(self._labels):
            self._labels.append(y[0])
        if number >= len(self._classes):
            if not isinstance(self._model, SGDClassifier):
                return
            self._grow()
        self._model.partial_fit(X, [number], classes=self._classes)

    def _grow(self) -> None:
        model = self._model
        W, b = model.coef_, model.intercept_
        if len(W) == 1:  # two classes have one function, which speaks for the second
            W, b = np.concatenate([-W, W]), np.concatenate([-b, b])
        self._classes = np.arange(len(W) + 1)
        model.coef_, model.intercept_ = np.vstack([W, np.zeros_like(W[:1])]), np.append(b, -1.0)
        model.classes_ = self._classes


# Peers


@dataclass(frozen=True)
class _Peer:
    """What makes a peer for each task, and the module that it needs."""

    make: dict[str, Callable[[], Any]]
    river: bool = False

    def require(self) -> None:
        """Say what is not installed."""
        if self.river:
            _river()


def _river() -> Any:
    try:
        from river import forest, linear_model, tree
    except ImportError:
        raise Failure(
            f"this peer is a model of River, which is not installed: {install_command('river')}"
        ) from None
    return forest, tree, linear_model


def _mlp(task: str) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    return (MLPRegressor if task == "regression" else MLPClassifier)(batch_size=1, random_state=0)


LINEAR = _Peer(
    {
        "regression": lambda: SGDRegressor(random_state=0),
        "classification": lambda: SGDClassifier(loss="log_loss", random_state=0),
    }
)
_PASSIVE = {"penalty": None, "learning_rate": "pa1", "eta0": 1.0, "random_state": 0}

#: Streaming models of others, as they come, by the name that --peer takes.
PEERS: dict[str, _Peer] = {
    "river-forest": _Peer(
        {
            "regression": lambda: _river()[0].ARFRegressor(seed=0),
            "classification": lambda: _river()[0].ARFClassifier(seed=0),
        },
        river=True,
    ),
    "river-tree": _Peer(
        {
            "regression": lambda: _river()[1].HoeffdingAdaptiveTreeRegressor(seed=0),
            "classification": lambda: _river()[1].HoeffdingAdaptiveTreeClassifier(seed=0),
        },
        river=True,
    ),
    "river-linear": _Peer(
        {
            "regression": lambda: _river()[2].LinearRegression(),
            "classification": lambda: _river()[2].SoftmaxRegression(),
        },
        river=True,
    ),
    "sklearn-pa": _Peer(
        {
            "regression": lambda: SGDRegressor(loss="epsilon_insensitive", **_PASSIVE),
            "classification": lambda: SGDClassifier(loss="hinge", **_PASSIVE),
        }
    ),
    "sklearn-mlp": _Peer(
        {"regression": lambda: _mlp("regression"), "classification": lambda: _mlp("classification")}
    ),
}

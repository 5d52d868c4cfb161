"""The thread that learns: it takes entries of the log in order, and publishes what it learned.

Entries of rows that follow each other are learned as one block, because a block equals its rows bit
for bit. With a batch size above 1 this does not hold, and every entry is a block.

An entry that the model refuses is recorded as refused. This depends on the model and the entry
alone, so a replay of the log refuses the same entries. A shadow learns the entries of a live model
after it, and without those that the live model refused. So a bad row cannot spoil a shadow that
has not learned anything else.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import takewhile
from typing import Any, NamedTuple

from parsimon.persistence.files import dumps, loads
from parsimon.preprocessing import TableError
from parsimon.serving import log
from parsimon.serving.drift import Drift
from parsimon.serving.errors import Refused, StoreFailure
from parsimon.serving.grouping import groups, has_batches
from parsimon.serving.history import History
from parsimon.serving.limits import Limits
from parsimon.serving.log import Checkpoint, Entry
from parsimon.serving.published import Published
from parsimon.serving.rows import Row, block_of, decoded
from parsimon.serving.store import Store
from parsimon.tables import TableModel

__all__ = ["Learner", "Outcome"]

#: Seconds until a store that could not be written is tried again.
RETRY = 0.5
#: The longest time between looks at the clock, in seconds.
TICK = 0.25
#: The number of recent rows on which drift is measured.
RECENT = 100


class Outcome(NamedTuple):
    """What became of an entry. `refused` says why it changed nothing, or is None."""

    place: int
    refused: str | None
    predictions: list[Any] | None = None


class Learner:
    """A model that learns from its log in a thread of its own.

    CONVENTION: `model` has learned the entries up to `place`, and `refusals` has those of them that
    it refused since the last checkpoint, or earlier. Only the thread of the learner changes these.
    `published` is replaced, and never changed.
    """

    def __init__(
        self,
        store: Store,
        number: int,
        name: str,
        limits: Limits,
        *,
        live: Learner | None = None,
        note: Callable[..., None] = lambda *_, **__: None,
    ) -> None:
        self.store, self.number, self.name, self.limits = store, number, name, limits
        self.live, self._shadows = live, set[Learner]()
        self.history, self._drift = History(), Drift()
        self._recent: deque[Row] = deque(maxlen=RECENT)
        self.learned_rows = self.refused_rows = self.checkpoints = 0
        self.failure: str | None = None
        self.checkpoint_failure: str | None = None
        self._note = note
        self._reader = store.reader()
        self._wake = threading.Condition()
        self._waiting: dict[int, list[Future[Outcome]]] = {}
        self._asked: list[tuple[int, Future[Checkpoint]]] = []
        self._stopping = self._news = False
        self._copy_seconds = self._dump_seconds = 0.0
        self._careful_until = 0
        self._copied_at = 0.0
        self.refusals: dict[int, str] = dict(
            self._reader.execute(
                "SELECT place, message FROM refused WHERE model = ? ORDER BY place", (number,)
            ).fetchall()
        )
        self._load()
        self._drift.load(self._reader, number)
        self.published = Published.of(self.model, self.place)
        self._thread = threading.Thread(target=self._run, name=f"learner-{number}", daemon=True)

    def start(self) -> None:
        """Begin with the entries after the checkpoint."""
        if self.live is not None:
            self.live._shadows.add(self)
        self._thread.start()

    def wake(self) -> None:
        """Tell the learner that there are new entries."""
        with self._wake:
            self._news = True
            self._wake.notify()

    def outcome(self, place: int) -> Future[Outcome]:
        """Return what becomes of an entry, when it is known."""
        future: Future[Outcome] = Future()
        with self._wake:
            if place <= self.place:
                future.set_result(Outcome(place, self.refusals.get(place)))
            elif self.failure is not None or self._stopping:
                future.set_exception(_stopped(self.failure))
            else:
                self._waiting.setdefault(place, []).append(future)
                self._news = True
                self._wake.notify()
        return future

    def file(self, place: int) -> Future[Checkpoint]:
        """Return the model file, as soon as the entries up to a place are learned."""
        future: Future[Checkpoint] = Future()
        with self._wake:
            if self.failure is not None or self._stopping:
                future.set_exception(_stopped(self.failure))
            else:
                self._asked.append((place, future))
                self._news = True
                self._wake.notify()
        return future

    def stop(self) -> None:
        """End after the present block, with a checkpoint. Entries that are left stay in the log."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self.live is not None:
            self.live._shadows.discard(self)
        if self._thread.ident is not None:
            self._thread.join()
        self._reader.close()

    # Implementation

    def _load(self) -> None:
        """Take the model of the last checkpoint, and its history."""
        self.place, data = log.last_checkpoint(self._reader, self.number)
        self.model: TableModel = loads(data, "the checkpoint")
        self.history.restore(log.last_history(self._reader, self.number))
        self._stored_place, self._stored_at = self.place, time.monotonic()
        self._unstored: dict[int, str] = {}

    def _run(self) -> None:
        try:
            while not self._stopping:
                found = self._next_entries()
                alone = self.place < self._careful_until or has_batches(self.model)
                for group in groups(found, alone=alone, refused=self._refused_before):
                    if not self._apply(group) or self._stopping:
                        break
                    self._housekeep()
                else:
                    self._housekeep()
                    if not found:
                        self._sleep()
            self._checkpoint()
        except BaseException as error:
            self.failure = f"{type(error).__name__}: {error}"
            self._note("the learner failed", model=self.name, error=self.failure)
        finally:
            with self._wake:
                left: list[Future[Any]] = [f for each in self._waiting.values() for f in each]
                for future in [*left, *(future for _, future in self._asked)]:
                    if future.set_running_or_notify_cancel():
                        future.set_exception(_stopped(self.failure))
                self._waiting.clear()
                self._asked.clear()
                self._stopping = True

    def _sleep(self) -> None:
        with self._wake:
            if not self._stopping and not self._news:
                self._wake.wait(TICK)
            self._news = False

    def _next_entries(self) -> list[Entry]:
        """Return the next entries, without those that the live model has not come to."""
        live = self.live
        if live is None:
            return log.entries(self._reader, self.number, self.place)
        learned = live.place
        found = log.entries(self._reader, self.number, self.place, shadow_of=live.number)
        return list(takewhile(lambda e: e.model == self.number or e.place <= learned, found))

    def _refused_before(self, entry: Entry) -> str | None:
        """Return why the live model has refused an entry, or None."""
        if self.live is None or entry.model == self.number:
            return None
        return self.live.refusals.get(entry.place)

    def _apply(self, group: Sequence[Entry]) -> bool:
        """Apply entries of one kind. Return False if the learner begins again from a checkpoint."""
        refused = self._refused_before(group[0])
        if refused is not None:
            self.refused_rows += group[0].rows
            self._done(group, refused)
            return True
        careful = group[-1].place <= self._careful_until
        before = copy.deepcopy(self.model) if careful else None
        try:
            if group[0].kind == "learn":
                self._learn(group)
            else:
                self._control(group[0])
        except StoreFailure:  # not before the server stops
            return False
        except Exception as error:
            if isinstance(error, MemoryError):
                raise
            if before is None:
                # The model may have changed. Learn again from the checkpoint, and entry by entry.
                self._note("learning again", model=self.name, error=str(error))
                self._careful_until = group[-1].place
                with self._wake:
                    self._load()
                return False
            self.model = before
            self._done(group, f"{type(error).__name__}: {error}")
        return True

    def _learn(self, group: Sequence[Entry]) -> None:
        each: list[list[Row]] = [decoded(entry.body) for entry in group]
        if len(group) > 1 and any(rows[0].keys() != each[0][0].keys() for rows in each):
            for entry in group:
                self._learn([entry])
            return
        rows = [row for rows in each for row in rows]
        model = self.model
        try:
            block = block_of(rows, model.column_kinds_, model.target)
            found = model.learn(block, return_intervals=model.intervals is not None)
        except TableError as error:
            if len(group) > 1:  # one of them is the reason
                for entry in group:
                    self._learn([entry])
            else:
                self.refused_rows += len(rows)
                self._done(group, str(error))
            return
        predictions, intervals = found if model.intervals is not None else (found, None)
        self.learned_rows += len(rows)
        self._recent.extend(rows[-RECENT:])
        self.history.rows(
            block[model.target],
            predictions.tolist(),
            None if intervals is None else intervals.tolist(),
        )
        self._done(group, None, predictions.tolist())

    def _control(self, entry: Entry) -> None:
        """Apply an entry that is not about rows. All but pauses are checkpoints."""
        name = entry.body.decode() if entry.kind in ("snapshot", "drop", "back") else ""
        if entry.kind == "upload":
            self.model = loads(entry.body, "the upload")
        elif entry.kind == "back":
            found = self._reader.execute(
                "SELECT data FROM snapshots WHERE model = ? AND name = ?", (self.number, name)
            ).fetchone()
            if found is None:
                self._done([entry], f"there is no snapshot {name!r}")
                return
            self.model = loads(bytes(found[0]), "the snapshot")
        if entry.kind not in ("pause", "resume"):
            while not self._checkpoint(
                entry.place,
                snapshot=name if entry.kind == "snapshot" else None,
                dropped=name if entry.kind == "drop" else None,
            ):
                if self._stopping:
                    raise StoreFailure("the server is stopping")
                time.sleep(RETRY)
            if name:
                self._drift.load(self._reader, self.number)
            self._publish(entry.place)
        self._done([entry], None)

    def _done(
        self, group: Sequence[Entry], refused: str | None, predictions: list[Any] | None = None
    ) -> None:
        """Go on to the place after entries, and tell those who wait for them."""
        told: list[tuple[Future[Outcome], Outcome]] = []
        with self._wake:
            at = 0
            for entry in group:
                if refused is not None:
                    self.refusals[entry.place] = self._unstored[entry.place] = refused
                own = None if predictions is None else predictions[at : at + entry.rows]
                at += entry.rows
                for future in self._waiting.pop(entry.place, ()):
                    told.append((future, Outcome(entry.place, refused, own)))
            while len(self.refusals) > self.limits.log_entries:
                del self.refusals[next(iter(self.refusals))]
            self.place = group[-1].place
        if self.published.model is None and self.model.n_rows_:
            self._publish(self.place)  # so that the first rows can be predicted from at once
        if refused is not None:
            self.history.error(group[-1].place, refused)
        for future, outcome in told:
            if future.set_running_or_notify_cancel():
                future.set_result(outcome)
        for shadow in tuple(self._shadows):
            shadow.wake()

    def _housekeep(self) -> None:
        """Publish and store the model, if it is time."""
        if self._asked:
            self._give_files()
        now = time.monotonic()
        if self.place > self.published.place and now >= self._next_copy:
            self._publish(self.place)
        due = max(self.limits.checkpoint_seconds, 20.0 * self._dump_seconds)
        if self.place > self._stored_place and now - self._stored_at > due:
            self._checkpoint()

    def _give_files(self) -> None:
        with self._wake:
            ready = [future for place, future in self._asked if place <= self.place]
            self._asked = [each for each in self._asked if each[0] > self.place]
        if ready:
            found = Checkpoint(self.place, dumps(self.model))
            for future in ready:
                if future.set_running_or_notify_cancel():
                    future.set_result(found)

    @property
    def _next_copy(self) -> float:
        pause = self._copy_seconds * (1.0 / self.limits.publish_share - 1.0)
        return self._copied_at + pause

    def _publish(self, place: int) -> None:
        began = time.monotonic()
        self.published = Published.of(self.model, place)
        self._copied_at = time.monotonic()
        self._copy_seconds = self._copied_at - began
        if self.history.is_due(self.published):
            drift = self._drift.measure(self.published, list(self._recent))
            self.history.point(self.published, drift)

    def _checkpoint(self, place: int | None = None, **also: Any) -> bool:
        """Store the model with its place in the log, and return whether this succeeded."""
        at = self.place if place is None else place
        if at == self._stored_place:
            return True
        began = time.monotonic()
        now, refused = Checkpoint(at, dumps(self.model)), list(self._unstored.items())
        self._dump_seconds = time.monotonic() - began
        self._stored_at = began  # also after an error, so that it is not tried at once again
        try:
            also["history"] = self.history.dumped()
            self.store.run(
                lambda c: log.checkpoint(c, self.number, now, self.limits, refused=refused, **also)
            )
        except StoreFailure as error:
            self.checkpoint_failure = error.message
            self._note("no checkpoint", model=self.name, error=error.message)
            return False
        self._stored_place, self.checkpoint_failure = at, None
        self.checkpoints += 1
        self._unstored.clear()
        return True


def _stopped(failure: str | None) -> Refused:
    if failure is not None:
        return Refused(500, f"the learner failed: {failure}; the rows are in the log")
    return Refused(503, "the server is stopping; the rows are in the log")

"""The store of a server: one SQLite file, written by one thread.

An action is a function of the connection. Actions that wait at the same time share a transaction
(group commit), so many clients cost one sync of the disk. The result of an action is given after
the commit, so nothing is acknowledged that a crash could undo: the journal is a write-ahead log
with ``synchronous=FULL``.

A *quick* action does not wait for the disk. What it wrote is with the operating system: it survives
the end of the process by any signal, but not a power cut. The next action that is not quick makes
it durable. If nobody else writes, a quick action runs in the thread that asks for it.

If the transaction fails, for example because the disk is full, it is rolled back, and every action
is tried alone. An action must not change anything but the store, because it can run twice.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from parsimon._files import only_writer
from parsimon.serving.errors import StoreFailure

__all__ = ["Store", "attempted"]

T = TypeVar("T")
Action = Callable[[sqlite3.Connection], T]

#: The version of the tables.
VERSION = 2
#: The most actions of a transaction.
MOST_TOGETHER = 512
#: The pages of the write-ahead log after which an action that waits for the disk anyway copies them
#: into the database.
COPIED_PAGES = 1000
#: What SQLite says about the value of one action, and not about the store.
OF_ONE_ACTION = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)

TABLES = """
CREATE TABLE models (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, shadow_of INTEGER,
    paused INTEGER NOT NULL DEFAULT 0, issued INTEGER NOT NULL DEFAULT 0, at REAL NOT NULL);
CREATE TABLE log (
    place INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, kind TEXT NOT NULL,
    rows INTEGER NOT NULL, bytes INTEGER NOT NULL, at REAL NOT NULL, body BLOB NOT NULL);
CREATE INDEX log_of_model ON log (model, place);
CREATE TABLE refused (
    model INTEGER NOT NULL, place INTEGER NOT NULL, message TEXT NOT NULL,
    PRIMARY KEY (model, place)) WITHOUT ROWID;
CREATE TABLE checkpoints (
    model INTEGER PRIMARY KEY, place INTEGER NOT NULL, at REAL NOT NULL, data BLOB NOT NULL);
CREATE TABLE snapshots (
    model INTEGER NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL, at REAL NOT NULL,
    data BLOB NOT NULL, UNIQUE (model, name));
CREATE TABLE pending (
    model INTEGER NOT NULL, number INTEGER NOT NULL, at REAL NOT NULL, row BLOB, label BLOB,
    PRIMARY KEY (model, number)) WITHOUT ROWID;
CREATE TABLE keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, key TEXT NOT NULL,
    digest BLOB NOT NULL, answer BLOB NOT NULL, at REAL NOT NULL, UNIQUE (model, key));
CREATE INDEX keys_by_age ON keys (model, at);
"""
#: What version 2 added, for streams of messages.
TABLES_2 = """
CREATE TABLE clients (source TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE message_keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, key TEXT NOT NULL,
    digest BLOB NOT NULL, answer BLOB NOT NULL, at REAL NOT NULL, UNIQUE (model, key));
CREATE TABLE positions (
    model INTEGER NOT NULL, source TEXT NOT NULL, part INTEGER NOT NULL, next INTEGER NOT NULL,
    PRIMARY KEY (model, source, part)) WITHOUT ROWID;
CREATE TABLE bad_messages (
    number INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, at REAL NOT NULL,
    origin TEXT NOT NULL, reason TEXT NOT NULL, body BLOB NOT NULL);
"""


class _Waiting(NamedTuple):
    action: Action[Any]
    future: Future[Any]
    quick: bool


class Store:
    """A folder with the state of a server. Only one process can open it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     store.run(lambda c: c.execute("SELECT count(*) FROM log").fetchone()[0])
    ...     store.close()
    0
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "store.sqlite"
        self.failures = 0
        self._held = ExitStack()
        self._held.enter_context(only_writer(self.path))
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._turn = threading.Lock()  # whoever writes holds it
        self._durable: bool | None = None
        try:
            self._connection = self._opened()
        except sqlite3.Error as error:
            self._held.close()
            raise OSError(f"{self.path} cannot be opened: {error}") from None
        except BaseException:
            self._held.close()
            raise
        self._thread = threading.Thread(target=self._work, name="store", daemon=True)
        self._thread.start()

    def submit(self, action: Action[T], *, quick: bool = False) -> Future[T]:
        """Return the future result of an action. It is set after the commit.

        An exception of the action undoes this action only, and becomes the exception of the future.
        """
        waiting = _Waiting(action, Future(), quick)
        with self._closing:
            if self._closed:
                waiting.future.set_exception(StoreFailure("the server is stopping"))
            else:
                self._queue.put(waiting)
        return waiting.future

    def done_at_once(self, action: Action[None]) -> bool:
        """Run a quick action in this thread, if nobody else writes, and return whether it ran."""
        if self._closed or not self._turn.acquire(blocking=False):
            return False
        try:
            connection = self._connection
            try:
                self._set_durable(False)
                connection.execute("BEGIN IMMEDIATE")
                action(connection)
                connection.execute("COMMIT")
            except BaseException as error:
                self._roll_back()
                if isinstance(error, sqlite3.Error):
                    self.failures += 1
                    raise StoreFailure(str(error)) from None
                raise
        finally:
            self._turn.release()
        return True

    def run(self, action: Action[T]) -> T:
        """Run an action, and return its result after the commit."""
        return self.submit(action).result()

    def reader(self) -> sqlite3.Connection:
        """Return a connection that only reads, for one thread at a time."""
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA busy_timeout = 10000")
        return connection

    def close(self) -> None:
        """Finish the actions that wait, and close the file."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        with self._turn:
            self._connection.close()
        self._held.close()

    # Implementation

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA busy_timeout = 10000")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise OSError(
                f"{self.path} has version {version}, and this parsimon reads versions up to "
                f"{VERSION}: update parsimon"
            )
        if version < VERSION:
            tables = TABLES_2 if version == 1 else TABLES + TABLES_2
            script = f"BEGIN IMMEDIATE; {tables} PRAGMA user_version = {VERSION}; COMMIT;"
            connection.executescript(script)
        # Earlier stores have this index, and not this table.
        connection.execute("DROP INDEX IF EXISTS pending_by_age")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS histories (model INTEGER PRIMARY KEY, data BLOB NOT NULL)"
        )
        return connection

    def _work(self) -> None:
        ended = False
        while not ended:
            waiting = [self._queue.get()]
            while len(waiting) < MOST_TOGETHER and not self._queue.empty():
                waiting.append(self._queue.get())
            ended = waiting[-1] is None
            batch = [each for each in waiting if each is not None]
            if batch:
                with self._turn:
                    self._commit(
                        [each for each in batch if each.future.set_running_or_notify_cancel()]
                    )

    def _commit(self, batch: list[_Waiting]) -> None:
        """Run actions in one transaction. If it fails, run each alone."""
        connection = self._connection
        outcomes: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            self._set_durable(not all(each.quick for each in batch))
            connection.execute("BEGIN IMMEDIATE")
            for each in batch:
                outcomes.append((each.future, *attempted(connection, each.action)))
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            if len(batch) > 1:
                for each in batch:
                    self._commit([each])
                return
            self.failures += 1
            batch[0].future.set_exception(StoreFailure(str(error)))
            return
        for future, value, error_of_one in outcomes:
            if error_of_one is None:
                future.set_result(value)
            else:
                future.set_exception(error_of_one)

    def _set_durable(self, durable: bool) -> None:
        """Say whether the next transaction waits for the disk. Only then is the log copied."""
        if durable is not self._durable:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            pages = COPIED_PAGES if durable else 0
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {pages}")
            self._durable = durable

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            # The file cannot even be read. A new connection begins without a transaction.
            with suppress(sqlite3.Error, OSError):
                self._connection.close()
                self._connection, self._durable = self._opened(), None


def attempted(connection: sqlite3.Connection, action: Action[Any]) -> tuple[Any, Any]:
    """Run an action, and return its result and its error. Errors of the store are raised.

    An error undoes what the action did, and nothing else of the transaction.
    """
    connection.execute("SAVEPOINT one")
    try:
        value, error = action(connection), None
    except Exception as raised:
        if isinstance(raised, sqlite3.Error) and not isinstance(raised, OF_ONE_ACTION):
            raise
        value, error = None, raised
        connection.execute("ROLLBACK TO one")
    connection.execute("RELEASE one")
    return value, error

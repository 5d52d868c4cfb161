"""Fixtures that several tests use, and what the runner says at the end."""

import signal
from functools import partial

import pytest

# A background job of a shell ignores SIGINT, and so do the processes that it starts. Tests send
# SIGINT to commands, so commands must start as in the foreground.
signal.signal(signal.SIGINT, signal.default_int_handler)

CONFORMANCE = {
    "scikit-learn's check_estimator": "test_scikit_learn_check[",
    "River's checks": "test_river_check[",
}


#: The files that take longest, which begin first: a worker takes whole files, and none should have
#: a long one left when the other is done.
LONGEST = (
    "test_cli.py",
    "test_river.py",
    "test_forecasting.py",
    "test_spark.py",
    "test_dask.py",
    "test_reading.py",
    "test_streams.py",
    "test_streams_mqtt.py",
    "test_serving.py",
    "test_serving_hostile.py",
    "test_polk.py",
    "test_hostile.py",
    "test_faults.py",
    "test_experiments.py",
)


@pytest.fixture
def ctrl_c():
    """Let Ctrl-C raise `KeyboardInterrupt`, whatever handler a library has left."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_collection_modifyitems(items):
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))


def pytest_terminal_summary(terminalreporter):
    for name, test in CONFORMANCE.items():
        counts = {
            outcome: sum(test in report.nodeid for report in terminalreporter.stats.get(key, ()))
            for outcome, key in (
                ("passed", "passed"),
                ("failed", "failed"),
                ("expected to fail", "xfailed"),
            )
        }
        if any(counts.values()):
            terminalreporter.write_line(
                f"{name}: " + ", ".join(f"{n} {outcome}" for outcome, n in counts.items())
            )


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; return what it printed and its notes or error."""
    from commands import ran  # needs the extra cli

    monkeypatch.chdir(tmp_path)
    return partial(ran, capsys)

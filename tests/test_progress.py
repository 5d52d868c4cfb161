"""What a run shows of its progress is about rows that are learned, not about bytes that were read
ahead.
"""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from parsimon.cli.curve import MOST_POINTS, Curve
from parsimon.cli.progress import MARKS, Progress
from parsimon.cli.reading import Block, Source

ROWS = 40_000


def block(n, span, first=0):
    return Block(pa.table({"x": np.zeros(n)}), first, None, span)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_rows_within_a_block_count_alike():
    progress = Progress(Clock())
    assert progress.fraction is None and progress.left is None
    progress.begin(block(100, (0.2, 0.6)))
    assert progress.fraction == pytest.approx(0.2)
    progress.learned(50)
    assert progress.fraction == pytest.approx(0.4)


def test_unknown_shares_stay_unknown():
    progress = Progress(Clock())
    progress.begin(block(100, None))
    progress.learned(50)
    assert progress.fraction is None and progress.left is None


@pytest.mark.parametrize("start", [0.0, 0.7])
def test_time_left_of_a_steady_run(start):
    """Also of a run that goes on from a place in the data."""
    clock, rate = Clock(), 0.001  # of the data per second
    clock.now = 3.0  # what came before the first row does not count
    progress, share = Progress(clock), start
    while share < 0.99:
        progress.begin(block(1000, (share, share + 0.01)))
        for rows in range(100, 1001, 100):
            clock.now += 0.001 / rate
            progress.learned(rows)
            expected = (1 - progress.fraction) / rate
            assert progress.left == pytest.approx(expected, rel=1e-6)
        share += 0.01


def test_time_left_follows_a_model_that_gets_slower():
    clock = Clock()
    progress = Progress(clock)
    progress.begin(block(1000, (0.0, 1.0)))
    for row in range(1, 501):
        clock.now += 0.01 if row <= 100 else 0.1  # the dictionary is full after 100 rows
        progress.learned(row)
    assert progress.left == pytest.approx(50.0, rel=0.05)  # the mean speed says 41 s


def test_few_points_of_the_past_are_kept():
    clock = Clock()
    progress = Progress(clock)
    progress.begin(block(10**6, (0.0, 1.0)))
    for row in range(1, 20_001):
        clock.now += 0.1
        progress.learned(row)
    assert len(progress._marks) <= MARKS
    assert progress.left == pytest.approx(0.1 * (10**6 - 20_000), rel=0.05)


def write_csv(path, table):
    pa.csv.write_csv(table, path)


def write_gzip(path, table):
    write_csv(path, table)
    path.write_bytes(gzip.compress(path.read_bytes(), 1))


def write_arrow(path, table):
    with pa.ipc.new_file(path, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=1000):
            writer.write_batch(batch)


WRITERS = {
    "csv": write_csv,
    "gzip": write_gzip,
    "parquet": lambda p, t: pa.parquet.write_table(t, p),
    "arrow": write_arrow,
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("skip", [0, 12_345])
def test_blocks_know_their_share_of_the_data(kind, skip, tmp_path, monkeypatch):
    """Rows have about the same length, so shares of the data are shares of the rows."""
    monkeypatch.setattr("parsimon.cli.reading.limits.TEXT_BLOCK", 1 << 17)
    path, rng = tmp_path / "data", np.random.default_rng(0)
    WRITERS[kind](path, pa.table({"x": rng.normal(size=ROWS), "y": rng.normal(size=ROWS)}))
    # What the decompressor holds
    ahead = (1 << 16) / path.stat().st_size if kind == "gzip" else 0.0
    end = None
    with Source(str(path)) as source:
        for found in source.ahead(skip):
            first, last = found.span
            assert end is None or first == pytest.approx(end)
            assert first == pytest.approx(found.first / ROWS, abs=0.02 + ahead)
            end = last
            assert end == pytest.approx(
                (found.first + found.table.num_rows) / ROWS, abs=0.02 + ahead
            )
    assert end == pytest.approx(1.0)


@pytest.mark.parametrize("rows", [100, 400, 401, 801, 12_810, 12_831, 99_999])
def test_a_curve_ends_with_the_last_row(rows):
    curve, at = Curve(), 0
    while at < rows:
        at += min(curve.rows_to_next(at), rows - at)
        curve.add(at, at, last=at == rows)
    assert curve.points[-1] == (rows, rows)
    assert min(rows, MOST_POINTS // 2) <= len(curve.points) <= MOST_POINTS + 1

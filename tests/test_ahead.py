"""Rows that another thread has encoded: the same bits as without it, or they are not used."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from parsimon.cli.encode_ahead import EncodeAhead
from parsimon.cli.reading import Block, limits
from parsimon.preprocessing import TableEncoder
from parsimon.tables import EncodedBlock, TableModel, ahead, can_encode_ahead

N = 700


@pytest.fixture(autouse=True)
def few_rows_per_step(monkeypatch):
    monkeypatch.setattr(ahead, "STEP", 64)


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(5, n))
    x[3, rng.random(n) < 0.1] = np.nan
    day = np.datetime64("2024-01-01", "s") + 3600 * np.arange(n)
    columns = {f"x{i}": pa.array(values, from_pandas=True) for i, values in enumerate(x)}
    return pa.table({**columns, "day": day, "y": np.sin(2 * x[0]) + x[1]})


def model():
    return TableModel("y", algorithm="knlms", budget=30, task="regression", warmup=20)


def file_of(learned, folder):
    path = folder / "model.parsimon"
    learned.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("cuts", [[], [1], [63, 64, 65], [10, 20, 130, 500], [128, 256]])
def test_encoded_rows_give_the_same_bits(cuts, tmp_path):
    rows, plain, quick, copy, start = table(), model(), model(), model(), 100
    for each in (plain, quick, copy):
        each.learn(rows.slice(0, start))
    block = rows.slice(start)
    encoded = EncodedBlock(copy.encoder_, block)
    for at, end in zip([0, *cuts], [*cuts, N - start], strict=True):
        some = block.slice(at, end - at)
        assert encoded.rows(quick.encoder_, at, end - at) is not None
        found = quick.learn_encoded(some, encoded, at)
        np.testing.assert_array_equal(found, plain.learn(some))
        assert file_of(quick, tmp_path) == file_of(plain, tmp_path)


def test_a_model_that_left_out_a_row_does_not_use_encoded_rows(tmp_path):
    rows, plain, quick, copy = table(), model(), model(), model()
    copy.learn(rows.slice(0, 100))
    encoded = EncodedBlock(copy.encoder_, rows.slice(100))
    for each in (plain, quick):
        each.learn(rows.slice(0, 99))
    for at in range(0, 300, 100):
        some = rows.slice(100 + at, 100)
        assert encoded.rows(quick.encoder_, at, 100) is None
        quick.learn_encoded(some, encoded, at)
        plain.learn(some)
    assert file_of(quick, tmp_path) == file_of(plain, tmp_path)


@pytest.mark.parametrize("behind", [0, 1, 3])
def test_the_thread_catches_up_with_the_blocks_on_their_way(behind, tmp_path):
    """The model is `behind` blocks behind the thread, and learns each block in two parts."""
    rows, plain, quick = table(), model(), model()
    encode, waiting, used = EncodeAhead(quick), [], 0
    for first in range(0, N, 50):
        waiting.append(encode(Block(rows.slice(first, 50), first, None)))
        if len(waiting) > behind:
            used += _learn_in_two(quick, encode, waiting.pop(0))
    for block in waiting:
        used += _learn_in_two(quick, encode, block)
    for first in range(0, N, 50):
        plain.learn(rows.slice(first, 50))
    assert used == N // 50 - behind - 1
    assert file_of(quick, tmp_path) == file_of(plain, tmp_path)


def _learn_in_two(learned, encode, block):
    for at, n in ((0, 15), (15, 35)):
        learned.learn_encoded(block.table.slice(at, n), block.encoded, at)
        encode.begin()
    return block.encoded is not None


def test_a_block_that_cannot_be_encoded_ends_it():
    rows, quick = table(), model()
    quick.learn(rows.slice(0, 100))
    encode = EncodeAhead(quick)
    encode.begin()
    bad = rows.slice(200, 50).set_column(0, "x0", pa.array([np.inf] * 50))
    found = [
        encode(Block(block, 0, None)).encoded
        for block in (rows.slice(100, 100), bad, rows.slice(250, 50))
    ]
    assert [each is not None for each in found] == [True, False, False]


def test_text_is_not_encoded_ahead():
    encoder = TableEncoder()
    encoder.learn_transform({"x": [1.0, 2.0], "shop": ["a", "b"]})
    assert not can_encode_ahead(encoder)


@pytest.mark.parametrize("options", [[], ["--bad-rows", "skip"]])
def test_the_command_learns_rows_that_the_thread_has_encoded(options, run, monkeypatch):
    """With small blocks the thread is ahead of the model. The file is that of a run without it."""
    rows = table(n=6000).drop_columns("day")
    # Rows without a target are left out. What was encoded beyond them cannot be used, so that they
    # come late: the thread may already be that far ahead.
    if options:
        y = rows["y"].to_numpy().copy()
        y[[3500, 3501, 5500]] = np.nan
        rows = rows.set_column(rows.column_names.index("y"), "y", pa.array(y, from_pandas=True))
    csv.write_csv(rows, "rows.csv")
    monkeypatch.setattr(limits, "TEXT_BLOCK", 1 << 14)
    learned = []
    learn = ahead.EncodedRows.learn
    monkeypatch.setattr(
        ahead.EncodedRows, "learn", lambda own, encoder: learned.append(1) or learn(own, encoder)
    )
    command = ["learn", "rows.csv", "--target", "y", "--algorithm", "knlms", *options, "--model"]
    run(*command, "ahead.parsimon")
    used = len(learned)
    assert used > 0
    monkeypatch.setattr(EncodeAhead, "__call__", lambda self, block: block)
    run(*command, "plain.parsimon")
    assert len(learned) == used
    assert Path("ahead.parsimon").read_bytes() == Path("plain.parsimon").read_bytes()

"""Prediction intervals of table models."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from parsimon import TableModel, load
from parsimon.preprocessing import TableError


def table(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    shop = rng.choice(["town", "village"], size=n)
    noise = np.where(shop == "town", 5.0, 0.5) * rng.normal(size=n)
    return {"x": x, "z": z, "shop": shop, "y": 100 + 10 * np.sin(x) + noise}


def rows(block, first, last):
    return {name: values[first:last] for name, values in block.items()}


@pytest.mark.parametrize("algorithm", ["default", "krls", "knlms"])
def test_intervals_cover_and_know_where_errors_are_large(algorithm):
    block = table(3000)
    model = TableModel("y", algorithm=algorithm, intervals=0.9)
    predictions, intervals = model.learn(block, return_intervals=True)
    inside = (intervals[:, 0] <= block["y"]) & (block["y"] <= intervals[:, 1])
    assert inside[200:].mean() == pytest.approx(0.9, abs=0.02)
    assert len(predictions) == len(intervals) == 3000
    scores = model.interval_metrics_.total()
    finite = np.isfinite(intervals).all(axis=1)
    assert scores["coverage"] == pytest.approx(0.9, abs=0.02)
    if algorithm != "default":  # the default has intervals from the warm-up on
        assert scores["coverage"] == pytest.approx(inside[finite].mean())
        assert scores["width"] == pytest.approx(np.diff(intervals[finite], axis=1).mean())
    asked = {"x": [0.0, 0.0], "z": [0.0, 0.0], "shop": ["town", "village"]}
    _, found = model.predict(asked, return_intervals=True)
    town, village = np.diff(found, axis=1)[:, 0]
    assert town > 2 * village


def test_blocks_equal_chunks_and_files(tmp_path):
    block = table(700)
    whole = TableModel("y", intervals=0.8)
    _, expected = whole.learn(block, return_intervals=True)
    cut, at = TableModel("y", intervals=0.8), 0
    for size in (1, 50, 149, 1, 99, 400):
        _, found = cut.learn(rows(block, at, at + size), return_intervals=True)
        np.testing.assert_array_equal(found, expected[at : at + size])
        at += size
        cut.save(tmp_path / "model.parsimon")
        cut = load(tmp_path / "model.parsimon") if size != 50 else copy.deepcopy(cut)
    assert cut.interval_metrics_.total() == whole.interval_metrics_.total()
    for one, other in zip(
        cut.predict(block, return_intervals=True),
        whole.predict(block, return_intervals=True),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_predictions_are_the_same_without_intervals():
    block = table(500)
    np.testing.assert_array_equal(
        TableModel("y", intervals=0.9).learn(block), TableModel("y").learn(block)
    )


def test_short_tables_have_intervals_from_their_warm_up():
    block = table(120)
    model = TableModel("y", intervals=0.8)
    model.learn(block)
    _, intervals = model.predict(rows(block, 0, 5), return_intervals=True)
    assert np.isfinite(intervals).all()


def test_clear_errors():
    block = table(300)
    with pytest.raises(TableError, match="no intervals"):
        TableModel("y").learn(block, return_intervals=True)
    model = TableModel("y")
    model.learn(block)
    with pytest.raises(TableError, match="no intervals"):
        model.predict(block, return_intervals=True)
    with pytest.raises(TableError, match="intervals are for numbers"):
        TableModel("shop", intervals=0.9).learn(block)
    with pytest.raises(ValueError, match="intervals must be"):
        TableModel("y", intervals=1.5).learn(block)


@pytest.mark.parametrize("n", [150, 200])
def test_models_that_only_warmed_up_have_infinite_intervals_and_go_on(tmp_path, n):
    """Other algorithms than the default have no errors of their own before row 200."""
    block, path = table(400), tmp_path / "model.parsimon"
    model = TableModel("y", algorithm="krls", intervals=0.8)
    model.learn(rows(block, 0, n))
    model.finish().save(path)
    loaded = load(path)
    _, found = loaded.predict(rows(block, 0, 5), return_intervals=True)
    assert np.isinf(found).all() and np.isnan(loaded.interval_metrics_.total()["coverage"])
    _, expected = model.learn(rows(block, n, 400), return_intervals=True)
    _, found = loaded.learn(rows(block, n, 400), return_intervals=True)
    np.testing.assert_array_equal(found, expected)
    # The first error has no unit and gives no score, so the row after it has no interval either.
    assert np.isinf(found[:2]).all() and np.isfinite(found[2:]).all()


def test_classes_with_intervals_change_nothing():
    block = rows(table(100), 0, 100)
    model = TableModel("shop", intervals=0.9)
    model.learn(block)
    with pytest.raises(TableError, match="intervals are for numbers"):
        model.finish()
    assert model.n_rows_ == 100 and not hasattr(model, "encoder_")
    with pytest.raises(TableError, match="intervals are for numbers"):
        model.finish()


def test_rows_without_the_last_targets_have_intervals_of_their_own():
    rng = np.random.default_rng(1)
    x, level, y = rng.normal(size=3000), 0.0, []
    for value in x:  # the level wanders, so the last target says much
        level = 0.9 * level + 0.5 * rng.normal()
        y.append(10 + value + level + 0.1 * rng.normal())
    block = {"x": x, "y": np.array(y)}
    model = TableModel("y", intervals=0.9)
    model.learn(rows(block, 0, 2000))
    later = rows(block, 2000, 3000)
    _, lagged = model.predict(later, return_intervals=True)
    predictions, plain = model.predict(later, lagged=False, return_intervals=True)
    np.testing.assert_array_equal(predictions, model.predict(later, lagged=False))
    assert np.diff(plain, axis=1).mean() > 1.5 * np.diff(lagged, axis=1).mean()
    inside = (plain[:, 0] <= later["y"]) & (later["y"] <= plain[:, 1])
    assert 0.8 < inside.mean() < 0.98

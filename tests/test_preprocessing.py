"""Tables as matrices: the same whatever the blocks, wherever they come from, and however large the
numbers.
"""

import copy
import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import parsimon
from parsimon.preprocessing import (
    LARGEST,
    Moments,
    TableEncoder,
    TableError,
    TargetScaler,
    read_table,
)

N = 60


def table():
    """A table with a column of every kind, with missing values in most of them."""
    rng = np.random.default_rng(0)
    start = datetime.datetime(2024, 2, 28, 22, 30)
    times = [start + datetime.timedelta(minutes=37 * i) for i in range(N)]
    return {
        "number": [
            None if i % 7 == 0 else float(v) for i, v in enumerate(rng.normal(1e3, 5, size=N))
        ],
        "whole": rng.integers(-5, 5, size=N).tolist(),
        "boolean": [None if i == 5 else bool(v) for i, v in enumerate(rng.integers(0, 2, size=N))],
        "text": [
            None if i % 11 == 3 else "abcdefg"[v] for i, v in enumerate(rng.integers(0, 7, size=N))
        ],
        "when": times,
        "day": [t.date() for t in times],
        "clock": [t.time() for t in times],
        "span": [datetime.timedelta(seconds=float(s)) for s in rng.integers(0, 1000, size=N)],
    }


def rows(columns, first, last):
    return {name: values[first:last] for name, values in columns.items()}


@pytest.mark.parametrize("sizes", [[1] * (N - 20), [7, 0, 13, 20], [40]])
def test_a_block_equals_its_rows(sizes):
    columns = table()
    whole = TableEncoder(max_categories=3)
    X = np.concatenate(
        [whole.learn_transform(rows(columns, 0, 20)), whole.learn_transform(rows(columns, 20, N))]
    )
    cut, found, first = TableEncoder(max_categories=3), [], 20
    found.append(cut.learn_transform(rows(columns, 0, 20)))
    for size in sizes:
        found.append(cut.learn_transform(rows(columns, first, first + size)))
        first += size
    np.testing.assert_array_equal(np.concatenate(found), X)
    np.testing.assert_array_equal(cut.transform(columns), whole.transform(columns))
    assert X.shape == (N, whole.n_features_) and np.isfinite(X).all()


@pytest.mark.parametrize(
    "form",
    [
        pa.table,
        lambda c: pa.table(c).combine_chunks().to_batches()[0],
        lambda c: pa.concat_tables([pa.table(rows(c, 0, 9)), pa.table(rows(c, 9, N))]),
        lambda c: pa.table(c).to_pandas(),
        lambda c: pd.DataFrame(c),
        lambda c: pl.DataFrame(c),
        lambda c: pl.DataFrame(c).with_columns(pl.col("text").cast(pl.Categorical)),
        lambda c: {k: np.array(v, dtype=object) for k, v in c.items()},
    ],
    ids=[
        "table",
        "batch",
        "chunked",
        "arrow to pandas",
        "pandas",
        "polars",
        "categorical",
        "objects",
    ],
)
def test_every_form_of_a_table_gives_the_same(form):
    columns = table()
    if form(columns).__class__.__module__.startswith("pandas"):
        del columns["span"]  # pandas has times as objects, and spans in other units
    expected = TableEncoder().learn_transform(columns)
    np.testing.assert_allclose(TableEncoder().learn_transform(form(columns)), expected, atol=1e-9)


def test_numpy_columns():
    days = np.array(["2024-02-28", "NaT", "2024-03-01"], dtype="datetime64[D]")
    found = read_table(
        {
            "d": days,
            "t": days.astype("datetime64[ms]"),
            "m": days - days[0],
            "s": np.array(["a", "b", "a"]),
        }
    )
    assert [column.kind for column in found.values()] == ["date", "timestamp", "duration", "text"]
    assert found["m"].values[2] == 2 * 86400 and np.isnan(found["d"].values[1])


def test_running_statistics_are_those_of_numpy():
    x = np.random.default_rng(1).normal(1e6, 1e-2, size=500)  # a deviation of 1e-8 of the mean
    x[0] = -1e9  # and a first value far off
    X = TableEncoder(clip=np.inf).learn_transform({"x": x})[:, 0]
    for i in (1, 2, 10, 499):
        seen = x[: i + 1]
        assert X[i] == pytest.approx((x[i] - seen.mean()) / seen.std(), rel=1e-6)
    x = x[1:]
    X = TableEncoder(clip=np.inf).learn_transform({"x": x})[:, 0]
    exact = x - 1e6
    assert X[-1] == pytest.approx((exact[-1] - exact.mean()) / exact.std(), abs=1e-7)


def test_constants_are_zero_and_outliers_are_cut():
    encoder = TableEncoder()
    assert not encoder.learn_transform({"x": np.full(50, 0.1), "y": [None] * 50})[:, :2].any()
    assert np.abs(TableEncoder(clip=2.0).learn_transform({"x": [0.0] * 50 + [1e140]})).max() == 2.0


def test_missing_numbers_are_the_mean_and_say_so():
    encoder = TableEncoder()
    X = encoder.learn_transform({"x": [1.0, None, 3.0], "y": [1.0, 2.0, 3.0]})
    assert encoder.feature_names_ == ["x", "x is missing", "y"]
    assert X[1].tolist() == [0.0, 1.0, 1.0]
    # The width stays
    assert encoder.transform({"x": [2.0], "y": [None]}).tolist() == [[0.0, 0.0, 0.0]]
    with pytest.raises(TableError, match="column 'x', row 1: the value is missing"):
        TableEncoder(missing="error").learn_transform({"x": [1.0, None]})
    with pytest.raises(TableError, match="column 's', row 0: the value is missing"):
        TableEncoder(missing="error").learn_transform({"s": [None, "a"]})
    with pytest.raises(ValueError, match="unknown missing 'drop'; known are 'mean', 'error'"):
        TableEncoder(missing="drop").learn_transform({"x": [1.0]})


def test_text_is_first_come_first_served():
    encoder = TableEncoder(max_categories=2)
    encoder.learn_transform({"s": ["b"]})
    X = encoder.learn_transform({"s": ["c", "a", None, "b"]})
    assert X.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert encoder.feature_names_ == ["s = b", "s = c", "s: other", "s is missing"]
    early = TableEncoder(max_categories=3)
    early.learn_transform({"s": ["a"]})
    # What is only predicted takes no place
    assert early.transform({"s": ["new"]}).tolist() == [[0, 0, 0, 1, 0]]


def test_times_have_their_cycles():
    encoder = TableEncoder()
    monday = datetime.datetime(2024, 1, 1, 6)
    X = encoder.learn_transform(
        {"t": [monday, monday + datetime.timedelta(days=7), monday + datetime.timedelta(days=1)]}
    )
    np.testing.assert_allclose(X[0, 1:], X[1, 1:], atol=1e-9)
    np.testing.assert_allclose(X[0, 1:3], [np.sqrt(2), 0], atol=1e-9)  # a quarter of a day
    assert np.abs(X[0, 3:] - X[2, 3:]).max() > 0.1
    assert encoder.n_features_ == 5


def test_columns_come_in_any_order_and_with_others():
    encoder = TableEncoder()
    encoder.learn_transform({"a": [1.0, 2.0], "b": ["x", "y"]})
    one = encoder.transform({"a": [1.0], "b": ["x"]})
    np.testing.assert_array_equal(encoder.transform({"more": [None], "b": ["x"], "a": [1.0]}), one)


@pytest.mark.parametrize("before", ["date", "timestamp"])
@pytest.mark.parametrize("given", ["text", "date", "timestamp"])
def test_a_column_that_should_be_dates_says_how_to_convert_it(before, given):
    """The conversions that the messages name are those done here."""
    text = pd.Series(["2026-01-05", "2026-01-06"])
    times = pd.to_datetime(text)
    kinds = {"text": text, "timestamp": times, "date": times.dt.date}
    encoder = TableEncoder()
    expected = encoder.learn_transform(pd.DataFrame({"sold": kinds[before]}))
    if given != before:
        remedy = r"\.dt\.date" if before == "date" else "pandas.to_datetime"
        with pytest.raises(TableError, match=f"{given} values.* {before}: convert it, .*{remedy}"):
            encoder.transform(pd.DataFrame({"sold": kinds[given]}))
    converted = pd.to_datetime(kinds[given])
    converted = converted.dt.date if before == "date" else converted
    found = encoder.transform(pd.DataFrame({"sold": converted}))
    np.testing.assert_array_equal(found[-1], encoder.transform({"sold": kinds[before]})[-1])
    assert found.shape == expected.shape


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (
            {"price": [1.0], "shap": ["a"]},
            r"column 'shop': the rows have no such column: did you mean 'shap'\?",
        ),
        (
            {"price": ["1"], "shop": ["a"]},
            "column 'price': it holds text values, where those before are number",
        ),
        ({"price": [1.0, np.inf], "shop": ["a", "b"]}, "column 'price', row 1: inf is infinite"),
        ({"price": [-2 * LARGEST], "shop": ["a"]}, "column 'price', row 0: -2e+150 is too large"),
        (
            {"price": [1.0, 2.0], "shop": ["a"]},
            "column 'shop': it has 1 values, but the first column has 2",
        ),
        ({"price": [1.0, "x"], "shop": ["a", "b"]}, "column 'price', row 1: 'x' is text"),
        ({"price": [[1.0]], "shop": ["a"]}, "column 'price', row 0: .* cannot be used"),
        (pa.table({"price": [[1.0]], "shop": ["a"]}), "column 'price': values of type list"),
    ],
)
def test_what_is_refused_changes_nothing(block, message):
    encoder = TableEncoder()
    encoder.learn_transform({"price": [1.0, 3.0], "shop": ["a", "b"]})
    before = encoder.transform({"price": [2.5], "shop": ["c"]})
    with pytest.raises(TableError, match=message.replace("?", r"\?").replace("+", r"\+")):
        encoder.learn_transform(block)
    np.testing.assert_array_equal(encoder.transform({"price": [2.5], "shop": ["c"]}), before)
    assert encoder.n_rows_seen_ == 2


def test_what_is_no_table():
    with pytest.raises(TypeError, match="got list"):
        TableEncoder().learn_transform([[1.0]])
    with pytest.raises(TableError, match="more than one column"):
        TableEncoder().learn_transform(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]))
    with pytest.raises(TableError, match="there are no columns"):
        TableEncoder(ignore=["a"]).learn_transform({"a": [1.0]})
    with pytest.raises(TableError, match="no rows"):
        TableEncoder().learn_transform({"a": []})
    with pytest.raises(TableError, match="nothing has been learned"):
        TableEncoder().transform({"a": [1.0]})
    with pytest.raises(ValueError, match="max_categories must be >= 1"):
        TableEncoder(max_categories=0).learn_transform({"a": [1.0]})


@pytest.mark.parametrize("store", [copy.copy, copy.deepcopy, "file"])
def test_stored_and_gone_on(store, tmp_path):
    columns = table()
    encoder = TableEncoder(max_categories=3)
    encoder.learn_transform(rows(columns, 0, 30))
    if store == "file":
        encoder.save(tmp_path / "encoder.parsimon")
        again = parsimon.load(tmp_path / "encoder.parsimon")
    else:
        again = store(encoder)
    expected = encoder.learn_transform(rows(columns, 30, N))
    np.testing.assert_array_equal(again.learn_transform(rows(columns, 30, N)), expected)
    assert again.feature_names_ == encoder.feature_names_


def test_a_target_is_scaled_and_scaled_back(tmp_path):
    y = np.random.default_rng(0).normal(50.0, 9.0, size=300)
    scaler = TargetScaler()
    scaled, back = scaler.learn_transform(y)
    assert scaled[-1] == pytest.approx((y[-1] - y.mean()) / y.std())
    assert back(np.ones(300))[-1] == pytest.approx(y[:-1].mean() + y[:-1].std())
    assert back(np.ones(300))[0] == 0.0  # it does not know its own target
    scaler.save(tmp_path / "scaler.parsimon")
    again = parsimon.load(tmp_path / "scaler.parsimon")
    assert again.mean_ == scaler.mean_ and again.inverse_transform([1.0])[0] == pytest.approx(
        y.mean() + y.std()
    )
    one = TargetScaler()
    np.testing.assert_array_equal(
        np.concatenate([one.learn_transform(y[i : i + 1])[0] for i in range(300)]), scaled
    )


@pytest.mark.parametrize("missing", [0.0, 0.01])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_long_blocks_of_many_columns_equal_their_rows(k, missing):
    """Whole blocks take other loops than single rows, and blocks without missing values too."""
    rng = np.random.default_rng(k)
    V = rng.normal(size=(k, 700)) * 10.0 ** rng.integers(-3, 4, size=(k, 1)) + 5.0
    # Only among the first rows, so that later ones are complete with different counts before.
    V[:, :200][rng.random((k, 200)) < missing] = np.nan
    whole, rows = Moments(k), Moments(k)
    means, deviations = whole.learn(V)
    for i in range(V.shape[1]):
        after = rows.learn(np.ascontiguousarray(V[:, i : i + 1]))
        np.testing.assert_array_equal(after[0][:, 1], means[:, i + 1])
        np.testing.assert_array_equal(after[1][:, 1], deviations[:, i + 1])
    X, into = np.empty((V.shape[1], k)), Moments(k)
    into.learn_into(list(V[:, :300]), 3.0, X[:300], list(range(k)))
    into.learn_into(list(V[:, 300:]), 3.0, X[300:], list(range(k)))
    for one, other in zip(into.state().values(), rows.state().values(), strict=True):
        np.testing.assert_array_equal(one, other)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = (V - means[:, 1:]) / deviations[:, 1:]
    expected = np.clip(np.where(np.isfinite(expected), expected, 0.0), -3.0, 3.0)
    np.testing.assert_array_equal(X, expected.T)

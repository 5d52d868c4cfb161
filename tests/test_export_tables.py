"""Exported tables: columns as they are go in, and targets in their own units come out."""

import ctypes
import datetime
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import parsimon
from parsimon.cli import main
from parsimon.export import to_c, to_libsvm, to_onnx
from parsimon.export.c.header import header
from parsimon.export.c.identifiers import identifiers
from parsimon.export.candidate_classifier import candidate_classifier
from parsimon.export.combination import Combination, Expert
from parsimon.export.expansion import expansion
from parsimon.export.lags import NumberLag
from parsimon.export.model_functions import MIXTURES
from parsimon.export.table import Encoding, Table, table
from parsimon.mixtures import CandidateClassifier, Mixture
from parsimon.preprocessing import EncodedColumn, read_table
from parsimon.tables import ALGORITHMS, TableModel

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]


def compiler(variable, *names):
    given = os.environ.get(variable, "").split()
    return given or next(([name] for name in names if shutil.which(name)), None)


CC, CXX = compiler("CC", "cc", "gcc", "clang"), compiler("CXX", "c++", "g++", "clang++")
needs_c = pytest.mark.skipif(not CC, reason="no C compiler: set CC, or install cc, gcc or clang")
needs_cxx = pytest.mark.skipif(not CXX, reason="no C++ compiler: set CXX, or install c++ or g++")

WORDS = ["town", "village", "é 東京", 'qu"ote\\?*/', "a b", " ", "x" * 300]


def some(values, missing, rng):
    """Return values with some of them missing."""
    return [None if rng.random() < missing else value for value in values]


def rows(n, seed=0, missing=0.1):
    """Return a block with a column of every kind, and targets."""
    rng = np.random.default_rng(seed)
    size, weight = rng.normal(size=n) * 100 + 5000, rng.lognormal(size=n)
    words = rng.choice(WORDS[:5], size=n).tolist()
    minutes = rng.integers(-(10**7), 10**7, size=n).tolist()
    start = datetime.datetime(1975, 3, 1, 12, 30, 15, 250)
    when = [start + datetime.timedelta(minutes=m) for m in minutes]
    block = {
        "size": some(size.tolist(), missing, rng),
        "shop": some(words, missing, rng),
        "label": weight.tolist(),  # the name of an output
        "open": some((rng.random(n) < 0.3).tolist(), missing, rng),
        "when": some(when, missing, rng),
        "day": some([t.date() for t in when], missing, rng),
        "hour": some([t.time() for t in when], missing, rng),
        "class": some([datetime.timedelta(seconds=m / 7) for m in minutes], missing, rng),
        "always": [3.0] * n,
        "other shop": rng.choice(WORDS[1:4], size=n).tolist(),
        "long": ["long-" * 30] * n,
    }
    waves = np.sin(np.array([t.hour for t in when]) / 4)
    y = (size - 5000) / 50 + 2 * weight * waves + np.array([WORDS.index(w) for w in words])
    return block, 1e3 + 1e4 * y


def labelled(y, labels):
    return np.array(labels)[np.digitize(y, np.quantile(y, [0.3, 0.6][: len(labels) - 1]))].tolist()


def learned(target, n=700, **options):
    block, y = rows(n)
    model = TableModel("target", warmup=300, **options)
    model.learn({**block, "target": target(y)})
    return model


CANDIDATES = CandidateClassifier(
    [
        parsimon.published(
            parsimon.POLKClassifier,
            "laplacian",
            gamma="median",
            loss="logistic",
            step_size=eta,
            budget=100,
        )
        for eta in (2.0, 0.5)
    ],
    widths=[0.5, 2.0],
)
MODELS = {
    "regression": lambda: learned(lambda y: y),
    "polk": lambda: learned(lambda y: y, algorithm="polk", clip=np.inf),
    "poisson": lambda: learned(
        lambda y: np.abs(y) // 2e4,
        task="regression",
        algorithm="polk",
        options={"loss": "poisson", "step_size": 0.05},
    ),
    "gaussian": lambda: learned(lambda y: y, algorithm="klms", max_categories=3),
    "mixture": lambda: learned(lambda y: labelled(y, ["low", "middle", "high"])),
    "candidates": lambda: learned(
        lambda y: labelled(y, ["low", "middle", "high"]), algorithm=CANDIDATES
    ),
    "two": lambda: learned(lambda y: labelled(y, [False, True])),
    "one_vs_rest": lambda: learned(
        lambda y: labelled(y, [7, 2, 5]), algorithm="polk", options={"loss": "ovr_logistic"}
    ),
    "scores": lambda: learned(lambda y: labelled(y, ["a", "b", "c"]), algorithm="bsgd"),
}
REGRESSION = ("regression", "polk", "poisson", "gaussian")


@pytest.fixture(scope="module")
def models():
    return {name: make() for name, make in MODELS.items()}


@pytest.fixture(scope="module")
def block():
    """Rows with missing values, unknown categories and outliers."""
    found, _ = rows(400, seed=1, missing=0.3)
    found["shop"][:40] = WORDS[5:7] * 20
    found["size"][:4] = [1e100, -1e100, 0.0, -0.0]
    found["when"][:2] = [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59)]
    return found


def raw_values(model, block, missing):
    """Return the columns as an exported model takes them."""
    found = {}
    columns = read_table(block, model.encoder_.columns_)
    for name, kind in model.encoder_.columns_.items():
        column = columns[name]
        found[name] = column.values
        if kind == "text":
            codes = column.values if column.kind == "text" else np.full(len(column.values), -1)
            found[name] = np.array([*column.categories, missing], dtype=object)[codes.astype(int)]
    return found


def decided(model, block):
    """Return whether the prediction does not depend on rounding, for each row."""
    F = model.estimator_
    X = model.encoder_.transform(block)
    F = F.predict_proba(X) if hasattr(F, "predict_proba") else F._evaluate(X)
    return np.ptp(np.sort(F, axis=1)[:, -2:], axis=1) > 1e-9


def assert_equal(model, block, found, tolerance=1e-9):
    """Compare predictions, or labels and then probabilities or scores."""
    expected = model.predict(block)
    if model.task_ == "regression":
        size = 1.0 + np.abs(expected) if tolerance < 1e-6 else np.abs(expected).max()
        assert (np.abs(found[0] - expected) / size).max() < tolerance
        return
    clear = decided(model, block)
    assert clear.mean() > 0.9
    assert (np.asarray(found[0])[clear] == expected[clear]).all()
    if hasattr(model.estimator_, "predict_proba"):
        other = model.predict_proba(block)
    else:
        other = model.estimator_._evaluate(model.encoder_.transform(block))
    np.testing.assert_allclose(found[1], other, rtol=0, atol=tolerance)


# ONNX


def session(graph):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(made, model, block):
    """Return the outputs of a session. A column "label" is called like an output."""
    columns = {
        ("label_" if name == "label" else name): values[:, np.newaxis]
        for name, values in raw_values(model, block, "").items()
    }
    missing = {"tensor(double)": np.nan, "tensor(string)": "", "tensor(int64)": -1}
    for lag in made.get_inputs():
        if lag.name not in columns:
            n, value = len(next(iter(columns.values()))), missing[lag.type]
            kind = object if value == "" else type(value)
            columns[lag.name] = np.full((n, 1), value, dtype=kind)
    values = made.run(None, columns)
    if model.task_ == "regression":
        assert values[0].shape == (len(values[0]), 1)
        return [values[0][:, 0]]
    return values


OUTPUTS = {"scores": ["label", "scores"]}


@pytest.mark.parametrize("name", MODELS)
def test_onnx_takes_columns_and_gives_targets(models, block, name):
    model = models[name]
    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    outputs = ["variable"] if name in REGRESSION else ["label", "probabilities"]
    assert [o.name for o in graph.graph.output] == OUTPUTS.get(name, outputs)
    made = session(graph)
    assert_equal(model, block, run(made, model, block))
    one = {column: values[50:51] for column, values in block.items()}
    assert_equal(model, one, run(made, model, one))
    none = {column: values[:0] for column, values in block.items()}
    assert all(len(values) == 0 for values in run(made, model, none))


@pytest.mark.parametrize("name", MODELS)
def test_onnx_in_single_precision_still_takes_doubles(models, block, name):
    graph = to_onnx(models[name], dtype="float32")
    onnx.checker.check_model(graph, full_check=True)
    if name not in REGRESSION:
        values = run(session(graph), models[name], block)
        assert values[1].dtype == np.float32
        assert (np.asarray(values[0]) == models[name].predict(block)).mean() > 0.98
        return
    (found,) = run(session(graph), models[name], block)
    assert found.dtype == np.float64
    assert_equal(models[name], block, [found], tolerance=1e-3)


def test_a_graph_says_what_its_inputs_are(models, tmp_path):
    graph = to_onnx(models["mixture"], tmp_path / "m.onnx")
    assert onnx.load(tmp_path / "m.onnx") == graph
    about = {entry.key: entry.value for entry in graph.metadata_props}
    columns = json.loads(about["columns"])
    assert {c["name"]: c["kind"] for c in columns} == models["mixture"].encoder_.columns_
    inputs = [c["input"] for c in columns] + json.loads(about["lags"])
    assert inputs == [given.name for given in graph.graph.input]
    renamed = [c for c in columns if c["name"] != c["input"]]
    assert renamed == [{"name": "label", "input": "label_", "kind": "number"}]
    assert about["target"] == "target"
    assert json.loads(about["classes"]) == ["high", "low", "middle"]
    kinds = {given.name: given.type.tensor_type.elem_type for given in graph.graph.input}
    text, number = onnx.TensorProto.STRING, onnx.TensorProto.DOUBLE
    assert all(kinds[c["input"]] == (text if c["kind"] == "text" else number) for c in columns)


def test_inputs_have_names_of_their_own():
    columns = {"": [1.0, 2.0], "variable": [0.0, 1.0], "variable_": [5.0, 1.0], "Sub_1_1": [1.0, 3]}
    columns |= {"lag_2": [1.0, 4.0]}
    model = TableModel("y", task="regression")
    model.learn({**columns, "y": [1.0, 2.0]})
    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    assert [given.name for given in graph.graph.input] == [
        "_",
        "variable__",
        "variable_",
        "Sub_1_1",
        "lag_2",
        "lag_1",
        "lag_2_",
        "lag_3",
    ]


def test_an_empty_string_is_missing_unless_it_is_a_category():
    rng = np.random.default_rng(0)
    for known, meaning in ((["a", "b"], None), (["a", ""], "")):
        shop = rng.choice(known, size=60)
        model = TableModel("y", task="regression")
        model.learn({"shop": shop.tolist(), "y": np.where(shop == "a", 1.0, 5.0)})
        made = {"shop": np.array([[""]], dtype=object)}
        made |= {f"lag_{i}": np.array([[np.nan]]) for i in (1, 2, 3)}
        (found,) = session(to_onnx(model)).run(None, made)
        assert found[0, 0] == pytest.approx(model.predict({"shop": [meaning]})[0], abs=1e-12)


ODD = {
    "a deviation and a factor of nearly 1": (np.array([-1.0, 1.0]) * (1 + 1e-9) + 3.0, 1 + 1e-9),
    "numbers of size 1e-60": (np.array([2e-60, 3e-60]), 1e-60),
    "numbers of size 1e60": (np.array([2e60, 3e60]), 1e60),
    "a constant": (np.array([2.0, 2.0]), 0.0),
}


@pytest.mark.parametrize("what", ODD)
def test_onnx_runtime_rounds_no_numbers(what):
    # It computes with some constants in single precision, or leaves operations out.
    x, size = ODD[what]
    model = TableModel("y", task="regression", algorithm="knlms", options={"step_size": 1.0})
    model.learn({"x": np.tile(x, 30), "y": np.tile([-1.0, 1.0], 30) * size})
    model.finish()
    assert model.scaler_.scale_ == pytest.approx(size, rel=1e-12)
    at = {"x": np.linspace(x[0], x[1], 7) if x[0] < x[1] else x}
    (found,) = session(to_onnx(model)).run(None, {"x": at["x"][:, np.newaxis]})
    np.testing.assert_allclose(found[:, 0], model.predict(at), rtol=1e-12, atol=1e-12 * size)


# C

TYPES = {"double": ctypes.c_double, "float": ctypes.c_float}
DRIVER = """
#include "{name}.h"
void {name}_run(const {name}_row *rows, long n, double *first, {real} *more)
{{
    for (long i = 0; i < n; ++i) {{
        first[i] = {name}_predict(rows + i{lags});
        {more}
    }}
}}
"""


def driver(model, name, real, lags=None):
    lags = (", 0" if isinstance(model.estimator_, Mixture) else "") if lags is None else lags
    more = "(void)more;"
    if model.task_ == "classification":
        what = "proba" if hasattr(model.estimator_, "predict_proba") else "decision"
        more = f"{name}_{what}(rows + i{lags}, more + i * {name.upper()}_N_OUTPUTS);"
    return DRIVER.format(name=name, real=real, more=more, lags=lags)


def build(folder, source):
    (folder / "source.c").write_text(source)
    command = [*CC, "-std=c99", *STRICT, "source.c", "-O1", "-shared", "-fPIC", "-o", "library.so"]
    subprocess.run([*command, "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "library.so"))


@pytest.fixture(scope="module")
def folder(models, tmp_path_factory):
    """A folder with the headers of all models in both types, and source.c."""
    folder, source = tmp_path_factory.mktemp("headers"), ""
    for name, model in models.items():
        for real in TYPES:
            to_c(model, folder / f"{name}_{real}.h", name=f"{name}_{real}", dtype=real)
            source += driver(model, f"{name}_{real}", real)
    (folder / "source.c").write_text(source)
    return folder


@pytest.fixture(scope="module")
def library(folder):
    return build(folder, (folder / "source.c").read_text())


def call(library, model, name, block, real="double"):
    """Return the predictions of C, or labels and then probabilities or scores."""
    fields = [
        (f"f{i}", ctypes.c_char_p if kind == "text" else ctypes.c_double)
        for i, kind in enumerate(model.encoder_.columns_.values())
    ]
    row = type("Row", (ctypes.Structure,), {"_fields_": fields})
    columns = raw_values(model, block, None).values()
    n = len(next(iter(columns)))
    values = [
        [v if v is None else v.encode() for v in column] if column.dtype == object else column
        for column in columns
    ]
    given = (row * n)(*(row(*each) for each in zip(*values, strict=True)))
    classes = len(model.classes_) if model.task_ == "classification" else 1
    first, more = np.full(n, np.nan), np.full((n, classes), np.nan, dtype=TYPES[real])
    getattr(library, f"{name}_run")(
        given, ctypes.c_long(n), *(np.ctypeslib.as_ctypes(a.ravel()) for a in (first, more))
    )
    if model.task_ == "regression":
        return [first]
    return [model.classes_[first.astype(int)], more]


@needs_c
@pytest.mark.parametrize("name", MODELS)
def test_c_takes_columns_and_gives_targets(library, models, block, name):
    assert_equal(models[name], block, call(library, models[name], f"{name}_double", block))


@needs_c
@pytest.mark.parametrize("name", MODELS)
def test_c_in_single_precision_still_takes_doubles(library, models, block, name):
    model, found = models[name], call(library, models[name], f"{name}_float", block, "float")
    if name in REGRESSION:
        assert_equal(model, block, found, tolerance=1e-3)
    else:
        assert (found[0] == model.predict(block)).mean() > 0.98


@needs_cxx
def test_cpp_takes_the_headers_of_tables(folder):
    command = [*CXX, "-x", "c++", "-std=c++11", *STRICT, "-fsyntax-only", "source.c"]
    subprocess.run(command, cwd=folder, check=True)


@needs_c
@pytest.mark.parametrize("name", ["regression", "mixture", "one_vs_rest"])
def test_the_example_in_the_header_of_a_table_runs(models, name, tmp_path):
    text = to_c(models[name], tmp_path / "model.h")
    example = re.search(r"^ \* (#include <stdio.h>.*?)^ \*/", text, flags=re.DOTALL | re.MULTILINE)
    (tmp_path / "main.c").write_text(example[1].replace("\n * ", "\n"))
    command = [*CC, "-std=c99", *STRICT, "main.c", "-o", "main", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    if name == "regression":
        assert np.isfinite(float(said))
    else:
        assert said.strip() in map(str, models[name].classes_.tolist())


def test_a_header_of_numbers_needs_no_library(tmp_path):
    rng = np.random.default_rng(0)
    model = TableModel("y", algorithm=parsimon.published(parsimon.KNLMSRegressor, "linear"))
    model.learn(
        {"a": rng.normal(size=50), "b": rng.choice(["u", "v"], size=50), "y": rng.random(50)}
    )
    text = to_c(model, tmp_path / "m.h", name="m")
    assert (
        "Nothing is needed from the C library" in text
        and "#include <" not in text[text.index("#ifndef") :]
    )


def test_reserved_features_are_not_written(models):
    t = table(models["regression"])
    assert models["regression"].encoder_.n_features_ > 60 > t.function.n_features
    assert t.function.n_features == t.encoding.n_features
    e = t.function.experts[0].expansion
    forged = replace(e, centers=e.centers + 1.0)
    with pytest.raises(ValueError, match="features that are always 0"):
        forged.taking([0, 1])


def test_names_of_columns_become_names_of_c():
    names = ["size", "Size", "int", "class", "", "_", "9", "a  b", "a_b", "a_b_2", "größe", "NULL"]
    found = identifiers(names)
    assert found[:4] == ["size", "Size", "int_", "class_"]
    assert len(set(found)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*_?", name) for name in found)


# Random rows

NUMBERS = st.one_of(st.none(), st.floats(-1e6, 1e6), st.sampled_from([0.0, 1e149, -1e149]))
TEXTS = st.one_of(
    st.none(),
    st.sampled_from(WORDS),
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1),
)
TIMES = st.one_of(st.none(), st.datetimes())
ROWS = st.fixed_dictionaries(
    {
        "size": NUMBERS,
        "shop": TEXTS,
        "label": NUMBERS,
        "open": st.sampled_from([None, True, False]),
        "when": TIMES,
        "day": st.one_of(st.none(), st.dates()),
        "hour": st.one_of(st.none(), st.times()),
        "class": st.one_of(st.none(), st.timedeltas()),
        "always": NUMBERS,
        "other shop": TEXTS,
        "long": TEXTS,
    }
)


@pytest.fixture(scope="module")
def sessions(models):
    return {name: session(to_onnx(models[name])) for name in ("regression", "mixture")}


@needs_c
@settings(deadline=None, max_examples=60)
@given(st.lists(ROWS, min_size=1, max_size=20))
def test_any_row_is_predicted_as_by_the_model(models, library, sessions, drawn):
    block = {name: [row[name] for row in drawn] for name in drawn[0]}
    for name, made in sessions.items():
        model = models[name]
        for found in (run(made, model, block), call(library, model, f"{name}_double", block)):
            if model.task_ == "regression":
                assert_equal(model, block, found)
            else:
                np.testing.assert_allclose(found[1], model.predict_proba(block), atol=1e-9)


# Models around it


def test_a_table_in_its_warm_up_is_exported_as_if_it_were_finished():
    block, y = rows(50)
    model = TableModel("target")
    model.learn({**block, "target": y})
    text = to_c(model)
    assert model.metrics_ is None and text == to_c(model.finish())


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_every_algorithm_is_exported(algorithm, block):
    for task in ALGORITHMS[algorithm]:
        labels = (lambda y: y) if task == "regression" else (lambda y: labelled(y, ["a", "b"]))
        model = learned(labels, n=320, algorithm=algorithm, budget=40)
        assert_equal(model, block, run(session(to_onnx(model)), model, block))


@needs_c
def test_a_mixture_of_classifiers_is_exported_without_a_table(models, tmp_path):
    model = models["candidates"].estimator_
    X = np.random.default_rng(0).normal(size=(50, model.candidates_[0].n_features_in_))
    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    labels, probabilities = session(graph).run(None, {"X": X})
    P = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, P, rtol=0, atol=1e-12)
    assert (labels == model.predict(X)).all()
    text = to_c(model, tmp_path / "m.h", name="m")
    assert "Average of 2 experts" in text
    library = build(
        tmp_path,
        '#include "m.h"\nint run(const double *x, double *p) '
        "{ m_proba(x, p); return m_predict(x); }\n",
    )
    for x, p in zip(X, P, strict=True):
        out = np.empty(P.shape[1])
        best = library.run(np.ctypeslib.as_ctypes(x), np.ctypeslib.as_ctypes(out))
        np.testing.assert_allclose(out, p, rtol=0, atol=1e-12)
        assert best == p.argmax()


# A mixture that the package does not have: what a new one needs is in this section


@dataclass(frozen=True)
class Clipped:
    """offset + sum_k w_k f_k, within bounds."""

    weights: np.ndarray
    offset: float
    low: float
    high: float

    def onnx(self, g, each, lags):
        terms = [g("Mul", f, g.number(w)) for f, w in zip(each, self.weights, strict=True)]
        total = reduce(lambda a, b: g("Add", a, b), [*terms, g.number(self.offset)])
        return g("Max", g("Min", total, g.number(self.high)), g.number(self.low))

    def c(self, c):
        weights, low, high = c.table("weights", self.weights), *map(c.number, (self.low, self.high))
        return [
            f"{c.real} total = {c.number(self.offset)};",
            f"for (int k = 0; k < {c.n_experts}; ++k) total += {weights}[k] * each[k][0];",
            f"out[0] = total < {low} ? {low} : total > {high} ? {high} : total;",
        ]


@dataclass(frozen=True)
class Pool:
    """The logarithmic pool: p ~ prod_k p_k^(w_k)."""

    weights: np.ndarray

    def onnx(self, g, each, lags):
        logs = [g("Log", g("Max", p, g.number(1e-12))) for p in each]
        terms = [g("Mul", f, g.number(w)) for f, w in zip(logs, self.weights, strict=True)]
        return g("Softmax", reduce(lambda a, b: g("Add", a, b), terms), axis=1)

    def c(self, c):
        weights, least = c.table("weights", self.weights), c.number(1e-12)
        exp, log = c.library_function("exp"), c.library_function("log")
        return [
            f"{c.real} sum = {c.number(0)};",
            f"for (int c = 0; c < {c.n_outputs}; ++c) {{",
            f"    {c.real} power = {c.number(0)};",
            f"    for (int k = 0; k < {c.n_experts}; ++k)",
            f"        power += {weights}[k] * {log}(each[k][c] > {least} ? each[k][c] : {least});",
            f"    out[c] = {exp}(power);",
            "    sum += out[c];",
            "}",
            f"for (int c = 0; c < {c.n_outputs}; ++c) out[c] /= sum;",
        ]


class Lagged(parsimon.KNLMSRegressor):
    """Stands for a mixture of regressors over the row, some inputs of it, and two lags."""

    WEIGHTS = np.array([0.5, 0.3, 0.4])
    BOUNDS = (0.09, 0.12)

    def experts(self, unused):
        """Return each expert with the inputs that it takes and their scales."""
        d, rng, found = self.n_features_in_, np.random.default_rng(0), []
        for takes in (range(d), [*range(0, d, 2), d + 1], range(d + 2)):
            centers = rng.normal(size=(7, len(takes)))
            centers[:, np.isin(takes, unused)] = 0.0  # as in any model that has learned rows
            model = parsimon.KernelExpansionRegressor(
                parsimon.kernels.Laplacian(0.1), centers, rng.normal(size=7)
            )
            found.append((model, tuple(takes), 0.5 + rng.random(len(takes))))
        return found

    def predict_with(self, X, lags, unused):
        Z, total = np.hstack([X, lags]), 0.1
        for w, (model, takes, scale) in zip(self.WEIGHTS, self.experts(unused), strict=True):
            total = total + w * model.predict(Z[:, takes] * scale)
        return np.clip(total, *self.BOUNDS)


def lagged(model, unused, scaler):
    """Return the mixture as a combination, which is what a new module would do."""
    experts = tuple(
        Expert(replace(expansion(expert), scale=scale), takes)
        for expert, takes, scale in model.experts(unused)
    )
    combiner, d = Clipped(model.WEIGHTS, 0.1, *model.BOUNDS), model.n_features_in_
    lags = tuple(
        NumberLag(name, scaler.mean_, scaler.scale_, last=scaler.mean_)
        for name in ("lag_1", "lag_2")
    )
    return Combination(type(model).__name__, experts, combiner, d, 1, lags=lags)


@needs_c
def test_a_new_mixture_needs_a_function_and_a_combiner(monkeypatch, block, tmp_path):
    model = learned(lambda y: y, n=320, algorithm=Lagged())
    names = model.encoder_.feature_names_
    unused = [i for i, name in enumerate(names) if ": free " in name]
    monkeypatch.setitem(MIXTURES, Lagged, lambda mixture: lagged(mixture, unused, model.scaler_))
    rng = np.random.default_rng(2)
    lags = model.scaler_.mean_ + model.scaler_.scale_ * rng.normal(size=(400, 2))
    lags[:5, 0] = np.nan  # not known: the mean
    scaled = np.nan_to_num((lags - model.scaler_.mean_) / model.scaler_.scale_)
    f = model.estimator_.predict_with(model.encoder_.transform(block), scaled, unused)
    expected = model.scaler_.mean_ + model.scaler_.scale_ * f
    assert len(np.unique(f)) > 50 and (f.min(), f.max()) == Lagged.BOUNDS

    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    assert [given.name for given in graph.graph.input][-2:] == ["lag_1", "lag_2"]
    columns = raw_values(model, block, "")
    columns["label_"] = columns.pop("label")
    columns |= {"lag_1": lags[:, 0], "lag_2": lags[:, 1]}
    (found,) = session(graph).run(None, {name: v[:, None] for name, v in columns.items()})
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-11)

    to_c(model, tmp_path / "m.h", name="m")
    numbers = ", ".join("NAN" if np.isnan(v) else repr(float(v)) for v in lags.ravel())
    given = f"static const double given[] = {{{numbers}}};\nvoid m_run"
    source = driver(model, "m", "double", ", (const m_lags *)given + i")
    source = source.replace("void m_run", given)
    library = build(tmp_path, source)
    np.testing.assert_allclose(call(library, model, "m", block)[0], expected, rtol=1e-11)


@needs_c
def test_probabilities_can_be_pooled(models, block, tmp_path, monkeypatch):
    model, weights = models["candidates"], np.array([0.7, 0.6])
    pooled = lambda mixture: replace(candidate_classifier(mixture), combiner=Pool(weights))  # noqa: E731
    monkeypatch.setitem(MIXTURES, CandidateClassifier, pooled)
    X = model.encoder_.transform(block)
    logs = [np.log(np.maximum(m.predict_proba(X), 1e-12)) for m in model.estimator_.candidates_]
    P = np.exp(np.einsum("k,knc->nc", weights, logs))
    P /= P.sum(axis=1, keepdims=True)
    found = run(session(to_onnx(model)), model, block)
    np.testing.assert_allclose(found[1], P, rtol=0, atol=1e-12)
    to_c(model, tmp_path / "m.h", name="m")
    library = build(tmp_path, driver(model, "m", "double"))
    np.testing.assert_allclose(call(library, model, "m", block)[1], P, rtol=0, atol=1e-12)


# What cannot be exported, or not so


def test_errors(models, tmp_path):
    for export in (to_onnx, to_c):
        with pytest.raises(NotFittedError, match="learned nothing"):
            export(TableModel("y"), tmp_path / "m")
        with pytest.raises(NotFittedError, match="learned nothing"):
            export(CandidateClassifier([]), tmp_path / "m")
        with pytest.raises(TypeError, match="is a Python function"):
            odd = TableModel(
                "y",
                algorithm=parsimon.published(parsimon.KNLMSRegressor, lambda x, z: float(x @ z)),
            )
            odd.learn({"x": [1.0, 2.0, 4.0], "y": [1.5, 2.5, 3.0]})
            export(odd, tmp_path / "m")
    with pytest.raises(ValueError, match="named by the columns"):
        to_onnx(models["regression"], input_name="features")
    with pytest.raises(TypeError, match="LIBSVM cannot encode the columns"):
        to_libsvm(models["regression"], tmp_path / "m")
    with pytest.raises(TypeError, match="LIBSVM has no mixtures"):
        to_libsvm(models["mixture"].estimator_, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    margins = parsimon.published(parsimon.BSGDClassifier, gamma=1.0).fit([[0.0], [1.0]], ["a", "b"])
    e = expansion(margins)
    with pytest.raises(TypeError, match="without probabilities"):
        Combination("Own", (Expert(e),), Pool(np.ones(1)), 1, 2, classes=e.classes)


@needs_c
def test_a_category_that_c_cannot_hold_equals_no_text(tmp_path):
    column = EncodedColumn("shop", "text", categories=("a\0b", "a"))
    model = parsimon.KernelExpansionRegressor(
        parsimon.kernels.Linear(), [[1.0, 2.0, 3.0, 4.0]], [1.0]
    )
    t = Table("TableModel", Encoding((column,)), expansion(model), "y")
    (tmp_path / "m.h").write_text(header(t, "m", "double"))
    source = '#include "m.h"\ndouble run(const char *shop) { m_row row; row.shop = shop; '
    library = build(tmp_path, source + "return m_predict(&row); }\n")
    library.run.restype = ctypes.c_double
    given = [b"a", b"a\xff", b"", b"ab", None]
    assert [library.run(ctypes.c_char_p(text)) for text in given] == [2.0, 3.0, 3.0, 3.0, 4.0]


# The command line


def test_the_command_writes_the_encoding_unless_told_otherwise(models, block, tmp_path, capsys):
    def said(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    path = tmp_path / "m.parsimon"
    models["regression"].save(path)
    code, out, _ = said("export", path, tmp_path / "m.onnx")
    assert code == 0 and "Its inputs are the columns:" in out and "the empty string" in out
    assert re.search(r"when +seconds since 1970-01-01, UTC", out)
    assert "lag_1, lag_2 and lag_3 are the targets of the rows before" in out
    assert "target, in its own units" in out
    made = session(onnx.load(tmp_path / "m.onnx"))
    assert_equal(models["regression"], block, run(made, models["regression"], block))
    code, out, _ = said("export", path, tmp_path / "m.onnx", "--encoded")
    assert code == 0 and "encoded features, not the columns" in out
    inputs = onnx.load(tmp_path / "m.onnx").graph.input
    assert [x.name for x in inputs] == ["X", "lag_1", "lag_2", "lag_3"]
    models["mixture"].save(path)
    code, out, _ = said("export", path, tmp_path / "m.h", "--name", "shop")
    assert code == 0 and "missing text is NULL" in out and "a class" in out
    assert "lag_1 and lag_2 are the labels of the rows before" in out
    header = Path(tmp_path / "m.h").read_text()
    assert "int shop_predict(const shop_row *row, const shop_lags *lags)" in header
    assert "no mixtures" in said("export", path, tmp_path / "m.libsvm")[2]
    models["candidates"].estimator_.candidates_[0].save(path)
    assert "leave out --encoded" in said("export", path, tmp_path / "m.h", "--encoded")[2]

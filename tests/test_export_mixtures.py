"""Exported mixtures: rows and earlier targets go in, and what `predict` gives comes out."""

import copy
import ctypes
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from parsimon import KRLSRegressor, POLKClassifier, kernels, published
from parsimon.cli import main
from parsimon.export import to_c, to_libsvm, to_onnx
from parsimon.export.model_functions import model_function
from parsimon.mixtures import Expert, MixtureClassifier, MixtureRegressor
from parsimon.tables import TableModel

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]


def compiler(variable, *names):
    given = os.environ.get(variable, "").split()
    return given or next(([name] for name in names if shutil.which(name)), None)


CC, CXX = compiler("CC", "cc", "gcc", "clang"), compiler("CXX", "c++", "g++", "clang++")
needs_c = pytest.mark.skipif(not CC, reason="no C compiler: set CC, or install cc, gcc or clang")
needs_cxx = pytest.mark.skipif(not CXX, reason="no C++ compiler: set CXX, or install c++ or g++")

# Models


def rows(n, seed=0):
    """Return rows with columns of very different size, one of them constant."""
    X = np.random.default_rng(seed).normal(size=(n, 5))
    return X * [1.0, 10.0, 1e3, 1e-3, 0.0] + [0.0, 5.0, 1e6, 0.0, 3.0]


def numbers(X):
    noise = np.cumsum(np.random.default_rng(7).normal(size=len(X)))
    return 1e4 + 1e3 * (np.sin(X[:, 0]) + 0.1 * X[:, 1] * X[:, 3] * 1e3 + 0.1 * noise)


def labels(X, names):
    n = len(names)
    places = np.digitize(X[:, 0] + 0.05 * X[:, 1], np.linspace(-1.2, 1.2, n + 1)[1:-1])
    places[::7] = np.arange(len(places[::7])) % n
    return np.array(names)[places]


def regressor(n, columns=1, **options):
    X = rows(n)
    y = numbers(X)
    if columns > 1:
        y = np.column_stack([y, 1e-3 * X[:, 0] ** 2, -y])
    return MixtureRegressor(**{"budget": 400, **options}).partial_fit(X, y), y


def classifier(n, names, **options):
    y = labels(rows(n), names)
    return MixtureClassifier(**{"budget": 400, **options}).partial_fit(rows(n), y), y


def own_experts(*more):
    rls = published(KRLSRegressor, "gaussian", ridge=0.1, penalty="norm", tolerance=0.01)
    linear = published(
        KRLSRegressor, kernels.Linear() + kernels.Constant(1.0), ridge=0.1, penalty="norm"
    )
    return [
        Expert(rls, "lags", lags=8),
        Expert(linear, "linear"),
        Expert(rls, "relevant", lags=1, relevance=True, width=2.0),
        *more,
    ]


def asleep():
    """Return experts that all sleep during the first 16 rows."""
    return [
        Expert(published(KRLSRegressor, "laplacian", ridge=0.1, penalty="norm"), "late", lags=1)
    ]


def late_class():
    """Return a model with a class that logistic experts learned late, or not yet."""
    X = rows(400)
    y = labels(X, ["b", "a"]).astype("<U3")
    y[-1] = "new"
    return MixtureClassifier(budget=400).partial_fit(X, y), y


def unscaled(mixture, **options):
    X = np.random.default_rng(0).normal(size=(300, 4))
    y = 5 + X[:, 0] * X[:, 1]
    y = y if mixture is MixtureRegressor else (y > 5).tolist()
    return mixture(standardize=False, budget=300, **options).partial_fit(X, y), y


FIVE = ["m", "b", "a long label", "é 東京", 'qu"ote\\?*/']
LOGISTIC = Expert(
    published(POLKClassifier, "laplacian", loss="ovr_logistic", step_size=1.0), "one vs rest"
)
MODELS = {
    "numbers_1": lambda: regressor(1),
    "numbers_2": lambda: regressor(2),
    "numbers_50": lambda: regressor(50),
    "numbers_300": lambda: regressor(300),
    "numbers_1000": lambda: regressor(1000),
    "several_5": lambda: regressor(5, columns=3),
    "several_300": lambda: regressor(300, columns=3),
    "unbounded": lambda: regressor(100, bounded=False),
    "constant": lambda: (
        MixtureRegressor().partial_fit(rows(50), np.full(50, 7.0)),
        np.full(50, 7.0),
    ),
    "own": lambda: regressor(300, experts=own_experts()),
    "sleeping": lambda: regressor(10, columns=3, experts=asleep()),
    "unscaled": lambda: unscaled(MixtureRegressor),
    "two_1": lambda: classifier(1, ["no", "yes"]),
    "two_50": lambda: classifier(50, ["no", "yes"]),
    "two_300": lambda: classifier(300, ["no", "yes"]),
    "two_1000": lambda: classifier(1000, ["no", "yes"]),
    "five_50": lambda: classifier(50, FIVE),
    "five_300": lambda: classifier(300, FIVE),
    "five_1000": lambda: classifier(1000, FIVE),
    "integers": lambda: classifier(300, [7, -2, 5]),
    "floats": lambda: classifier(100, [4.0, 3.0]),
    "booleans": lambda: unscaled(MixtureClassifier),
    "twenty": lambda: classifier(400, [100 - 3 * i for i in range(20)]),
    "own_classes": lambda: classifier(300, ["x", "y", "z"], experts=own_experts(LOGISTIC)),
    "sleeping_classes": lambda: classifier(10, ["x", "y"], experts=asleep()),
    "late_class": late_class,
}


@pytest.fixture(scope="module")
def models():
    """Each model with the targets that it has learned."""
    return {name: make() for name, make in MODELS.items()}


def is_classifier(model):
    return isinstance(model, MixtureClassifier)


def at(model, n=60):
    """Return rows to predict, some of them far from all others."""
    X = rows(n, seed=1) if model.standardize else np.random.default_rng(1).normal(size=(n, 4))
    X[:3] *= 100.0
    return X


def lag_count(model):
    return max(1, *(slot.expert.lags for slot in model._slots))


def last_lags(model, y):
    """Return the last targets that were learned, the latest first, None where there are none."""
    found = [*np.asarray(y)[::-1][: lag_count(model)]]
    return found + [None] * (lag_count(model) - len(found))


def names_of_lags(model):
    n, C = lag_count(model), 1 if is_classifier(model) or model._flat else model._last.shape[1]
    if C == 1:
        return [f"lag_{i + 1}" for i in range(n)]
    return [f"lag_{i + 1}_{c + 1}" for i in range(n) for c in range(C)]


def assert_equal(model, X, found, tolerance=1e-9):
    """Compare the predictions, or the labels and probabilities."""
    if not is_classifier(model):
        expected = model.predict(X)
        assert np.isfinite(expected).all()
        off = np.abs(found[0].reshape(expected.shape) - expected) / (1.0 + np.abs(expected))
        assert off.max() < tolerance
        return
    P = model.predict_proba(X)
    np.testing.assert_allclose(found[1], P, rtol=0, atol=tolerance)
    ordered = np.sort(P, axis=1)
    clear = np.ones(len(P), bool) if P.shape[1] == 1 else np.ptp(ordered[:, -2:], axis=1) > 1e-8
    assert clear.mean() > 0.9
    assert (np.asarray(found[0])[clear] == model.predict(X)[clear]).all()


# ONNX


def session(graph):
    onnx.checker.check_model(graph, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


UNKNOWN = {"tensor(double)": np.nan, "tensor(string)": "no such label", "tensor(int64)": -999}
KINDS = {"tensor(double)": np.float64, "tensor(string)": object, "tensor(int64)": np.int64}


def fed(made, n, lags):
    """Return the inputs for lags. `lags` has one value per input, None if it is not known."""
    given = made.get_inputs()[-len(lags) :]
    return {
        x.name: np.full((n, 1), UNKNOWN[x.type] if v is None else v, dtype=KINDS[x.type])
        for x, v in zip(given, lags, strict=True)
    }


def flat(lags, width=1):
    return [v for lag in lags for v in ([None] * width if lag is None else np.ravel(lag).tolist())]


def width(model):
    return 1 if is_classifier(model) else model._last.shape[1]


@pytest.mark.parametrize("name", MODELS)
def test_onnx_equals_the_mixture(models, name):
    model, y = models[name]
    made, X = session(to_onnx(model)), at(model)
    assert [given.name for given in made.get_inputs()] == ["X", *names_of_lags(model)]
    lags = flat(last_lags(model, y), width(model))
    for given in (lags, [None] * len(lags)):
        assert_equal(model, X, made.run(None, {"X": X, **fed(made, len(X), given)}))
    none = made.run(None, {"X": X[:0], **fed(made, 0, lags)})
    assert all(len(values) == 0 for values in none)


@pytest.mark.parametrize("name", ["numbers_300", "five_300", "several_300"])
def test_onnx_in_single_precision(models, name):
    model, y = models[name]
    made, X = session(to_onnx(model, dtype="float32")), at(model)[3:].astype(np.float32)
    lags = flat(last_lags(model, y), width(model))
    found = made.run(None, {"X": X, **fed(made, len(X), lags)})
    assert found[-1].dtype == np.float32
    if is_classifier(model):
        np.testing.assert_allclose(found[1], model.predict_proba(X), rtol=0, atol=1e-2)
    else:
        expected = model.predict(X).reshape(len(X), -1)
        off = np.abs(found[0] - expected) / np.abs(expected).max(axis=0)
        assert off.max() < 1e-2


# Other targets than the last ones: the same model with other last targets


def with_lags(model, lags):
    """Return a copy of a model whose last targets are these, the latest first."""
    other = copy.deepcopy(model)
    if is_classifier(other):
        recent, places = other._recent, [other._met.tolist().index(label) for label in lags]
        recent.T[(recent.n_rows - 1 - np.arange(len(lags))) % recent.capacity, 0] = places
        other._history.previous = places[0]
    else:
        other._last[: len(lags)] = np.reshape(lags, (len(lags), -1))
    return other


def some_lags(model, seed):
    rng = np.random.default_rng(seed)
    n = lag_count(model)
    if is_classifier(model):
        return rng.choice(model.classes_, size=n).tolist()
    low, high = model._low, model._high
    lags = low + (high - low) * rng.uniform(-0.5, 1.5, size=(n, len(low)))
    return lags if not model._flat else lags[:, 0]


LAGGED = ["numbers_300", "several_300", "own", "five_300", "integers", "booleans", "twenty"]


@pytest.mark.parametrize("name", [*LAGGED, "own_classes", "floats", "sleeping"])
def test_other_lags_are_used(models, name):
    model, _ = models[name]
    made, X, changed = session(to_onnx(model)), at(model), 0
    for seed in range(5):
        lags = some_lags(model, seed)
        other = with_lags(model, lags)
        found = made.run(None, {"X": X, **fed(made, len(X), flat(lags))})
        assert_equal(other, X, found)
        what = "predict_proba" if is_classifier(model) else "predict"
        changed += not np.allclose(getattr(other, what)(X), getattr(model, what)(X), rtol=1e-6)
    assert changed >= 3


def test_lags_are_given_for_each_row(models):
    model, y = models["numbers_300"]
    made, X = session(to_onnx(model)), at(model, 20)
    lags = np.random.default_rng(0).choice(y, size=(20, 3))
    lags[4] = np.nan
    inputs = {f"lag_{i + 1}": lags[:, [i]] for i in range(3)}
    (found,) = made.run(None, {"X": X, **inputs})
    for i in range(20):
        other = model if i == 4 else with_lags(model, lags[i])
        assert found[i, 0] == pytest.approx(other.predict(X[[i]])[0], rel=1e-9)


# C


def lag_values(model, y):
    """Return the fields of a struct of lags as C."""
    if not is_classifier(model):
        values = flat(last_lags(model, y), width(model))
        return ", ".join("NAN" if v is None else repr(float(v)) for v in values)
    found = []
    for value in last_lags(model, y):
        if isinstance(value, str):
            text = "".join(f"\\{byte:03o}" for byte in value.encode())
            found.append(f'"{text}"')
        else:
            unknown = "0" if isinstance(model.classes_[0], str) else "-999"
            found.append(unknown if value is None else repr(value.item()))
    return ", ".join(found).replace("True", "1").replace("False", "0")


def driver(model, y, name, real="double"):
    outputs = f"{name.upper()}_N_OUTPUTS"
    call = f"more[0] = {name}_predict(x, given);"
    if is_classifier(model):
        call = f"first = {name}_predict(x, given); {name}_proba(x, given, more);"
    elif width(model) > 1:
        call = f"{name}_predict(x, given, more);"
    return f"""
#include <math.h>
#include "{name}.h"
static const {name}_lags {name}_last = {{{lag_values(model, y)}}};
void {name}_run(const {real} *rows, long n, int known, int *firsts, {real} *outs)
{{
    for (long i = 0; i < n; ++i) {{
        const {real} *x = rows + i * {name.upper()}_N_FEATURES;
        {real} *more = outs + i * {outputs};
        const {name}_lags *given = known ? &{name}_last : 0;
        int first = 0;
        {call}
        firsts[i] = first;
    }}
}}
"""


TYPES = {"double": np.float64, "float": np.float32}


@pytest.fixture(scope="module")
def folder(models, tmp_path_factory):
    """A folder with the headers of all models, and source.c."""
    folder, source = tmp_path_factory.mktemp("headers"), ""
    for name, (model, y) in models.items():
        for real in TYPES if name in SINGLE else ["double"]:
            to_c(model, folder / f"{name}_{real}.h", name=f"{name}_{real}", dtype=real)
            source += driver(model, y, f"{name}_{real}", real)
    (folder / "source.c").write_text(source)
    return folder


SINGLE = ("numbers_300", "several_300", "five_300")


@pytest.fixture(scope="module")
def library(folder):
    command = [*CC, "-std=c99", *STRICT, "source.c", "-O1", "-shared", "-fPIC", "-o", "library.so"]
    subprocess.run([*command, "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "library.so"))


def call(library, model, name, X, known, real="double"):
    n = len(X)
    width_ = len(model.classes_) if is_classifier(model) else width(model)
    firsts, outs = np.zeros(n, dtype=np.int32), np.full((n, width_), np.nan, dtype=TYPES[real])
    given = np.ascontiguousarray(X, dtype=TYPES[real])
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (given, firsts, outs)]
    run = getattr(library, f"{name}_{real}_run")
    run(pointers[0], ctypes.c_long(n), int(known), pointers[1], pointers[2])
    return [model.classes_[firsts], outs] if is_classifier(model) else [outs]


@needs_c
@pytest.mark.parametrize("name", MODELS)
def test_c_equals_the_mixture(models, library, name):
    model, _ = models[name]
    X = at(model)
    for known in (True, False):
        assert_equal(model, X, call(library, model, name, X, known))


@needs_c
@pytest.mark.parametrize("name", SINGLE)
def test_c_in_single_precision(models, library, name):
    model, _ = models[name]
    X = at(model)[3:].astype(np.float32)
    found = call(library, model, name, X, True, "float")[-1]
    if is_classifier(model):
        np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-2)
    else:
        expected = model.predict(X).reshape(len(X), -1)
        assert (np.abs(found - expected) / np.abs(expected).max(axis=0)).max() < 1e-2


@needs_cxx
def test_cpp_takes_the_headers(folder):
    command = [*CXX, "-x", "c++", "-std=c++11", *STRICT, "-fsyntax-only", "source.c"]
    subprocess.run(command, cwd=folder, check=True)


@needs_c
@pytest.mark.parametrize("name", ["numbers_300", "several_300", "five_300", "integers", "floats"])
def test_the_example_in_the_header_runs(models, name, tmp_path):
    model, _ = models[name]
    said = example_output(to_c(model, tmp_path / "model.h"), tmp_path)
    expected = model.predict(np.zeros((1, 5)))[0]
    if is_classifier(model):
        assert said.strip() == str(expected).removesuffix(".0")
    else:
        assert float(said) == pytest.approx(np.ravel(expected)[0], rel=1e-4)


def example_output(text, folder):
    example = re.search(r"^ \* (#include <stdio.h>.*?)^ \*/", text, flags=re.DOTALL | re.MULTILINE)
    (folder / "main.c").write_text(example[1].replace("\n * ", "\n"))
    command = [*CC, "-std=c99", *STRICT, "main.c", "-o", "main", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout


def test_lags_of_a_header_are_named(models):
    text = to_c(models["several_300"][0], name="m")
    assert "double lag_1_1;" in text and "double lag_3_3;" in text and "lag_4" not in text
    assert "m_predict(x, &lags, out);" in text and "NULL means" in text
    assert "const char *lag_2;" in to_c(models["five_300"][0])
    assert "long long lag_2;" in to_c(models["integers"][0])
    assert "long long lag_1;" in to_c(models["booleans"][0])


# Tables


def houses(n, seed=0):
    rng = np.random.default_rng(seed)
    size, shop = rng.uniform(50, 200, size=n), rng.choice(["town", "village", "é"], size=n)
    price = 1e5 + 1e3 * size * (shop == "town") + np.cumsum(rng.normal(size=n)) * 1e3
    known = rng.random(n) < 0.9
    block = {
        "size": [float(s) if k else None for s, k in zip(size, known, strict=True)],
        "shop": [s if rng.random() < 0.9 else None for s in shop.tolist()],
        "lag_1": rng.normal(size=n).tolist(),  # a column with the name of a lag
    }
    return block, price


TARGETS = {
    "price": lambda price: price,
    "two": lambda price: np.where(price > np.median(price), "dear", "cheap"),
    "five": lambda price: np.digitize(price, np.quantile(price, [0.2, 0.4, 0.6, 0.8])) * 10,
}
TABLES = [
    ("price", 50, {}),
    ("price", 700, {}),
    ("two", 50, {}),
    ("two", 700, {}),
    ("five", 700, {}),
    ("price", 300, {"algorithm": MixtureRegressor(budget=300)}),
    ("five", 300, {"algorithm": MixtureClassifier(own_experts(), budget=300)}),
]


@pytest.mark.parametrize(("what", "n", "options"), TABLES)
def test_tables_of_mixtures(what, n, options, tmp_path):
    block, price = houses(n)
    y = TARGETS[what](price)
    model = TableModel("price", **options)
    model.learn({**block, "price": y.tolist()})
    model.finish()
    mixture = model.estimator_
    assert isinstance(mixture, MixtureRegressor if what == "price" else MixtureClassifier)
    new, _ = houses(80, seed=1)
    new["shop"][:3], new["size"][:3] = ["nowhere", "", "town"], [1e9, None, -1.0]

    graph = to_onnx(model)
    made = session(graph)
    given = {
        "size": np.array([[np.nan if v is None else v] for v in new["size"]], dtype=float),
        "shop": np.array([[v or ""] for v in new["shop"]], dtype=object),
        "lag_1": np.array(new["lag_1"])[:, np.newaxis],
    }
    new["shop"] = [v or None for v in new["shop"]]
    about = {entry.key: entry.value for entry in graph.metadata_props}
    names = json.loads(about["lags"])
    assert names[0] == "lag_1_" and [x.name for x in made.get_inputs()] == [*given, *names]
    lags = flat(last_lags(mixture, y))
    for values in (lags, [None] * len(lags)):
        found = made.run(None, {**given, **fed(made, 80, values)})
        expected = model.predict(new)
        if what == "price":
            assert (np.abs(found[0][:, 0] - expected) / (1 + np.abs(expected))).max() < 1e-9
        else:
            np.testing.assert_allclose(found[1], model.predict_proba(new), rtol=0, atol=1e-9)
            assert (np.asarray(found[0]) == expected).mean() > 0.95
    if CC:
        check_c(model, new, lag_values(mixture, y), tmp_path)


def check_c(model, block, lags, folder):
    """Compile a program that prints the result for each row, and compare."""
    text = to_c(model, folder / "m.h", name="m")
    classes = model.task_ == "classification"
    literals = [
        "{{{}, {}, {!r}}}".format(
            "NAN" if size is None else repr(size),
            "0" if shop is None else '"' + "".join(f"\\{b:03o}" for b in shop.encode()) + '"',
            lag,
        )
        for size, shop, lag in zip(block["size"], block["shop"], block["lag_1"], strict=True)
    ]
    show = 'printf("%.17g\\n", m_predict(rows + i, given[k]));'
    if classes:
        show = (
            "double out[M_N_OUTPUTS]; m_proba(rows + i, given[k], out);"
            'for (int c = 0; c < M_N_OUTPUTS; ++c) printf("%.17g\\n", out[c]);'
        )
    (folder / "run.c").write_text(
        '#include <math.h>\n#include <stdio.h>\n#include "m.h"\nint main(void)\n{\n'
        f"static const m_row rows[] = {{{', '.join(literals)}}};\n"
        f"static const m_lags lags = {{{lags}}};\n"
        "const m_lags *given[2] = {&lags, 0};\n"
        f"for (int k = 0; k < 2; ++k) for (int i = 0; i < {len(literals)}; ++i) {{ {show} }}\n"
        "return 0;\n}\n"
    )
    command = [*CC, "-std=c99", *STRICT, "run.c", "-o", "run", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    said = subprocess.run([folder / "run"], capture_output=True, text=True, check=True).stdout
    expected = model.predict_proba(block) if classes else model.predict(block)
    found = np.array(said.split(), dtype=float).reshape(2, *expected.shape)
    assert (np.abs(found - expected) / (1 + np.abs(expected))).max() < 1e-9
    assert example_output(text, folder)


def test_the_command_exports_the_default_model(tmp_path, capsys):
    block, price = houses(250)
    model = TableModel("price")
    model.learn({**block, "price": price})
    model.save(tmp_path / "m.parsimon")
    for file, missing in (("m.onnx", "NaN means"), ("m.h", "NULL for all lags")):
        assert main(["export", str(tmp_path / "m.parsimon"), str(tmp_path / file)]) == 0
        said = capsys.readouterr().out
        assert "lag_1, lag_2 and lag_3 are the targets of the rows before" in said
        assert missing in said and "price, in its own units" in said
    assert main(["export", str(tmp_path / "m.parsimon"), str(tmp_path / "f.h"), "--encoded"]) == 0
    assert "price, in its own units" in capsys.readouterr().out
    assert main(["export", "--help"]) == 0
    assert "lag_1 is the target" in " ".join(capsys.readouterr().out.split())


# Parts, and what cannot be exported


def test_experts_that_sleep_are_not_written(models):
    for name in ("numbers_2", "numbers_300"):
        model = models[name][0]
        awake = sum(expert is not None for expert in model.experts_)
        assert len(model_function(model).experts) == awake
    assert awake == 9 and sum(e is not None for e in models["numbers_2"][0].experts_) == 2


def test_names_of_features_and_lags(models):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rows(30), columns=["a", "b", "c", "d", "e"])
    model = MixtureRegressor().partial_fit(X, numbers(X.to_numpy()))
    about = {entry.key: entry.value for entry in to_onnx(model).metadata_props}
    assert json.loads(about["feature_names"]) == ["a", "b", "c", "d", "e"]
    assert json.loads(about["lags"]) == ["lag_1", "lag_2", "lag_3"]
    assert 'x[4] "e"' in to_c(model)
    renamed = to_onnx(model, input_name="lag_2").graph.input
    assert [given.name for given in renamed] == ["lag_2", "lag_1", "lag_2_", "lag_3"]


def test_errors(models, tmp_path):
    for export in (to_onnx, to_c):
        for mixture in (MixtureRegressor(), MixtureClassifier()):
            with pytest.raises(NotFittedError, match="learned nothing"):
                export(mixture, tmp_path / "m")
        model = models["numbers_50"][0]
        with pytest.raises(TypeError, match="only estimators"):
            export(make_pipeline(StandardScaler(), model).fit(rows(20), numbers(rows(20))))
        function = Expert(
            published(KRLSRegressor, lambda x, z: float(x @ z) + 1.0, budget=5), "own"
        )
        with pytest.raises(TypeError, match="is a Python function"):
            export(
                MixtureRegressor([function]).partial_fit(rows(5), numbers(rows(5))), tmp_path / "m"
            )
    for name in ("numbers_50", "two_50"):
        with pytest.raises(TypeError, match="LIBSVM has no mixtures"):
            to_libsvm(models[name][0], tmp_path / "m")
    assert not (tmp_path / "m").exists()

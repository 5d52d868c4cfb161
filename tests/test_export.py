"""Exported models say what the model says, on other machines and in other languages."""

import ctypes
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import dense
import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

import parsimon
from parsimon import formulas, kernels, losses
from parsimon._extras import install_command
from parsimon.estimators import ESTIMATORS
from parsimon.export import to_c, to_libsvm, to_onnx
from parsimon.export.c.header import header
from parsimon.export.expansion import expansion
from parsimon.kernels import (
    Constant,
    Function,
    Gaussian,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Normalized,
    Polynomial,
    Product,
    RationalQuadratic,
    Sum,
)

KERNELS = [
    Gaussian(0.7),
    Laplacian(0.4),
    Matern32(0.5),
    Matern52(0.5),
    RationalQuadratic(0.7, 1.0),
    RationalQuadratic(0.7, 2.5),
    RationalQuadratic(0.7, 1e9),
    Polynomial(2, 0.5, 0.0),
    Polynomial(3, 0.5, 1.0),
    Polynomial(7, 0.1, 0.5),
    Linear(),
    Constant(2.0),
    Gaussian(0.7) + 0.1,
    0.3 * Linear(),
    0.3 * Gaussian(0.7),
    0.9 * Gaussian(0.5) + 0.1 * Linear(),
    Laplacian(0.2) * Polynomial(2, 0.5) + Matern32(0.3) * Matern52(0.6),
    Normalized(Linear()),
    Normalized(Polynomial(3, 0.5, 1.0)),
    Normalized(Constant(3.0)),
    Normalized(Gaussian(0.5) + 2.0 * Normalized(Linear() * Linear()) + Polynomial(2))
    * RationalQuadratic(0.2, 3.0),
    *(kernel for kernel, _ in dense.REGISTERED.values()),
]

#: Estimators in all their ways of predicting.
MODELS = [
    parsimon.published(parsimon.KNLMSRegressor, gamma=0.7),
    parsimon.published(parsimon.KAPRegressor, gamma=0.7, order=2),
    parsimon.published(parsimon.KLMSRegressor, gamma=0.7, quantization=0.2),
    parsimon.published(parsimon.NORMARegressor, gamma=0.7, budget=20),
    parsimon.published(parsimon.KRLSRegressor, gamma=0.7, forgetting=0.99),
    parsimon.published(
        parsimon.KRLSRegressor, gamma=0.7, admission="coherence", ridge=0.1, budget=30
    ),
    parsimon.published(parsimon.SPLRegressor, gamma=0.7),
    parsimon.published(parsimon.POLKRegressor, gamma=0.7, loss="huber"),
    parsimon.published(parsimon.POLKRegressor, gamma=0.7, average=50, budget=30),
    parsimon.published(parsimon.SOGSVR, gamma=0.7, tolerance=0.1),
    *(
        parsimon.published(
            parsimon.POLKClassifier, gamma=0.7, loss=name, step_size=0.5, random_state=0
        )
        for name in losses.CLASSIFICATION
    ),
    parsimon.published(
        parsimon.POLKClassifier,
        gamma=0.7,
        loss="logistic",
        average=True,
        batch_size=4,
        random_state=0,
    ),
    parsimon.published(parsimon.BSGDClassifier, gamma=0.7, budget=30, random_state=0),
    parsimon.published(parsimon.SOGSVC, gamma=0.7, random_state=0),
    parsimon.published(parsimon.KRLSTRegressor, gamma=0.7, budget=30),
    parsimon.published(parsimon.SWKRLSRegressor, gamma=0.7, budget=30),
    parsimon.published(parsimon.FBKRLSRegressor, gamma=0.7, budget=30),
    parsimon.published(parsimon.EXKRLSRegressor, gamma=0.7, budget=30),
]

REGRESSOR = parsimon.published(parsimon.KNLMSRegressor, gamma=0.3, budget=40)
#: Around estimators.
PIPELINES = [
    make_pipeline(StandardScaler(), REGRESSOR),
    make_pipeline(StandardScaler(with_mean=False), REGRESSOR),
    make_pipeline(StandardScaler(with_std=False), REGRESSOR),
    make_pipeline(
        MinMaxScaler((-1, 2)),
        parsimon.published(parsimon.POLKClassifier, gamma=3.0, loss="ovr_logistic", random_state=0),
    ),
    make_pipeline(MaxAbsScaler(), "passthrough", RobustScaler(), REGRESSOR),
    make_pipeline(
        RobustScaler(with_centering=False),
        None,
        parsimon.published(parsimon.SOGSVC, gamma=0.3, random_state=0),
    ),
    make_pipeline(
        RobustScaler(with_scaling=False),
        FunctionTransformer(),
        parsimon.published(parsimon.KNLMSRegressor, "linear"),
    ),
    make_pipeline(
        make_pipeline(MinMaxScaler(), StandardScaler()),
        parsimon.published(parsimon.KNLMSRegressor, Normalized(Polynomial(2))),
    ),
    make_pipeline(
        StandardScaler(),
        parsimon.published(parsimon.KNLMSRegressor, "laplacian", gamma=0.3, budget=40),
    ),
    TransformedTargetRegressor(REGRESSOR, transformer=StandardScaler()),
    TransformedTargetRegressor(REGRESSOR),
    make_pipeline(
        StandardScaler(), TransformedTargetRegressor(REGRESSOR, transformer=MinMaxScaler())
    ),
    TransformedTargetRegressor(
        make_pipeline(StandardScaler(), REGRESSOR),
        transformer=make_pipeline(RobustScaler(), MaxAbsScaler()),
    ),
]

N_TEST = 10_000


def points(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 3))


def is_classifier(model):
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    return hasattr(last, "decision_function")


def fitted(model, n=400, labels=("low", "middle", "high"), outputs=1):
    """Return a copy of the model, fitted to columns of very different size and place."""
    X = points(n, 0)
    y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.3 * X[:, 2]
    if is_classifier(model):
        y = np.array(labels)[np.digitize(y, [-0.4, 0.4][: len(labels) - 1])]
    elif outputs > 1:
        y = np.stack([y, *(np.roll(y, shift) for shift in range(1, outputs))], axis=1)
    return clone(model).fit(raw(model, X), y)


def raw(model, X):
    scaled = isinstance(model, Pipeline) or isinstance(getattr(model, "regressor", None), Pipeline)
    return X * [100.0, 0.01, 1.0] + [1e4, 0.3, -2.0] if scaled else X


NAMES = [
    *(f"kernel {i} {type(k).__name__}" for i, k in enumerate(KERNELS)),
    *(f"model {i} {type(m).__name__}" for i, m in enumerate(MODELS)),
    *(f"pipeline {i}" for i, _ in enumerate(PIPELINES)),
]


@functools.cache
def cases():
    """Return every fitted model, by name."""
    models = [
        fitted(parsimon.published(parsimon.KNLMSRegressor, k, coherence=0.95, budget=40), outputs=2)
        for k in KERNELS
    ]
    return dict(zip(NAMES, [*models, *map(fitted, MODELS), *map(fitted, PIPELINES)], strict=True))


def scores(model, X):
    """Return f (n, C), by the model itself."""
    if not is_classifier(model):
        return model.predict(X).reshape(len(X), -1)
    if isinstance(model, Pipeline):
        return model.steps[-1][1]._evaluate(model[:-1].transform(X))
    return model._evaluate(X)


def margins(f):
    """Return by how much the largest score exceeds the next, (n,)."""
    return np.full(len(f), np.inf) if f.shape[1] == 1 else np.diff(np.sort(f, axis=1)[:, -2:])[:, 0]


def test_every_estimator_and_kernel_is_here():
    assert {type(model) for model in MODELS} == set(ESTIMATORS)
    assert {*kernels.KERNELS.values(), Constant, Sum, Product, Normalized} == {
        type(k) for k in KERNELS
    }


# ONNX


def run(graph, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (given,) = session.get_inputs()
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {given.name: X}), strict=True))


def assert_outputs(model, X, given, tolerance, gap):
    """Compare what a graph gave with the model; labels wherever the two largest scores are further
    apart than `gap`.
    """
    f = scores(model, X)
    if not is_classifier(model):
        assert given.keys() == {"variable"}
        np.testing.assert_allclose(given["variable"], f, rtol=0, atol=tolerance)
        return
    if hasattr(model, "predict_proba"):
        assert given.keys() == {"label", "probabilities"}
        np.testing.assert_allclose(
            given["probabilities"], model.predict_proba(X), rtol=0, atol=tolerance
        )
    else:
        assert given.keys() == {"label", "scores"}
        np.testing.assert_allclose(given["scores"], f, rtol=0, atol=tolerance)
    clear = margins(f) > gap
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(given["label"][clear], model.predict(X)[clear])


@pytest.mark.parametrize("name", NAMES)
def test_onnx_agrees(name):
    model = cases()[name]
    X = raw(model, points(N_TEST, 1))
    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    assert [(s.domain, s.version) for s in graph.opset_import] == [("", 12)]
    given = run(graph, X)
    assert all(len(values) == N_TEST for values in given.values())
    assert_outputs(model, X, given, tolerance=1e-11, gap=1e-9)
    assert [len(values) for values in run(graph, X[:0]).values()] == [0] * len(given)
    assert_outputs(
        model, X[:1], {key: values[:1] for key, values in given.items()}, tolerance=1e-11, gap=0
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pipeline 2"])
def test_onnx_in_single_precision(name):
    model = cases()[name]
    X = raw(model, points(N_TEST, 1)).astype(np.float32)
    graph = to_onnx(model, dtype="float32", input_name="features")
    onnx.checker.check_model(graph, full_check=True)
    assert graph.graph.input[0].name == "features"
    given = run(graph, X)
    assert all(values.dtype in (np.float32, object) for values in given.values())
    assert_outputs(model, X.astype(np.float64), given, tolerance=1e-4, gap=1e-3)


def test_single_precision_loses_what_the_columns_size_costs():
    # A column of standard deviation 100 under gamma = 0.3 has gamma ||x||^2 about 1e4: four digits.
    model = cases()["pipeline 2"]
    X = raw(model, points(N_TEST, 1)).astype(np.float32)
    given = run(to_onnx(model, dtype="float32"), X)
    assert_outputs(model, X.astype(np.float64), given, tolerance=1e-2, gap=0)


def test_a_graph_says_what_it_is(tmp_path):
    frame = pd.DataFrame(points(100, 0), columns=["a", "b", 'c"d*/??'])
    pipeline = make_pipeline(
        StandardScaler(), parsimon.published(parsimon.POLKClassifier, gamma=1.0, random_state=0)
    )
    pipeline.fit(frame, np.where(frame["a"] > 0, "on", "off"))
    graph = to_onnx(pipeline, tmp_path / "model.onnx")
    stored = onnx.load(tmp_path / "model.onnx")
    assert stored == graph
    assert list(tmp_path.iterdir()) == [tmp_path / "model.onnx"]
    about = {entry.key: entry.value for entry in stored.metadata_props}
    assert (stored.producer_name, stored.producer_version) == ("parsimon", parsimon.__version__)
    assert json.loads(about["classes"]) == ["off", "on"]
    assert json.loads(about["feature_names"]) == list(frame.columns)
    assert about["estimator"] == "POLKClassifier"
    assert "Gaussian" in stored.doc_string
    header = to_c(pipeline)
    assert r'x[2] "c\"d* /? ?"' in header


@pytest.mark.parametrize("input_name", ["", "label", "probabilities", None, 3])
def test_odd_input_names_are_refused(input_name):
    with pytest.raises(ValueError, match="input_name"):
        to_onnx(cases()["model 0 KNLMSRegressor"], input_name=input_name)


def test_an_input_may_be_called_like_a_part_of_the_graph():
    model = cases()["model 0 KNLMSRegressor"]
    for name in (node.output[0] for node in to_onnx(model).graph.node[:-1]):
        graph = to_onnx(model, input_name=name)
        onnx.checker.check_model(graph, full_check=True)
        np.testing.assert_allclose(
            run(graph, points(5, 1))["variable"][:, 0], model.predict(points(5, 1)), atol=1e-12
        )


FAR = np.array([[1e300, 0.0, 0.0], [0.0, -1e160, 1e160], [1e5, 1e5, -1e5]])
#: Those that depend on distances alone.
DISTANT = [name for name, k in zip(NAMES, KERNELS, strict=False) if type(k) in dense.OF_DISTANCE]


@pytest.mark.parametrize("name", DISTANT)
def test_far_away_onnx_still_agrees(name):
    model = cases()[name]
    np.testing.assert_allclose(
        run(to_onnx(model), FAR)["variable"], model.predict(FAR), rtol=0, atol=1e-12
    )
    near = run(to_onnx(model, dtype="float32"), FAR.clip(-1e30, 1e30).astype(np.float32))[
        "variable"
    ]
    np.testing.assert_allclose(near, model.predict(FAR.clip(-1e30, 1e30)), rtol=0, atol=1e-6)


def test_without_onnx_only_onnx_is_missed():
    code = "import sys\nfrom parsimon import export, KNLMSRegressor, published\n"
    code += "assert 'onnx' not in sys.modules\nsys.modules['onnx'] = None\n"
    code += "m = published(KNLMSRegressor).fit([[0.0], [1.0]], [0.0, 1.0])\n"
    code += "export.to_c(m)\nexport.to_libsvm(m)\nexport.to_onnx(m)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"ImportError: to_onnx needs ONNX: {install_command('onnx')}" in done.stderr


# C

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]


def compilers(variable, *names):
    given = os.environ.get(variable, "").split()
    return ([given] if given else []) + [[name] for name in names if shutil.which(name)]


C_COMPILERS = compilers("CC", "cc", "gcc", "clang")
CXX_COMPILERS = compilers("CXX", "c++", "g++", "clang++")
needs_c = pytest.mark.skipif(
    not C_COMPILERS, reason="no C compiler: set CC, or install cc, gcc or clang"
)
needs_cxx = pytest.mark.skipif(
    not CXX_COMPILERS, reason="no C++ compiler: set CXX, or install c++, g++ or clang++"
)
TYPES = {"double": (ctypes.c_double, np.float64), "float": (ctypes.c_float, np.float32)}

DRIVER = """
#include "{name}.h"
void run_decision_{name}(const {real} *x, long n, {real} *out)
{{
    for (long i = 0; i < n; ++i)
        {name}_decision(x + i * {NAME}_N_FEATURES, out + i * {NAME}_N_OUTPUTS);
}}
void run_predict_{name}(const {real} *x, long n, {real} *out)
{{
    for (long i = 0; i < n; ++i) {predict};
}}
"""
PROBA = """
void run_proba_{name}(const {real} *x, long n, {real} *out)
{{
    for (long i = 0; i < n; ++i)
        {name}_proba(x + i * {NAME}_N_FEATURES, out + i * {NAME}_N_OUTPUTS);
}}
"""


def driver(model, name, real):
    """Return C that runs a header over many rows."""
    names = {"name": name, "NAME": name.upper(), "real": real}
    at = "x + i * {NAME}_N_FEATURES".format(**names)
    predict = f"out[i] = ({real}){name}_predict({at})"
    if not is_classifier(model) and expansion(model).n_outputs > 1:
        predict = "{name}_predict({at}, out + i * {NAME}_N_OUTPUTS)".format(at=at, **names)
    return DRIVER.format(predict=predict, **names) + (
        PROBA.format(**names) if hasattr(model, "predict_proba") else ""
    )


def compile_c(folder, source, *options):
    (folder / "source.c").write_text(source)
    subprocess.run(
        [*C_COMPILERS[0], "-std=c99", *STRICT, "source.c", *options], cwd=folder, check=True
    )


def build(folder, source):
    """Compile a C source to a library and load it."""
    compile_c(folder, source, "-O1", "-shared", "-fPIC", "-o", "library.so", "-lm")
    return ctypes.CDLL(str(folder / "library.so"))


def write_headers(folder):
    """Write every model as a header in both types, and return a source that uses them all."""
    source = []
    for i, model in enumerate(cases().values()):
        for real in TYPES:
            name = f"{real}{i}"
            assert (
                to_c(model, folder / f"{name}.h", name=name, dtype=real)
                == (folder / f"{name}.h").read_text()
            )
            source.append(driver(model, name, real))
    return "".join(source)


@pytest.fixture(scope="module")
def headers(tmp_path_factory):
    """A folder with the headers, and source.c."""
    folder = tmp_path_factory.mktemp("headers")
    (folder / "source.c").write_text(write_headers(folder))
    return folder


@pytest.fixture(scope="module")
def library(headers):
    return build(headers, (headers / "source.c").read_text())


def call(library, function, real, X, n_outputs):
    number, dtype = TYPES[real]
    X = np.ascontiguousarray(X, dtype=dtype)
    out = np.full((len(X), n_outputs), np.nan, dtype=dtype)
    pointer = ctypes.POINTER(number)
    getattr(library, function)(
        X.ctypes.data_as(pointer), ctypes.c_long(len(X)), out.ctypes.data_as(pointer)
    )
    return out


def assert_c_agrees(library, model, i, real, X, tolerance, gap):
    f, name = scores(model, X), f"{real}{i}"
    given = call(library, f"run_decision_{name}", real, X, f.shape[1])
    np.testing.assert_allclose(given, f, rtol=0, atol=tolerance)
    if hasattr(model, "predict_proba"):
        p = call(library, f"run_proba_{name}", real, X, f.shape[1])
        np.testing.assert_allclose(p, model.predict_proba(X), rtol=0, atol=tolerance)
    if not is_classifier(model):
        np.testing.assert_array_equal(
            call(library, f"run_predict_{name}", real, X, f.shape[1]), given
        )
        return
    index = call(library, f"run_predict_{name}", real, X, 1)[:, 0].astype(int)
    np.testing.assert_array_equal(index, given.argmax(axis=1))
    clear = margins(f) > gap
    np.testing.assert_array_equal(model.classes_[index[clear]], model.predict(X)[clear])


@needs_c
@pytest.mark.parametrize("name", NAMES)
def test_c_agrees(library, name):
    model, i = cases()[name], NAMES.index(name)
    X = raw(model, points(N_TEST, 1))
    assert_c_agrees(library, model, i, "double", X, tolerance=1e-12, gap=1e-9)
    X = X.astype(np.float32).astype(np.float64)
    assert_c_agrees(library, model, i, "float", X, tolerance=2e-4, gap=1e-3)


@needs_c
def test_every_compiler_takes_the_headers(headers):
    for compiler in C_COMPILERS[1:]:  # the first one built the library
        subprocess.run(
            [*compiler, "-std=c99", *STRICT, "-fsyntax-only", "source.c"], cwd=headers, check=True
        )


@needs_cxx
def test_cpp_takes_the_headers(headers):
    for compiler in CXX_COMPILERS[:1]:
        command = [*compiler, "-x", "c++", "-std=c++11", *STRICT, "-fsyntax-only", "source.c"]
        subprocess.run(command, cwd=headers, check=True)


@needs_c
@pytest.mark.parametrize("name", DISTANT)
def test_far_away_c_still_agrees(library, name):
    assert_c_agrees(
        library, cases()[name], NAMES.index(name), "double", FAR, tolerance=1e-12, gap=0
    )


@needs_c
def test_headers_can_do_without_a_library(tmp_path):
    source = []
    for i, kernel in enumerate(
        [Linear(), Polynomial(3), RationalQuadratic(0.5, 2.0), 0.5 * Linear() + 1.0]
    ):
        model = fitted(parsimon.published(parsimon.KNLMSRegressor, kernel), n=50)
        header = to_c(model, tmp_path / f"m{i}.h", name=f"m{i}")
        assert "Nothing is needed from the C library" in header
        source.append(driver(model, f"m{i}", "double"))
    # Others can bring their own functions.
    model = fitted(
        parsimon.published(
            parsimon.POLKClassifier, Matern32(0.5), loss="ovr_logistic", random_state=0
        ),
        n=50,
    )
    assert "Needed from libm: exp, log1p, sqrt." in to_c(model, tmp_path / "own.h", name="own")
    own = "double %s(double x);\n" * 3 % ("my_exp", "my_log1p", "my_sqrt")
    own += "#define OWN_EXP my_exp\n#define OWN_LOG1P my_log1p\n#define OWN_SQRT my_sqrt\n"
    source += [own, driver(model, "own", "double")]
    compile_c(tmp_path, "".join(source), "-ffreestanding", "-nostdinc", "-c", "-o", "object.o")


ODD = [
    -0.0,
    0.0,
    5e-324,
    -2.2250738585072014e-308,
    1.7976931348623157e308,
    0.1,
    1 / 3,
    -1e22,
    123456789012345680.0,
]
ODD_FLOATS = [-0.0, 0.1, 1e-45, 3.4028235e38, 16777216.0, -1e-10]
ODD_LABELS = ['é"\\', "??/", "a\nb\x01", "%s", "12", "ünïcode €", "", "*/", "\\u0041"]
LABELS = [sorted(ODD_LABELS), [-(2**63), -7, 0, 5, 2**63 - 1], [False, True], [-1.0, 2.0, 1e15]]


def with_labels(labels):
    """Return a classifier of these labels, whatever they are."""
    model = parsimon.published(parsimon.POLKClassifier, Linear(), random_state=0)
    return model.fit(points(8 * len(labels), 0), np.array(labels * 8))


@needs_c
def test_numbers_and_labels_come_back_exactly(tmp_path):
    source, e = "", expansion(cases()["model 0 KNLMSRegressor"])
    values = {"double": np.array(ODD), "float": np.array(ODD_FLOATS, dtype=np.float32)}
    for real, numbers in values.items():
        column = numbers.astype(np.float64)[:, np.newaxis]
        odd = replace(e, centers=column, weights=column, shift=np.zeros(1), scale=np.ones(1))
        (tmp_path / f"odd_{real}.h").write_text(header(odd, f"odd_{real}", real))
        source += f'#include "odd_{real}.h"\n'
        source += f"const {real} *{real}_centers(void) {{ return &odd_{real}_centers[0][0]; }}\n"
    kinds = {str: "const char *", int: "long long ", bool: "long long ", float: "double "}
    for i, labels in enumerate(LABELS):
        to_c(with_labels(labels), tmp_path / f"m{i}.h", name=f"m{i}")
        kind = kinds[type(labels[0])]
        source += f'#include "m{i}.h"\n{kind}label{i}(int c) {{ return m{i}_classes[c]; }}\n'
    library = build(tmp_path, source)
    for real, numbers in values.items():
        function = getattr(library, f"{real}_centers")
        function.restype = ctypes.POINTER(TYPES[real][0])
        assert np.ctypeslib.as_array(function(), numbers.shape).tobytes() == numbers.tobytes()
    results = [ctypes.c_char_p, ctypes.c_longlong, ctypes.c_longlong, ctypes.c_double]
    for i, (labels, result) in enumerate(zip(LABELS, results, strict=True)):
        function = getattr(library, f"label{i}")
        function.restype = result
        given = [function(c) for c in range(len(labels))]
        assert [g.decode() if isinstance(g, bytes) else g for g in given] == labels


EXAMPLES = {
    "number": lambda: cases()["model 0 KNLMSRegressor"],
    "two numbers": lambda: cases()[NAMES[0]],
    "strings": lambda: cases()["model 10 POLKClassifier"],
    "integers": lambda: with_labels(LABELS[1]),
    "booleans": lambda: with_labels(LABELS[2]),
    "floats": lambda: with_labels(LABELS[3]),
}


@needs_c
@pytest.mark.parametrize("what", EXAMPLES)
def test_the_example_in_the_header_runs(tmp_path, what):
    model = EXAMPLES[what]()
    header = to_c(model, tmp_path / "model.h")
    example = re.search(
        r"^ \* (#include <stdio.h>.*?)^ \*/", header, flags=re.DOTALL | re.MULTILINE
    )[1]
    compile_c(tmp_path, example.replace("\n * ", "\n"), "-o", "main", "-lm")
    said = subprocess.run(
        [tmp_path / "main"], capture_output=True, text=True, check=True
    ).stdout.strip()
    expected = model.predict(np.zeros((1, 3))).ravel()[0]
    if isinstance(expected, str):
        assert said == expected
    else:
        assert float(said) == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "1a",
        "a b",
        "a-b",
        "int",
        "restrict",
        "_a",
        "a__b",
        "a_",
        "a" * 41,
        "é",
        "a\n",
        None,
        b"a",
    ],
)
def test_names_that_c_cannot_have_are_refused(name):
    with pytest.raises(ValueError, match="name"):
        to_c(cases()["model 0 KNLMSRegressor"], name=name)


def test_types_that_are_not_there_are_refused():
    model = cases()["model 0 KNLMSRegressor"]
    with pytest.raises(ValueError, match="unknown dtype 'float64'; known are 'double', 'float'"):
        to_c(model, dtype="float64")
    with pytest.raises(ValueError, match="unknown dtype 'double'; known are 'float64', 'float32'"):
        to_onnx(model, dtype="double")


# LIBSVM


def read_libsvm(text):
    """Parse a model file as the README of LIBSVM and svm-train's output have it."""
    head, _, body = text.partition("\nSV\n")
    header = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
    vectors = [line.split() for line in body.splitlines()]
    n_coefficients = int(header["nr_class"][0]) - 1
    assert len(vectors) == int(header["total_sv"][0])
    coefficients = np.array(
        [[float(v) for v in line[:n_coefficients]] for line in vectors]
    ).reshape(-1, n_coefficients)
    features = [
        {int(i): float(v) for i, v in (p.split(":") for p in line[n_coefficients:])}
        for line in vectors
    ]
    assert all(list(f) == sorted(f) and 0 not in f for f in features)
    return header, coefficients, features


def libsvm(text, X):
    """Return LIBSVM's decision values (n, pairs) and its predictions (n,)."""
    header, coefficients, features = read_libsvm(text)
    centers = np.array([[f.get(i + 1, 0.0) for i in range(X.shape[1])] for f in features]).reshape(
        -1, X.shape[1]
    )
    parameter = {
        key: float(header[key][0]) for key in ("gamma", "coef0", "degree") if key in header
    }
    kind = header["kernel_type"][0]
    if kind == "rbf":
        K = np.exp(-parameter["gamma"] * ((X[:, None] - centers) ** 2).sum(axis=2))
    elif kind == "polynomial":
        K = (parameter["gamma"] * X @ centers.T + parameter["coef0"]) ** parameter["degree"]
    else:
        assert kind == "linear"
        K = X @ centers.T
    rho = np.array(header["rho"], dtype=float)
    if header["svm_type"] == ["epsilon_svr"]:
        values = K @ coefficients - rho
        return values, values[:, 0]
    assert header["svm_type"] == ["c_svc"]
    labels, ends = np.array(header["label"], dtype=int), np.cumsum([0, *map(int, header["nr_sv"])])
    assert ends[-1] == len(centers)
    votes, values = np.zeros((len(X), len(labels)), dtype=int), []
    for a in range(len(labels)):
        for b in range(a + 1, len(labels)):
            first, second = slice(ends[a], ends[a + 1]), slice(ends[b], ends[b + 1])
            value = (
                K[:, first] @ coefficients[first, b - 1]
                + K[:, second] @ coefficients[second, a]
                - rho[len(values)]
            )
            votes[np.arange(len(X)), np.where(value > 0, a, b)] += 1
            values.append(value)
    return np.stack(values, axis=1), labels[votes.argmax(axis=1)]


LIBSVM_KERNELS = [
    Gaussian(0.7),
    Polynomial(3, 0.5, 1.0),
    Linear(),
    Linear() + 1.0,
    0.5 * (2.0 + Gaussian(0.7) * 3.0) + 0.25,
    Constant(2.0),
]


@pytest.mark.parametrize("kernel", LIBSVM_KERNELS, ids=str)
def test_libsvm_regressors_agree(kernel, tmp_path):
    model = fitted(parsimon.published(parsimon.SOGSVR, kernel, tolerance=0.1))
    text = to_libsvm(model, tmp_path / "model")
    assert (tmp_path / "model").read_text() == text
    X = points(N_TEST, 1)
    np.testing.assert_allclose(libsvm(text, X)[1], model.predict(X), rtol=0, atol=1e-11)


@pytest.mark.parametrize("labels", [(3, -1), (7, 2, 5)], ids=["two", "three"])
@pytest.mark.parametrize("kernel", LIBSVM_KERNELS, ids=str)
@pytest.mark.parametrize("make", [parsimon.SOGSVC, parsimon.POLKClassifier])
def test_libsvm_classifiers_agree(make, kernel, labels):
    model = fitted(make(kernel, random_state=0), labels=labels)
    X = points(N_TEST, 1)
    values, predicted = libsvm(to_libsvm(model), X)
    f = scores(model, X)[:, ::-1]
    pairs = [f[:, a] - f[:, b] for a in range(len(labels)) for b in range(a + 1, len(labels))]
    np.testing.assert_allclose(values, np.stack(pairs, axis=1), rtol=0, atol=1e-11)
    np.testing.assert_array_equal(predicted, model.predict(X))


def test_libsvm_takes_the_first_of_equals():
    model = parsimon.published(parsimon.POLKClassifier, Linear(), random_state=0).fit(
        points(30, 0), [1, 2, 3] * 10
    )
    X = np.zeros((1, 3))  # where every class has f = 0
    assert (
        libsvm(to_libsvm(model), X)[1] == model.predict(X) == run(to_onnx(model), X)["label"] == 1
    )


@pytest.mark.parametrize(
    "pipeline",
    [
        make_pipeline(StandardScaler(), parsimon.published(parsimon.SOGSVR, Linear())),
        make_pipeline(MaxAbsScaler(), parsimon.published(parsimon.SOGSVR, Polynomial(2))),
        make_pipeline(
            RobustScaler(with_scaling=False),
            parsimon.published(parsimon.KNLMSRegressor, gamma=1e-4),
        ),
        TransformedTargetRegressor(
            parsimon.published(parsimon.SOGSVR, gamma=0.7), transformer=StandardScaler()
        ),
    ],
    ids=["linear", "polynomial", "gaussian", "target"],
)
def test_libsvm_takes_scaling_where_it_can(pipeline):
    model = fitted(pipeline)
    X = raw(model, points(1000, 1))
    np.testing.assert_allclose(libsvm(to_libsvm(model), X)[1], model.predict(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (make_pipeline(StandardScaler(), REGRESSOR), "cannot scale inputs.*export the last step"),
        (
            make_pipeline(StandardScaler(), parsimon.published(parsimon.SOGSVR, Polynomial(2))),
            "cannot scale inputs",
        ),
        (
            parsimon.published(parsimon.KNLMSRegressor, Matern32()),
            "LIBSVM has the kernels Gaussian, Polynomial and Linear.*Matern32",
        ),
        (
            parsimon.published(parsimon.KNLMSRegressor, Gaussian(1.0) + Linear()),
            "LIBSVM has the kernels",
        ),
        (
            parsimon.published(parsimon.KNLMSRegressor, Normalized(Linear())),
            "LIBSVM has the kernels",
        ),
        (parsimon.published(parsimon.SOGSVC, gamma=1.0), "integer labels only"),
    ],
)
def test_libsvm_refuses_what_it_has_not(model, message):
    with pytest.raises(TypeError, match=message):
        to_libsvm(fitted(model))


def test_libsvm_refuses_outputs_and_labels_it_has_not():
    with pytest.raises(TypeError, match="several outputs, and the model has 2"):
        to_libsvm(fitted(REGRESSOR, outputs=2))
    for labels in ([True, False], [1.0, 2.0], [0, 2**31]):
        with pytest.raises(TypeError, match="integer labels only"):
            to_libsvm(with_labels(labels))
    with pytest.raises(TypeError, match="two classes, and the model knows only 4"):
        to_libsvm(with_labels([4]))


@pytest.mark.parametrize("labels", [(3, -1), (7, 2, 5)], ids=["two", "three"])
def test_libsvm_itself_agrees(labels, tmp_path):
    svmutil = pytest.importorskip("libsvm.svmutil", reason="libsvm-official is not installed")
    model = fitted(parsimon.published(parsimon.SOGSVC, gamma=0.7, random_state=0), labels=labels)
    to_libsvm(model, tmp_path / "model")
    X = points(1000, 1)
    predicted, _, _ = svmutil.svm_predict(
        [], X.tolist(), svmutil.svm_load_model(str(tmp_path / "model")), "-q"
    )
    np.testing.assert_array_equal(predicted, model.predict(X))


# What comes in

EXPORTERS = [to_onnx, to_c, to_libsvm]


@pytest.mark.parametrize("export", EXPORTERS)
@pytest.mark.parametrize(
    "model", [*MODELS, PIPELINES[0], PIPELINES[-1]], ids=lambda m: type(m).__name__
)
def test_unfitted_models_are_refused(export, model):
    with pytest.raises(NotFittedError):
        export(clone(model))


@pytest.mark.parametrize("export", EXPORTERS)
def test_wrong_models_are_refused(export, tmp_path):
    X, y = points(20, 0), np.arange(20.0)
    path = tmp_path / "model"
    for model, message in [
        (parsimon.KernelDictionaryLearning(4, gamma=1.0).fit(X), "iterative lasso"),
        (parsimon.KernelDictionaryClassifier(4, gamma=1.0).fit(X, y > 9), "iterative lasso"),
        (
            parsimon.published(parsimon.KNLMSRegressor, lambda x, z: float(x @ z)).fit(X, y),
            "is a Python function",
        ),
        (
            parsimon.published(
                parsimon.KNLMSRegressor, 1.0 + Function(lambda x, z: float(x @ z))
            ).fit(X, y),
            "is a Python function",
        ),
        (LinearRegression().fit(X, y), "got LinearRegression"),
        (GridSearchCV(REGRESSOR, {"step_size": [0.1, 0.2]}).fit(X, y), "best_estimator_"),
        (REGRESSOR.__class__, "got type|got ABCMeta"),
        (None, "got NoneType"),
        (make_pipeline(PCA(2), REGRESSOR).fit(X, y), r"'pca' \(PCA\).*beforehand"),
        (make_pipeline(MinMaxScaler(clip=True), REGRESSOR).fit(X, y), "'minmaxscaler'.*clip=False"),
        (
            make_pipeline(FunctionTransformer(np.sin), REGRESSOR).fit(X, y),
            "'functiontransformer'.*Python function",
        ),
        (make_pipeline(StandardScaler(), LinearRegression()).fit(X, y), "got LinearRegression"),
        (
            TransformedTargetRegressor(REGRESSOR, func=np.log1p, inverse_func=np.expm1).fit(X, y),
            "Python function",
        ),
    ]:
        with pytest.raises(TypeError, match=message):
            export(model, path)
    assert not path.exists()


class Own(kernels.Kernel):
    """A kernel that a user could write."""

    def core(self):
        return Gaussian(1.0).core()


class OwnWithFormula(Own):
    def formula(self):
        return formulas.exp(-1.0 * formulas.SQUARED_DISTANCE)


class Inherits(Gaussian):
    def core(self):
        return Laplacian(self.gamma).core()


@pytest.mark.parametrize("export", [to_c, to_onnx])
def test_a_kernel_of_ones_own_needs_its_formula(export):
    def learned(kernel):
        return parsimon.published(parsimon.KNLMSRegressor, kernel).fit(
            points(20, 0), np.arange(20.0)
        )

    for kernel in (Own(), Own() + Linear(), Normalized(2.0 * Own())):
        with pytest.raises(
            TypeError, match=r"cannot be exported: the kernel <.*Own.*has no formula"
        ):
            export(learned(kernel))
    with pytest.raises(
        TypeError, match=r"the formula of Inherits\(gamma=1.0\) does not give its values"
    ):
        export(learned(Inherits(1.0)))
    with pytest.raises(TypeError, match="is a Python function, and code cannot be exported"):
        export(learned(Function(lambda x, y: float(x @ y)) + 1.0))
    export(learned(OwnWithFormula() + Linear()))


def test_a_kernel_of_ones_own_is_exported_by_its_formula():
    model = parsimon.published(parsimon.KNLMSRegressor, OwnWithFormula()).fit(
        points(50, 0), np.arange(50.0)
    )
    X = points(100, 1)
    np.testing.assert_allclose(
        run(to_onnx(model), X)["variable"][:, 0], model.predict(X), rtol=0, atol=1e-11
    )


def test_scaling_beyond_all_numbers_is_refused():
    X = points(20, 0) * [1e-310, 1.0, 1.0]
    scaler = MaxAbsScaler().fit(X)
    scaler.scale_ = np.array([1e-310, 1.0, 1.0])
    model = Pipeline([("tiny", scaler), ("model", fitted(REGRESSOR))])
    with pytest.raises(ValueError, match="the step 'tiny' is beyond the range"):
        to_onnx(model)


@pytest.mark.parametrize("labels", LABELS, ids=["strings", "integers", "booleans", "floats"])
def test_labels_of_every_kind_come_out_of_a_graph_as_they_are(labels):
    model = with_labels(labels)
    X = points(1000, 1)
    given = run(to_onnx(model), X)["label"]
    assert given.dtype == (object if isinstance(labels[0], str) else model.predict(X).dtype)
    np.testing.assert_array_equal(given, model.predict(X))


def test_labels_of_mixed_kinds_are_refused():
    model = with_labels([1, 2])
    model.classes_ = np.array([1, "a"], dtype=object)
    with pytest.raises(TypeError, match=r"labels must be all .*\[1, 'a'\]"):
        to_onnx(model)
    with pytest.raises(ValueError, match="64 bits"):
        to_c(with_labels([np.uint64(2**63), np.uint64(1)]))


EMPTY = [
    (parsimon.published(parsimon.POLKRegressor, gamma=1.0), np.zeros(20)),
    (parsimon.published(parsimon.POLKRegressor, gamma=1.0), np.zeros((20, 2))),
    (parsimon.published(parsimon.POLKClassifier, gamma=1.0, loss="logistic"), np.full(20, "only")),
    (parsimon.published(parsimon.POLKClassifier, gamma=1.0), np.full(20, 4)),
    (parsimon.published(parsimon.BSGDClassifier, gamma=1.0), np.full(20, 4)),
]
SMALL = [
    (
        parsimon.published(parsimon.POLKClassifier, gamma=1.0, loss="ovr_logistic"),
        np.full(20, "only"),
    ),
    (parsimon.published(parsimon.SOGSVC, gamma=1.0), np.full(20, 4)),
    (parsimon.published(parsimon.KNLMSRegressor, gamma=1e-9), np.arange(20.0)),
    (parsimon.published(parsimon.KNLMSRegressor, gamma=1.0), np.arange(20.0) * 1e90),
]


@needs_c
def test_models_with_hardly_anything_in_them(tmp_path):
    X, models, source = points(20, 0), [], ""
    for i, (model, y) in enumerate([*EMPTY, *SMALL]):
        models.append(clone(model).fit(X, y))
        to_c(models[-1], tmp_path / f"double{i}.h", name=f"double{i}")
        source += driver(models[-1], f"double{i}", "double")
    assert [model.n_centers_ for model in models[: len(EMPTY)]] == [0] * len(EMPTY)
    assert models[-2].n_centers_ == 1
    library = build(tmp_path, source)
    for i, model in enumerate(models):
        size = max(1.0, np.abs(scores(model, X)).max())
        assert_c_agrees(library, model, i, "double", X, tolerance=1e-12 * size, gap=0)
        graph = to_onnx(model)
        onnx.checker.check_model(graph, full_check=True)
        given = run(graph, X)
        if is_classifier(model):
            np.testing.assert_array_equal(given["label"], model.predict(X))
        else:
            np.testing.assert_allclose(
                given["variable"], scores(model, X), rtol=0, atol=1e-12 * size
            )
    np.testing.assert_array_equal(libsvm(to_libsvm(models[0]), X)[1], 0.0)


def test_numbers_too_large_for_single_precision_are_refused():
    model = parsimon.published(parsimon.KNLMSRegressor, gamma=1.0).fit(
        points(20, 0), np.arange(20.0) * 1e90
    )
    with pytest.raises(ValueError, match="weights are too large for dtype='float32'"):
        to_onnx(model, dtype="float32")
    with pytest.raises(ValueError, match="weights are too large for dtype='float'"):
        to_c(model, dtype="float")
    model = parsimon.published(parsimon.KNLMSRegressor, gamma=1e-60).fit(
        points(20, 0), np.arange(20.0)
    )
    with pytest.raises(ValueError, match="parameter -1e-60 is too small for dtype='float32'"):
        to_onnx(model, dtype="float32")
    with pytest.raises(ValueError, match="parameter -1e-60 is too small for dtype='float'"):
        to_c(model, dtype="float")


def test_a_mean_far_away_costs_nothing():
    # As single precision holds them, the inputs are off by 0.03, and that is all that may be lost.
    X = points(400, 0).astype(np.float32) * 16 + np.float32(2**20)
    model = make_pipeline(
        StandardScaler(), parsimon.published(parsimon.KNLMSRegressor, gamma=0.3)
    ).fit(X.astype(np.float64), np.sin(X[:, 0]))
    given = run(to_onnx(model, dtype="float32"), X)["variable"][:, 0]
    np.testing.assert_allclose(given, model.predict(X.astype(np.float64)), rtol=0, atol=1e-5)


def test_the_document_runs(tmp_path, monkeypatch):
    document = Path(__file__).parent.parent / "docs" / "export.md"
    if not document.exists():
        pytest.skip("no docs beside the tests")
    blocks = re.findall(r"```python\n(.*?)```", document.read_text(), flags=re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in blocks:
        exec(compile(block, "export.md", "exec"), names)
    if C_COMPILERS:
        shown = []
        for program in re.findall(r"```c\n(.*?)```", document.read_text(), flags=re.DOTALL):
            compile_c(tmp_path, program, "-o", "main", "-lm")
            shown.append(subprocess.check_output([tmp_path / "main"], text=True))
        assert shown[0] == "same\n"
        given = {"size": [[0.5]], "shop": np.array([["town"]], dtype=object)}
        given |= {f"lag_{i + 1}": [[x]] for i, x in enumerate((61000.0, 58000.0, 17000.0))}
        graph = to_onnx(names["houses"]).SerializeToString()
        ((expected,),) = onnxruntime.InferenceSession(graph).run(["variable"], given)[0]
        assert [float(price) for price in shown[1:]] == [pytest.approx(expected, rel=1e-5)]


# The figures in docs/export.md: python tests/test_export.py


def report(folder):
    """Print the largest deviations of f from the model's own, over all cases of a kind."""
    library, worst = build(folder, write_headers(folder)), {}
    for i, (name, model) in enumerate(cases().items()):
        group = name.split()[2 if name.startswith("kernel") else 0]
        for j, (real, (_, dtype)) in enumerate(TYPES.items()):
            X = raw(model, points(N_TEST, 1)).astype(dtype)
            f = scores(model, X.astype(np.float64))
            last = list(run(to_onnx(model, dtype=np.dtype(dtype).name), X).values())[-1]
            own = (
                model.predict_proba(X.astype(np.float64)) if hasattr(model, "predict_proba") else f
            )
            row = worst.setdefault(group, [0.0] * 4)
            row[2 * j] = max(row[2 * j], np.abs(last - own).max())
            given = call(library, f"run_decision_{real}{i}", real, X, f.shape[1])
            row[2 * j + 1] = max(row[2 * j + 1], np.abs(given - f).max())
    print("| | ONNX float64 | C double | ONNX float32 | C float |\n|---|---|---|---|---|")
    for group, row in worst.items():
        print(f"| {group} | " + " | ".join(f"{value:.0e}" for value in row) + " |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        report(Path(temporary))

"""Docstrings of public classes are complete: every parameter, attribute, reference and example."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import parsimon
from parsimon import _docs, kernels
from parsimon.estimators import ESTIMATORS, FILTERS

PACKAGE = Path(parsimon.__file__).parent
#: Modules and packages whose text follows the section Text of CONTRIBUTING.md.
PLAIN = [
    "_docs",
    "_parts",
    "_threads",
    "admission",
    "algorithms",
    "compression",
    "datasets",
    "diagnostics",
    "dictionary_learning",
    "distributed",
    "estimators",
    "experiments",
    "export",
    "forecasting",
    "formulas",
    "kernels",
    "losses",
    "persistence",
    "river",
    "updates",
]
#: Verbs for a centre that is removed, other than those of the table in CONTRIBUTING.md.
OTHER_VERBS = r"centres? (leaves?|retires?|goes|is (forgotten|pruned|retired|conditioned out))\b"

#: Fitted models of every public estimator that documents itself.
X = np.random.default_rng(0).normal(size=(60, 2))
FITTED = [cls(gamma=1.0).fit(X, (X[:, 0] > 0).astype(int)) for cls in (*ESTIMATORS, *FILTERS)] + [
    parsimon.KernelExpansionRegressor(kernels.Gaussian(1.0), X[:3], np.ones(3)),
    parsimon.KernelExpansionClassifier(
        kernels.Gaussian(1.0), X[:3], np.ones((3, 1)), np.zeros(1), np.array([0, 1])
    ),
]
ATOMS = [
    parsimon.KernelDictionaryLearning(3, gamma=1.0, budget=9).fit(X),
    parsimon.KernelDictionaryClassifier(3, gamma=1.0, budget=9).fit(X, X[:, 0] > 0),
]
each = pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
each_or_atoms = pytest.mark.parametrize(
    "model", FITTED + ATOMS, ids=lambda model: type(model).__name__
)


def entries(model, section):
    return _docs.entries(_docs.sections(type(model).__doc__)[section])


@each_or_atoms
def test_every_parameter_is_documented_with_its_default(model):
    found = entries(model, "Parameters")
    parameters = inspect.signature(type(model)).parameters
    assert list(found) == list(parameters)
    for name, parameter in parameters.items():
        first, *description = found[name].splitlines()
        assert "".join(description).strip(), name
        if parameter.default is inspect.Parameter.empty:
            assert "default=" not in first
        else:
            assert eval(first.partition("default=")[2]) == parameter.default, first


@each_or_atoms
def test_every_fitted_attribute_is_documented(model):
    found = entries(model, "Attributes")
    public = {name for name in dir(model) if re.fullmatch(r"[a-z]\w*[a-z]_", name)}
    assert public <= set(found)
    assert set(found) - public <= {"feature_names_in_"}  # only with a frame
    assert all("\n" in entry for entry in found.values())


@each_or_atoms
def test_it_stands_alone(model):
    doc = type(model).__doc__
    assert {"Parameters", "Attributes", "References", "Examples"} <= set(_docs.sections(doc))
    assert not re.search(r"as in `\w*(Regressor|Classifier|SOGSV)", doc)
    assert not re.search(r"^ *\{\w+\}$", doc, flags=re.MULTILINE)
    assert ">>> " in _docs.sections(doc)["Examples"]
    assert max(map(len, doc.splitlines())) <= 100
    assert len(doc.splitlines()[0]) <= 93  # with its indentation and quotes


@each
def test_it_is_still_a_scikit_learn_estimator(model):
    assert repr(clone(model).get_params()) == repr(model.get_params())
    assert type(model).__module__.startswith("parsimon.estimators")


def test_an_unknown_placeholder_raises():
    with pytest.raises(ValueError, match=r"unknown placeholder \{nothing\}; known are "):

        @_docs.documented
        class Model:
            """A model.

            {nothing}
            """


def test_braces_within_a_line_stay():
    assert (
        _docs.filled("max_{i != j}, {-1, 1} and {kernel}") == "max_{i != j}, {-1, 1} and {kernel}"
    )


def test_every_shared_text_is_used_and_fits():
    sources = "".join(inspect.getsource(type(model)) for model in FITTED)
    for name, text in _docs.TEXTS.items():
        assert f"{{{name}}}\n" in sources, name
        assert max(map(len, text.splitlines())) <= 92, name


def test_the_text_about_kernels_names_all_of_them():
    named = re.findall(r'"(\w+)"', _docs.TEXTS["kernel"])
    assert set(named) == set(kernels.KERNELS)


def test_without_docstrings_the_classes_work():
    program = (
        "from parsimon import POLKClassifier\n"
        "if POLKClassifier.__doc__ is not None: raise SystemExit('there is a docstring')\n"
        "POLKClassifier(gamma=1.0).fit([[0.0], [1.0]], [0, 1])"
    )
    done = subprocess.run(
        [sys.executable, "-OO", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr


def docstrings():
    for name in PLAIN:
        for path in sorted([*PACKAGE.glob(f"{name}.py"), *PACKAGE.glob(f"{name}/**/*.py")]):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    doc = ast.get_docstring(node)
                    if doc is not None:
                        where = f"{path.relative_to(PACKAGE)}: {getattr(node, 'name', 'module')}"
                        yield where, doc


def test_the_first_line_is_a_sentence():
    found = dict(docstrings())
    assert len(found) > 300
    for where, doc in found.items():
        first, *rest = doc.splitlines()
        assert first.endswith((".", ":")), where
        assert not rest or not rest[0], where


def test_entries_stay_on_one_line():
    for where, doc in docstrings():
        parts = _docs.sections(doc)
        for title in parts.keys() & {"Parameters", "Attributes"}:
            for line in parts[title].splitlines():
                good = not line or line.startswith((" ", "{")) or re.match(r"[\w*]+ : \S", line)
                assert good, f"{where}: {line}"


def test_a_centre_has_one_verb_for_each_fate():
    for where, doc in docstrings():
        assert not re.search(OTHER_VERBS, " ".join(doc.split())), where

"""docs/migration.md says which defaults changed, and `published` gives the former ones."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import parsimon
from parsimon.estimators import ESTIMATORS, FILTERS, PUBLISHED

#: Estimators that are newer than the change, and so have no former defaults.
NEW = (
    parsimon.EXKRLSRegressor,
    parsimon.FBKRLSRegressor,
    parsimon.KRLSTRegressor,
    parsimon.SWKRLSRegressor,
    *FILTERS,
)
PAGE = Path(__file__).parent.parent / "docs" / "migration.md"


def test_the_page_lists_every_default_that_changed():
    listed, name = {}, None
    for cells in re.findall(r"^\|(.*)\|$", PAGE.read_text(), flags=re.MULTILINE):
        first, parameter, before, now = (cell.strip().strip("`") for cell in cells.split("|"))
        if parameter not in ("parameter", "---"):
            name = first or name
            listed[name, parameter] = (before, now)
    expected = {}
    for cls, former in PUBLISHED.items():
        if cls in NEW:
            continue
        for parameter, given in inspect.signature(cls).parameters.items():
            before, now = (repr(v).replace("'", '"') for v in (former[parameter], given.default))
            if before != now:
                expected[cls.__name__, parameter] = (before, now)
    assert listed == expected


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_every_parameter_has_a_published_value(cls):
    assert PUBLISHED[cls].keys() == inspect.signature(cls).parameters.keys()
    assert parsimon.published(cls).get_params() == PUBLISHED[cls]
    assert parsimon.published(cls, "linear", gamma=2.0).get_params() == {
        **PUBLISHED[cls],
        "kernel": "linear",
        "gamma": 2.0,
    }


def test_only_estimators_are_published():
    with pytest.raises(ValueError, match=r"unknown estimator .*; known are KNLMSRegressor"):
        parsimon.published(parsimon.MixtureRegressor)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_every_default_has_a_budget_and_says_how_much_memory_it_takes(cls):
    assert 100 <= cls().budget <= 500
    X = np.random.default_rng(0).normal(size=(cls().budget + 50, 10))
    y = np.arange(len(X)) % 2 if hasattr(cls(), "class_weight") else X[:, 0] * X[:, 1]
    model = cls().partial_fit(X, y)
    said = re.search(
        r"With the default and 10 features, the model takes\s+([\d.]+) MB", cls.__doc__
    )
    assert float(said[1]) == pytest.approx(model.nbytes_ / 1e6, rel=0.05, abs=0.01)

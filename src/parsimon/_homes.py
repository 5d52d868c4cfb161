"""Which module defines which name: the one table of names that are imported on first use.

`parsimon` uses the table to import a public name on first use. `parsimon.persistence` uses it to
find the class that a model file names. So neither package imports all modules at once, and
`persistence` imports no module that stores models. A new estimator needs one line here.
"""

from __future__ import annotations

__all__ = ["MODULES", "PUBLIC", "home_of", "names"]

#: Modules that are attributes of the package.
MODULES = (
    "admission",
    "algorithms",
    "compression",
    "conformal",
    "datasets",
    "diagnostics",
    "dictionary_learning",
    "estimators",
    "forecasting",
    "kernels",
    "losses",
    "merging",
    "mixtures",
    "persistence",
    "updates",
)

#: Classes and functions that are attributes of the package, by module.
PUBLIC = {
    "conformal": ("ConformalClassifier", "ConformalRegressor"),
    "dictionary_learning": ("KernelDictionaryClassifier", "KernelDictionaryLearning"),
    "estimators": (
        "SOGSVC",
        "SOGSVR",
        "BSGDClassifier",
        "EXKRLSRegressor",
        "FBKRLSRegressor",
        "KAPRegressor",
        "KLMSRegressor",
        "KNLMSRegressor",
        "KRLSRegressor",
        "KRLSTRegressor",
        "KernelExpansionClassifier",
        "KernelExpansionRegressor",
        "MKNLMSRegressor",
        "NORMARegressor",
        "POLKClassifier",
        "POLKRegressor",
        "RFFKLMSRegressor",
        "SPLRegressor",
        "SWKRLSRegressor",
        "from_sklearn",
        "published",
    ),
    "forecasting": ("Forecaster",),
    "merging": ("Merged", "merge"),
    "mixtures": ("MixtureClassifier", "MixtureRegressor"),
    "persistence": ("ModelFileError", "load"),
    "tables": ("TableModel",),
}

#: Further classes that a model file can name, by module.
STORED = {
    "evaluation": ("ClassificationMetrics", "IntervalMetrics", "RegressionMetrics"),
    "mixtures": ("CandidateClassifier",),
    "preprocessing": ("TableEncoder", "TargetScaler"),
}

#: Immutable parts of parameters that a model file can name, by module.
PARTS = {"mixtures": ("Expert",)}

_HOMES = {
    name: f"parsimon.{module}"
    for table in (PUBLIC, STORED)
    for module, names in table.items()
    for name in names
}


def home_of(name: str) -> str | None:
    """Return the module that defines a public name or a class in model files, or None.

    >>> home_of("KNLMSRegressor"), home_of("TableModel"), home_of("print")
    ('parsimon.estimators', 'parsimon.tables', None)
    """
    return _HOMES.get(name)


def names() -> list[str]:
    """Return every name of the table."""
    return list(_HOMES)

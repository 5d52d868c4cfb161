"""Which names are on which page of the reference, and under which heading."""

import importlib
from dataclasses import dataclass

from public_names import MODULES

#: Names of the package itself by heading. Names that are in no group come under "Further names".
GROUPS = {
    "The default models": ("MixtureRegressor", "MixtureClassifier", "TableModel", "Forecaster"),
    "Least squares": (
        "KRLSRegressor",
        "KRLSTRegressor",
        "SWKRLSRegressor",
        "FBKRLSRegressor",
        "EXKRLSRegressor",
    ),
    "Gradient steps": (
        "KNLMSRegressor",
        "KAPRegressor",
        "MKNLMSRegressor",
        "KLMSRegressor",
        "RFFKLMSRegressor",
        "NORMARegressor",
        "SPLRegressor",
        "POLKRegressor",
    ),
    "Classifiers": ("POLKClassifier", "BSGDClassifier"),
    "Support vectors": ("SOGSVR", "SOGSVC"),
    "Dictionary learning": ("KernelDictionaryLearning", "KernelDictionaryClassifier"),
    "Intervals and sets of labels": ("ConformalRegressor", "ConformalClassifier"),
    "Merging, files and conversion": (
        "merge",
        "Merged",
        "load",
        "ModelFileError",
        "from_sklearn",
        "KernelExpansionRegressor",
        "KernelExpansionClassifier",
        "published",
    ),
}
FURTHER = "Further names"


@dataclass(frozen=True)
class Page:
    """The page of a module: its names by heading, and names that are documented elsewhere."""

    module: str
    groups: dict[str, list[str]]
    elsewhere: dict[str, str]

    @property
    def names(self):
        """All names that this page documents, in full."""
        return [f"{self.module}.{name}" for names in self.groups.values() for name in names]


def pages(modules=MODULES):
    """Return the page of each public module."""
    owners: dict[int, str] = {}
    found = []
    for name in modules:
        module = importlib.import_module(name)
        here, elsewhere = [], {}
        for public in module.__all__:
            if f"{name}.{public}" in MODULES:
                continue
            value = getattr(module, public)
            owner = owners.setdefault(id(value), f"{name}.{public}") if hashable(value) else None
            if owner in (None, f"{name}.{public}"):
                here.append(public)
            else:
                elsewhere[public] = owner
        found.append(Page(name, _grouped(name, here), elsewhere))
    return found


def hashable(value):
    """Return whether a value is a class, a function or a collection, which have an identity.

    Equal numbers and strings can be one object, so their names are documented one by one.
    """
    return callable(value) or isinstance(value, dict | list)


def _grouped(module, names):
    if module != "parsimon":
        classes = [name for name in names if name[0].isupper() and not name.isupper()]
        functions = [name for name in names if name[0].islower()]
        constants = [name for name in names if name.isupper() and len(name) > 4]
        rest = [name for name in names if name not in {*classes, *functions, *constants}]
        groups = {"Classes": classes + rest, "Functions": functions, "Constants": constants}
    else:
        listed = {name for group in GROUPS.values() for name in group}
        groups = {title: [n for n in group if n in names] for title, group in GROUPS.items()}
        groups[FURTHER] = [name for name in names if name not in listed]
    return {title: group for title, group in groups.items() if group}

"""``parsimon inspect``: show what is in a model file, and draw it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError

from parsimon import KernelDictionaryClassifier, KernelDictionaryLearning, MKNLMSRegressor, plots
from parsimon.cli.errors import Failure
from parsimon.cli.mixture_facts import mixture_shares, model_relevance
from parsimon.cli.model_facts import fact_lines, fact_tables, mean_weights, model_facts
from parsimon.cli.model_files import load_model
from parsimon.cli.paths import require_writable
from parsimon.cli.scores import model_score_lines
from parsimon.cli.text import as_json, lines
from parsimon.conformal.wrapped import Wrapped
from parsimon.forecasting import Forecaster
from parsimon.mixtures import CandidateClassifier, Mixture
from parsimon.plots.drawing import plain
from parsimon.tables import TableModel

__all__ = ["inspect"]

#: The most rows of panels in a picture of a model.
MOST_DRAWN = 10
#: The most characters of the title of a picture.
LONGEST_TITLE = 80


def inspect(path: Path, as_lines: bool, plot: Path | None) -> int:
    """Print what is in a model file, and draw it."""
    if plot is not None:
        require_writable(plot)
        plots.require_drawable(plot)
    model = load_model(path)
    if plot is not None:
        draw(model, path, plot)
    file = {"file": str(path), "file_bytes": path.stat().st_size, "kind": type(model).__name__}
    facts = {**file, **model_facts(model)}
    if as_lines:
        print(as_json(facts))
        return 0
    pairs = fact_lines(facts)
    if isinstance(model, TableModel) and model.metrics_ is not None:
        pairs += model_score_lines(model)
    print("\n\n".join([lines(pairs), *fact_tables(facts)]))
    return 0


def draw(model: Any, path: Path, plot: Path) -> None:
    """Draw a model: relevance and shares of a mixture, or the centres and weights of others."""
    if isinstance(model, Forecaster) and model.expert_names_:
        title = plain(f"forecasts of {path.name}, weights averaged over the steps", LONGEST_TITLE)
        plots.mixture(plot, mean_weights(model), title=title)
        return
    if isinstance(model, Wrapped) and model.__sklearn_is_fitted__():
        model = model.model_
    mixture = getattr(model, "estimator_", None) if isinstance(model, TableModel) else model
    if isinstance(mixture, Mixture) and mixture.__sklearn_is_fitted__():
        what = f"predictions of {model.target!r}" if isinstance(model, TableModel) else "a mixture"
        title = plain(f"{what} in {path.name}", LONGEST_TITLE)
        plots.mixture(plot, mixture_shares(mixture), model_relevance(model), title=title)
        return
    title = plain(f"{type(model).__name__} in {path.name}", LONGEST_TITLE)
    plots.expansions(plot, drawn_expansions(model, path), title=title)


def drawn_expansions(model: Any, path: Path) -> dict[str, plots.Expansion]:
    """Return what to draw of a model, with labels. Of many functions, the largest are drawn."""
    try:
        found = _expansions(model)
    except NotFittedError:
        found = {}
    if found is None:
        raise Failure(
            f"{path} holds a {type(model).__name__}, which has no centres: there is nothing to draw"
        )
    ranked = sorted(found, key=lambda label: -len(found[label].centers))[:MOST_DRAWN]
    if len(found) > MOST_DRAWN:
        print(
            f"parsimon: note: there are {len(found)} dictionaries: "
            f"drawn are the {MOST_DRAWN} with the most centres",
            file=sys.stderr,
        )
    drawn = {label: part for label, part in found.items() if label in ranked and len(part.centers)}
    if not drawn:
        raise Failure(f"{path} has no centres yet: there is nothing to draw")
    return drawn


def _expansions(model: Any) -> dict[str, plots.Expansion] | None:
    """Return the functions of a model by their labels; None if the model can have none."""
    if isinstance(model, TableModel):
        return _expansions(model.estimator_) if model.metrics_ is not None else {}
    if isinstance(model, Wrapped):
        return _expansions(model.model_ if model.__sklearn_is_fitted__() else model.model)
    if isinstance(model, Mixture):
        return {}  # one that has learned nothing
    if isinstance(model, CandidateClassifier):
        return _candidates(model)
    if isinstance(model, KernelDictionaryClassifier):
        learners = getattr(model, "_learners", {})
        return {
            f"class {label}": plots.Expansion(model.kernel_, atoms.centers(), atoms.coefficients())
            for label, atoms in learners.items()
        }
    if not hasattr(type(model), "centers_"):
        return None
    centres = model.centers_
    if isinstance(model, MKNLMSRegressor):
        return {
            f"kernel {i + 1}": plots.Expansion(kernel, centres, model.weights_[:, i])
            for i, kernel in enumerate(model.kernels_)
        }
    weights = model.components_ if isinstance(model, KernelDictionaryLearning) else model.weights_
    return {type(model).__name__: plots.Expansion(model.kernel_, centres, weights)}


def _candidates(model: CandidateClassifier) -> dict[str, plots.Expansion]:
    if not hasattr(model, "candidates_"):
        return {}
    found = {}
    for i, (share, part) in enumerate(zip(model.shares_, model.candidates_, strict=True)):
        for expansion in (_expansions(part) or {}).values():
            found[f"candidate {i + 1}, {share:.0%} of the vote"] = expansion
    return found

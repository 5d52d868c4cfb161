"""`MixtureClassifier` as a combination."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from parsimon.estimators.classifier import StreamClassifier
from parsimon.export import mixture_parts as parts
from parsimon.export.combination import Combination
from parsimon.export.expansion import Expansion, plain_labels
from parsimon.export.lags import LabelLag
from parsimon.export.pooled import Pooled, Weights
from parsimon.mixtures import MixtureClassifier
from parsimon.mixtures.combiners import FLOOR

__all__ = ["mixture_classifier"]

#: f of a class that an expert does not know. Its probability is 0 in each format.
ABSENT = -1e30


def mixture_classifier(model: MixtureClassifier) -> Combination:
    """Return a fitted mixture of classifiers as a combination."""
    parts.require_fitted(model)
    d, n_lags, order = model.n_features_in_, parts.n_lags(model), np.argsort(model._met)
    labels, recent = plain_labels(model._met), model._recent
    last = recent.lags(recent.n_rows, recent.n_rows + 1, n_lags)[0, :, 0].astype(int)
    lags = tuple(LabelLag(f"lag_{lag + 1}", labels, int(place)) for lag, place in enumerate(last))
    size = LabelLag.n_inputs

    def fitted(found: Expansion, expert: Any) -> Expansion:
        """Return an expansion with an output for each class of the mixture, sorted."""
        is_classifier = isinstance(expert, StreamClassifier)
        known = expert.classes_.tolist() if is_classifier else [*range(found.n_outputs)]
        weights = np.zeros((found.n_centers, len(order)))
        offset = np.full(len(order), ABSENT if is_classifier else 0.0)
        places = np.argsort(order)[known]
        weights[:, places], offset[places] = found.weights, found.offset
        classes = tuple(range(len(order))) if is_classifier else None
        return replace(found, weights=weights, offset=offset, classes=classes)

    experts, places = parts.awake_experts(
        model, len(order), lambda lag: range(d + lag * size + 1, d + (lag + 1) * size), fitted
    )
    return Combination(
        type(model).__name__,
        tuple(experts),
        _pooled(model, len(experts), places, order),
        d,
        len(order),
        classes=plain_labels(model.classes_),
        lags=lags,
        feature_names=parts.feature_names(model),
        standardisation=parts.standardisation(model),
    )


def _pooled(model: MixtureClassifier, n_experts: int, places: list[int], order: Any) -> Pooled:
    """Return the combiner."""
    found, E, C = model._pool.full.parts, len(model._slots), len(order)
    awake = [*places, E, E + 1]
    mean = np.zeros(E + 2)
    mean[awake] = 1.0 / len(awake)
    history = np.stack([model._history.now(place)[:, order] for place in range(C)])
    history = (1.0 - FLOOR) * history + FLOOR / C

    def some(at: list[int], size: int) -> Weights:
        padded = np.zeros((3, size))
        padded[:, : len(at)] = np.stack([found.weights, found.mixture, mean])[:, at]
        return Weights(*padded)

    scales = np.zeros(n_experts)
    scales[: len(places)] = np.where(model._scored > 0.0, found.scales, 0.0)[places]
    asleep = np.delete(np.stack([found.weights, found.mixture]), awake, axis=1).sum(axis=1)
    return Pooled(
        scales,
        some(places, n_experts),
        some([E, E + 1], 2),
        (float(asleep[0]), float(asleep[1])),
        history[0, 0],
        history[:, 1],
        found.share,
    )

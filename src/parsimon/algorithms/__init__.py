"""Algorithms: each algorithm is a recipe that names its parts.

- `selective`: a rule selects the samples that become centres;
- `growing`: every sample becomes a centre, and one is evicted when the budget is exceeded.

The parameters of a recipe mean the same as those of its estimator: for example, `KNLMSRegressor`
explains the parameters of `knlms`, and `SOGSVR` and `SOGSVC` those of `sog`. One loop runs them all
(``core/learner.cpp``):

for step in batches:
    look: kernel rows and predictions
    loss: gradients
    update.open: rate, proposed coefficients
    for sample in step:
        admission: does it become a centre?
        update.step: weights change
    compression: centres are removed
"""

from parsimon._recipe import Recipe
from parsimon.algorithms.growing import exkrls, fbkrls, krlst, swkrls
from parsimon.algorithms.selective import bsgd, kap, klms, knlms, krls, norma, polk, sog, spl

__all__ = [
    "Recipe",
    "bsgd",
    "exkrls",
    "fbkrls",
    "kap",
    "klms",
    "knlms",
    "krls",
    "krlst",
    "norma",
    "polk",
    "sog",
    "spl",
    "swkrls",
]

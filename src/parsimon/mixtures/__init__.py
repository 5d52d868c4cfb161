"""Several models learned side by side and combined.

    row -> standardised -> view of expert e -> expert e -> prediction e -> combiner -> prediction

- `regressor`, `classifier`: the mixtures;
- `experts`: an estimator with its view of a row;
- `generations`: an expert over time, with challengers;
- `tasks`: how an expert learns numbers or classes;
- `combiners`: stacking, pooling;
- `defaults`: the experts of the default mixtures;
- `candidates`: the mixture of earlier versions.
"""

from parsimon.mixtures.base import Mixture
from parsimon.mixtures.candidates import CandidateClassifier
from parsimon.mixtures.classifier import MixtureClassifier
from parsimon.mixtures.experts import Expert
from parsimon.mixtures.regressor import MixtureRegressor

__all__ = ["CandidateClassifier", "Expert", "Mixture", "MixtureClassifier", "MixtureRegressor"]

"""Several models learned side by side and combined."""

from parsimon.mixtures.classifier import MixtureClassifier

__all__ = ["MixtureClassifier"]

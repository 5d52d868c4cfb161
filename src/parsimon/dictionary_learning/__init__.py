"""Dictionary learning in the feature space of a kernel, from a stream, with a budget of samples.

- `parameters`: the parameters of a dictionary, and the atoms that they define;
- `transformer`: sparse codes over one dictionary;
- `classifier`: one dictionary per class.
"""

from parsimon.dictionary_learning.classifier import KernelDictionaryClassifier
from parsimon.dictionary_learning.transformer import KernelDictionaryLearning

__all__ = ["KernelDictionaryClassifier", "KernelDictionaryLearning"]

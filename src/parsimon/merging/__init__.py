"""Models as functions in the RKHS: their sums, their norms and distances, and their compression.

The sum of two kernel expansions is a kernel expansion, so models can be learned in parts and
merged. Let f be the weighted sum of the models over all their centres, and f~ the model that is
kept. Let c be the coefficients of f - f~ over all centres, and K the Gram matrix of all centres.
Then

    ||f - f~||^2 = c'K c,        |f(x) - f~(x)| <= ||f - f~|| sqrt(k(x, x)).

Both are computed exactly, so a merge can report its error.
"""

from parsimon.merging.compressing import compressed
from parsimon.merging.functions import distance, norm, squared_norm
from parsimon.merging.models import Merged, compress, merge

__all__ = ["Merged", "compress", "compressed", "distance", "merge", "norm", "squared_norm"]

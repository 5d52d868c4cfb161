"""Models as functions: their sums, norms and distances in the RKHS, and smaller versions of them.

The sum of two kernel expansions is a kernel expansion, so models can be learned in parts and
merged. Let f be the weighted sum of the models over all their centres, and f~ the model that is
kept. With c the differences of the coefficients,

    ||f - f~||^2 = c'K c,        |f(x) - f~(x)| <= ||f - f~|| sqrt(k(x, x)).

Distance and bound are computed exactly, so a merge reports its error.
"""

from parsimon.merging.compressing import compressed
from parsimon.merging.functions import distance, norm, squared_norm
from parsimon.merging.models import Merged, compress, merge

__all__ = ["Merged", "compress", "compressed", "distance", "merge", "norm", "squared_norm"]

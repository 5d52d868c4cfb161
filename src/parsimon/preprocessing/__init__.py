"""Tables as matrices, online: columns of numbers, text and times become float64 features.

The number of features is fixed by the first block.

>>> encoder = TableEncoder(max_categories=2)
>>> encoder.learn_transform({"size": [1.0, 3.0, None], "shop": ["a", "b", "c"]})
array([[0., 0., 1., 0., 0., 0.],
       [1., 0., 0., 1., 0., 0.],
       [0., 1., 0., 0., 1., 0.]])
>>> encoder.feature_names_
['size', 'size is missing', 'shop = a', 'shop = b', 'shop: other', 'shop is missing']

Row i is scaled by the statistics of rows 1 to i. So encoding a block equals encoding its rows one
by one, bit for bit. Blocks are pyarrow tables or record batches, pandas or polars frames, or dicts
of columns. All of them give the same features.

- `columns`: a column as it was read, and its kinds;
- `reading`: columns from blocks;
- `moments`: running means and standard deviations;
- `encoder` and `targets`: the transformers of features and targets;
- `embedding`: past values of a series as samples.
"""

from parsimon.preprocessing.columns import KINDS as KINDS
from parsimon.preprocessing.columns import LARGEST as LARGEST
from parsimon.preprocessing.columns import Column, TableError
from parsimon.preprocessing.columns import EncodedColumn as EncodedColumn
from parsimon.preprocessing.columns import concatenated as concatenated
from parsimon.preprocessing.columns import feature_count as feature_count
from parsimon.preprocessing.columns import nearest as nearest
from parsimon.preprocessing.columns import require_kind as require_kind
from parsimon.preprocessing.columns import require_usable as require_usable
from parsimon.preprocessing.embedding import embed
from parsimon.preprocessing.encoder import MISSING, TableEncoder
from parsimon.preprocessing.moments import Moments as Moments
from parsimon.preprocessing.reading import raw_columns as raw_columns
from parsimon.preprocessing.reading import read_table
from parsimon.preprocessing.targets import TargetScaler

__all__ = ["MISSING", "Column", "TableEncoder", "TableError", "TargetScaler", "embed", "read_table"]

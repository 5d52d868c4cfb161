"""Read rows from files and pipes: CSV, JSON lines, Parquet and Arrow IPC.

`Source` is the entry point. Each file of this package has one job:

- `byte_stream`: open the file, decompress it, and cut text into pieces of whole rows.
- `csv_rows`, `json_rows`, `binary_rows`: read one format.
- `column_types`, `guesses`: find the type of each column.
- `bad_rows`, `row_errors`: rows that cannot be used, and what is wrong with them.
- `limits`, `parquet_pages`, `arrow_messages`, `row_sizes`: bounds on the memory that a file takes.
"""

from parsimon.cli.errors import Failure
from parsimon.cli.reading.bad_rows import in_good_parts, with_option
from parsimon.cli.reading.blocks import Block, Dialect
from parsimon.cli.reading.requirements import require_columns, require_features
from parsimon.cli.reading.row_errors import table_failure
from parsimon.cli.reading.source import Source

__all__ = [
    "Block",
    "Dialect",
    "Failure",
    "Source",
    "in_good_parts",
    "require_columns",
    "require_features",
    "table_failure",
    "with_option",
]

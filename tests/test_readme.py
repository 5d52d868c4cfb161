"""The code in the documents runs.

(Those that need more have tests beside it: docs/river.md, docs/export.md, docs/cli.md.)
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/forecasting.md",
        "docs/merging.md",
        "docs/mixtures.md",
        "docs/signal.md",
    ],
)
def test_what_it_shows_runs(document):
    if not (ROOT / document).exists():
        pytest.skip(f"no {document} beside the tests")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), flags=re.DOTALL)
    assert blocks
    names: dict = {}
    for block in blocks:
        exec(compile(block, document, "exec"), names)
    if document == "README.md":
        assert names["model"].n_centers_ <= 100

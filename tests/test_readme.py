"""The code in the documents runs.

(Those that need more have tests beside it: docs/river.md, docs/export.md, docs/cli.md.)
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/forecasting.md",
        "docs/merging.md",
        "docs/mixtures.md",
        "docs/models.md",
        "docs/signal.md",
        "docs/uncertainty.md",
    ],
)
def test_what_it_shows_runs(document, tmp_path, monkeypatch):
    if not (ROOT / document).exists():
        pytest.skip(f"no {document} beside the tests")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), flags=re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in blocks:
        exec(compile(block, document, "exec"), names)
    if document == "README.md":
        centres, accuracy = re.search(
            r"\| (\d+) instead of .* accuracies are ([\d.]+) % and", README
        ).groups()
        classifier = names["classifier"]
        # Other processors sum in another order.
        assert abs(classifier.n_centers_ - int(centres)) <= 2
        score = classifier.score(names["X"][4_000:], names["y"][4_000:])
        assert abs(score - float(accuracy) / 100) < 0.01


def test_numbers_of_the_front_page_are_those_of_the_stored_results():
    if not (ROOT / "benchmarks" / "RESULTS.md").exists():
        pytest.skip("no results beside the tests")
    arena, results = (
        (ROOT / "benchmarks" / name).read_text() for name in ("ARENA.md", "RESULTS.md")
    )
    board = arena.partition("## Beside the leaderboard")[2].partition("\n## ")[0]
    ratios = re.findall(r"^\| (?:real|synth)/.*?\|.*?\|.*?\|.*?\| ([\d.]+) \|", board, re.MULTILINE)
    assert len(ratios) == 6
    assert f"| {min(ratios)} to {max(ratios)} |" in README
    time = re.search(r"^\| 100 \| 10 \| ([\d.]+) \|", results, re.MULTILINE)[1]
    assert f"| {time} µs |" in README

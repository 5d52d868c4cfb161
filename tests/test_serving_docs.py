"""The examples of docs/serving.md run."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from serving import served

from parsimon import load

PAGE = Path(__file__).parent.parent / "docs" / "serving.md"
ADDRESS = "http://127.0.0.1:8000"


def blocks(kind):
    if not PAGE.exists():
        pytest.skip("no docs beside the tests")
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)


def test_curl(tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    with served(tmp_path / "store", target="price", intervals=0.9) as (client, _):
        commands = blocks("sh")
        assert len(commands) == 6
        answers = []
        for block in commands:
            for command in re.split(r"\n(?=curl)", block.strip()):
                script = command.replace(ADDRESS, client.url) + " --fail-with-body"
                done = subprocess.run(
                    ["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True
                )
                assert done.returncode == 0, done.stdout + done.stderr
                answers.append(json.loads(done.stdout) if done.stdout else None)
    assert answers[0]["rows"] == 3
    assert answers[1]["predictions"][0]["id"] == "1-1"
    assert answers[2]["rows"] == 1
    assert load(tmp_path / "price.parsimon").n_rows_ == 5


def test_python(tmp_path, capsys):
    with served(tmp_path, target="price", intervals=0.9) as (client, _):
        names: dict = {}
        for block in blocks("python"):
            exec(compile(block.replace(ADDRESS, client.url), "docs/serving.md", "exec"), names)
        assert names["client"].state()["logged"] == 2
    assert len(capsys.readouterr().out.splitlines()) == 2

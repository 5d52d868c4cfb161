"""The files that run a server: a systemd unit, and a Dockerfile."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

DEPLOY = Path(__file__).parent.parent / "deploy"
pytestmark = pytest.mark.skipif(not DEPLOY.exists(), reason="no deploy folder beside the tests")


def program(name):
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    return found or pytest.skip(f"{name} is not installed")


def test_the_unit_is_valid(tmp_path):
    command = program("systemd-analyze")
    text = (DEPLOY / "parsimon.service").read_text()
    unit = tmp_path / "parsimon.service"
    unit.write_text(text.replace("/opt/parsimon/bin/parsimon", program("parsimon")))
    done = subprocess.run([command, "verify", unit], capture_output=True, text=True)
    if "Failed to" in done.stderr and "manager" in done.stderr:
        pytest.skip(f"systemd cannot look at units here: {done.stderr.strip()}")
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_the_dockerfile_is_valid():
    command = program("hadolint")
    done = subprocess.run([command, DEPLOY / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_container_gets_what_a_build_needs():
    """What the ignore file lets through is there, and is all that the build refers to."""
    kept = [
        line[1:]
        for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    assert all((DEPLOY.parent / name).exists() for name in kept)
    assert {"CMakeLists.txt", "core", "bindings", "src", "pyproject.toml", "README.md"} <= set(kept)


@pytest.mark.parametrize("file", ["Dockerfile", "parsimon.service"])
def test_the_commands_exist(file):
    """Every option of `parsimon serve` in the file is one that it has."""
    pytest.importorskip("typer", reason="the extra cli is not installed")
    text = (DEPLOY / file).read_text()
    given = {word.strip('",') for word in text.split() if word.strip('"').startswith("--")}
    command = [sys.executable, "-m", "parsimon.cli", "serve", "--help"]
    environment = {**os.environ, "COLUMNS": "200"}
    shown = subprocess.run(command, capture_output=True, text=True, env=environment).stdout
    own = {"--store", "--host", "--target", "--allow-host"}
    assert given & own and all(option in shown for option in given & own)

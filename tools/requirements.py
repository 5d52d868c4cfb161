"""Print what parsimon needs with some extras, one requirement per line: ``requirements.py plot
cli``.

It lets the Makefile install dependencies in the usual way, each built in its own environment, and
parsimon alone with the build tools of ``.venv``. With ``--lowest``, the lowest version of each that
``pyproject.toml`` allows.
"""

import re
import sys
import tomllib
from pathlib import Path


def requirements(project, extras):
    """Return the requirements of a ``[project]`` table with some extras; extras may refer to each
    other.
    """
    found = list(project["dependencies"])
    for extra in extras:
        for requirement in project["optional-dependencies"][extra]:
            own = re.fullmatch(rf"{project['name']}\[(.*)\]", requirement)
            found += requirements(project, own[1].split(",")) if own else [requirement]
    return list(dict.fromkeys(found))


def lowest(found):
    """Return requirements with the lowest version that each allows."""
    return [line.replace(">=", "==") for line in found]


if __name__ == "__main__":
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    found = requirements(pyproject["project"], [name for name in sys.argv[1:] if name[0] != "-"])
    print("\n".join(lowest(found) if "--lowest" in sys.argv else found))

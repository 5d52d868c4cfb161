"""Do all of a release that needs neither a network nor rights, and print the rest.

    make release VERSION=0.1.0

The tree must be clean. The version is written to the package and to CITATION.cff, the section
"Unreleased" of the changelog gets its title, and both packages are built and audited.
"""

import argparse
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]

REST = """
What is left, by people who have the rights:

    git diff                                   # read what changed
    make test lint prose core-ports test-lowest
    git commit -am "parsimon {version}"
    git push, and wait for the workflows
    git tag -s v{version} -m "parsimon {version}" && git push origin v{version}

The tag starts the workflow "release". It builds wheels for all platforms, tests them and, once the
environment "pypi" is approved, uploads them. Before the first release, the package index must be
told to trust that workflow (its page "Publishing": release.yml, environment pypi). Afterwards:

    pip install parsimon=={version}            # in an empty environment
    make release VERSION={following}.dev0      # begin the next version
"""


def replace(path, pattern, new):
    """Replace the only match of a pattern in a file."""
    text, n = re.subn(pattern, new, path.read_text(), flags=re.MULTILINE)
    if n != 1:
        sys.exit(f"{path.name} has {n} lines like {pattern}, not one")
    path.write_text(text)


def write_version(root, version, day):
    """Write a version to the files of a tree that state it."""
    replace(root / "src/parsimon/__init__.py", '^__version__ = ".*"$', f'__version__ = "{version}"')
    citation, log = root / "CITATION.cff", root / "CHANGELOG.md"
    text = re.sub(r"^date-released: .*\n", "", citation.read_text(), flags=re.MULTILINE)
    citation.write_text(text)
    if ".dev" in version:
        replace(citation, "^version: .*$", f"version: {version}")
        replace(log, r"\A# Changelog\n", "# Changelog\n\n## Unreleased\n")
    else:
        replace(citation, "^version: .*$", f"version: {version}\ndate-released: {day}")
        replace(log, "^## Unreleased$", f"## {version} ({day})")


def main():
    """Change the files, build, audit, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    version = parser.parse_args().version
    numbers = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)(\.dev0|rc\d+)?", version)
    if numbers is None:
        sys.exit(f"{version!r} is not a version such as 0.1.0, 0.1.0rc1 or 0.2.0.dev0")
    if subprocess.check_output(["git", "status", "--porcelain"], cwd=ROOT):
        sys.exit("the tree has changes that are not committed: commit or stash them first")
    write_version(ROOT, version, date.today().isoformat())
    if ".dev" in version:
        print(f"The version is now {version}. Commit it.")
        return
    for command in (["make", "dist"], ["make", "audit"]):
        # A wheel that was built outside of the image of manylinux is not for publication.
        if subprocess.run(command, cwd=ROOT, check=False).returncode and command[1] == "dist":
            sys.exit("the packages cannot be built: see above")
    print(REST.format(version=version, following=f"{numbers[1]}.{int(numbers[2]) + 1}.0"))


if __name__ == "__main__":
    main()

"""Install a package into an empty environment of some Python, and test it there:

    python tools/try_package.py python3.13 dist [--sdist] [--tests tests/test_knlms.py ...]

The wheel in the folder is installed if it fits that Python, else the source distribution, which is
built in isolation. The tests are those of the unpacked source distribution. So nothing of this tree
is used.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

#: Tests of the package that need no further one.
TESTS = (
    "kernels losses knlms krls_budget polk filters dictionary state golden sklearn mixtures merging"
)
TOOLS = ("pytest>=8", "hypothesis>=6.100", "safetensors>=0.4.2")


def run(*command, **options):
    """Run a command. Stop if it fails."""
    print("$", *command, flush=True)
    if subprocess.run([*map(str, command)], check=False, **options).returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}")


def main():
    """Install, then test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sdist", action="store_true", help="install the source distribution")
    parser.add_argument(
        "--tests", nargs="*", default=[f"tests/test_{name}.py" for name in TESTS.split()]
    )
    options = parser.parse_args()
    (source,) = options.folder.glob("*.tar.gz")
    name = source.name.removesuffix(".tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        run(options.python, "-m", "venv", f"{folder}/env")
        python = Path(folder, "env", "Scripts" if os.name == "nt" else "bin", "python")
        pip = [python, "-m", "pip", "--disable-pip-version-check", "-qq", "install"]
        only = ["--no-binary", "parsimon"] if options.sdist else []
        run(*pip, *only, "--find-links", options.folder, name.replace("-", "=="), *TOOLS)
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
        tree = Path(folder, name)
        run(python, "-I", tree / "tools" / "installed.py", cwd=folder)
        run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options.tests, cwd=tree)


if __name__ == "__main__":
    main()

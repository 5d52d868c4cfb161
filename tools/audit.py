"""Check files to be published: ``audit.py dist/*``.

A source distribution must have all that a build needs. A wheel must have one extension, built for
the stable ABI where the wheel says so, and on Linux no symbol newer than glibc 2.28.
"""

import math
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

OLDEST_GLIBC = (2, 28)
NEEDED = ("CMakeLists.txt", "pyproject.toml", "LICENSE", "README.md", "core/simd/loops.cpp")
NEEDED += ("bindings/module.cpp", "src/parsimon/__init__.py", "tests/oracle.py", "conftest.py")


def glibc(policy):
    """Return the version in a policy's name: (2, 28) of manylinux_2_28_x86_64."""
    found = re.match(r"manylinux_(\d+)_(\d+)_", policy)
    return tuple(map(int, found.groups())) if found else (math.inf,)


def audit_source(path):
    """Yield what is wrong with a source distribution."""
    root = path.name.removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        names = set(archive.getnames())
    yield from (f"{name} is missing" for name in NEEDED if f"{root}/{name}" not in names)
    yield from (f"{name} is a built file" for name in names if name.endswith((".so", ".pyc")))


def audit_wheel(path):
    """Yield what is wrong with a wheel."""
    _, _, python, abi, platform = path.stem.split("-")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    built = [name for name in names if name.endswith((".so", ".pyd"))]
    stable = [name for name in built if name.endswith((".abi3.so", "_core.pyd"))]
    if len(built) != 1 or not built[0].startswith("parsimon/_core."):
        yield f"extensions are {built}, not one parsimon/_core"
    if abi == "abi3" and stable != built:
        yield f"the wheel is tagged abi3, but {built} is for one version of Python"
    if abi == "abi3":
        command = [sys.executable, "-m", "abi3audit", "--strict", path]
        done = subprocess.run(command, check=False)
        if done.returncode:
            yield "abi3audit found symbols that are not in the stable ABI"
    elif not abi.endswith("t") and int(python.removeprefix("cp3")) >= 12:
        yield f"built with {python}, the wheel should be abi3"
    if "linux" in platform:
        yield from audit_linux(path)


def audit_linux(path):
    """Yield what is wrong with a wheel for Linux."""
    command = [sys.executable, "-m", "auditwheel", "show", path]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    policy = re.search(r"platform tag:\s+\"(\w+)\"", said)[1]
    print(f"{path.name}: {policy}")
    if not policy.startswith("musllinux") and glibc(policy) > OLDEST_GLIBC:
        yield f"{policy}: build it in the image of manylinux_2_28, as cibuildwheel does"


if __name__ == "__main__":
    wrong = 0
    for path in map(Path, sys.argv[1:]):
        audits = audit_wheel if path.suffix == ".whl" else audit_source
        for problem in audits(path):
            wrong += 1
            print(f"{path.name}: {problem}")
    sys.exit(bool(wrong))

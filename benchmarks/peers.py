"""The systems that parsimon is measured against: installed one by one where that is possible, named
with the reason where it is not.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType

from common import HERE, build

#: Sources of peers that are compiled here, kept from run to run.
KEPT = HERE.parent / "build" / "peers"


def _pip(*arguments):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@dataclass
class Peer:
    """A peer on PyPI: what pip is asked for, and the module by which it shows."""

    name: str
    requirement: str
    module: str
    options: tuple[str, ...] = ()
    unneeded: tuple[str, ...] = ()
    reason: str = field(default="", init=False)

    @property
    def distribution(self):
        return self.requirement.split(">")[0].split("=")[0]

    def load(self):
        """The module, or None, with the reason kept."""
        try:
            with self._stand_ins():
                return importlib.import_module(self.module)
        except ImportError as error:
            self.reason = self.reason or str(error)
            return None

    @contextmanager
    def _stand_ins(self):
        """Let empty modules stand for those that it imports and does not need, where they are
        missing.
        """
        missing = [name for name in self.unneeded if importlib.util.find_spec(name) is None]
        sys.modules.update({name: ModuleType(name) for name in missing})
        try:
            yield
        finally:
            for name in missing:
                del sys.modules[name]

    def install(self):
        """Ask pip for it, unless it is there."""
        try:
            importlib.metadata.version(self.distribution)
            return
        except importlib.metadata.PackageNotFoundError:
            pass
        done = _pip("install", *self.options, self.requirement)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "ERROR" in line]
            self.reason = errors[-1].split("ERROR: ", 1)[-1] if errors else "pip failed"
        importlib.invalidate_caches()


SKLEARN = Peer("scikit-learn", "scikit-learn>=1.6", "sklearn")
RIVER = Peer("River", "river>=0.26", "river")
LIBSVM = Peer("LIBSVM", "libsvm-official>=3.3", "libsvm.svmutil")
# Without what it depends on: NumPy is here, and torch is gigabytes that only one of its kernels
# uses, but all of it imports.
KRLS = Peer("krls", "krls>=0.0.4", "krls.krls", ("--no-deps",), ("torch",))
ON_PYPI = [SKLEARN, RIVER, LIBSVM, KRLS]
#: What has no package here, and why.
ELSEWHERE = {
    "BudgetedSVM": "a C++ program without a package; its algorithm is `BSGDClassifier`",
    "KAFBOX": "MATLAB, without a package",
}


def _dlib_source():
    """Where dlib's source from PyPI is kept, fetched if need be; or None, and the reason."""
    if not list(KEPT.glob("dlib-*/dlib/svm.h")):
        KEPT.mkdir(parents=True, exist_ok=True)
        done = _pip("download", "--no-deps", "--no-binary", "dlib", "-d", str(KEPT), "dlib")
        if done.returncode:
            return None, "no headers installed, and pip cannot fetch its source"
        for archive in KEPT.glob("dlib-*.tar.gz"):
            with tarfile.open(archive) as source:
                source.extractall(KEPT, filter="data")
    return max(KEPT.glob("dlib-*/dlib/svm.h")).parents[1], ""


def dlib(folder, install):
    """dlib's krls as a library and what it is, or None and the reason: from the system's headers,
    else from its source on PyPI, with BLAS if there is one.
    """
    flags = ["-DDLIB_NO_GUI_SUPPORT", "-lpthread"]
    blas = ["-DDLIB_USE_BLAS", "-lopenblas"]
    library, reason = build("dlib_krls.cpp", folder, *flags, *blas)
    if library is not None:
        return (
            library,
            f"{library.krls_version() // 100}.{library.krls_version() % 100} with OpenBLAS",
        )
    if not install:
        return None, reason
    source, reason = _dlib_source()
    for options, what in ([*blas], "with OpenBLAS"), ([], "without BLAS"):
        if source is not None:
            library, reason = build("dlib_krls.cpp", folder, f"-I{source}", *flags, *options)
        if library is not None:
            return library, f"{source.name.removeprefix('dlib-')} {what}"
    return None, reason


def rows(dlib_found):
    """What is there, in which version, and what is not, and why.

    `dlib_found` is what `dlib` gave.
    """
    table = []
    for peer in ON_PYPI:
        there = peer.load() is not None
        table.append(
            [
                peer.name,
                importlib.metadata.version(peer.distribution)
                if there
                else f"absent: {peer.reason}",
            ]
        )
    library, what = dlib_found
    table.append(["dlib", what if library is not None else f"absent: {what}"])
    return table + [[name, f"absent: {reason}"] for name, reason in ELSEWHERE.items()]

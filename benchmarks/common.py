"""What the benchmarks share: building a peer, timing, and telling the machine."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).parent


def build(source, folder, *flags):
    """Compile a C++ file into a shared library for this very machine. Returns it, or the reason why not."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return None, "no C++ compiler"
    library = Path(folder) / (Path(source).stem + ".so")
    command = [
        compiler,
        "-O3",
        "-march=native",
        "-std=c++20",
        "-DNDEBUG",
        "-shared",
        "-fPIC",
        str(HERE / source),
        "-o",
        str(library),
    ]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, check=False)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), "it does not compile")
        return None, first.split(": ", 1)[-1]
    return ctypes.CDLL(str(library)), ""


def doubles(array):
    """The array's memory, for C."""
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def markdown(header, rows):
    return "\n".join(["| " + " | ".join(r) + " |" for r in [header, ["---:"] * len(header), *rows]])


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()

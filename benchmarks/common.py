"""What the benchmarks share: building a peer, timing in turn, bars, tables, pictures, and telling
the machine.
"""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Bar:
    """A promise, and what was seen of it. `seen` is None where it was not measured."""

    what: str
    seen: float | None
    bound: float
    at_least: bool
    unit: str = ""
    note: str = ""

    @property
    def held(self):
        if self.seen is None:
            return "not measured"
        return (
            "held"
            if (self.seen >= self.bound if self.at_least else self.seen <= self.bound)
            else "**not held**"
        )

    def row(self, *, judged):
        seen = "" if self.seen is None else f"{self.seen:.3g}{self.unit}"
        return [
            self.what,
            f"{'>=' if self.at_least else '<='} {self.bound:g}{self.unit}",
            f"{seen} {self.note}".strip(),
            self.held if judged else "",
        ]


@dataclass
class Section:
    title: str
    text: str
    bars: list[Bar] = field(default_factory=list)


@dataclass
class Context:
    """What a section is given. `folder` holds what is built and is thrown away."""

    folder: Path
    quick: bool = False
    data_dir: str | None = None
    plots: Path | None = None
    dlib: tuple = (None, "not looked for")  # what `peers.dlib` found

    def rounds(self, n):
        return 1 if self.quick else n

    def say(self, text):
        print(f"  {text} ...", flush=True)

    def figure(self, name, caption, draw):
        """Draw into plots/name.png, and return the line that shows it; nothing where no plots are
        wanted.
        """
        if self.plots is None:
            return ""
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=(9, 3.6), layout="constrained")
        draw(figure)
        self.plots.mkdir(parents=True, exist_ok=True)
        figure.savefig(self.plots / f"{name}.png", dpi=110)
        pyplot.close(figure)
        return f"![{caption}](plots/{name}.png)\n"


@dataclass(frozen=True)
class Times:
    """Seconds of each round."""

    rounds: np.ndarray

    @property
    def best(self):
        return float(self.rounds.min())

    @property
    def spread(self):
        """The distance of the quartiles, as a share of the median."""
        low, middle, high = np.percentile(self.rounds, [25, 50, 75])
        return float((high - low) / middle)


def race(tasks, rounds):
    """Seconds of one unit of each task, {name: (function, units)}, taken in turn, so that a noisy
    moment of the machine hits all alike.
    """
    taken = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, (task, units) in tasks.items():
            taken[name].append(cpu_seconds(task) / units)
    return {name: Times(np.array(values)) for name, values in taken.items()}


def compiler():
    """The C++ compiler, or None."""
    return shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


def build(source, folder, *flags):
    """Compile a C++ file into a shared library for this very machine.

    Returns it, or the reason why not.
    """
    if compiler() is None:
        return None, "no C++ compiler"
    library = Path(folder) / (Path(source).stem + ".so")
    command = [
        compiler(),
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
        first = next(
            (line for line in done.stderr.splitlines() if "error" in line), "it does not compile"
        )
        return None, first.split(": ", 1)[-1]
    return ctypes.CDLL(str(library)), ""


def doubles(array):
    """The array's memory, for C."""
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def cpu_seconds(function):
    """Seconds of the processor that this process took: on one core with one thread the same as by
    the clock, but for what others take of that core meanwhile.
    """
    start = time.process_time()
    function()
    return time.process_time() - start


def markdown(header, rows):
    lines = [header, ["---:"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def slope(x, y):
    """The power with which y grows with x: least squares in logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory():
    """Bytes of memory that this process has resident now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmRSS in /proc/self/status")

"""What importing parsimon adds to importing NumPy and scikit-learn's base module."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from common import Bar, Section, markdown

BASE = "import numpy, sklearn.base"
TIMED = f"{BASE}, time\nstart = time.perf_counter()\nimport parsimon\nprint(time.perf_counter() - start)"
WHOLE = "import time\nstart = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"


def children(folder):
    """A function that runs code in a process of its own. Compiled modules are kept, as they are for users, whatever the environment says: here, in the folder."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")

    def child(code, *options):
        command = [sys.executable, *options, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    return child


def costliest(child, n):
    """Modules that only parsimon imports, the costliest first: (microseconds of its own, name)."""
    found, base = [], True
    code = f"{BASE}\nimport sys\nprint('|', file=sys.stderr)\nimport parsimon"
    for line in child(code, "-X", "importtime").stderr.splitlines():
        base = base and line != "|"
        if base or not line.startswith("import time:"):
            continue
        own, _, name = line.removeprefix("import time:").split("|")
        found.append((int(own), name.strip()))
    return sorted(found, reverse=True)[:n], sum(own for own, _ in found), len(found)


def section(context):
    rounds = context.rounds(11)
    child = children(context.folder)
    child(TIMED)  # compiles
    taken = {"base": [], "added": []}
    for _ in range(rounds):
        taken["base"].append(float(child(WHOLE.format(BASE)).stdout))
        taken["added"].append(float(child(TIMED).stdout))
    rows = []
    for name, what in (("base", "NumPy and `sklearn.base`"), ("added", "then `import parsimon`")):
        low, middle, high = 1e3 * np.percentile(taken[name], [25, 50, 75])
        rows.append([what, f"{middle:.1f}", f"{low:.1f} to {high:.1f}"])
    modules, total, count = costliest(child, 12)
    listed = [[f"`{name}`", f"{own / 1e3:.1f}"] for own, name in modules]
    text = f"""Milliseconds, the median of {rounds} processes and its quartiles, by the clock.

{markdown(["", "median", "quartiles"], rows)}

Of the {count} modules that `import parsimon` adds ({total / 1e3:.0f} ms by `-X importtime`, which slows them), those that take longest by themselves:

{markdown(["module", "ms"], listed)}
"""
    bar = Bar(
        "`import parsimon` after NumPy and `sklearn.base`", 1e3 * float(np.median(taken["added"])), 50.0, False, " ms"
    )
    return Section("Import: milliseconds", text, [bar])

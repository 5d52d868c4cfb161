"""What importing an estimator adds to importing NumPy and scikit-learn's base module, and what help
costs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
from common import Bar, Section, markdown

BASE = "import numpy, sklearn.base"
OURS = "from parsimon import *"
TIMED = f"{BASE}, time\nstart = time.perf_counter()\n{OURS}\nprint(time.perf_counter() - start)"
WHOLE = "import time\nstart = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"


def children(folder):
    """A function that runs code in a process of its own.

    Compiled modules are kept, as they are for users, whatever the environment says: here, in the
    folder.
    """
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")

    def child(code, *options):
        command = [sys.executable, *options, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    return child


def costliest(child, n):
    """Modules that only parsimon imports, the costliest first: (microseconds of its own, name)."""
    found, base = [], True
    code = f"{BASE}\nimport sys\nprint('|', file=sys.stderr)\n{OURS}"
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
    taken = {"base": [], "added": [], "version": []}
    for _ in range(rounds):
        taken["base"].append(float(child(WHOLE.format(BASE)).stdout))
        taken["added"].append(float(child(TIMED).stdout))
        start = time.perf_counter()
        child("import sys; from parsimon.cli import main; sys.exit(main(['--version']))")
        taken["version"].append(time.perf_counter() - start)
    rows = []
    for name, what in (
        ("base", "NumPy and `sklearn.base`"),
        ("added", f"then `{OURS}`"),
        ("version", "`parsimon --version`, the whole process"),
    ):
        low, middle, high = 1e3 * np.percentile(taken[name], [25, 50, 75])
        rows.append([what, f"{middle:.1f}", f"{low:.1f} to {high:.1f}"])
    modules, total, count = costliest(child, 12)
    listed = [[f"`{name}`", f"{own / 1e3:.1f}"] for own, name in modules]
    text = f"""Wall-clock time in milliseconds: median and quartiles of {rounds} processes.

{markdown(["", "median", "quartiles"], rows)}

`{OURS}` adds {count} modules, which take {total / 1e3:.0f} ms with `-X importtime` (it slows them
down). These take longest by themselves:

{markdown(["module", "ms"], listed)}
"""
    bars = [
        Bar(what, 1e3 * float(np.median(taken[name])), most, False, " ms")
        for name, what, most in (
            ("added", f"`{OURS}` after NumPy and `sklearn.base`", 50.0),
            ("version", "`parsimon --version`", 350.0),
        )
    ]
    return Section("Import: milliseconds", text, bars)

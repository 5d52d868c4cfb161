"""Run Python with the extension of a sanitized build: python tools/sanitized.py FOLDER -m pytest
... or SCRIPT ...
"""

import importlib.util
import runpy
import sys
from pathlib import Path

folder, *command = sys.argv[1:]
(path,) = Path(folder).glob("_core*.so")
spec = importlib.util.spec_from_file_location("parsimon._core", path)
assert spec is not None and spec.loader is not None
# Before the package looks for its own
sys.modules["parsimon._core"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["parsimon._core"])

if command[0] == "-m":
    sys.argv = command[1:]
    runpy.run_module(command[1], run_name="__main__", alter_sys=True)
else:
    sys.argv = command
    sys.path.insert(0, str(Path(command[0]).parent))
    runpy.run_path(command[0], run_name="__main__")

"""Run by an environment into which the wheel was installed: is it the wheel that is imported, and
does it learn?
"""

import sys
from importlib.metadata import files
from pathlib import Path

import numpy as np

import parsimon

home = Path(parsimon.__file__).resolve()
assert home.is_relative_to(Path(sys.prefix).resolve()), (
    f"parsimon was imported from {home}, not from the wheel"
)
assert (home.parent / "py.typed").exists()
for name in ("index.html", "page.css", "page.js", "charts.js"):
    assert (home.parent / "serving" / "page" / name).stat().st_size, f"the page has no {name}"
for file in files("parsimon") or ():
    assert file.suffix not in {".hpp", ".a", ".cmake"}, (
        f"{file} is for C++ programs, not for wheels"
    )
X = np.linspace(-3, 3, 500)[:, np.newaxis]
model = parsimon.published(parsimon.KNLMSRegressor, gamma=1.0, step_size=0.5, n_passes=20)
model.fit(X, np.sin(X[:, 0]))
assert model.score(X, np.sin(X[:, 0])) > 0.99
print(f"wheel: parsimon {parsimon.__version__} learns, {parsimon._core.instruction_set()}")

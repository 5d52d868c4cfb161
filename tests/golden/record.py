"""Make the record: ``python tests/golden/record.py``. It is made once; see `cases.py`."""

import json
import sys
from pathlib import Path

import parsimon

sys.path.insert(0, str(Path(__file__).parent))
import cases

FOLDER = Path(__file__).parent / "record"
#: Files are kept of these. The others differ in the kernel or the loss alone.
KEPT = 34


def main():
    """Write everything."""
    FOLDER.mkdir(exist_ok=False)
    record = {
        "instruction_set": parsimon._core.instruction_set(),
        "models": {},
        "merges": {},
        "tables": {},
    }
    for i, (name, model) in enumerate(cases.models()):
        entry = {"class": type(model).__name__, "parameters": repr(model.get_params(deep=False))}
        found, stored = cases.trace(model)
        record["models"][name] = {**entry, **found}
        if i < KEPT:
            (FOLDER / f"{name}.parsimon").write_bytes(stored)
    fresh = dict(cases.models())
    for name, options in cases.MERGES.items():
        record["merges"][name] = cases.merged(fresh[name], options)
    for name, model in cases.tables():
        found, stored = cases.table_trace(model)
        record["tables"][name] = found
        (FOLDER / f"{name}.parsimon").write_bytes(stored)
    (FOLDER / "record.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()

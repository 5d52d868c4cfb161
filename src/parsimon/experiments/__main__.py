"""Run experiments by name."""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path

from parsimon._parts import lookup
from parsimon.experiments import EXPERIMENTS, WITH_DATA


def main() -> None:
    """Run the experiments named on the command line, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, epilog="known: " + ", ".join(EXPERIMENTS))
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument(
        "--output", type=Path, default=Path("results"), help="folder for tables and pictures"
    )
    parser.add_argument(
        "--data-dir", type=Path, help="folder of real data sets; default: fetched by name"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few runs: a smoke test, not the paper's figures"
    )
    arguments = parser.parse_args()
    try:
        modules = {
            name: lookup(EXPERIMENTS, name, "experiment") for name in arguments.names or EXPERIMENTS
        }
    except ValueError as error:
        parser.error(str(error))
    for name, module in modules.items():
        print(f"{name} ...", flush=True)
        start = time.perf_counter()
        data = {"data_dir": arguments.data_dir} if name in WITH_DATA else {}
        report = importlib.import_module(module).run(
            arguments.output / name, quick=arguments.quick, **data
        )
        report.write(arguments.output / name)
        print(
            f"{report}\n{name}: {time.perf_counter() - start:.0f} s, "
            f"written to {arguments.output / name}\n",
            flush=True,
        )


if __name__ == "__main__":
    main()

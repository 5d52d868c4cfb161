"""The command line: ``parsimon learn stream.csv --target price``.

See ``parsimon --help`` and ``docs/cli.md``. Nothing else in the package imports it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main", "missing_dependency"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return the exit code.

    It is 0, 2 after an error, 130 after Ctrl-C and 143 after SIGTERM.
    """
    try:
        from parsimon.cli.app import run
    except ModuleNotFoundError as error:
        missing = missing_dependency(error)
        if missing is None:
            raise
        print(f"parsimon: error: {missing}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # while modules are imported
        return 130
    return run(sys.argv[1:] if arguments is None else list(arguments))


def missing_dependency(error: BaseException) -> str | None:
    """Return what to install if an import failed because the extra ``cli`` is missing, or None."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    if (error.name or "").partition(".")[0] not in ("typer", "rich", "pyarrow"):
        return None
    from parsimon._extras import install_command

    return f"the command line needs {error.name}: {install_command('cli')}"

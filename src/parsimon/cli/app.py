"""Run a command: exit codes, and errors as a line or two."""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Any

import typer

from parsimon.cli import missing_dependency
from parsimon.cli.commands import app
from parsimon.cli.errors import Failure
from parsimon.cli.process import STDOUT, StandardOutput, discard_output, exit_on_signals

__all__ = ["app", "run"]

#: The base class of typer's errors about the command line.
UsageError: Any = typer.BadParameter.__base__


def run(arguments: list[str]) -> int:
    """Run a command, and return the exit code. Errors are a line or two on stderr."""
    # After a broken pipe typer replaces both standard files. They are restored at the end.
    output = StandardOutput(sys.stdout)
    with (
        warnings.catch_warnings(),
        redirect_stdout(output),
        redirect_stderr(sys.stderr),
        exit_on_signals(),
    ):
        # The models have their own limit on the number of classes, and their own message.
        warnings.filterwarnings("ignore", message="The number of unique classes")
        command = typer.main.get_command(app)
        code = _exit_code(
            lambda: command.main(arguments, prog_name="parsimon", standalone_mode=False)
        )
        return code or _exit_code(output.flush)  # buffered text may not fit on the disk


def _exit_code(action: Callable[[], Any]) -> int:
    """Call a function, print its error, and return the exit code."""
    try:
        return int(action() or 0)
    except UsageError as error:
        context = getattr(error, "ctx", None)
        name = "parsimon" if context is None else context.command_path
        return _print_error(f"{error.format_message().rstrip('.')}; see {name} --help")
    except (KeyboardInterrupt, typer.Abort):
        return 128 + signal.SIGINT
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # typer has replaced it
            return _system_error(error.__context__)
        return int(error.code or 0)  # after a signal
    except OSError as error:
        return _system_error(error)
    except (Failure, ValueError, ImportError, MemoryError) as error:
        missing = missing_dependency(error)
        # `what` is the message of a TableError without the row in a block.
        return _print_error(
            missing or getattr(error, "what", None) or str(error) or "not enough memory"
        )


def _system_error(error: OSError) -> int:
    if error.filename == STDOUT:
        discard_output()
        if isinstance(error, BrokenPipeError):  # the reader of a pipe has gone
            return 128 + getattr(signal, "SIGPIPE", 13)
    place = f"{error.filename}: " if error.filename else ""
    return _print_error(f"{place}{error.strerror or error}")


def _print_error(message: str) -> int:
    if sys.stderr is not None:  # otherwise print would use standard output
        with suppress(OSError):  # the exit code still tells the error
            print(f"parsimon: error: {message}", file=sys.stderr, flush=True)
    return 2

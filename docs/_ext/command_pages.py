"""The page of the commands, from what ``--help`` shows."""

import re

from parsimon.cli.app import app as commands


def command_page():
    """Return the page in Markdown: a section for each command."""
    import typer

    group = typer.main.get_command(commands)
    lines = [
        "# Commands",
        "",
        "This page is made from the help of the commands, which `parsimon COMMAND --help` prints.",
        "[The command line](../cli.md) explains how to use them.",
        "",
    ]
    for name, command in _flat(group):
        lines += _section(name, command)
    return "\n".join(lines) + "\n"


def _flat(group, prefix="parsimon"):
    for name in group.list_commands(None):
        command = group.commands[name]
        if hasattr(command, "commands"):
            yield from _flat(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def _section(name, command):
    context = command.context_class(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    about, _, examples = (command.help or "").replace("\b", "").partition("Example")
    lines = [f"## {name}", "", "```console", f"$ {name} {usage}", "```", ""]
    lines += [_escaped(" ".join(part.split())) + "\n" for part in about.strip().split("\n\n")]
    if examples:
        shown = [f"$ {line.strip()}" for line in examples.split("\n")[1:] if line.strip()]
        lines += ["```console", *shown, "```", ""]
    for parameter in command.params:
        record = _described(parameter, context)
        if record is not None:
            lines += [f"{record[0]}", f": {record[1]}", ""]
    return lines


def _described(parameter, context):
    record = parameter.get_help_record(context)
    if record is None or parameter.name == "help":
        return None
    names, text = record
    return f"`{names}`", _escaped(" ".join(text.split()))


def _escaped(text):
    return re.sub(r"([*_<|\[\]])", r"\\\1", text)

"""Docstrings are plain text: bars are absolute values, names can end with _, authors have initials.

In reStructuredText all three have a meaning, so they are escaped, outside of code and doctests. A
line that begins with an initial, such as "W. Liu", would be an item of a list.
"""

import re

CODE = re.compile(r"(``.+?``|`[^`]+`)")
#: A bar, or an underscore at the end of a word.
SPECIAL = re.compile(r"\||(?<=\w)_(?!\w)")
#: An initial at the beginning of a line. Lists with numbers stay lists.
INITIAL = re.compile(r"^(\s*)(?=[A-Za-z]\. )")


def escaped(line):
    """Return a line in which bars, final underscores and a first initial mean themselves."""
    pieces = CODE.split(line)
    pieces[::2] = [SPECIAL.sub(r"\\\g<0>", piece) for piece in pieces[::2]]
    return INITIAL.sub(r"\1\\", "".join(pieces))


def escape(app, what, name, obj, options, lines):
    """Escape the lines of a docstring, except those of doctests."""
    in_doctest = False
    for i, line in enumerate(lines):
        in_doctest = bool(line.strip()) and (in_doctest or line.lstrip().startswith(">>>"))
        if not in_doctest and not line.lstrip().startswith((".. ", ":")):
            lines[i] = escaped(line)


def setup(app):
    """Escape after numpydoc has made sections of the text."""
    app.connect("autodoc-process-docstring", escape, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Public names in code font become links to their page of the reference.

The text of a link stays as it is. Names that the reference does not have stay plain, so docstrings
and pages can name anything.
"""

import importlib
import re

from docutils import nodes
from public_names import MODULES
from sphinx import addnodes

NAME = re.compile(r"(?:parsimon\.)?([A-Za-z_][\w.]*)(?:\(.*\))?")


def _table():
    """Return the full names of public names, by the ways in which texts name them."""
    found = {}
    for module in MODULES:
        names = importlib.import_module(module).__all__
        short = module.removeprefix("parsimon").lstrip(".")
        for name in names:
            if f"parsimon.{name}" in MODULES:
                continue
            found.setdefault(f"{short}.{name}".lstrip("."), f"{module}.{name}")
            if module == "parsimon" or name[0].isupper():
                found.setdefault(name, f"{module}.{name}")
    return found


def _link(app, doctree):
    table = app.linked_names
    here = app.env.docname
    for node in list(doctree.findall(nodes.literal)):
        match = NAME.fullmatch(node.astext())
        target = table.get(match[1]) if match else None
        if target is None or here == f"api/{target}":
            continue
        if isinstance(node.parent, nodes.reference | addnodes.pending_xref | nodes.title):
            continue
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, soft=True
        )
        node.replace_self(link)
        link += node


def _stay_plain(app, env, node, content):
    return content if node.get("soft") else None


def setup(app):
    """Link names after a page was read."""
    app.linked_names = _table()
    app.connect("doctree-read", _link)
    app.connect("missing-reference", _stay_plain)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Formulas as MathML, which browsers draw by themselves: no script and no network."""

from docutils import nodes
from docutils.utils.math import latex2mathml


def _markup(node, block):
    text = node.astext()
    if block and ("\\\\" in text or "&" in text):
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    return latex2mathml.tex2mathml(text, as_block=block)


def _inline(writer, node):
    writer.body.append(f'<span class="math">{_markup(node, block=False)}</span>')
    raise nodes.SkipNode


def _block(writer, node):
    writer.body.append(f'<div class="math-block">{_markup(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

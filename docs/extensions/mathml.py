"""Render formulas as MathML, which browsers show without a script."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))


def visit_math(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    is_block = isinstance(node, nodes.math_block)
    translator.body.append(latex2mathml.tex2mathml(node.astext(), as_block=is_block))
    raise nodes.SkipNode

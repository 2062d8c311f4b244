"""What can be said of a kernel's text before any types are known."""

from __future__ import annotations

import ast

from pycu2c.diagnostics import Diagnostic, Label
from pycu2c.frontend.liveranges import live_ranges
from pycu2c.frontend.subset import check
from pycu2c.source import Source


def early_problems(source: Source) -> list[Diagnostic]:
    """Everything outside the subset; else reads of names that no path has assigned."""
    return check(source) or [unassigned(source, n) for n in live_ranges(source.tree).undefined]


def unassigned(source: Source, node: ast.Name) -> Diagnostic:
    """A read that no path has assigned before, though the function assigns the name."""
    here = source.span(node)
    labels = [Label(here, f"`{node.id}` is read before it is assigned")]
    for other in ast.walk(source.tree):
        stored = isinstance(other, ast.Name) and not isinstance(other.ctx, ast.Load)
        if stored and getattr(other, "id", None) == node.id and source.span(other) != here:
            labels.append(Label(source.span(other), "and assigned here"))
            break
    cure = f"give {node.id} a first value"
    if node.id in source.python.__globals__:
        cure += ", or another name than the global's: a name that is assigned is the function's own"
    return Diagnostic("name", tuple(labels), cure)

"""Checks of a kernel's source before types are known."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Diagnostic, Label, reporting_recursion_limit
from pycu2c.base.source import Source
from pycu2c.frontend.scope.live_ranges import live_ranges
from pycu2c.frontend.subset.statements import check_subset


def early_diagnostics(source: Source) -> list[Diagnostic]:
    """Return the violations of the subset, or else the reads that no path has assigned."""
    with reporting_recursion_limit(source.span(source.tree)):
        return check_subset(source) or [
            unassigned_read(source, n) for n in live_ranges(source.tree).undefined
        ]


def unassigned_read(source: Source, node: ast.Name) -> Diagnostic:
    """Return the diagnostic of a read that no path has assigned, of a name the function assigns."""
    labels = [Label(source.span(node), f"`{node.id}` has no value here")]
    same_name = (n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == node.id)
    for other in same_name:
        if isinstance(other.ctx, ast.Del):
            labels.append(Label(source.span(other), "it is deleted here"))
        elif isinstance(other.ctx, ast.Store) and other.lineno > node.lineno:
            labels.append(Label(source.span(other), "it is assigned here"))
    hint = f"give {node.id} a first value"
    if node.id in source.python.__globals__:
        hint += ", or use another name: a name that a function assigns is local, not global"
    return Diagnostic("name", tuple(labels[:2]), hint)

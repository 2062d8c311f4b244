"""What can be said of a kernel's text before any types are known."""

from __future__ import annotations

from pycu2c.diagnostics import Diagnostic, Label
from pycu2c.frontend.liveranges import live_ranges
from pycu2c.frontend.subset import check
from pycu2c.source import Source


def early_problems(source: Source) -> list[Diagnostic]:
    """Everything outside the subset; else reads of names that no path has assigned."""
    return check(source) or [
        Diagnostic("name", (Label(source.span(n), f"`{n.id}` is read before it is assigned"),))
        for n in live_ranges(source.tree).undefined
    ]

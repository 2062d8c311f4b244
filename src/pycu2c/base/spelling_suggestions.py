"""The name that was meant, for "did you mean" in errors. Knows words only."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UnknownNameError(AttributeError):
    """A module has no such name; ``hint`` is what to do instead."""

    def __init__(self, module: str, name: str, hint: str) -> None:
        super().__init__(f"{module} has no {name}: {hint}", name=name)
        self.hint = hint


def closest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The one of ``known`` that ``name`` looks like, capitals aside; None if none does."""
    plain = {k.lower(): k for k in known if name.startswith("_") or not k.startswith("_")}
    found = difflib.get_close_matches(name.lower(), plain, n=1, cutoff=cutoff)
    return plain[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], otherwise: str, owner: str = "") -> str:
    """What to type instead of ``name``: the nearest of ``known``, or ``otherwise``."""
    found = closest_name(name, known)
    return f"did you mean `{owner}{found}`?" if found else otherwise

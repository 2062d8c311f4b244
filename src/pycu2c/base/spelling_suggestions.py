"""Suggest similar names for "did you mean" hints."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UnknownNameError(AttributeError):
    """A module has no such name; ``hint`` is what to write in its place."""

    def __init__(self, module: str, name: str, hint: str) -> None:
        super().__init__(f"{module} has no {name}: {hint}", name=name)
        self.hint = hint


def closest_name(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the name most similar to ``name``, ignoring case, or None."""
    by_lowercase = {
        c.lower(): c for c in candidates if name.startswith("_") or not c.startswith("_")
    }
    matches = difflib.get_close_matches(name.lower(), by_lowercase, n=1, cutoff=cutoff)
    return by_lowercase[matches[0]] if matches else None


def did_you_mean(name: str, candidates: Iterable[str], otherwise: str, owner: str = "") -> str:
    """Return a hint that names the most similar name, or ``otherwise``."""
    closest = closest_name(name, candidates)
    return f"did you mean `{owner}{closest}`?" if closest else otherwise

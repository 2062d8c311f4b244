"""Suggest similar names for "did you mean" hints."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UnknownNameError(AttributeError):
    """A module has no such name; ``hint`` is what to write in its place."""

    def __init__(self, module: str, name: str, hint: str) -> None:
        super().__init__(f"{module} has no {name}: {hint}", name=name)
        self.hint = hint


def closest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the name most similar to ``name``, ignoring case, or None."""
    plain = {k.lower(): k for k in known if name.startswith("_") or not k.startswith("_")}
    matches = difflib.get_close_matches(name.lower(), plain, n=1, cutoff=cutoff)
    return plain[matches[0]] if matches else None


def did_you_mean(name: str, known: Iterable[str], otherwise: str, owner: str = "") -> str:
    """Return a hint that names the most similar name, or ``otherwise``."""
    closest = closest_name(name, known)
    return f"did you mean `{owner}{closest}`?" if closest else otherwise

"""C helper functions as text templates, one for each kind of dtype."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass

_HEADING = "// ==== "
_FUNCTION_NAME = re.compile(r"^[^/].*?(\w+?)(?:_\$t)?\((?!\()", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Helper:
    """The templates of a helper function; empty for kinds of dtypes that need no helper.

    Placeholders: ``$q`` qualifiers, ``$T`` the type, ``$t`` its short name, ``$W`` the unsigned
    type for arithmetic, ``$bits`` the width, ``$f`` the suffix of math functions, ``$s`` the suffix
    of literals, ``$R`` the type of the parts of a complex number. ``${n}x)`` is ``-x`` with
    wraparound.
    """

    signed: str = ""
    unsigned: str = ""
    floating: str = ""
    wide: str = ""  # for float64, if it differs from ``floating``
    complex: str = ""
    fixed: str = ""  # a function with fixed types
    generate: Callable[[str, DType, str], str] | None = None  # from name, dtype, dialect name
    calls: tuple[str, ...] = ()  # the helpers that it calls, callees first


@functools.cache
def c_definition(name: str) -> str:
    """Return the C text of a type and its functions, from ``name.h`` in this folder."""
    path = os.path.join(os.path.dirname(__file__), f"{name}.h")
    with open(path, encoding="utf-8") as file:
        return file.read()


def helpers_in(name: str) -> dict[str, Helper]:
    """Return the helpers that the file ``c/name.h`` in this folder defines, by their names."""
    return helpers_of(c_definition(f"c/{name}"))


def helpers_of(text: str, *kinds: str) -> dict[str, Helper]:
    """Return the helpers that a text defines, by their names.

    Empty lines separate the templates. A heading, ``// ==== signed, unsigned``, begins the
    templates of those kinds of dtypes, the fields of ``Helper``; a text without headings has
    ``kinds``. Callees precede callers.
    """
    templates: dict[str, dict[str, Any]] = {}
    for part in text.strip("\n").split("\n\n"):
        if part.startswith(_HEADING):
            kinds = tuple(part.removeprefix(_HEADING).split(", "))
        elif function := _FUNCTION_NAME.search(part):
            templates.setdefault(function[1], {}).update(dict.fromkeys(kinds, part))
    helpers: dict[str, Helper] = {}
    for name, of_kind in templates.items():
        helpers[name] = Helper(**of_kind, calls=_calls("".join(of_kind.values()), helpers))
    return helpers


def _calls(template: str, helpers: Mapping[str, Helper]) -> tuple[str, ...]:
    """Return the names of the helpers that a template calls, and of their callees."""
    typed, fixed = (set(re.findall(call, template)) for call in (r"(\w+)_\$t\(", r"(\w+)\("))
    callees = [name for name, h in helpers.items() if name in (fixed if h.fixed else typed)]
    transitive = {c for name in callees for c in (*helpers[name].calls, name)}
    negation = ("neg",) if "${n}" in template else ()
    return (*negation, *(name for name in helpers if name in transitive))

"""C helper functions as text templates, one for each kind of dtype."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass

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
    fixed: str = ""  # a function with fixed types
    generate: Callable[[str, DType, str], str] | None = None  # from name, dtype, dialect name
    calls: tuple[str, ...] = ()  # the helpers that it calls


@functools.cache
def c_definition(name: str) -> str:
    """Return the C text of a type and its functions, from ``name.h`` in this folder."""
    path = os.path.join(os.path.dirname(__file__), f"{name}.h")
    with open(path, encoding="utf-8") as file:
        return file.read()


def templates_by_name(text: str) -> dict[str, str]:
    """Return the templates of a text, separated by empty lines, by the names of their functions."""
    templates: dict[str, str] = {}
    for template in text.strip("\n").split("\n\n"):
        name = _FUNCTION_NAME.search(template)
        assert name is not None, template
        templates[name[1]] = template
    return templates


def fixed_helpers(text: str) -> dict[str, Helper]:
    """Return the helpers with fixed types whose functions a text defines."""
    return {name: Helper(fixed=template) for name, template in templates_by_name(text).items()}


def floating_helpers(text: str) -> dict[str, Helper]:
    """Return the helpers for floats whose functions a text defines."""
    return {name: Helper(floating=template) for name, template in templates_by_name(text).items()}


def integer_helpers(text: str) -> dict[str, Helper]:
    """Return the helpers for signed and unsigned integers whose functions a text defines."""
    return {name: Helper(template, template) for name, template in templates_by_name(text).items()}


def helpers_of_all_types(text: str) -> dict[str, Helper]:
    """Return the helpers for integers and floats whose functions a text defines."""
    return {
        name: Helper(template, template, template)
        for name, template in templates_by_name(text).items()
    }

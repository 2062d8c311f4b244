"""Describe a parameter that several functions have once, in a table that completes docstrings.

An entry describes parameters by name, or by FUNCTION.NAME where a function differs: ``shape, base :
tuple of int | The lengths.`` A docstring without a section on parameters receives it, if the table
has all of them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from types import FunctionType
from typing import Any

_ENTRY = re.compile(r"(.*?) : (.*?) \| (.*)")
_SECTIONS = re.compile(
    r"\n\n(?:Attributes|Returns|Yields|Raises|See Also|Notes|Examples)\n-|\Z"
)  # that follow

Entries = Mapping[str, tuple[str, str]]  # type and description of a parameter


def document_parameters(namespace: Mapping[str, Any], table: str) -> None:
    """Add sections to the docstrings of a module's functions, of its classes and their methods."""
    entries = {
        name: (kind, description)
        for names, kind, description in _ENTRY.findall(table.replace("\n  ", " "))
        for name in names.split(", ")
    }
    for value in list(namespace.values()):
        for documented in (value, *_methods(value)):
            if getattr(documented, "__module__", None) == namespace["__name__"]:
                _document(documented, entries)


def _methods(value: object) -> Iterator[object]:
    """Yield the methods of a class."""
    for member in vars(value).values() if isinstance(value, type) else ():
        function = getattr(member, "__func__", member)  # of static methods and class methods
        if isinstance(function, FunctionType):
            yield function


def _document(value: Any, entries: Entries) -> None:
    function = getattr(value, "python", value)  # of a device function
    if not isinstance(function, FunctionType | type) or not function.__doc__:
        return
    if isinstance(value, type) and not isinstance(vars(value).get("__init__"), FunctionType):
        return
    doc = inspect.cleandoc(function.__doc__)
    parameters = _section(function, entries)
    if parameters and "\nParameters\n---" not in doc:
        section = f"\n\nParameters\n----------\n{parameters}"
        end = _SECTIONS.search(doc)
        assert end is not None
        function.__doc__ = value.__doc__ = f"{doc[: end.start()]}{section}{doc[end.start() :]}"


def _section(value: Any, entries: Entries) -> str:
    """Return the entries of the parameters; equal ones in a row are one entry."""
    function = value.__qualname__.rpartition("<locals>.")[2]
    described = []
    for parameter in inspect.signature(value).parameters.values():
        name = str(parameter).partition(":")[0].partition("=")[0].strip()
        entry = entries.get(f"{function}.{name}") or entries.get(name)
        if entry is not None:
            optional = "" if parameter.default is parameter.empty else ", optional"
            described.append((name, f"{entry[0]}{optional}\n    {entry[1]}"))
        elif name != "self":
            return ""
    groups = groupby(described, lambda each: each[1])
    return "\n".join(f"{', '.join(n for n, _ in group)} : {text}" for text, group in groups)

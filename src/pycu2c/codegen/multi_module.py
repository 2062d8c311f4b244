"""Emit several kernels into one C file, with shared definitions only once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycu2c.codegen.dialect import Dialect
from pycu2c.codegen.emit import items_of, print_items
from pycu2c.codegen.statements import Comments
from pycu2c.csyntax import nodes as c
from pycu2c.ir.nodes import Module, Print
from pycu2c.ir.walk import statements

Part = tuple[c.Item, ...]  # the items between two empty lines


def emit_file(made: Sequence[tuple[Module, Dialect]], comments: Comments) -> str:
    """Return the text of a file with several flat modules.

    Different definitions with the same name get numbers: ``clamp_1``. Raises MultiplePrintsError.
    """
    _check_prints(made)
    known: dict[str, c.Item] = {}
    headers: dict[c.Item, None] = {}
    parts: dict[Part, None] = {}
    for module, dialect in made:
        items = _agreeing(module, dialect, comments, known)
        headers |= dict.fromkeys(item for item in items if isinstance(item, c.Include))
        parts |= dict.fromkeys(_parts(items))
        known |= _named(items)
    out: list[c.Item] = list(headers)
    for part in parts:
        out += [c.Blank(), *part]
    return print_items(out, made[0][1])


class MultiplePrintsError(ValueError):
    """Raised if more than one kernel of a file prints, because prints are numbered per kernel."""


def _check_prints(made: Sequence[tuple[Module, Dialect]]) -> None:
    printing = [
        module.kernel.python_name
        for module, _ in made
        for function in (module.kernel, *module.devices)
        if any(isinstance(s, Print) for s in statements(function.body))
    ]
    names = sorted(set(printing))
    if len(names) > 1:
        raise MultiplePrintsError(
            f"{', '.join(names)} print, which one kernel of a file can: write FILE:KERNEL for "
            "each, or take the prints out"
        )


def _agreeing(
    module: Module, dialect: Dialect, comments: Comments, known: dict[str, c.Item]
) -> list[c.Item]:
    """Return the items of a module, renamed where ``known`` defines a name differently."""
    others: frozenset[str] = frozenset()
    while True:
        items, _ = items_of(module, dialect, comments, others)
        clashes = {name for name, item in _named(items).items() if known.get(name, item) != item}
        if clashes <= others:
            return items
        others |= clashes


def _named(items: Sequence[c.Item]) -> dict[str, c.Item]:
    return {
        item.name: item
        for item in items
        if isinstance(item, c.FunctionDecl | c.ConstantTable | c.Struct)
    }


def _parts(items: Sequence[c.Item]) -> Iterator[Part]:
    part: list[c.Item] = []
    for item in (*items, c.Blank()):
        if isinstance(item, c.Blank) and part:
            yield tuple(part)
            part = []
        elif not isinstance(item, c.Blank | c.Include):
            part.append(item)

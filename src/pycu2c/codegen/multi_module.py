"""Emit several kernels into one C file, with shared definitions only once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycu2c.base.errors import Error
from pycu2c.base.records import dataclass
from pycu2c.codegen.dialect import Dialect
from pycu2c.codegen.emit import items_of, print_items
from pycu2c.codegen.reserved_names import NAMES_OF_CUDA_HEADERS
from pycu2c.codegen.statements import Comments
from pycu2c.csyntax import nodes as c
from pycu2c.ir.nodes import Module, Print
from pycu2c.ir.walk import contains

Paragraph = tuple[c.Item, ...]  # the items between two empty lines


@dataclass(frozen=True, slots=True)
class EmittedModules:
    """The text of a file with several modules; ``entries``: the C names of their kernels."""

    text: str
    entries: tuple[str, ...]


def emit_file(modules: Sequence[tuple[Module, Dialect]], comments: Comments) -> EmittedModules:
    """Emit a file with several modules in flat form.

    Different definitions with the same name get numbers: ``clamp_1``. Raises Error if more
    than one kernel prints, because prints are numbered per kernel.
    """
    _check_prints(modules)
    defined: dict[str, c.Item] = {}
    headers: dict[c.Item, None] = {}
    paragraphs: dict[Paragraph, None] = {}
    entries: list[str] = []
    for module, dialect in modules:
        items, entry = _items_without_clashes(module, dialect, comments, defined)
        entries.append(entry)
        headers |= dict.fromkeys(item for item in items if isinstance(item, c.Include))
        paragraphs |= dict.fromkeys(_paragraphs(items))
        defined |= _items_by_name(items)
    out: list[c.Item] = list(headers)
    for paragraph in paragraphs:
        out += [c.Blank(), *paragraph]
    return EmittedModules(print_items(out, modules[0][1]), tuple(entries))


def _check_prints(modules: Sequence[tuple[Module, Dialect]]) -> None:
    printing = [
        module.kernel.python_name
        for module, _ in modules
        for function in (module.kernel, *module.device_functions)
        if contains(function.body, Print)
    ]
    names = sorted(set(printing))
    if len(names) > 1:
        raise Error(
            f"{', '.join(names)} print, and only one kernel of a file can print: write FILE:KERNEL "
            "for each, or take the prints out"
        )


def _items_without_clashes(
    module: Module, dialect: Dialect, comments: Comments, defined: dict[str, c.Item]
) -> tuple[list[c.Item], str]:
    """Return the items of a module, and the name of its kernel.

    Items are renamed where ``defined`` defines a name differently.
    """
    reserved = NAMES_OF_CUDA_HEADERS  # another kernel may include them
    while True:
        items, emitter = items_of(module, dialect, comments, reserved)
        clashes = {
            name for name, item in _items_by_name(items).items() if defined.get(name, item) != item
        }
        if clashes <= reserved:
            return items, emitter.file.functions[module.kernel.name]
        reserved |= clashes


def _items_by_name(items: Sequence[c.Item]) -> dict[str, c.Item]:
    return {
        item.name: item
        for item in items
        if isinstance(item, c.FunctionDecl | c.ConstantTable | c.Struct)
    }


def _paragraphs(items: Sequence[c.Item]) -> Iterator[Paragraph]:
    paragraph: list[c.Item] = []
    for item in (*items, c.Blank()):
        if isinstance(item, c.Blank) and paragraph:
            yield tuple(paragraph)
            paragraph = []
        elif not isinstance(item, c.Blank | c.Include):
            paragraph.append(item)

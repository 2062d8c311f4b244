"""Assign C names to variables: the names in the source wherever C and CUDA allow them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import TypeAlias

from pycu2c.analysis.suspension_points import coroutine_loop, live_across_suspension_points
from pycu2c.base.external_code import length_name, stride_name
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array
from pycu2c.codegen.reserved_names import is_reserved
from pycu2c.ir import name_suffixes
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import bodies, statements

# the suffixes of the functions of a coroutine kernel
_COROUTINE_FUNCTIONS = ("begin", "run", "step", "publish", "set_cluster")

# the names that a scope sees, each with the next number to append for a name that prefers it
VisibleNames: TypeAlias = dict[str, int]


def identifier(name: str) -> str:
    """Return a C identifier: ``größe`` -> ``gru00f6u00dfe``, and ``double`` -> ``double_``."""
    plain = "".join(c if c.isascii() else f"u{ord(c):04x}" for c in name)
    plain = re.sub(r"\W", "_", plain)
    if re.match(r"__|_[A-Z]|\d", plain):  # reserved for the implementation, or a number
        plain = "v" + plain
    return f"{plain}_" if is_reserved(plain) else plain


def unique_name(preferred: str, *used_names: Container[str]) -> str:
    """Return a name that is in no container: the preferred one, or that with a number."""
    return next(name for name in _numbered(preferred) if not any(name in u for u in used_names))


def _numbered(preferred: str, first: int = 0) -> Iterator[str]:
    """Yield a name with numbers: ``x`` itself as number 0, ``x_1``, ``x_2``, …"""
    if first == 0:
        yield preferred
    stem = preferred.rstrip("_")
    yield from (f"{stem}_{number}" for number in itertools.count(max(first, 1)))


def _preferred_name(name: str, ndim: int) -> str:
    """Return the preferred name of a variable: ``a.shape.0`` -> ``a_len``, ``x.1`` -> ``x``.

    Item names in ``<>`` are internal; ``p.left.item`` -> ``p_left``.
    """
    python_name, *parts = name.split(".")
    if "shape" in parts:
        return length_name(python_name, ndim, int(parts[parts.index("shape") + 1]))
    if "stride" in parts:
        return stride_name(python_name, int(parts[parts.index("stride") + 1]))
    pairs = itertools.pairwise(parts)
    items = [item for item, kind in pairs if kind == "item" and not item.startswith("<")]
    suffix = [s for s in name_suffixes.IN_C_NAMES if s in parts][:1]
    return "_".join([python_name, *items, *suffix])


@dataclass(slots=True)
class Names:
    """The C name of each variable of one function; variables in one scope have distinct names."""

    reserved: frozenset[str]  # the functions of the file
    assigned: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.assigned[name]

    def assign(self, name: str, visible: VisibleNames, ndim: int = 0) -> None:
        """Assign a name that differs from the ``visible`` names, and add it to these."""
        preferred = identifier(_preferred_name(name, ndim))
        first = visible.get(preferred, 0)
        number, candidate = next(
            (number, name)
            for number, name in enumerate(_numbered(preferred, first), first)
            if name not in visible and name not in self.reserved
        )
        self.assigned[name] = candidate
        visible |= {candidate: 1, preferred: number + 1}

    def helper_name(self, preferred: str) -> str:
        """Return a name for a helper function, which no variable of this function hides."""
        while preferred in self.reserved or preferred in self.assigned.values():
            preferred += "_"
        return preferred


def name_variables(
    function: ir.Function, reserved: Iterable[str], constants: dict[str, str]
) -> Names:
    """Name the parameters of a function, then the variables of its blocks."""
    names = Names(frozenset(reserved), dict(constants))
    ndims = {p.argument: p.type.ndim for p in function.parameters if isinstance(p.type, Array)}
    # members of the structs of coroutines
    members = ("pc", "mask", "cluster") if coroutine_loop(function.body) else ()
    visible = dict.fromkeys(members, 1)
    for p in function.parameters:
        names.assign(p.name, visible, ndims.get(p.argument, 0))
    for name in _struct_variables(function):
        names.assign(name, visible)
    declarations = (s for s in statements(function.body) if isinstance(s, ir.Declare | ir.AxisLoop))
    for name, count in Counter(s.var.name for s in declarations).items():
        if count > 1 and name not in names.assigned:  # in several work-item loops: one name
            names.assign(name, visible)
    _name_block(function.body, names, visible)
    return names


def names_as_written(function: ir.Function) -> Names:
    """Return the names for inline C, which uses the names of the parameters as written."""
    ndims = {p.argument: p.type.ndim for p in function.parameters if isinstance(p.type, Array)}
    names = {p.name: _preferred_name(p.name, ndims.get(p.argument, 0)) for p in function.parameters}
    return Names(frozenset(), names)


def _struct_variables(function: ir.Function) -> list[str]:
    """Return the variables in the structs of a coroutine kernel; no block may hide their names."""
    loop = coroutine_loop(function.body)
    if loop is None:
        return []
    return [s.var.name for s in function.body if isinstance(s, ir.Allocate)] + [
        v.name for v in live_across_suspension_points(loop.body)
    ]


def _name_block(body: ir.Body, names: Names, visible: VisibleNames) -> None:
    visible = dict(visible)
    for s in body:
        if isinstance(s, (ir.Declare, ir.Allocate)) and s.var.name not in names.assigned:
            names.assign(s.var.name, visible)
        blocks = bodies(s)
        if not blocks:
            continue
        visible_inside = dict(visible)
        if isinstance(s, ir.For | ir.AxisLoop) and s.var.name not in names.assigned:
            names.assign(s.var.name, visible_inside)
        for block in blocks:
            _name_block(block, names, visible_inside)


def global_names(module: ir.Module, reserved: Container[str]) -> dict[str, str]:
    """Return the C names of the functions and constant arrays, by their names in the IR."""
    assigned: dict[str, str] = {}
    of_coroutines: set[str] = set()
    functions = [function.name for function in (module.kernel, *module.device_functions)]
    for name in (*functions, *(constant.var.name for constant in module.constants)):
        preferred = identifier(name.split(".")[0])
        assigned[name] = unique_name(preferred, {*assigned.values()}, reserved, of_coroutines)
        if name == module.kernel.name:
            of_coroutines |= {f"{assigned[name]}_{suffix}" for suffix in _COROUTINE_FUNCTIONS}
    return assigned

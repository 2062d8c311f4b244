"""Assign C names to variables: the names in the source wherever C and CUDA allow them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable
from itertools import pairwise

from pycu2c.analysis.suspension_points import live_across_waits, steps_of
from pycu2c.base.external_code import length_name, stride_name
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array
from pycu2c.codegen.reserved_names import is_reserved
from pycu2c.ir.nodes import Allocate, AxisLoop, Body, Declare, For, Function, Module
from pycu2c.ir.walk import bodies, statements


def identifier(name: str) -> str:
    """Return a C identifier for a Python name: ``größe`` -> ``gru00f6u00dfe``, ``double_``."""
    plain = "".join(c if c.isascii() else f"u{ord(c):04x}" for c in name)
    plain = re.sub(r"\W", "_", plain)
    starts_reserved = plain.startswith("__") or re.match(r"_[A-Z]", plain) or plain[:1].isdigit()
    if starts_reserved:
        plain = "v" + plain
    return f"{plain}_" if is_reserved(plain) else plain


def _preferred_name(name: str, ndim: int) -> str:
    """Return the preferred name of a variable: ``a.shape.0`` -> ``a_len``, ``x.1`` -> ``x``."""
    base, *rest = name.split(".")
    if "shape" in rest:
        return length_name(base, ndim, int(rest[rest.index("shape") + 1]))
    if "stride" in rest:
        return stride_name(base, int(rest[rest.index("stride") + 1]))
    if rest == ["own"]:
        return f"own_{base}"
    parts = [part for part, mark in pairwise(rest) if mark == "item" and part[:1] != "<"]
    suffix = [word for word in ("given", "of", "first", "end") if word in rest][:1]
    return "_".join([base, *parts, *suffix])


@dataclass(slots=True)
class Names:
    """The C name of each variable of one function; variables in one scope have distinct names."""

    reserved: frozenset[str]  # the functions of the file
    assigned: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.assigned[name]

    def give(self, name: str, visible: set[str], ndim: int = 0) -> None:
        wish = identifier(_preferred_name(name, ndim))
        chosen, count = wish, 0
        while chosen in visible or chosen in self.reserved:
            count += 1
            chosen = f"{wish.rstrip('_')}_{count}"
        self.assigned[name] = chosen
        visible.add(chosen)

    def of_helper(self, wish: str) -> str:
        """Return a name for a helper function, which no variable of this function hides."""
        while wish in self.reserved or wish in self.assigned.values():
            wish += "_"
        return wish


def name_variables(function: Function, reserved: Iterable[str], constants: dict[str, str]) -> Names:
    """Name the parameters of a function, then the variables of its blocks."""
    names = Names(frozenset(reserved), dict(constants))
    ndims = {p.argument: p.type.ndim for p in function.parameters if isinstance(p.type, Array)}
    visible = {"pc", "mask", "cluster"} if steps_of(function.body) else set()
    for p in function.parameters:
        names.give(p.name, visible, ndims.get(p.argument, 0))
    for name in _in_struct(function):
        names.give(name, visible)
    given = (s for s in statements(function.body) if isinstance(s, Declare | AxisLoop))
    declared = [s.var.name for s in given]
    for name, count in Counter(declared).items():
        if (
            count > 1 and name not in names.assigned
        ):  # declared in more than one work-item loop: one name for all of them
            names.give(name, visible)
    _name_block(function.body, names, visible)
    return names


def names_as_written(function: Function) -> Names:
    """Return the names for inline C, which uses the names of the parameters as written."""
    ndims = {p.argument: p.type.ndim for p in function.parameters if isinstance(p.type, Array)}
    known = {p.name: _preferred_name(p.name, ndims.get(p.argument, 0)) for p in function.parameters}
    return Names(frozenset(), known)


def _in_struct(function: Function) -> list[str]:
    """Return the variables in the structs of a coroutine kernel; no block may hide their names."""
    steps = steps_of(function.body)
    if steps is None:
        return []
    return [s.var.name for s in function.body if isinstance(s, Allocate)] + [
        v.name for v in live_across_waits(steps.body)
    ]


def _name_block(body: Body, names: Names, visible: set[str]) -> None:
    visible = set(visible)
    for s in body:
        if isinstance(s, (Declare, Allocate)) and s.var.name not in names.assigned:
            names.give(s.var.name, visible)
    for s in body:
        inner = set(visible)
        if isinstance(s, For | AxisLoop) and s.var.name not in names.assigned:
            names.give(s.var.name, inner)
        for block in bodies(s):
            _name_block(block, names, inner)


def function_names(module: Module, reserved: Container[str] = ()) -> dict[str, str]:
    """Return the C names of the functions of a module, by their names in the IR."""
    names: dict[str, str] = {}
    for function in (module.kernel, *module.devices):
        wish = identifier(function.name.split(".")[0])
        chosen, count = wish, 0
        while chosen in names.values() or chosen in reserved:
            count += 1
            chosen = f"{wish.rstrip('_')}_{count}"
        names[function.name] = chosen
    return names


def constant_names(module: Module, reserved: Container[str]) -> dict[str, str]:
    """Return the C names of the constant arrays of a module, by their names in the IR."""
    names: dict[str, str] = {}
    for constant in module.constants:
        wish = identifier(constant.var.name.split(".")[0])
        chosen, count = wish, 0
        while chosen in reserved or chosen in names.values():
            count += 1
            chosen = f"{wish.rstrip('_')}_{count}"
        names[constant.var.name] = chosen
    return names

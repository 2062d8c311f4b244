"""Arrays become what C has: a pointer, and the lengths and strides that are used.

``a: float32[:, ::1]`` with ``a[i, j]`` -> ``a: pointer, a.shape.1`` with
``a[i * a.shape.1 + j]``. Arrays whose shape the kernel fixes keep their indices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from pycu2c.analysis.ranges.range_analysis import Facts
from pycu2c.base import dtypes
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, WEAK_INT32, Array, Scalar
from pycu2c.ir.builders import binary, cast, const, scalar_type
from pycu2c.ir.call_graph import recursive_functions
from pycu2c.ir.nodes import (
    Apply,
    ArgumentPart,
    Binary,
    Body,
    Call,
    Const,
    Dim,
    ElementOf,
    Expr,
    Function,
    Load,
    Module,
    Parameter,
    Stmt,
    Store,
    Stride,
    Var,
    View,
    in_cluster,
)
from pycu2c.ir.views import is_flat, stride_inside_field, view_elements_per_element
from pycu2c.ir.walk import bodies, children, operands, with_bodies, with_children, with_operands
from pycu2c.ops.intrinsics.threads.cpu_block import shared_bytes
from pycu2c.ops.operators import ADD, MUL, QUOTIENT, SUB

Key = tuple[str, ArgumentPart, int]  # an array parameter's name, and which part of it


def flatten(module: Module, facts: Facts) -> Module:
    """Every function takes pointers and numbers; callees first, since callers pass on parts."""
    flat: dict[str, Function] = {}
    taken: dict[str, list[tuple[str, str]]] = {}
    again = bool(
        recursive_functions(module)
    )  # what they take follows from what they pass to each other
    for function in module.devices:
        flat[function.name] = replace(function, parameters=_pointers(function))
    while True:
        for function in module.devices:
            flat[function.name] = _flat_function(function, facts, flat)
        before, taken = taken, {f.name: _taken(f) for f in flat.values()}
        if not again or taken == before:
            break
    kernel = _flat_function(module.kernel, facts, flat)
    return replace(module, kernel=kernel, devices=tuple(flat.values()))


def _pointers(function: Function) -> tuple[Parameter, ...]:
    """Parameters without lengths and strides: no use of them has been found yet."""
    return tuple(
        replace(p, part=ArgumentPart.DATA) if isinstance(p.type, Array) else p
        for p in function.parameters
    )


def _taken(function: Function) -> list[tuple[str, str]]:
    return [(p.name, str(p.type)) for p in function.parameters]


def _flat_function(function: Function, facts: Facts, flat: Mapping[str, Function]) -> Function:
    arrays = {p.name for p in function.parameters if isinstance(p.type, Array)}
    flattener = _Flattener(arrays, facts, flat)
    body = flattener.body(function.body)
    return replace(function, parameters=flattener.parameters(function), body=body)


@dataclass(slots=True)
class _Flattener:
    arrays: set[str]  # parameters: pointers in C; other arrays are declared with their shape
    facts: Facts
    flat: Mapping[str, Function]
    used: dict[Key, Scalar] = field(default_factory=dict)

    def body(self, body: Body) -> Body:
        return tuple(self.statement(s) for s in body)

    def statement(self, s: Stmt) -> Stmt:
        s = with_operands(s, tuple(self.expression(e) for e in operands(s)))
        s = with_bodies(s, tuple(self.body(b) for b in bodies(s)))
        if isinstance(s, Store):
            return replace(s, indices=self.indices(s.array, s.indices))
        return s

    def expression(self, e: Expr) -> Expr:
        new = with_children(e, tuple(self.expression(c) for c in children(e)))
        match new:
            case Load() | ElementOf():
                return replace(new, indices=self.indices(new.array, new.indices))
            case Dim():
                return cast(
                    self.part(new.array, ArgumentPart.SHAPE, new.axis, new.type, new), new.type
                )
            case Stride():
                return cast(
                    self.part(new.array, ArgumentPart.STRIDE, new.axis, new.type, new), new.type
                )
            case Call():
                return replace(new, arguments=self.arguments(new))
            case _:
                return new

    def part(self, array: Var, part: ArgumentPart, axis: int, kind: Scalar, at: Expr) -> Expr:
        """The parameter that carries a length or stride; a literal where it is fixed."""
        assert isinstance(array.type, Array)
        if array.type.shape is not None:
            after = array.type.shape[axis + 1 :] if part is ArgumentPart.STRIDE else ()
            fixed = math.prod(after) if part is ArgumentPart.STRIDE else array.type.shape[axis]
            return const(fixed, at.span, kind)
        if array.name not in self.arrays or in_cluster(array):  # what the launch gives a block
            if part is ArgumentPart.STRIDE:
                return const(1, at.span, kind)
            size = const(array.type.dtype.size, at.span, kind)
            return binary(QUOTIENT, Apply(shared_bytes, (), kind, at.span), size, at.span)
        key = (array.name, part, axis)
        carried = self.used.setdefault(key, kind)
        return cast(Var(f"{array.name}.{part.value}.{axis}", carried, at.span), kind)

    def indices(self, array: Var, given: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """One index for a pointer; where all parts are 32-bit it is computed in 32 bits:
        an element's number is less than the array's size, or the program is undefined."""
        kind = array.type
        assert isinstance(kind, Array)
        if array.name not in self.arrays:
            return given
        if in_cluster(array):  # a pointer in each block
            return given[0], *self.indices(replace(array, type=kind.in_block), given[1:])
        if kind.ndim == 0:
            return (const(0, array.span),)
        if kind.layout == "C" and len(given) == 1:
            return given
        small = self.facts.index32 and all(scalar_type(i).dtype.bits <= 32 for i in given)
        unsigned = any(scalar_type(i).dtype is dtypes.UINT32 for i in given)
        number = WEAK_INT32 if small and not unsigned else WEAK_INT
        if kind.layout == "C":
            return (self._row_major(array, [cast(i, number) for i in given], number),)
        return (self._strided(array, [cast(i, number) for i in given], number),)

    def _row_major(self, array: Var, indices: list[Expr], number: Scalar) -> Expr:
        """Horner's rule: (i * rows + j) * columns + k; of a row that is number 0, k."""
        total = indices[0]
        for axis, index in enumerate(indices[1:], start=1):
            if _is(0, total):
                total = index
                continue
            length = cast(self.part(array, ArgumentPart.SHAPE, axis, number, index), number)
            scaled = length if _is(1, total) else binary(MUL, total, length, index.span)
            total = _sum(scaled, index)
        return total

    def _strided(self, array: Var, indices: list[Expr], number: Scalar) -> Expr:
        total: Expr = const(0, array.span, number)
        for axis, index in enumerate(indices):
            if _is(0, index):
                continue
            stride = cast(self.part(array, ArgumentPart.STRIDE, axis, number, index), number)
            term = stride if _is(1, index) else binary(MUL, index, stride, index.span)
            total = term if _is(0, total) else _sum(total, term)
        return total

    def arguments(self, call: Call) -> tuple[Expr, ...]:
        """The arguments of a call, arrays in the parts that the callee takes."""
        out: list[Expr] = []
        for parameter in self.flat[call.function].parameters:
            given = call.arguments[parameter.argument]
            if isinstance(given, View):
                out.append(self.view_part(given, parameter))
                continue
            if parameter.part in (ArgumentPart.VALUE, ArgumentPart.DATA):
                out.append(given)
                continue
            assert isinstance(given, Var)
            assert isinstance(parameter.type, Scalar)
            out.append(
                cast(
                    self.part(given, parameter.part, parameter.axis, parameter.type, given),
                    parameter.type,
                )
            )
        return tuple(out)

    def view_part(self, view: View, parameter: Parameter) -> Expr:
        """A part of an array as a callee takes it: where it begins, its lengths, its strides."""
        if parameter.part is ArgumentPart.DATA:
            indices = self.indices(view.array, view.first)
            return ElementOf(view.array, indices, view.span, view.path)
        assert isinstance(parameter.type, Scalar)
        if parameter.part is ArgumentPart.SHAPE:
            return cast(view.lengths[parameter.axis], parameter.type)
        step, axis = cast(view.steps[parameter.axis], parameter.type), view.axes[parameter.axis]
        apart = stride_inside_field(view, axis) if axis < 0 else view_elements_per_element(view)
        if apart != 1:
            step = binary(MUL, step, const(apart, view.span, parameter.type), view.span)
        if is_flat(view) or axis < 0:
            return step
        stride = self.part(view.array, ArgumentPart.STRIDE, axis, parameter.type, view)
        return binary(MUL, stride, step, view.span)

    def parameters(self, function: Function) -> tuple[Parameter, ...]:
        """Each array's pointer, followed by the parts of it that are used."""
        out: list[Parameter] = []
        for p in function.parameters:
            if not isinstance(p.type, Array):
                out.append(p)
                continue
            out.append(replace(p, part=ArgumentPart.DATA))
            parts = sorted(
                ((part, axis) for name, part, axis in self.used if name == p.name),
                key=lambda key: (key[0].value, key[1]),
            )
            for part, axis in parts:
                kind = self.used[p.name, part, axis]
                name = f"{p.name}.{part.value}.{axis}"
                out.append(Parameter(name, kind, p.argument, part, axis))
        return tuple(out)


def _is(value: int, e: Expr) -> bool:
    return isinstance(e, Const) and e.value == value


def _sum(left: Expr, right: Expr) -> Expr:
    """``left + (x + y)`` is written ``left + x + y``: the same number modulo 2**n."""
    if isinstance(right, Const) and right.value == 0:
        return left
    if isinstance(right, Binary) and right.op in (ADD, SUB):
        return binary(right.op, _sum(left, right.left), right.right, right.span)
    return binary(ADD, left, right, right.span)

"""The thread's place in the grid: found where it is written out, and what it is compared with.

``blockIdx.x * blockDim.x + threadIdx.x`` -> ``cuda.grid.x()``
"""

from __future__ import annotations

from collections import Counter

from pycu2c.base.index_bounds import Length
from pycu2c.base.records import replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir.nodes import Apply, Assign, Binary, Dim, Expr, Function, Module, Var
from pycu2c.ir.walk import all_expressions, map_expr, map_functions, statements
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, GE, GT, LE, LT, MUL


def recognise_grid(module: Module) -> Module:
    """Say ``cuda.grid`` for the sum that it stands for."""
    return map_functions(module, lambda f: replace(f, body=map_expr(f.body, _recognised)))


def _recognised(e: Expr) -> Expr:
    if not (isinstance(e, Binary) and e.op is ADD and e.type == WEAK_INT):
        return e
    for product, thread in ((e.left, e.right), (e.right, e.left)):
        if isinstance(product, Binary) and product.op is MUL:
            factors = {_name(product.left), _name(product.right)}
            for axis in "xyz":
                block = {f"cuda.blockIdx.{axis}", f"cuda.blockDim.{axis}"}
                if factors == block and _name(thread) == f"cuda.threadIdx.{axis}":
                    return Apply(REGISTRY[f"cuda.grid.{axis}"], (), WEAK_INT, e.span)
    return e


def _name(e: Expr) -> str:
    return e.intrinsic.name if isinstance(e, Apply) else ""


def data_extent(kernel: Function) -> tuple[Length, ...] | None:
    """What the kernel compares its place in the grid with, for each axis that it uses: the size
    of its data, if it makes that plain; None otherwise."""
    assigned = [s for s in statements(kernel.body) if isinstance(s, Assign)]
    places = {
        s.var.name: _name(s.value)[-1] for s in assigned if _name(s.value).startswith("cuda.grid.")
    }
    once = {name for name, n in Counter(s.var.name for s in assigned).items() if n == 1}
    named = {s.var.name: length_of(s.value, kernel) for s in assigned if s.var.name in once}
    found: dict[str, Length] = {}
    for e in all_expressions(kernel.body):
        if isinstance(e, Binary) and e.op in (LT, GE, GT, LE):
            place, bound = (e.left, e.right) if e.op in (LT, GE) else (e.right, e.left)
            own = named.get(bound.name) if isinstance(bound, Var) else None
            length = own or length_of(bound, kernel)
            axis = places.get(place.name) if isinstance(place, Var) else None
            if axis and length and found.setdefault(axis, length) != length:
                return None  # compared with two lengths: not plain
    used = sorted(set(places.values()))
    if not used or used != list("xyz")[: len(used)] or any(axis not in found for axis in used):
        return None
    return tuple(found[axis] for axis in used)


def length_of(e: Expr, kernel: Function) -> Length | None:
    """What an expression is, if it is a length of an argument, or an argument."""
    name = e.array.name if isinstance(e, Dim) else e.name if isinstance(e, Var) else None
    for p in kernel.parameters:
        if p.name == name:
            return Length(p.argument, e.axis if isinstance(e, Dim) else None)
    return None

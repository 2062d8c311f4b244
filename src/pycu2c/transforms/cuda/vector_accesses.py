"""Access the components of a vector in memory together.

``{a[i], a[i + 1]}`` -> ``vector.load(&a[i])``; ``a[i] = v.x; a[i + 1] = v.y`` ->
``vector.store(&a[i], v)``; and ``{cuda.atomic.add(&a[i].x, v.x), cuda.atomic.add(&a[i].y, v.y)}``
-> ``vector.atomic.add(&a[i], v)``. Loads and stores test the alignment at run time, unless the CUDA
compiler knows it. Atomics are on global memory. Local arrays are omitted,
because their elements are in registers. Requires the form C_SEMANTICS (``ir/forms.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base.dtypes import DType
from pycu2c.base.types import VOID, Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.printer import print_expr
from pycu2c.ir.walk import map_bodies, map_expr, map_functions, with_body
from pycu2c.ops.intrinsics.memory import atomic, vector_access
from pycu2c.ops.operators import ADD


def combine(module: ir.Module) -> ir.Module:
    """Combine the accesses of all functions."""
    return map_functions(
        module, lambda f: with_body(f, _combined_stores(map_expr(f.body, _combined_parts)))
    )


def _combined_parts(e: ir.Expr) -> ir.Expr:
    """Return a load or an atomic operation for a vector of these."""
    if not isinstance(e, ir.Pack) or not scalar_type(e).dtype.is_vector:
        return e
    loads = [part for part in e.parts if isinstance(part, ir.Load)]
    if len(loads) == len(e.parts) and _are_neighbours(loads, scalar_type(e).dtype):
        place = ir.ElementOf(loads[0].array, loads[0].indices, e.span)
        is_shared = ir.memory_space(place.array) is MemorySpace.SHARED
        load = vector_access.LOAD_SHARED if is_shared else vector_access.LOAD
        return ir.Apply(load, (place,), e.type, e.span)
    return _combined_atomics(e) or e


def _combined_atomics(e: ir.Pack) -> ir.Expr | None:
    """Return the atomic addition of a vector for those of its components."""
    dtype = scalar_type(e).dtype
    if dtype not in vector_access.ATOMIC_VECTORS:
        return None
    found = [_added_component(part, field.name) for part, field in zip(e.parts, dtype.fields)]
    additions = [addition for addition in found if addition]
    if len(additions) != len(e.parts) or len({print_expr(vector) for _, vector in additions}) != 1:
        return None
    places = [place for place, _ in additions]
    first, vector = additions[0]
    if ir.memory_space(first.array) is not MemorySpace.GLOBAL:
        return None
    place = ir.ElementOf(first.array, first.indices, e.span)
    if not first.path and _are_neighbours(places, dtype):
        return ir.Apply(vector_access.ATOMIC_ADD_COMPONENTS, (place, vector), e.type, e.span)
    wholes = {print_expr(ir.ElementOf(p.array, p.indices, e.span)) for p in places}
    paths = [p.path for p in places]
    if len(wholes) != 1 or paths != [(field.name,) for field in dtype.fields]:
        return None
    return ir.Apply(vector_access.ATOMIC_ADD, (place, vector), e.type, e.span)


def _added_component(e: ir.Expr, name: str) -> tuple[ir.ElementOf, ir.Var] | None:
    """Return the operands of ``cuda.atomic.add(&a[i].x, v.x)``: ``&a[i].x`` and ``v``."""
    match e:
        case ir.Apply(arguments=(ir.ElementOf() as place, ir.Member(ir.Var() as v, field))):
            return (place, v) if e.intrinsic is atomic.ADD and field == name else None
    return None


def _combined_stores(body: ir.Body) -> ir.Body:
    """Return a block in which stores of all components of a variable are one store."""
    out: list[ir.Stmt] = []
    rest = body
    while rest:
        vector = _stored_vector(rest[0])
        count = len(vector.fields) if vector else 1
        stores = [s for s in rest[:count] if isinstance(s, ir.Store)]
        if vector and _stores_vector(stores, vector):
            first = stores[0]
            assert isinstance(first.value, ir.Member)
            place = ir.ElementOf(first.array, first.indices, first.span)
            is_shared = ir.memory_space(place.array) is MemorySpace.SHARED
            store = vector_access.STORE_SHARED if is_shared else vector_access.STORE
            applied = ir.Apply(store, (place, first.value.operand), VOID, first.span)
            out.append(ir.Evaluate(applied, first.span))
            rest = rest[count:]
        else:
            out.append(map_bodies(rest[0], _combined_stores))
            rest = rest[1:]
    new = tuple(out)
    return body if new == body else new


def _stored_vector(s: ir.Stmt) -> DType | None:
    """Return the type of a vector whose first component a statement stores."""
    if not isinstance(s, ir.Store) or not isinstance(s.value, ir.Member):
        return None
    operand = s.value.operand
    dtype = scalar_type(operand).dtype
    return dtype if isinstance(operand, ir.Var) and dtype.is_vector else None


def _stores_vector(stores: Sequence[ir.Store], dtype: DType) -> bool:
    if len(stores) != len(dtype.fields) or not _are_neighbours(stores, dtype):
        return False
    stored = [print_expr(s.value) for s in stores]
    value = stores[0].value
    assert isinstance(value, ir.Member)
    name = print_expr(value.operand)
    return stored == [f"{name}.{field.name}" for field in dtype.fields]


def _are_neighbours(accesses: Sequence[ir.Access], dtype: DType) -> bool:
    """Return whether accesses are to the components of one vector, in order."""
    first = accesses[0]
    assert isinstance(first.array.type, Array)
    if len(dtype.fields) not in (2, 4) or ir.memory_space(first.array) is MemorySpace.LOCAL:
        return False
    if first.array.type.layout != "C" or first.array.type.element.dtype != dtype.fields[0].dtype:
        return False
    found = [_position(access) for access in accesses]
    base, start = found[0]
    return found == [(base, start + n) for n in range(len(accesses))]


def _position(access: ir.Access) -> tuple[str, int]:
    """Return the array and indices of an access without a constant that is added to the last."""
    *outer, last = access.indices
    constant = 0
    if isinstance(last, ir.Binary) and last.op is ADD and isinstance(last.right, ir.Const):
        constant, last = int(last.right.value), last.left
    elif isinstance(last, ir.Const):
        constant, last = int(last.value), access.array
    return ", ".join(map(print_expr, (access.array, *outer, last))), constant

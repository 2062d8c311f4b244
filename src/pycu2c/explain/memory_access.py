"""Find inefficient memory access: strides, bank conflicts, local arrays outside registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import gcd, prod

from pycu2c.analysis.register_arrays import RegisterArrays
from pycu2c.base.diagnostics import Label
from pycu2c.base.source import Span
from pycu2c.base.types import Array, MemorySpace
from pycu2c.explain.index_strides import IndexStrides, LaneStride, UniformStride, lane_strides
from pycu2c.explain.notes import Note
from pycu2c.explain.value_origins import ExplainedFunction
from pycu2c.ir.builders import array_type
from pycu2c.ir.name_suffixes import source_name
from pycu2c.ir.nodes import ElementOf, Expr, Function, Load, Store
from pycu2c.ir.walk import expressions, operands, statements

_BANK_ROW_BYTES = 128  # bytes that all banks of shared memory provide at once


def accesses(function: Function) -> Iterator[tuple[Load | Store | ElementOf, Array, Span]]:
    """Yield each access to an array element, with the type of the array and the source span."""
    for s in statements(function.body):
        if isinstance(s, Store):
            yield s, array_type(s.array), s.span
        for e in operands(s):
            for x in expressions(e):
                if isinstance(x, (Load, ElementOf)):
                    yield x, array_type(x.array), x.span


def find_strided_access(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield strided access: ``a[x, y]`` where x is the coordinate of consecutive threads."""
    strides = lane_strides(subject)
    for access, kind, span in accesses(subject.function):
        if kind.space is not MemorySpace.GLOBAL or not access.indices:
            continue
        name = source_name(access.array.name)
        distance = _distance([strides.stride_of(i) for i in access.indices], name, kind)
        if distance:
            text = f"neighbouring threads are {distance} elements apart"
            hint = _stride_hint(access.indices, strides, name)
            yield Note("stride", (Label(span, text),), hint, f"{name}: {distance}")


def _distance(index_strides: list[LaneStride], name: str, kind: Array) -> str:
    """Return the stride between neighbours; empty if it is at most 1, or unknown."""
    first_axis = next((axis for axis, p in enumerate(index_strides) if p != 0), None)
    if (
        first_axis is None
        or None in index_strides
        or (len(index_strides) > 1 and kind.layout != "C")
    ):
        return ""
    factors = [f"{name}.shape[{axis}]" for axis in range(first_axis + 1, len(index_strides))]
    match index_strides[first_axis]:
        case UniformStride(text):
            factors = [f"`{text}`" if text else "many", *factors]
        case int(step) if abs(step) > 1:
            factors = [str(abs(step)), *factors]
    return " * ".join(factors)


def _stride_hint(indices: tuple[Expr, ...], strides: IndexStrides, name: str) -> str:
    if len(indices) == 1:
        return "let neighbours use neighbouring elements, or split the array into several"
    if strides.depends_on_y_or_z(indices[-1]):
        return f"let x run along the last axis: `x, y = cuda.grid(2)`, {name}[y, x]"
    return f"let x run along the last axis: transpose {name}, or go through a shared array"


def find_bank_conflicts(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield bank conflicts: ``tile[x, y]`` of a shared array whose rows start in one bank."""
    strides = lane_strides(subject)
    for access, kind, span in accesses(subject.function):
        if kind.space is not MemorySpace.SHARED or kind.shape is None:
            continue
        sizes = [prod(kind.shape[axis + 1 :]) for axis in range(kind.ndim)]
        index_strides = [strides.stride_of(i) for i in access.indices]
        steps = [p * size for p, size in zip(index_strides, sizes) if isinstance(p, int)]
        if len(steps) < kind.ndim or kind.dtype.size < 4:
            continue
        ways = gcd(sum(steps), _BANK_ROW_BYTES // kind.dtype.size)
        if sum(steps) and ways > 1:
            name = source_name(access.array.name)
            distance = _BANK_ROW_BYTES // kind.dtype.size // ways
            text = f"threads that are {distance} apart have a bank conflict"
            yield Note("bank", (Label(span, text),), _bank_hint(kind, steps), name)


def _bank_hint(kind: Array, steps: list[int]) -> str:
    assert kind.shape is not None
    if kind.ndim == 1 or steps[-1]:
        return "let neighbours use neighbouring elements"
    shape = ", ".join(map(str, (*kind.shape[:-1], kind.shape[-1] + 1)))
    return f"make the rows longer by one: cuda.shared.array(({shape}), …)"


def find_local_arrays(
    subject: ExplainedFunction, arrays: Mapping[str, RegisterArrays]
) -> Iterator[Note]:
    """Yield local arrays that cannot be in registers."""
    hint = "index up to 256 elements with constants and counters of loops with constant bounds"
    for obstacle in arrays[subject.function.name].obstacles:
        label = Label(obstacle.span, obstacle.text)
        yield Note("local-array", (label,), f"{hint}, or use a shared array", obstacle.array)

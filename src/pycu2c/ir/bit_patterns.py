"""Build IR for numbers and elements whose bits are read in another type.

A view whose dtype is not that of its elements reads and writes each number by the bits of one or
more elements, which follow each other along the last axis of the array or field. A vector is read
and written by component.
"""

from __future__ import annotations

from functools import reduce

from pycu2c.base.dtypes import BY_NAME, DType
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import Array, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, scalar_type
from pycu2c.ir.expressions import field_type
from pycu2c.ir.views import add_scaled, field_at_path, start_indices, with_starts
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import OR, SHL, SHR

_NAMES = {
    **{"float16": "half", "bfloat16": "bfloat16", "float32": "float", "float64": "double"},
    **{"int16": "short", "int32": "int", "int64": "longlong"},
}


def is_viewable(dtype: DType) -> bool:
    """Return whether the bits of a type can be read in another type."""
    return dtype.is_integer or dtype.is_float


def with_bits_of(x: ir.Expr, target: DType, span: Span) -> ir.Expr:
    """Return the number of a type of the same size with the bits of ``x``."""
    dtype = scalar_type(x).dtype
    if dtype == target:
        return x
    signed = BY_NAME[f"int{dtype.bits}"]
    bits = _reinterpret(x, signed, span) if dtype.is_float else cast(x, Scalar(signed))
    return _reinterpret(bits, target, span) if target.is_float else cast(bits, Scalar(target))


def _reinterpret(x: ir.Expr, target: DType, span: Span) -> ir.Expr:
    name = f"cuda.{_NAMES[scalar_type(x).dtype.name]}_as_{_NAMES[target.name]}"
    return ir.Apply(REGISTRY[name], (x,), Scalar(target), span)


def _element_dtype(view: ir.View) -> DType:
    """Return the dtype in memory of what a view reads."""
    assert isinstance(view.array.type, Array)
    return field_type(view.array.type.element, view.path).dtype.innermost


def elements_per_number(view: ir.View) -> int:
    """Return how many elements in memory contain one number of a view."""
    dtype, element = view.type.dtype, _element_dtype(view)
    return 1 if dtype == element else dtype.size // element.size


def is_reinterpreted(view: ir.View) -> bool:
    """Return whether a view has another dtype than its elements in memory."""
    return view.type.dtype != _element_dtype(view)


def component_view(view: ir.View, name: str, span: Span) -> ir.View:
    """Return the view of a component of the vectors of a reinterpreted view."""
    names = [field.name for field in view.type.dtype.fields]
    component = view.type.dtype.fields[names.index(name)].dtype
    part_type = Array(component, view.type.ndim, "A" if view.axes else "C")
    part = replace(view, type=part_type, span=span)
    return _shifted(part, names.index(name) * component.size // _element_dtype(view).size)


def load_bits(view: ir.View, span: Span) -> ir.Expr:
    """Return the number or vector of a reinterpreted view without axes."""
    dtype = view.type.dtype
    if dtype.is_vector:
        parts = (component_view(view, field.name, span) for field in dtype.fields)
        return ir.Pack(tuple(load_bits(part, span) for part in parts), view.type.element, span)
    loads = [
        field_at_path(ir.Load(part.array, part.first, span), part.path, span)
        for part in _parts(view)
    ]
    if len(loads) == 1:
        return with_bits_of(loads[0], dtype, span)
    wide = Scalar(BY_NAME[f"uint{dtype.bits}"])
    bits = [cast(with_bits_of(e, _unsigned(e), span), wide) for e in loads]
    shifted = [
        binary(SHL, e, const(n * dtype.bits // len(bits), span, wide), span) if n else e
        for n, e in enumerate(bits)
    ]
    combined = reduce(lambda a, b: binary(OR, a, b, span), shifted)
    return with_bits_of(combined, dtype, span)


def store_bits(view: ir.View, bits: ir.Expr, span: Span) -> ir.Body:
    """Return the stores of the bits of a number; ``bits`` is an unsigned integer, an atom."""
    parts, dtype = _parts(view), _element_dtype(view)
    unsigned = Scalar(BY_NAME[f"uint{dtype.bits}"])
    out = []
    for n, part in enumerate(parts):
        shift = const(n * dtype.bits, span, scalar_type(bits))
        shifted = cast(binary(SHR, bits, shift, span) if n else bits, unsigned)
        value = with_bits_of(shifted, dtype, span)
        out.append(ir.Store(part.array, part.first, value, span, part.path))
    return tuple(out)


def _unsigned(e: ir.Expr) -> DType:
    return BY_NAME[f"uint{scalar_type(e).dtype.bits}"]


def _parts(view: ir.View) -> list[ir.View]:
    """Return the views of the elements that contain the number of a view without axes."""
    return [_shifted(view, n) for n in range(elements_per_number(view))]


def _shifted(view: ir.View, count: int) -> ir.View:
    """Return a view that begins ``count`` elements later."""
    *outer, last = start_indices(view)
    one = const(1, last.span)
    return with_starts(view, [*outer, add_scaled(last, one, const(count, last.span))])

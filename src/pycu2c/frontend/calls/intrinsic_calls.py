"""Lower calls of intrinsics: convert the arguments to the parameter types."""

from __future__ import annotations

import ast
from functools import reduce

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import BOOL
from pycu2c.base.source import Span
from pycu2c.base.types import (
    VOID,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Array,
    MemorySpace,
    Scalar,
    Type,
    float32,
    promote,
)
from pycu2c.frontend.calls.arguments import argument_values
from pycu2c.frontend.calls.ufuncs import (
    IDENTITY_INTRINSICS,
    check_accepted,
    compute_type,
    unchanged_operand,
)
from pycu2c.frontend.evaluation_order import materialize
from pycu2c.frontend.expressions import arithmetic
from pycu2c.frontend.expressions.arithmetic import coerce, require_integer
from pycu2c.frontend.expressions.array_views import ArrayValue, array_type
from pycu2c.frontend.expressions.subscripts import check_writable, single_element_view
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements.branches import for_each_array
from pycu2c.frontend.value_checks import describe, is_array, require_number, require_value
from pycu2c.frontend.values import ArraySelect, TupleValue, Value
from pycu2c.ir.builders import cast, integer, scalar_type, truth
from pycu2c.ir.nodes import Apply, Const, ElementOf, Expr, Member, Pack, View
from pycu2c.ops.intrinsics.floats.complex import complex_form
from pycu2c.ops.intrinsics.kinds import FIXED, HANDLE_KINDS
from pycu2c.ops.intrinsics.memory.atomic import BY_PARTS
from pycu2c.ops.intrinsics.memory.cache_hints import LOADS, STORES
from pycu2c.ops.intrinsics.reference_thread import WIDTHS
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, TypedOperation


def intrinsic_call(
    context: FunctionContext, intrinsic: Intrinsic, given: list[Value], node: ast.Call
) -> Value:
    """Lower a call; ``given`` are the arguments in the order of the parameters."""
    values = dict(zip((name for name, _ in intrinsic.parameters), given))
    name = next((n for n, kind in intrinsic.parameters if kind == "array"), "")
    array = values.get(name)
    if intrinsic.effect is Effect.WARP and intrinsic.result == "T" and _has_parts(values["value"]):
        return _part_by_part(context, intrinsic, values, node)
    if intrinsic in BY_PARTS and array is not None and _has_parts(array):
        return _add_to_parts(context, intrinsic, values, node)
    if not isinstance(array, ArraySelect):
        return _apply(context, intrinsic, values, node)
    others = {n: v if v is array else materialize(context, v, n) for n, v in values.items()}
    return for_each_array(
        context, array, lambda a: _apply(context, intrinsic, {**others, name: a}, node)
    )


def _has_parts(value: Value) -> bool:
    """Return whether a value is a vector or complex number, or an array of them."""
    kind = getattr(value, "type", None)
    if not isinstance(kind, Scalar | Array):
        return False
    return kind.dtype.is_vector or kind.dtype.is_complex


def _add_to_parts(
    context: FunctionContext, intrinsic: Intrinsic, values: dict[str, Value], node: ast.Call
) -> Value:
    """Apply an atomic to each part of an element; return the old parts as one value."""
    array = values["array"]
    if not isinstance(array, ArraySelect):
        index = materialize(context, values["index"], "index")
        return _part_sums(context, intrinsic, {**values, "index": index}, node)
    steady = {n: v if v is array else materialize(context, v, n) for n, v in values.items()}
    return for_each_array(
        context, array, lambda a: _part_sums(context, intrinsic, {**steady, "array": a}, node)
    )


def _part_sums(
    context: FunctionContext, intrinsic: Intrinsic, values: dict[str, Value], node: ast.Call
) -> Value:
    place, span = _element_address(intrinsic, values), context.span(node)
    assert isinstance(place, ElementOf)
    kind = scalar_type(place)
    value = require_value(
        materialize(context, coerce(require_value(values["value"]), kind), "value")
    )
    parts: list[Expr] = []
    for part in kind.dtype.fields:
        own = Scalar(part.dtype)
        check_accepted(intrinsic, own, span)
        there = ElementOf(place.array, place.indices, span, (*place.path, part.name))
        parts.append(Apply(intrinsic, (there, Member(value, part.name, own, span)), own, span))
    return materialize(context, Pack(tuple(parts), kind, span), "old")


def _part_by_part(
    context: FunctionContext, intrinsic: Intrinsic, values: dict[str, Value], node: ast.Call
) -> Expr:
    """Exchange a vector or complex number between lanes with one call for each part."""
    steady = {name: materialize(context, value, name) for name, value in values.items()}
    whole = require_value(steady["value"])
    kind, span = scalar_type(whole), context.span(node)
    parts = [Member(whole, f.name, Scalar(f.dtype, kind.weak), span) for f in kind.dtype.fields]
    calls = (_apply(context, intrinsic, {**steady, "value": part}, node) for part in parts)
    return Pack(tuple(calls), kind, span)


def _apply(
    context: FunctionContext,
    intrinsic: Intrinsic,
    values: dict[str, Value],
    node: ast.Call,
) -> Expr:
    """Convert the arguments and return the ``Apply`` node."""
    intrinsic = complex_form(intrinsic, any(map(_is_complex, values.values())))
    if intrinsic in IDENTITY_INTRINSICS:
        (given_one,) = map(require_number, values.values())
        kept = unchanged_operand(intrinsic, given_one)
        if kept is not None:
            return kept
    common = _common_type(context, intrinsic, values, node)
    half, common = common, common and compute_type(intrinsic, common)
    # the index is part of the array's place
    arguments = tuple(
        _element_address(intrinsic, values)
        if kind == "array"
        else _argument(kind, values[name], common)
        for name, kind in intrinsic.parameters
        if kind != "index"
    )
    _check_width(intrinsic, arguments)
    made = Apply(intrinsic, arguments, _result(intrinsic, common), context.span(node))
    return cast(made, half) if half is not None and made.type == common else made


def _check_width(intrinsic: Intrinsic, arguments: tuple[Expr, ...]) -> None:
    """Check that the width of a shuffle divides a warp."""
    if intrinsic.parameters[-1:] != (("width", "int"),):
        return
    width = arguments[-1]
    if isinstance(width, Const) and width.value not in WIDTHS:
        fail(
            "argument-type",
            Label(width.span, f"{intrinsic.name} takes a width that divides a warp"),
            hint=f"write one of {', '.join(map(str, WIDTHS))}",
        )


def _argument(kind: str, value: Value, common: Scalar | None) -> Expr:
    match kind:
        case "int":
            return require_integer(require_number(value))
        case "bool":
            return truth(require_number(value))
        case "coordinate":
            return coerce(require_number(value), float32)
        case _ if kind in HANDLE_KINDS:
            return require_value(value)
        case _ if kind in FIXED:
            return _of_type(require_number(value), Scalar(FIXED[kind]))
        case _:
            assert common is not None, kind
            return coerce(require_value(value), common)


def _of_type(e: Expr, wanted: Scalar) -> Expr:
    """Convert an argument to a fixed type; a float is not converted to an integer."""
    if wanted.dtype.is_integer and scalar_type(e).dtype.is_float:
        require_integer(e)
    return coerce(e, wanted)


def _is_complex(value: Value) -> bool:
    kind = getattr(value, "type", None)
    return isinstance(kind, Scalar) and kind.dtype.is_complex


def _common_type(
    context: FunctionContext, intrinsic: Intrinsic, values: dict[str, Value], node: ast.Call
) -> Scalar | None:
    """Return the type of the parameters T or F in a call."""
    arrays = [values[n] for n, kind in intrinsic.parameters if kind == "array"]
    handles = [(values[n], kind) for n, kind in intrinsic.parameters if kind in HANDLE_KINDS]
    if handles:
        return _texel_type(intrinsic, *handles[0])
    if arrays:
        common = _element_type(context, intrinsic, arrays[0], node)
    else:
        numbers = [
            scalar_type(require_number(values[n]))
            for n, k in intrinsic.parameters
            if k in ("T", "F")
        ]
        if not numbers:
            return None
        common = reduce(promote, numbers)
        if any(kind == "F" for _, kind in intrinsic.parameters) and common.dtype.is_integral:
            common = WEAK_FLOAT
        elif common == WEAK_BOOL and BOOL not in intrinsic.dtypes:
            common = WEAK_INT
        if intrinsic.name.startswith("complex.") and not common.dtype.is_complex:
            common = promote(common, WEAK_COMPLEX)
    check_accepted(
        intrinsic, common if arrays else compute_type(intrinsic, common), context.span(node)
    )
    return common


def _element_type(
    context: FunctionContext, intrinsic: Intrinsic, array: Value, node: ast.Call
) -> Scalar:
    if is_array(array):
        return array_type(array).element
    fail(
        "argument-type",
        Label(context.span(node), f"the first argument of {intrinsic.name} is an array"),
        hint=f"write {intrinsic.name}({', '.join(name for name, _ in intrinsic.parameters)})",
    )


def _texel_type(intrinsic: Intrinsic, value: Value, wanted: str) -> Scalar:
    """Return the element type of a texture or surface."""
    kind = getattr(value, "type", None)
    handle = kind.dtype.handle if isinstance(kind, Scalar) else None
    if handle is not None and f"{handle.access}{handle.axes}d" == wanted:
        return Scalar(handle.element)
    access = wanted[:-2]
    hint = f"make one on the host, cuda.{access}(…), and pass it to the kernel"
    if handle is not None and handle.access == access:
        hint = f"call {intrinsic.name.replace(wanted[-2] + 'D', f'{handle.axes}D')}"
    fail(
        "argument-type",
        Label(value.span, f"this is {describe(value)}; {intrinsic.name} takes a `{wanted}`"),
        hint=hint,
    )


def _element_address(intrinsic: Intrinsic, values: dict[str, Value]) -> Expr:
    kinds = {kind: name for name, kind in intrinsic.parameters}
    array = values[kinds["array"]]
    assert is_array(array)
    index: Value = _first(array)
    if "index" in kinds:
        index = values[kinds["index"]]
    items: list[Value] = list(index.items) if isinstance(index, TupleValue) else [index]
    span = index.span
    place = single_element_view(array, [require_number(item, "the index") for item in items], span)
    if intrinsic in (*LOADS, *STORES):
        _check_global(intrinsic, place, array.span)
    if intrinsic.effect is Effect.MEMORY:
        check_writable(place, array.span)
        _check_shared_by_threads(intrinsic, place, array.span)
        _check_aligned(place, array.span)
    return ElementOf(place.array, place.first, span, place.path)


def _first(array: ArrayValue) -> TupleValue:
    """Return the index of the first element."""
    return TupleValue(
        tuple(integer(0, array.span) for _ in range(array_type(array).ndim)), array.span
    )


def _check_global(intrinsic: Intrinsic, place: View, span: Span) -> None:
    """Check that an array is in global memory, which cache hints require."""
    space = array_type(place.array).space
    if space is not MemorySpace.GLOBAL:
        fail(
            "argument-type",
            Label(span, f"an array in {space.value} memory"),
            hint=f"{intrinsic.name} is for arrays in global memory: write a[i]",
        )


def _check_shared_by_threads(intrinsic: Intrinsic, place: View, span: Span) -> None:
    """Check that an array is not local: GPUs have no atomics on local memory."""
    if array_type(place.array).space is MemorySpace.LOCAL:
        fail(
            "argument-type",
            Label(span, "a local array: no other thread can access it"),
            hint=f"{intrinsic.name} is for arrays that threads share; write a[i] += … here",
        )


def _check_aligned(place: View, span: Span) -> None:
    """Check that a field is aligned, which atomics require."""
    record = array_type(place.array).dtype
    if place.path and record.alignment % place.type.dtype.alignment:
        fail(
            "argument-type",
            Label(span, f"a field of a record that is packed: `{place.type}`"),
            hint="make the dtype with align=True",
        )


def _result(intrinsic: Intrinsic, common: Scalar | None) -> Type:
    match intrinsic.result:
        case "None":
            return VOID
        case "int":
            return WEAK_INT
        case "bool":
            return WEAK_BOOL
        case "R":
            assert common is not None
            return Scalar(common.dtype.real, common.weak)
        case _ if intrinsic.result in FIXED:
            return Scalar(FIXED[intrinsic.result])
        case _:
            assert common is not None
            return common


def expanded_call(context: FunctionContext, intrinsic: Intrinsic, node: ast.Call) -> Value:
    """Lower a call of an intrinsic that expands to others."""
    names = tuple(name for name, _ in intrinsic.parameters)
    given = argument_values(context, node, names, intrinsic.name)
    brought = [
        _convert_argument(require_number(v), kind)
        for v, (_, kind) in zip(given, intrinsic.parameters)
    ]
    if len(intrinsic.expands_to) > 1:
        brought = [require_number(materialize(context, e, "given")) for e in brought]
    results = tuple(_typed_result(context, typed, brought, node) for typed in intrinsic.expands_to)
    return TupleValue(results, context.span(node)) if len(results) > 1 else results[0]


def _convert_argument(e: Expr, kind: str) -> Expr:
    """Convert an argument to the parameter's type; integers keep only their bits."""
    if kind not in FIXED:
        return e
    wanted = Scalar(FIXED[kind])
    if wanted.dtype.is_integer and not scalar_type(e).dtype.is_integral:
        require_integer(e)
    return cast(e, wanted)


def _typed_result(
    context: FunctionContext, typed: TypedOperation, given: list[Expr], node: ast.Call
) -> Expr:
    if typed.operand_types:
        given = [
            cast(e, Scalar(intrinsic))
            for e, intrinsic in zip(given, typed.operand_types, strict=True)
        ]
    if isinstance(typed.operation, Intrinsic):
        made = require_number(intrinsic_call(context, typed.operation, list(given), node))
    else:
        left, right = given
        made = arithmetic.binary(context, typed.operation, left, right, context.span(node))
    return made if typed.result_type is None else cast(made, Scalar(typed.result_type))

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
from pycu2c.frontend.evaluation_order import materialize, materialize_view
from pycu2c.frontend.expressions import arithmetic
from pycu2c.frontend.expressions.arithmetic import coerce, require_integer
from pycu2c.frontend.expressions.array_views import array_type, view_of_field
from pycu2c.frontend.expressions.bit_views import check_aligned, reject_reinterpreted
from pycu2c.frontend.expressions.subscripts import check_writable, single_element_view
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.statements.branches import for_each_array
from pycu2c.frontend.value_checks import describe, is_array, require_number, require_value
from pycu2c.frontend.values import ArraySelect, TupleValue, Value, map_leaves
from pycu2c.ir.builders import cast, integer, scalar_type, truth
from pycu2c.ir.nodes import Apply, Const, ElementOf, Expr, Member, Pack, View
from pycu2c.ops.intrinsics.floats.complex import complex_form
from pycu2c.ops.intrinsics.kinds import FIXED, HANDLE_KINDS
from pycu2c.ops.intrinsics.memory.atomic import COMPONENTWISE
from pycu2c.ops.intrinsics.memory.cache_hints import LOADS, STORES
from pycu2c.ops.intrinsics.reference_thread import WIDTHS
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, TypedOperation


def intrinsic_call(
    context: FunctionContext, intrinsic: Intrinsic, arguments: list[Value], node: ast.Call
) -> Value:
    """Lower a call; ``arguments`` are in the order of the parameters."""
    values = dict(zip((name for name, _ in intrinsic.parameters), arguments))
    array_name = next((n for n, kind in intrinsic.parameters if kind == "array"), "")
    array = values.get(array_name)
    if not isinstance(array, ArraySelect):
        return _call(context, intrinsic, values, node)
    values |= {n: materialize(context, v, n) for n, v in values.items() if n != array_name}
    return for_each_array(
        context, array, lambda a: _call(context, intrinsic, {**values, array_name: a}, node)
    )


def _call(
    context: FunctionContext, intrinsic: Intrinsic, values: dict[str, Value], node: ast.Call
) -> Value:
    """Lower a call with one array at the most; of a composite value, part by part."""
    if intrinsic.effect is Effect.WARP and intrinsic.result == "T":
        return _exchange(context, intrinsic, values, node)
    if intrinsic in COMPONENTWISE and "array" in values and _has_components(values["array"]):
        return _apply_to_components(context, intrinsic, values, node)
    return _apply(context, intrinsic, values, node)


def _has_components(value: Value) -> bool:
    """Return whether a value is a vector or complex number, or an array of them."""
    value_type = getattr(value, "type", None)
    if not isinstance(value_type, Scalar | Array):
        return False
    return value_type.dtype.is_vector or value_type.dtype.is_complex


def _apply_to_components(
    context: FunctionContext, intrinsic: Intrinsic, values: dict[str, Value], node: ast.Call
) -> Value:
    """Apply an atomic to each part of an element; return the old parts as one value."""
    values = {**values, "index": materialize(context, values["index"], "index")}
    span = context.span(node)
    element = materialize_view(context, _element_view(intrinsic, values), "start")
    element_type = element.type.element
    value = require_value(
        materialize(context, coerce(require_value(values["value"]), element_type), "value")
    )
    old_parts: list[Expr] = []
    for component in element_type.dtype.fields:
        part_type = Scalar(component.dtype)
        check_accepted(intrinsic, part_type, span)
        address = _address(intrinsic, view_of_field(element, component.name, span), span)
        old_parts.append(
            Apply(
                intrinsic,
                (address, Member(value, component.name, part_type, span)),
                part_type,
                span,
            )
        )
    return materialize(context, Pack(tuple(old_parts), element_type, span), "old")


def _exchange(
    context: FunctionContext, intrinsic: Intrinsic, values: dict[str, Value], node: ast.Call
) -> Value:
    """Exchange a value between lanes; of a tuple, each item."""
    exchanged = values["value"]
    if isinstance(exchanged, TupleValue):
        evaluated = {n: materialize(context, v, n) for n, v in values.items()}
        return map_leaves(
            evaluated["value"],
            lambda item: _exchange(context, intrinsic, {**evaluated, "value": item}, node),
        )
    if _has_components(exchanged):
        return _exchange_by_component(context, intrinsic, values, node)
    return _apply(context, intrinsic, values, node)


def _exchange_by_component(
    context: FunctionContext, intrinsic: Intrinsic, values: dict[str, Value], node: ast.Call
) -> Expr:
    """Exchange a vector or complex number between lanes with one call for each part."""
    evaluated = {name: materialize(context, value, name) for name, value in values.items()}
    composite = require_value(evaluated["value"])
    composite_type, span = scalar_type(composite), context.span(node)
    parts = [
        Member(composite, f.name, Scalar(f.dtype, composite_type.weak), span)
        for f in composite_type.dtype.fields
    ]
    calls = (_apply(context, intrinsic, {**evaluated, "value": part}, node) for part in parts)
    return Pack(tuple(calls), composite_type, span)


def _apply(
    context: FunctionContext,
    intrinsic: Intrinsic,
    values: dict[str, Value],
    node: ast.Call,
) -> Expr:
    """Convert the arguments and return the ``Apply`` node."""
    intrinsic = complex_form(intrinsic, any(map(_is_complex, values.values())))
    if intrinsic in IDENTITY_INTRINSICS:
        (operand,) = map(require_number, values.values())
        unchanged = unchanged_operand(intrinsic, operand)
        if unchanged is not None:
            return unchanged
    result_type = _common_type(context, intrinsic, values, node)
    common = result_type and compute_type(intrinsic, result_type)
    # the index is part of the element's address
    arguments = tuple(
        _element_address(intrinsic, values)
        if kind == "array"
        else _lower_argument(kind, values[name], common)
        for name, kind in intrinsic.parameters
        if kind != "index"
    )
    _check_shuffle_width(intrinsic, arguments)
    result = Apply(intrinsic, arguments, _result_type(intrinsic, common), context.span(node))
    return cast(result, result_type) if result_type and result.type == common else result


def _check_shuffle_width(intrinsic: Intrinsic, arguments: tuple[Expr, ...]) -> None:
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


def _lower_argument(kind: str, value: Value, common: Scalar | None) -> Expr:
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
            return _convert_to_fixed_type(require_number(value), Scalar(FIXED[kind]))
        case _:
            assert common is not None, kind
            return coerce(require_value(value), common)


def _convert_to_fixed_type(e: Expr, parameter_type: Scalar) -> Expr:
    """Convert an argument to a fixed type; a float is not converted to an integer."""
    if parameter_type.dtype.is_integer and scalar_type(e).dtype.is_float:
        require_integer(e)
    return coerce(e, parameter_type)


def _is_complex(value: Value) -> bool:
    value_type = getattr(value, "type", None)
    return isinstance(value_type, Scalar) and value_type.dtype.is_complex


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
        number_types = [
            scalar_type(require_number(values[n]))
            for n, k in intrinsic.parameters
            if k in ("T", "F")
        ]
        if not number_types:
            return None
        common = reduce(promote, number_types)
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


def _texel_type(intrinsic: Intrinsic, value: Value, parameter_type: str) -> Scalar:
    """Return the element type of a texture or surface."""
    value_type = getattr(value, "type", None)
    handle = value_type.dtype.handle if isinstance(value_type, Scalar) else None
    if handle is not None and f"{handle.access}{handle.axes}d" == parameter_type:
        return Scalar(handle.element)
    access = parameter_type[:-2]
    hint = f"make one on the host, cuda.{access}(…), and pass it to the kernel"
    if handle is not None and handle.access == access:
        hint = f"call {intrinsic.name.replace(parameter_type[-2] + 'D', f'{handle.axes}D')}"
    fail(
        "argument-type",
        Label(
            value.span, f"this is {describe(value)}; {intrinsic.name} takes a `{parameter_type}`"
        ),
        hint=hint,
    )


def _element_address(intrinsic: Intrinsic, values: dict[str, Value]) -> Expr:
    view = _element_view(intrinsic, values)
    return _address(intrinsic, view, view.span)


def _address(intrinsic: Intrinsic, view: View, span: Span) -> Expr:
    reject_reinterpreted(view, f"{intrinsic.name} takes an array with the dtype of its memory")
    return ElementOf(view.array, view.first, span, view.path)


def _element_view(intrinsic: Intrinsic, values: dict[str, Value]) -> View:
    """Return the element that an intrinsic accesses, as a view without axes."""
    names_by_kind = {kind: name for name, kind in intrinsic.parameters}
    array = values[names_by_kind["array"]]
    assert is_array(array)
    zeros = tuple(integer(0, array.span) for _ in range(array_type(array).ndim))
    first_index: Value = TupleValue(zeros, array.span)
    index = values[names_by_kind["index"]] if "index" in names_by_kind else first_index
    items: list[Value] = list(index.items) if isinstance(index, TupleValue) else [index]
    span = index.span
    view = single_element_view(array, [require_number(item, "the index") for item in items], span)
    space = array_type(view.array).space
    if intrinsic in (*LOADS, *STORES) and space is not MemorySpace.GLOBAL:
        fail(
            "argument-type",
            Label(array.span, f"an array in {space.value} memory"),
            hint=f"{intrinsic.name} is for arrays in global memory: write a[i]",
        )
    if intrinsic.effect is Effect.MEMORY:
        check_writable(view, array.span)
        if space is MemorySpace.LOCAL:  # GPUs have no atomics on local memory
            fail(
                "argument-type",
                Label(array.span, "a local array: no other thread can access it"),
                hint=f"{intrinsic.name} is for arrays that threads share; write a[i] += … here",
            )
        check_aligned(view, array.span, "with align=True")
    return view


def _result_type(intrinsic: Intrinsic, common: Scalar | None) -> Type:
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
    """Lower a call of an intrinsic that expands to others with fixed types: ``libdevice.sinf``."""
    names = tuple(name for name, _ in intrinsic.parameters)
    arguments = argument_values(context, node, names, intrinsic.name)
    operands = [
        _convert_argument(require_number(v), kind)
        for v, (_, kind) in zip(arguments, intrinsic.parameters)
    ]
    if len(intrinsic.expands_to) > 1:
        operands = [require_number(materialize(context, e, "given")) for e in operands]
    results = tuple(
        _typed_result(context, operation, operands, node) for operation in intrinsic.expands_to
    )
    return TupleValue(results, context.span(node)) if len(results) > 1 else results[0]


def _convert_argument(e: Expr, kind: str) -> Expr:
    """Convert an argument to the parameter's type; integers keep only their bits."""
    if kind not in FIXED:
        return e
    parameter_type = Scalar(FIXED[kind])
    if parameter_type.dtype.is_integer and not scalar_type(e).dtype.is_integral:
        require_integer(e)
    return cast(e, parameter_type)


def _typed_result(
    context: FunctionContext, step: TypedOperation, operands: list[Expr], node: ast.Call
) -> Expr:
    if step.operand_types:
        pairs = zip(operands, step.operand_types, strict=True)
        operands = [cast(e, Scalar(dtype)) for e, dtype in pairs]
    if isinstance(step.operation, Intrinsic):
        result = require_number(intrinsic_call(context, step.operation, list(operands), node))
    else:
        left, right = operands
        result = arithmetic.binary(context, step.operation, left, right, context.span(node))
    return result if step.result_type is None else cast(result, Scalar(step.result_type))

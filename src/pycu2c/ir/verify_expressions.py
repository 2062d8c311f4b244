"""Verify single expressions: the types of operands and results.

``verifier`` traverses the tree and checks scopes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from pycu2c.base.dtypes import DType, DTypeKind
from pycu2c.base.types import VOID, WEAK_BOOL, WEAK_INT, Array, MemorySpace, Scalar, Type, float32
from pycu2c.base.values import fits
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import path_indices
from pycu2c.ops.intrinsics.kinds import FIXED, FORM_RESULT, HANDLE_KINDS, TYPE_DETERMINING_KINDS
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.ops.operators import NOT


def expression_violations(e: ir.Expr) -> Iterator[str]:
    """Yield the violations of a node, without those of its children."""
    match e:
        case ir.Var() | ir.Load() | ir.ElementOf() | ir.Let() | ir.Call():
            return
        case ir.Binary():
            yield from _binary(e)
        case ir.Const():
            yield from _const(e)
        case ir.Unary():
            yield from _unary(e)
        case ir.Logical():
            for side in (e.left, e.right):
                if not is_bool(side.type):
                    yield f"`{e.op.value}` takes bools, not {side.type}"
        case ir.Select():
            yield from _select(e)
        case ir.Cast():
            if not isinstance(e.operand.type, Scalar):
                yield f"a {e.operand.type} is converted to {e.type}"
        case ir.Dim() | ir.Stride():
            yield from _axis(e)
        case ir.Member():
            yield from _member(e)
        case ir.Item():
            yield from _item(e)
        case ir.Pack():
            yield from _pack(e)
        case ir.View():
            yield from _view(e)
        case ir.Apply():
            yield from _apply(e)
        case _:
            assert_never(e)


def is_bool(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.dtype.kind is DTypeKind.BOOL


def is_integer(type_: Type) -> bool:
    return isinstance(type_, Scalar) and type_.dtype.is_integer


def index_violations(access: ir.Load | ir.ElementOf | ir.Store, is_pointer: bool) -> Iterator[str]:
    """Yield violations of indices: one integer per axis, or one linear index."""
    type_ = access.array.type
    if not isinstance(type_, Array):
        yield f"{access.array.name} is indexed, but is not an array"
        return
    axes = 1 + ir.in_cluster(access.array) if is_pointer else type_.ndim
    if len(access.indices) != axes and not is_linear_index(type_, access.indices):
        yield f"{access.array.name} has {axes} axes, but {len(access.indices)} indices"
    for index in access.indices:
        if not is_integer(index.type):
            yield f"an index is {index.type}"


def is_linear_index(type_: Array, indices: tuple[ir.Expr, ...]) -> bool:
    """Return whether a single index is a linear index into an array of more axes."""
    thread_axes = type_.space is MemorySpace.BLOCK  # the first axis of a context array
    return type_.layout == "C" and type_.ndim - thread_axes > 1 and len(indices) - thread_axes == 1


def _const(e: ir.Const) -> Iterator[str]:
    dtype = e.type.dtype
    expected = bool if dtype.kind is DTypeKind.BOOL else float if dtype.is_float else int
    if type(e.value) is not expected:
        yield f"{e.value!r} is not a value of {e.type}"
    elif expected is int and e.type != WEAK_INT and not fits(int(e.value), e.type):
        yield f"{e.value} does not fit {e.type}"  # a weak literal takes the type of its operand


def _unary(e: ir.Unary) -> Iterator[str]:
    type_ = e.operand.type
    if not isinstance(type_, Scalar) or e.op.operand(type_) != type_:
        yield f"`{e.op}` has no variant for {type_}"
    elif e.op is NOT and not is_bool(type_):
        yield f"`not` takes a bool, not {type_}"
    elif e.type != e.op.result(type_):
        yield f"`{e.op}` of {type_} is {e.op.result(type_)}, not {e.type}"


def _binary(e: ir.Binary) -> Iterator[str]:
    type_ = e.left.type
    if type_ != e.right.type:
        yield f"`{e.op}` has operands {type_} and {e.right.type}"
    elif not isinstance(type_, Scalar) or e.op.operands(type_, type_) != type_:
        yield f"`{e.op}` has no variant for {type_}"
    elif e.type != e.op.result(type_):
        yield f"`{e.op}` of {type_} is {e.op.result(type_)}, not {e.type}"


def _select(e: ir.Select) -> Iterator[str]:
    if not is_bool(e.condition.type):
        yield f"a condition is {e.condition.type}"
    for arm in (e.then, e.orelse):
        if arm.type != e.type:
            yield f"an operand of a selection is {arm.type}, the result {e.type}"


def _axis(e: ir.Dim | ir.Stride) -> Iterator[str]:
    type_ = e.array.type
    if not isinstance(type_, Array):
        yield f"{e.array.name} is not an array"
    elif not 0 <= e.axis < type_.ndim:
        yield f"{e.array.name} has no axis {e.axis}"
    if not is_integer(e.type):
        yield f"a length is {e.type}"


def _member(e: ir.Member) -> Iterator[str]:
    type_ = e.operand.type
    record_field = type_.dtype.field(e.field) if isinstance(type_, Scalar) else None
    if record_field is None:
        yield f"a {type_} has no field {e.field}"
    elif record_field.dtype is not e.type.dtype:
        yield f"{e.field} is {record_field.dtype}, not {e.type}"


def _item(e: ir.Item) -> Iterator[str]:
    type_ = e.operand.type
    element = type_.dtype.element if isinstance(type_, Scalar) else None
    if element is None or element is not e.type.dtype:
        yield f"an element of {type_} is not {e.type}"
    if not is_integer(e.index.type):
        yield f"an index is {e.index.type}"


def _pack(e: ir.Pack) -> Iterator[str]:
    dtype = e.type.dtype
    expected = [f.dtype for f in dtype.fields]
    if dtype.element is not None:
        expected = [dtype.element] * dtype.extents[0]
    actual = [p.type.dtype if isinstance(p.type, Scalar) else None for p in e.parts]
    if expected != actual:
        yield f"{e.type} is built from {', '.join(str(p.type) for p in e.parts)}"


def _view(e: ir.View) -> Iterator[str]:
    type_, lowest_axis = e.array.type, -len(path_indices(e.path))  # axis ~k is an index of the path
    if not isinstance(type_, Array) or not (
        len(e.first) == type_.ndim or is_linear_index(type_, e.first)
    ):
        yield f"a view of {type_} has {len(e.first)} indices"
    elif len(e.axes) != e.type.ndim or not all(lowest_axis <= a < len(e.first) for a in e.axes):
        yield f"a view {e.type} follows the axes {e.axes} of {type_}"
    elif not len(e.axes) == len(e.steps) == len(e.lengths):
        yield "a view needs a step and a length for each axis"
    indices = (*e.first, *e.steps, *e.lengths, *path_indices(e.path))
    if not all(is_integer(n.type) for n in indices):
        yield "an index, step or length of a view is not an integer"


def _apply(e: ir.Apply) -> Iterator[str]:
    intrinsic = e.intrinsic
    kinds = [kind for _, kind in intrinsic.parameters if kind != "index"]
    if intrinsic.effect is Effect.FORM:
        yield f"{intrinsic.name} must be lowered by the front end"
        return
    if len(kinds) != len(e.arguments):
        yield f"{intrinsic.name} takes {len(kinds)} arguments, not {len(e.arguments)}"
        return
    pairs = list(zip(kinds, e.arguments))
    for kind, argument in pairs:
        yield from _argument(intrinsic.name, kind, argument)
    inferred = [_type_variable(kind, argument) for kind, argument in pairs]
    types = [found for found in inferred if found is not None]
    if len(set(types)) > 1:
        yield f"{intrinsic.name} has arguments {' and '.join(map(str, types))}"
    yield from _result(e, types[0] if types else None)


def _type_variable(kind: str, argument: ir.Expr) -> Type | None:
    """Return the type T that an argument implies; None if it implies none."""
    if kind in HANDLE_KINDS:
        handle = argument.type.dtype.handle if isinstance(argument.type, Scalar) else None
        return Scalar(handle.element) if handle else VOID
    return argument.type if kind in TYPE_DETERMINING_KINDS else None


def _argument(name: str, kind: str, argument: ir.Expr) -> Iterator[str]:
    match kind:
        case "array" | "place" if not isinstance(argument, ir.ElementOf):
            yield f"{name} takes an element, not {argument.type}"
        case "coordinate" if argument.type != float32:
            yield f"a coordinate of {name} is {argument.type}"
        case _ if kind in HANDLE_KINDS and not _is_handle(argument.type, kind):
            yield f"{name} takes a {kind}, not a {argument.type}"
        case "int" if not is_integer(argument.type):
            yield f"an int of {name} is {argument.type}"
        case "bool" if argument.type != WEAK_BOOL:
            yield f"a bool of {name} is {argument.type}"
        case _ if kind in FIXED and _dtype(argument) is not FIXED[kind]:
            yield f"a {kind} of {name} is {argument.type}"


def _dtype(e: ir.Expr) -> DType | None:
    return e.type.dtype if isinstance(e.type, Scalar) else None


def _is_handle(actual: Type, kind: str) -> bool:
    return isinstance(actual, Scalar) and str(actual).startswith(f"{kind}[")


def _result(e: ir.Apply, common: Type | None) -> Iterator[str]:
    intrinsic = e.intrinsic
    if intrinsic.dtypes and isinstance(common, Scalar) and common.dtype not in intrinsic.dtypes:
        yield f"{intrinsic.name} has no variant for {common}"
    if intrinsic.result in FIXED:
        if _dtype(e) is not FIXED[intrinsic.result]:
            yield f"{intrinsic.name} does not return {e.type}"
        return
    is_valid = {
        "None": e.type == VOID,
        "int": is_integer(e.type) and isinstance(e.type, Scalar) and e.type.weak,
        "bool": e.type == WEAK_BOOL,
        FORM_RESULT: isinstance(e.type, Scalar),
        "R": isinstance(common, Scalar) and e.type == Scalar(common.dtype.real, common.weak),
    }.get(intrinsic.result, e.type == common)
    if not is_valid:
        yield f"{intrinsic.name} does not return {e.type}"

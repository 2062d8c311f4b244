"""Resolve names: locals, and the Python objects that globals are bound to at compile time."""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from pycu2c.base import dtypes, vectors
from pycu2c.base.diagnostics import CompileError, Label, fail
from pycu2c.base.limits import MAX_AXES
from pycu2c.base.source import Span, Unbound, bound_object
from pycu2c.base.spelling_suggestions import UnknownNameError, did_you_mean
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.base.values import scalar_of
from pycu2c.frontend import hints
from pycu2c.frontend.function_context import (
    Closure,
    FunctionContext,
    StaticObject,
    TupleValue,
    UnknownType,
    Value,
)
from pycu2c.frontend.scope.variables import read_variable, with_span
from pycu2c.frontend.subset.subset_check import unassigned_read
from pycu2c.frontend.subset.unsupported_syntax import TOO_WIDE
from pycu2c.ir import builders
from pycu2c.ir.nodes import Apply, ConstantArray, Var
from pycu2c.ops.intrinsics.registry import bound_to
from pycu2c.ops.names.cuda_namespace import CUDA
from pycu2c.ops.names.numba_names import CURES, numba_name


def resolve(context: FunctionContext, node: ast.Name) -> Value:
    """Return the value of a name."""
    for overlay in reversed(context.comprehension_scopes):
        if node.id in overlay:
            return with_span(overlay[node.id], context.span(node))
    if node.id in context.ranges.locals:
        return _local(context, node)
    found = bound_object(context.source.python, node.id)
    if isinstance(found, Unbound) and node.id in context.source.python.__code__.co_freevars:
        fail(
            "name",
            Label(context.span(node), f"`{node.id}` of the enclosing function has no value yet"),
            hint="assign it before the kernel is compiled",
        )
    if isinstance(found, Unbound):
        builtin = did_you_mean(node.id, dir(builtins), "define or import it before the kernel")
        hint = did_you_mean(node.id, _visible(context), builtin)
        fail(
            "name",
            Label(context.span(node), f"`{node.id}` is not defined"),
            hint=hints.defined_elsewhere(node.id) or hint,
        )
    return value_of_object(context, found, node.id, context.span(node))


def _local(context: FunctionContext, node: ast.Name) -> Value:
    if any(node is missing for missing in context.ranges.undefined):
        raise CompileError([unassigned_read(context.source, node)])
    name = context.ranges.names.get(id(node))
    if name is None:  # in unreachable code
        raise UnknownType
    return close_over_current(context, read_variable(context, name, context.span(node)))


def close_over_current(context: FunctionContext, value: Value) -> Value:
    """Return a value in which open closures capture the current variables."""
    match value:
        case Closure(is_open=True):
            return bind_captures(context, value, value.span)
        case TupleValue():
            items = tuple(close_over_current(context, item) for item in value.items)
            return TupleValue(items, value.span, value.names)
        case _:
            return value


def bind_captures(context: FunctionContext, closure: Closure, span: Span) -> Closure:
    """Return a local function with the current values of its captured variables."""
    values: list[Value] = []
    for name in closure.function.captured:
        own = context.bound.get(context.ranges.names.get(id(name), ""))
        if isinstance(own, Closure) and own.function is closure.function:
            fail(
                "recursion",
                Label(span, f"`{name.id}` calls itself"),
                hint="write it as a loop, or as a @device function with a declared signature",
            )
        values.append(with_span(resolve(context, name), span))
    return Closure(closure.function, closure.defaults, TupleValue(tuple(values), span), span)


def _visible(context: FunctionContext) -> list[str]:
    """Return the user's own names, which have precedence in suggestions."""
    return [*context.ranges.locals, *context.source.python.__globals__]


def value_of_object(context: FunctionContext, found: object, name: str, span: Span) -> Value:
    """Return a Python object as a value; a NumPy array becomes a constant array."""
    if not isinstance(found, np.ndarray):
        return static_value(found, span)
    if id(found) not in context.constants:
        context.constants[id(found)] = constant_array(found, context.constant_name(name), span)
    return with_span(context.constants[id(found)].var, span)


_MOST_CONSTANT_BYTES = 64 * 1024


def check_constant_bytes(size: int, span: Span) -> None:
    """Reject an array that exceeds the size of constant memory."""
    if size > _MOST_CONSTANT_BYTES:
        fail(
            "global-value",
            Label(span, f"{size} bytes; constant memory has {_MOST_CONSTANT_BYTES}"),
            hint="pass it as an array, an argument of the kernel",
        )


def constant_array(found: np.ndarray[Any, Any], name: str, span: Span) -> ConstantArray:
    """Return a global array as constant memory with its current values."""
    dtype = dtypes.from_numpy(found.dtype)
    if (
        dtype is None
        or dtype.kind is dtypes.DTypeKind.RECORD
        or not 1 <= found.ndim <= MAX_AXES
        or not found.size
    ):
        axes = hints.count_phrase(found.ndim, "axis", "axes")
        what = f"an array of {found.dtype} with {axes}" if found.size else "an array of no elements"
        hint = f"pass others as arguments{hints.record_as_vector_hint(dtype)}"
        if not found.dtype.isnative:
            hint = 'turn its bytes round: a.astype(a.dtype.newbyteorder("="))'
        fail(
            "global-value",
            Label(span, what),
            hint=f"constant arrays hold numbers or vectors, on one axis or more; {hint}",
        )
    check_constant_bytes(found.nbytes, span)
    kind = Array(dtype, found.ndim, "C", MemorySpace.CONSTANT, found.shape)
    values = tuple(builders.literal(number, span) for number in found.ravel())
    return ConstantArray(Var(name, kind, span), values)


def static_value(found: object, span: Span) -> Value:
    """Return a Python object as a value; numbers become constants."""
    found = numba_name(found) or found
    intrinsic = bound_to(found)
    if intrinsic is not None and intrinsic.is_attribute:
        least, greatest = intrinsic.bounds or (None, None)
        if least is not None and least == greatest:
            return builders.integer(least, span)
        return Apply(intrinsic, (), WEAK_INT, span)
    if intrinsic is not None:
        return StaticObject(intrinsic, span)
    if isinstance(found, (bool, int, float, complex, np.generic)):
        return _constant(found, span)
    if isinstance(found, tuple) and isinstance(found, vectors.Vector):
        return _constant(found, span)
    if isinstance(found, tuple):
        names = getattr(found, "_fields", ())
        return TupleValue(tuple(static_value(item, span) for item in found), span, names)
    return StaticObject(found, span)


def _constant(found: Any, span: Span) -> Value:
    known = scalar_of(found)
    if known is None:
        fail(
            "global-value",
            Label(span, f"this is a `{type(found).__name__}`"),
            hint="convert it to a number where it is defined",
        )
    if known == WEAK_INT and not -(2**63) <= int(found) < 2**64:
        fail(TOO_WIDE.code, Label(span, TOO_WIDE.text), hint=TOO_WIDE.hint)
    return builders.literal(found, span)


def attribute(
    context: FunctionContext, owner: StaticObject, name: str, node: ast.Attribute
) -> Value:
    """Return the attribute of a compile-time object: ``module.name``, ``cuda.threadIdx.x``."""
    value = owner.value
    if isinstance(value, Scalar) and not hasattr(value, name):  # attributes of NumPy's dtypes
        value = value.dtype.numpy
    try:
        found = getattr(value, name)
    except AttributeError as error:
        shown, known = ast.unparse(node.value), _attributes(value)
        of_cuda = CURES.get(name) if CUDA in (owner.value, error.obj) else None
        hint = error.hint if isinstance(error, UnknownNameError) else of_cuda
        fail(
            "name",
            Label(context.span(node), f"`{shown}` has no `{name}`"),
            hint=hint or did_you_mean(name, known, _listed(shown, known), f"{shown}."),
        )
    except Exception as error:  # from a user's property
        fail(
            "global-value",
            Label(context.span(node), f"reading this raises {type(error).__name__}: {error}"),
            hint="compute it before the kernel is defined",
        )
    return value_of_object(context, found, name, context.span(node))


def _attributes(owner: object) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def _listed(owner: str, known: list[str]) -> str:
    if not known:
        return f"set it before the kernel is compiled; {owner} has nothing yet"
    return f"it has {', '.join(known)}" if len(known) < 16 else f"dir({owner}) lists what it has"

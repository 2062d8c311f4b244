"""Resolve names: locals, and the Python objects that globals are bound to at compile time."""

from __future__ import annotations

import ast
import builtins
from typing import Any, TypeGuard

import numpy as np

from pycu2c.base import dtypes, vectors
from pycu2c.base.diagnostics import CompileError, Label, fail
from pycu2c.base.limits import MAX_AXES
from pycu2c.base.source import Span, Unbound, bound_object
from pycu2c.base.spelling_suggestions import UnknownNameError, did_you_mean
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.base.values import scalar_of
from pycu2c.frontend import hints
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope.variables import read_variable, with_span
from pycu2c.frontend.subset.subset_check import unassigned_read
from pycu2c.frontend.subset.unsupported_syntax import INTEGER_TOO_WIDE
from pycu2c.frontend.values import Closure, StaticObject, TupleValue, Value
from pycu2c.ir import builders
from pycu2c.ir.nodes import Apply, ConstantArray, Var
from pycu2c.ops.intrinsics.registry import bound_to
from pycu2c.ops.names.cuda_namespace import CUDA
from pycu2c.ops.names.numba_names import numba_name, replacement_hint


def resolve(context: FunctionContext, node: ast.Name) -> Value:
    """Return the value of a name."""
    for scope in reversed(context.comprehension_scopes):
        if node.id in scope:
            return with_span(scope[node.id], context.span(node))
    if node.id in context.ranges.locals:
        return _local(context, node)
    bound = bound_object(context.source.python, node.id)
    if isinstance(bound, Unbound) and node.id in context.source.python.__code__.co_freevars:
        fail(
            "name",
            Label(context.span(node), f"`{node.id}` of the enclosing function has no value yet"),
            hint="assign it before the kernel is compiled",
        )
    if isinstance(bound, Unbound):
        builtin = did_you_mean(node.id, dir(builtins), "define or import it before the kernel")
        hint = did_you_mean(node.id, _user_names(context), builtin)
        fail(
            "name",
            Label(context.span(node), f"`{node.id}` is not defined"),
            hint=hints.defined_elsewhere(node.id) or hint,
        )
    return value_of_object(context, bound, node.id, context.span(node))


def _local(context: FunctionContext, node: ast.Name) -> Value:
    if any(node is missing for missing in context.ranges.undefined):
        raise CompileError([unassigned_read(context.source, node)])
    variable = read_variable(context, context.variable_name(node), context.span(node))
    return capture_current_values(context, variable)


def capture_current_values(context: FunctionContext, value: Value) -> Value:
    """Return a value in which open closures capture the current variables."""
    match value:
        case Closure(is_open=True):
            return bind_captures(context, value, value.span)
        case TupleValue():
            items = tuple(capture_current_values(context, item) for item in value.items)
            return TupleValue(items, value.span, value.names)
        case _:
            return value


def bind_captures(context: FunctionContext, closure: Closure, span: Span) -> Closure:
    """Return a local function with the current values of its captured variables."""
    values: list[Value] = []
    for name in closure.function.captured:
        bound = context.bound_values.get(context.ranges.names.get(id(name), ""))
        if isinstance(bound, Closure) and bound.function is closure.function:
            fail(
                "recursion",
                Label(span, f"`{name.id}` calls itself"),
                hint="write it as a loop, or as a @device function with a declared signature",
            )
        values.append(with_span(resolve(context, name), span))
    return Closure(closure.function, closure.defaults, TupleValue(tuple(values), span), span)


def _user_names(context: FunctionContext) -> list[str]:
    """Return the user's own names, which have precedence in suggestions."""
    return [*context.ranges.locals, *context.source.python.__globals__]


def value_of_object(context: FunctionContext, value: object, name: str, span: Span) -> Value:
    """Return a Python object as a value; NumPy arrays, also in tuples, become constant arrays."""
    if _contains_arrays(value):
        items = enumerate(value)
        values = [value_of_object(context, item, f"{name}_{i}", span) for i, item in items]
        return TupleValue(tuple(values), span, getattr(value, "_fields", ()))
    if not isinstance(value, np.ndarray):
        return static_value(value, span)
    if id(value) not in context.constants:
        context.constants[id(value)] = constant_array(value, context.constant_name(name), span)
    return with_span(context.constants[id(value)].var, span)


def _contains_arrays(value: object) -> TypeGuard[tuple[object, ...]]:
    """Return whether a value is a tuple of arrays that can be constant, and of other objects."""
    if not isinstance(value, tuple):
        return False
    arrays = [item for item in value if isinstance(item, np.ndarray)]
    if not all(map(_can_be_constant, arrays)):
        return False
    return bool(arrays) or any(map(_contains_arrays, value))


_MAX_CONSTANT_BYTES = 64 * 1024


def check_constant_bytes(size: int, span: Span) -> None:
    """Reject an array that exceeds the size of constant memory."""
    if size > _MAX_CONSTANT_BYTES:
        fail(
            "global-value",
            Label(span, f"{size} bytes; constant memory has {_MAX_CONSTANT_BYTES}"),
            hint="pass it as an array, an argument of the kernel",
        )


def _can_be_constant(array: np.ndarray[Any, Any]) -> bool:
    return dtypes.from_numpy(array.dtype) is not None and 1 <= array.ndim <= MAX_AXES


def constant_array(array: np.ndarray[Any, Any], name: str, span: Span) -> ConstantArray:
    """Return a global array as constant memory with its current values."""
    dtype = dtypes.from_numpy(array.dtype)
    if dtype is None or not _can_be_constant(array):
        axes = hints.count_phrase(array.ndim, "axis")
        text = f"an array of {array.dtype} with {axes}"
        hint = "pass others as arguments"
        if not array.dtype.isnative:
            hint = 'reverse its bytes: a.astype(a.dtype.newbyteorder("="))'
        fail(
            "global-value",
            Label(span, text),
            hint=f"constant arrays hold numbers, vectors or records, on one axis or more; {hint}",
        )
    check_constant_bytes(array.nbytes, span)
    array_type = Array(dtype, array.ndim, "C", MemorySpace.CONSTANT, array.shape)
    values = tuple(builders.literal(number, span) for number in array.ravel())
    return ConstantArray(Var(name, array_type, span), values)


def static_value(value: object, span: Span) -> Value:
    """Return a Python object as a value; numbers become constants."""
    value = numba_name(value) or value
    intrinsic = bound_to(value)
    if intrinsic is not None and intrinsic.is_special_register:
        lower_bound, upper_bound = intrinsic.bounds or (None, None)
        if lower_bound is not None and lower_bound == upper_bound:
            return builders.integer(lower_bound, span)
        return Apply(intrinsic, (), WEAK_INT, span)
    if intrinsic is not None:
        return StaticObject(intrinsic, span)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return _constant(value, span)
    if isinstance(value, tuple) and isinstance(value, vectors.Vector):
        return _constant(value, span)
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ())
        return TupleValue(tuple(static_value(item, span) for item in value), span, names)
    return StaticObject(value, span)


def _constant(value: Any, span: Span) -> Value:
    scalar_type = scalar_of(value)
    if scalar_type is None:
        fail(
            "global-value",
            Label(span, f"this is a `{type(value).__name__}`"),
            hint="convert it to a number where it is defined",
        )
    if scalar_type == WEAK_INT and not -(2**63) <= int(value) < 2**64:
        INTEGER_TOO_WIDE.report(span)
    return builders.literal(value, span)


def attribute(
    context: FunctionContext, owner: StaticObject, name: str, node: ast.Attribute
) -> Value:
    """Return the attribute of a compile-time object: ``module.name``, ``cuda.threadIdx.x``."""
    value = owner.value
    if isinstance(value, Scalar) and not hasattr(value, name):  # attributes of NumPy's dtypes
        value = value.dtype.numpy
    try:
        member = getattr(value, name)
    except AttributeError as error:
        owner_text = ast.unparse(node.value)
        names = [n for n in dir(value) if not n.startswith("_")]
        numba_hint = replacement_hint(name) if CUDA in (owner.value, error.obj) else None
        hint = error.hint if isinstance(error, UnknownNameError) else numba_hint
        fail(
            "name",
            Label(context.span(node), f"`{owner_text}` has no `{name}`"),
            hint=hint
            or did_you_mean(name, names, _attribute_list(owner_text, names), f"{owner_text}."),
        )
    except Exception as error:  # from a user's property
        fail(
            "global-value",
            Label(context.span(node), f"reading this raises {type(error).__name__}: {error}"),
            hint="compute it before the kernel is defined",
        )
    return value_of_object(context, member, name, context.span(node))


def _attribute_list(owner: str, names: list[str]) -> str:
    """Return the hint that lists the attributes of an object."""
    if not names:
        return f"set it before the kernel is compiled; {owner} has no attributes yet"
    return f"it has {', '.join(names)}" if len(names) < 16 else f"dir({owner}) lists its attributes"

"""What a name means: a local, or the Python object it is bound to when the kernel is compiled."""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from pycu2c.base import dtypes, vectors
from pycu2c.base.diagnostics import CompileError, Label, fail
from pycu2c.base.limits import MOST_AXES
from pycu2c.base.source import Span, Unbound, bound_name
from pycu2c.base.spelling_suggestions import NoSuchName, did_you_mean
from pycu2c.base.types import WEAK_INT, Array, Scalar, Space
from pycu2c.base.values import scalar_of
from pycu2c.frontend.function_context import Closure, Frame, Items, Static, Unknown, Value
from pycu2c.frontend.hints import records, replacements
from pycu2c.frontend.scope.variables import at, read
from pycu2c.frontend.subset.early_checks import unassigned
from pycu2c.frontend.subset.unsupported_syntax import TOO_WIDE
from pycu2c.ir import builders
from pycu2c.ir.nodes import Apply, ConstantArray, Var
from pycu2c.ops.intrinsics.registry import bound_to
from pycu2c.ops.names.cuda_namespace import CUDA
from pycu2c.ops.names.numba_names import CURES, numba_name


def resolve(frame: Frame, node: ast.Name) -> Value:
    """The value of a name in a kernel."""
    for overlay in reversed(frame.scopes):
        if node.id in overlay:
            return at(overlay[node.id], frame.span(node))
    if node.id in frame.ranges.locals:
        return _local(frame, node)
    found = bound_name(frame.source.python, node.id)
    if isinstance(found, Unbound) and node.id in frame.source.python.__code__.co_freevars:
        fail(
            "name",
            Label(frame.span(node), f"`{node.id}` of the function around has no value yet"),
            help="assign it before the kernel is compiled",
        )
    if isinstance(found, Unbound):
        builtin = did_you_mean(node.id, dir(builtins), "define or import it before the kernel")
        cure = did_you_mean(node.id, _visible(frame), builtin)
        fail(
            "name",
            Label(frame.span(node), f"`{node.id}` is not defined"),
            help=replacements.defined_elsewhere(node.id) or cure,
        )
    return placed(frame, found, node.id, frame.span(node))


def _local(frame: Frame, node: ast.Name) -> Value:
    if any(node is missing for missing in frame.ranges.undefined):
        raise CompileError([unassigned(frame.source, node)])
    name = frame.ranges.names.get(id(node))
    if name is None:  # in code that cannot be reached
        raise Unknown
    return as_of_now(frame, read(frame, name, frame.span(node)))


def as_of_now(frame: Frame, value: Value) -> Value:
    """What a name stands for, with local functions that read their variables now."""
    match value:
        case Closure(is_open=True):
            return with_variables(frame, value, value.span)
        case Items():
            items = tuple(as_of_now(frame, item) for item in value.items)
            return Items(items, value.span, value.names)
        case _:
            return value


def with_variables(frame: Frame, closure: Closure, span: Span) -> Closure:
    """A local function where it is used: with what it reads as that is now."""
    values: list[Value] = []
    for name in closure.function.captured:
        own = frame.bound.get(frame.ranges.names.get(id(name), ""))
        if isinstance(own, Closure) and own.function is closure.function:
            fail(
                "recursion",
                Label(span, f"`{name.id}` calls itself"),
                help="write it as a loop, or as a @device function with a declared signature",
            )
        values.append(at(resolve(frame, name), span))
    return Closure(closure.function, closure.defaults, Items(tuple(values), span), span)


def _visible(frame: Frame) -> list[str]:
    """The user's own names: they go before Python's."""
    return [*frame.ranges.locals, *frame.source.python.__globals__]


def placed(frame: Frame, found: object, name: str, span: Span) -> Value:
    """A Python object as a value of the kernel; an array becomes one of the kernel's own."""
    if not isinstance(found, np.ndarray):
        return static(found, span)
    if id(found) not in frame.constants:
        frame.constants[id(found)] = constant_array(found, frame.constant_name(name), span)
    return at(frame.constants[id(found)].var, span)


_MOST_CONSTANT_BYTES = 64 * 1024


def check_constant_bytes(size: int, span: Span) -> None:
    """Refuse an array for which constant memory has no room."""
    if size > _MOST_CONSTANT_BYTES:
        fail(
            "global-value",
            Label(span, f"{size} bytes; constant memory has {_MOST_CONSTANT_BYTES}"),
            help="pass it as an array, an argument of the kernel",
        )


def constant_array(found: np.ndarray[Any, Any], name: str, span: Span) -> ConstantArray:
    """A global array as constant memory, its numbers read now."""
    row = dtypes.from_numpy(found.dtype)
    if (
        row is None
        or row.kind is dtypes.Kind.RECORD
        or not 1 <= found.ndim <= MOST_AXES
        or not found.size
    ):
        axes = replacements.amount(found.ndim, "axis", "axes")
        what = f"an array of {found.dtype} with {axes}" if found.size else "an array of no elements"
        cure = f"pass others as arguments{records.seen_as_vector(row)}"
        if not found.dtype.isnative:
            cure = 'turn its bytes round: a.astype(a.dtype.newbyteorder("="))'
        fail(
            "global-value",
            Label(span, what),
            help=f"constant arrays hold numbers or vectors, on one axis or more; {cure}",
        )
    check_constant_bytes(found.nbytes, span)
    kind = Array(row, found.ndim, "C", Space.CONSTANT, found.shape)
    values = tuple(builders.literal(number, span) for number in found.ravel())
    return ConstantArray(Var(name, kind, span), values)


def static(found: object, span: Span) -> Value:
    """A Python object as a value of the kernel; numbers become constants."""
    found = numba_name(found) or found
    row = bound_to(found)
    if row is not None and row.is_value:
        least, greatest = row.bounds or (None, None)
        if least is not None and least == greatest:
            return builders.integer(least, span)
        return Apply(row, (), WEAK_INT, span)
    if row is not None:
        return Static(row, span)
    if isinstance(found, (bool, int, float, complex, np.generic)):
        return _constant(found, span)
    if isinstance(found, tuple) and isinstance(found, vectors.Vector):
        return _constant(found, span)
    if isinstance(found, tuple):
        names = getattr(found, "_fields", ())
        return Items(tuple(static(item, span) for item in found), span, names)
    return Static(found, span)


def _constant(found: Any, span: Span) -> Value:
    known = scalar_of(found)
    if known is None:
        fail(
            "global-value",
            Label(span, f"this is a `{type(found).__name__}`"),
            help="convert it to a number where it is defined",
        )
    if known == WEAK_INT and not -(2**63) <= int(found) < 2**64:
        fail(TOO_WIDE.code, Label(span, TOO_WIDE.text), help=TOO_WIDE.help)
    return builders.literal(found, span)


def attribute(frame: Frame, owner: Static, name: str, node: ast.Attribute) -> Value:
    """``module.name``, ``cuda.threadIdx.x``: the attribute of an object known at compile time."""
    value = owner.value
    if isinstance(value, Scalar) and not hasattr(value, name):  # what numpy's dtypes have
        value = value.dtype.numpy
    try:
        found = getattr(value, name)
    except AttributeError as error:
        shown, known = ast.unparse(node.value), _attributes(value)
        of_cuda = CURES.get(name) if CUDA in (owner.value, error.obj) else None
        cure = error.cure if isinstance(error, NoSuchName) else of_cuda
        fail(
            "name",
            Label(frame.span(node), f"`{shown}` has no `{name}`"),
            help=cure or did_you_mean(name, known, _listed(shown, known), f"{shown}."),
        )
    except Exception as error:  # whatever a property of the user's does
        fail(
            "global-value",
            Label(frame.span(node), f"reading this raises {type(error).__name__}: {error}"),
            help="compute it before the kernel is defined",
        )
    return placed(frame, found, name, frame.span(node))


def _attributes(owner: object) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def _listed(owner: str, known: list[str]) -> str:
    if not known:
        return f"set it before the kernel is compiled; {owner} has nothing yet"
    return f"it has {', '.join(known)}" if len(known) < 16 else f"dir({owner}) lists what it has"

"""Parameters of device functions that determine shapes of arrays, so arguments are constants."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from types import ModuleType

from pycu2c.base.source import Source, bound_object
from pycu2c.frontend.scope.bindings import bindings, parameters
from pycu2c.ops.intrinsics import library


@functools.cache
def constant_parameters(source: Source) -> frozenset[str]:
    """Return the parameters that are used in shapes of arrays and never assigned.

    The shapes are those of ``cuda.shared.array(n, dtype)`` and ``cuda.local.array((n, 4), dtype)``,
    here and in the device functions to which a parameter is passed on.
    """
    return _constant_parameters(source, frozenset())


def _constant_parameters(source: Source, callers: frozenset[Source]) -> frozenset[str]:
    if source in callers:  # recursion
        return frozenset()
    tree = source.tree
    used = {
        n.id
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for argument in _constant_arguments(source, call, callers | {source})
        for n in ast.walk(argument)
        if isinstance(n, ast.Name)
    }
    nodes_by_name = bindings(tree)
    names = (p.arg for p in parameters(tree.args))
    return frozenset(name for name in names if name in used and len(nodes_by_name[name]) == 1)


def _constant_arguments(
    source: Source, call: ast.Call, callers: frozenset[Source]
) -> Iterator[ast.expr]:
    """Yield the arguments of a call that must be constants."""
    if getattr(call.func, "attr", None) == "array":
        yield from [k.value for k in call.keywords if k.arg == "shape"] or call.args[:1]
        return
    callee = library.device_source(_static_object(source, call.func))
    if callee is None:
        return
    constants = _constant_parameters(callee, callers)
    names = [p.arg for p in parameters(callee.tree.args)]
    yield from (argument for name, argument in zip(names, call.args) if name in constants)
    yield from (k.value for k in call.keywords if k.arg in constants)


def _static_object(source: Source, node: ast.expr) -> object:
    """Return the object of a global name, or of an attribute of a module; otherwise None."""
    match node:
        case ast.Name(id=name) if name not in bindings(source.tree):
            return bound_object(source.python, name)
        case ast.Attribute(value=owner, attr=name):
            module = _static_object(source, owner)
            return getattr(module, name, None) if isinstance(module, ModuleType) else None
        case _:
            return None

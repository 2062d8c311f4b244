"""Parameters of device functions whose arguments must be constants.

They determine shapes of arrays, or are passed to a function that returns a device function.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import NamedTuple, TypeAlias

from pycu2c.base.source import Source
from pycu2c.frontend.scope.bindings import bindings, named_object, parameters
from pycu2c.ops.intrinsics import library

ConstantParameters: TypeAlias = "dict[Source, frozenset[str]]"


def constant_parameters(source: Source, known: ConstantParameters) -> frozenset[str]:
    """Return the parameters that are used where constants are needed, and never assigned.

    That is in the shapes of ``cuda.shared.array(n, dtype)`` and ``cuda.local.array((n, 4), dtype)``
    and in ``maker(n)(x)``, here and in the device functions to which a parameter is passed on.
    ``known`` keeps the results for all functions that were found.
    """
    if source in known:
        return known[source]
    references = _reachable_functions(source)
    constants = dict.fromkeys(references, frozenset[str]())
    is_complete = False
    while not is_complete:  # functions may call each other
        is_complete = True
        for function, its_references in references.items():
            names = _names_in_constants(its_references, constants)
            if names != constants[function]:
                constants[function] = names
                is_complete = False
    known.update(constants)
    return known[source]


class _References(NamedTuple):
    """The expressions that must be constants, and the calls of device functions in a function."""

    constants: tuple[ast.expr, ...]
    calls: tuple[tuple[Source, ast.Call], ...]
    unassigned: frozenset[str]  # the parameters that are never assigned


def _reachable_functions(source: Source) -> dict[Source, _References]:
    """Return a function and those that it calls, directly or not, innermost first."""
    found = {source: _references(source)}
    remaining = [source]
    while remaining:
        for callee, _ in found[remaining.pop()].calls:
            if callee not in found:
                found[callee] = _references(callee)
                remaining.append(callee)
    return dict(reversed(found.items()))


def _references(source: Source) -> _References:
    constants: list[ast.expr] = []
    calls: list[tuple[Source, ast.Call]] = []
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        if getattr(node.func, "attr", None) == "array":
            constants += [k.value for k in node.keywords if k.arg == "shape"] or node.args[:1]
            continue
        called = named_object(source, node.func, bindings(source.tree).__contains__)
        callee = library.device_source(called)
        if callee is not None:
            calls.append((callee, node))
        elif isinstance(called, FunctionType):  # it returns a device function
            constants += (*node.args, *(k.value for k in node.keywords))
    nodes_by_name = bindings(source.tree)
    names = (p.arg for p in parameters(source.tree.args))
    unassigned = frozenset(name for name in names if len(nodes_by_name[name]) == 1)
    return _References(tuple(constants), tuple(calls), unassigned)


def _names_in_constants(references: _References, constants: ConstantParameters) -> frozenset[str]:
    """Return the parameters in expressions that must be constants."""
    arguments = list(references.constants)
    for callee, call in references.calls:
        names = [p.arg for p in parameters(callee.tree.args)]
        arguments += (a for name, a in zip(names, call.args) if name in constants[callee])
        arguments += (k.value for k in call.keywords if k.arg in constants[callee])
    used = {n.id for a in arguments for n in ast.walk(a) if isinstance(n, ast.Name)}
    return references.unassigned & used

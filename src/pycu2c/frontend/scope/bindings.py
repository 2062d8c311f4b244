"""The names that a function binds, and the syntax nodes that bind them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from typing import TypeAlias

FunctionLike: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@functools.lru_cache(maxsize=32)
def bindings(function: FunctionLike) -> dict[str, list[ast.AST]]:
    """Return the local names of a function, each with the nodes that bind it.

    Parameters come first, then the other bindings in source order. Names under ``global`` and
    ``nonlocal`` are not local.
    """
    local_names: dict[str, list[ast.AST]] = {p.arg: [p] for p in parameters(function.args)}
    outer_names: set[str] = set()
    for node in _scope_nodes(_body(function)):
        if isinstance(node, ast.Global | ast.Nonlocal):
            outer_names.update(node.names)
        elif name := bound_name(node):
            local_names.setdefault(name, []).append(node)
    return {name: nodes for name, nodes in local_names.items() if name not in outer_names}


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Return all parameters, starred ones included."""
    starred = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def bound_name(node: ast.AST) -> str | None:
    """Return the name that a node binds or deletes in its scope, or None."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.alias(name=module, asname=name):
            return name or module.partition(".")[0]
        case ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
        case ast.MatchMapping(rest=name):
            return name
    return None


def changed_name(node: ast.AST) -> str | None:
    """Return the name that a node binds or whose vector it changes (``v.x = …``)."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()):
            return name
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
            return name
        case _:
            return bound_name(node)


def expressions_evaluated_outside(node: FunctionLike | ast.ClassDef) -> list[ast.expr]:
    """Return the expressions of a nested definition that the enclosing scope evaluates."""
    match node:
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
        case ast.Lambda():
            return _defaults(node.args)
        case _:
            return [*node.decorator_list, *_defaults(node.args)]


def comprehension_targets(comprehension: Comprehension) -> frozenset[str]:
    """Return the names that a comprehension binds in its own scope."""
    stores = (n for g in comprehension.generators for n in ast.walk(g.target))
    return frozenset(filter(None, map(bound_name, stores)))


def free_names(node: ast.AST, inner_names: frozenset[str] = frozenset()) -> Iterator[ast.Name]:
    """Yield the Name nodes in ``node`` that refer to the enclosing scope, not ``inner_names``."""
    match node:
        case ast.Name(id=name):
            if name not in inner_names:
                yield node
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            yield from _free_names_in(expressions_evaluated_outside(node), inner_names)
            yield from _free_names_in(
                _body(node), inner_names | set(bindings(node)) | _global_declarations(node)
            )
        case ast.ClassDef():
            yield from _free_names_in(expressions_evaluated_outside(node), inner_names)
            class_names = frozenset(filter(None, map(bound_name, _scope_nodes(node.body))))
            yield from _free_names_in(node.body, inner_names | class_names)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first = node.generators[0]
            others = (n for n in ast.iter_child_nodes(node) if n is not first)
            yield from free_names(first.iter, inner_names)
            yield from _free_names_in(
                [*first.ifs, *others], inner_names | comprehension_targets(node)
            )
        case _:
            yield from _free_names_in(ast.iter_child_nodes(node), inner_names)


def _free_names_in(nodes: Iterable[ast.AST], inner_names: frozenset[str]) -> Iterator[ast.Name]:
    for node in nodes:
        yield from free_names(node, inner_names)


def _global_declarations(function: FunctionLike) -> frozenset[str]:
    """Return the names that a nested function declares ``global``."""
    declared = (n for n in _scope_nodes(_body(function)) if isinstance(n, ast.Global))
    return frozenset(name for d in declared for name in d.names)


def _scope_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes of one scope.

    A comprehension's targets are in its own scope; a walrus inside it binds in the function around
    it.
    """
    pending = [*nodes][::-1]
    while pending:
        node = pending.pop()
        yield node
        if node._fields:
            pending += [*_children_in_scope(node)][::-1]


def _children_in_scope(node: ast.AST) -> Iterable[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
            return expressions_evaluated_outside(node)
        case ast.comprehension(iter=iterable, ifs=conditions):
            return [iterable, *conditions]
        case _:
            return child_nodes(node)


def child_nodes(node: ast.AST) -> list[ast.AST]:
    """Return the direct child nodes, as ``ast.iter_child_nodes`` yields them, in half the time.

    Contexts such as ``ast.Load`` are not among them.
    """
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            if name != "ctx":
                found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def _body(function: FunctionLike) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else list(function.body)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]

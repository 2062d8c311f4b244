"""The names that a function of the supported subset binds, and the syntax nodes that bind them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from enum import EnumMeta
from types import ModuleType
from typing import TypeAlias

from pycu2c.base.source import Source, bound_object

FunctionLike: TypeAlias = ast.FunctionDef | ast.Lambda
Comprehension: TypeAlias = ast.ListComp | ast.GeneratorExp


@functools.lru_cache(maxsize=32)
def bindings(function: FunctionLike) -> dict[str, list[ast.AST]]:
    """Return the local names of a function, each with the nodes that bind it.

    Parameters come first, then the other bindings in source order.
    """
    local_names: dict[str, list[ast.AST]] = {p.arg: [p] for p in parameters(function.args)}
    for node in _scope_nodes(_body(function)):
        if name := bound_name(node):
            local_names.setdefault(name, []).append(node)
    return local_names


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Return all parameters, starred ones included."""
    starred = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def bound_name(node: ast.AST) -> str | None:
    """Return the name that a node binds or deletes in its scope, or None."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return name
        case ast.FunctionDef(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
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


def defaults(node: FunctionLike) -> list[ast.expr]:
    """Return the defaults of a nested function, which the enclosing scope evaluates."""
    return [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]


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
        case ast.FunctionDef() | ast.Lambda():
            yield from _free_names_in(defaults(node), inner_names)
            yield from _free_names_in(_body(node), inner_names | set(bindings(node)))
        case ast.ListComp() | ast.GeneratorExp():
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
        case ast.FunctionDef() | ast.Lambda():
            return defaults(node)
        case ast.comprehension(iter=iterable, ifs=conditions):
            return [iterable, *conditions]
        case _:
            return ast.iter_child_nodes(node)


def _body(function: FunctionLike) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else list(function.body)


def named_object(source: Source, node: ast.expr, is_local: Callable[[str], bool]) -> object:
    """Return the object of a global name, an attribute of a module, or a member of an enumeration.

    The result is None for other expressions.
    """
    match node:
        case ast.Name(id=name):
            return None if is_local(name) else bound_object(source.python, name)
        case (
            ast.Attribute(value=owner, attr=name)
            | ast.Subscript(value=owner, slice=ast.Constant(value=str(name)))
        ):
            owner_object = named_object(source, owner, is_local)
            if isinstance(owner_object, EnumMeta):
                return owner_object.__members__.get(name)
            is_attribute = isinstance(node, ast.Attribute) and isinstance(owner_object, ModuleType)
            return getattr(owner_object, name, None) if is_attribute else None
        case _:
            return None

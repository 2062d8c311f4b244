"""Find the names of a file that are bound to numba, and their uses, by Python's scoping rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from pycu2c.base.records import dataclass, field
from pycu2c.compat.migrate.name_map import is_numba, is_pycu2c, numba_path

Statement: TypeAlias = ast.Import | ast.ImportFrom


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """A name that an import binds to numba or a part of it.

    ``bound_path`` is the bound object as imported, and ``path`` its path in numba;
    ``imported_path`` is the path in the statement, which is longer in ``import numba.cuda``.
    ``is_from_pycu2c``: the import is of pycu2c, with the same names.
    """

    name: str
    bound_path: str
    imported_path: str
    statement: Statement
    alias: ast.alias
    is_from_pycu2c: bool
    uses: list[Use] = field(default_factory=list)

    @property
    def path(self) -> str:
        return numba_path(self.bound_path)


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A use such as ``nb.cuda.jit``: the longest attribute chain."""

    node: ast.expr
    base: ast.Name
    path: str


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The names that a module, function or class binds.

    A name with several bindings counts as numba's if an import binds it; the others are fallbacks.
    """

    parent: Scope | None
    is_class: bool
    names: set[str] = field(default_factory=set)
    imports: dict[str, list[Binding]] = field(default_factory=dict)

    def bindings(self, name: str) -> list[Binding]:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.imports:
                return scope.imports[name]
            if name in scope.names and not (scope.is_class and scope is not self):
                return []
            scope = scope.parent
        return []


@dataclass(frozen=True, slots=True)
class NumbaNames:
    """The numba names of a file."""

    bindings: tuple[Binding, ...]
    paths: dict[ast.AST, str]

    def path(self, node: ast.AST) -> str | None:
        """Return the numba path that an expression refers to; None if it is not a numba name."""
        return self.paths.get(node)

    @property
    def uses(self) -> Iterator[Use]:
        seen: set[ast.AST] = set()
        for binding in self.bindings:
            for use in binding.uses:
                if use.node not in seen:
                    seen.add(use.node)
                    yield use


def find_numba_names(tree: ast.Module) -> NumbaNames:
    """Return the bindings of a file, with their uses."""
    module = Scope(None, False)
    scopes: dict[ast.AST, Scope] = {}
    _record_bindings(tree, module, scopes)
    paths: dict[ast.AST, str] = {}
    _record_uses(tree, module, scopes, paths)
    bindings_by_scope = [list(scope.imports.values()) for scope in (module, *scopes.values())]
    return NumbaNames(
        tuple(b for groups in bindings_by_scope for bindings in groups for b in bindings), paths
    )


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _scoped_children(node: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the children of a node, and whether they are in the scope that the node opens."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.arguments):
            yield from (
                (inner, isinstance(inner, ast.arg)) for inner in ast.iter_child_nodes(child)
            )
        elif isinstance(node, ast.Lambda):
            yield child, child is node.body
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield child, child in node.body
        else:
            yield child, isinstance(node, _COMPREHENSIONS)


def _record_bindings(node: ast.AST, scope: Scope, scopes: dict[ast.AST, Scope]) -> None:
    """Record the names that a node binds, in their scopes."""
    match node:
        case ast.Import() | ast.ImportFrom():
            _bind_import(node, scope)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            scope.names.add(node.name)
        case ast.Name(ctx=ast.Store() | ast.Del()):
            scope.names.add(node.id)
        case ast.arg():
            scope.names.add(node.arg)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            scope.names.add(name)
    inner = scope
    if isinstance(node, (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)):
        inner = scopes[node] = Scope(scope, isinstance(node, ast.ClassDef))
    for child, is_inside in _scoped_children(node):
        _record_bindings(child, inner if is_inside else scope, scopes)


def _bind_import(s: Statement, scope: Scope) -> None:
    is_relative = isinstance(s, ast.ImportFrom) and s.level > 0
    for alias in s.names:
        imported = f"{s.module}.{alias.name}" if isinstance(s, ast.ImportFrom) else alias.name
        name, path = alias.asname or alias.name, imported
        if isinstance(s, ast.Import) and alias.asname is None:
            name = path = alias.name.partition(".")[0]
        if is_relative or not (is_numba(imported) or is_pycu2c(imported)):
            scope.names.add(name)
            continue
        binding = Binding(name, path, numba_path(imported), s, alias, is_pycu2c(imported))
        scope.imports.setdefault(name, []).append(binding)


def _record_uses(
    node: ast.AST, scope: Scope, scopes: dict[ast.AST, Scope], paths: dict[ast.AST, str]
) -> None:
    """Record the uses of numba names in a node."""
    chain = _attribute_chain(node)
    if chain is not None:
        base, attributes = chain
        for binding in scope.bindings(base.id):
            path = numba_path(".".join((binding.bound_path, *attributes)))
            assert isinstance(node, ast.expr)
            binding.uses.append(Use(node, base, path))
            paths[node] = path
        return
    for child, is_inside in _scoped_children(node):
        _record_uses(child, scopes[node] if is_inside else scope, scopes, paths)


def _attribute_chain(node: ast.AST) -> tuple[ast.Name, tuple[str, ...]] | None:
    """Return the name and the attributes of a chain such as ``nb.cuda.jit``."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or isinstance(node.ctx, (ast.Store, ast.Del)):
        return None
    return node, tuple(reversed(attributes))

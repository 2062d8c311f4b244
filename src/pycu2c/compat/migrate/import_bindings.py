"""Find the names of a file that are bound to numba, and their uses, by Python's scoping rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
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
    """Return the bindings of a file, with their uses.

    A name that a function binds otherwise is not numba's in this function. A name with several
    bindings in a scope is numba's if an import binds it; the others are fallbacks.
    """
    bindings: dict[str, list[Binding]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for binding in _imported(node):
                bindings.setdefault(binding.name, []).append(binding)
    paths: dict[ast.AST, str] = {}
    _record_uses(tree, bindings, paths)
    return NumbaNames(tuple(b for group in bindings.values() for b in group), paths)


def _imported(s: Statement) -> Iterator[Binding]:
    """Yield the names that a statement binds to numba."""
    for alias in s.names:
        imported = f"{s.module}.{alias.name}" if isinstance(s, ast.ImportFrom) else alias.name
        name, path = alias.asname or alias.name, imported
        if isinstance(s, ast.Import) and alias.asname is None:
            name = path = alias.name.partition(".")[0]
        is_relative = isinstance(s, ast.ImportFrom) and s.level > 0
        if not is_relative and (is_numba(imported) or is_pycu2c(imported)):
            yield Binding(name, path, numba_path(imported), s, alias, is_pycu2c(imported))


def _record_uses(
    node: ast.AST, bindings: Mapping[str, list[Binding]], paths: dict[ast.AST, str]
) -> None:
    chain = _attribute_chain(node)
    if chain is not None:
        base, attributes = chain
        for binding in bindings.get(base.id, ()):
            path = numba_path(".".join((binding.bound_path, *attributes)))
            assert isinstance(node, ast.expr)
            binding.uses.append(Use(node, base, path))
            paths[node] = path
        return
    inside: list[ast.AST] = []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        inside = [*node.body]
    elif isinstance(node, ast.Lambda):
        inside = [node.body]
    hidden = _local_names(node) if inside else set()
    visible = {name: group for name, group in bindings.items() if name not in hidden}
    for child in ast.iter_child_nodes(node):
        _record_uses(child, visible if child in inside else bindings, paths)


def _local_names(function: ast.AST) -> set[str]:
    """Return the names that a function binds, except by an import of numba."""
    bound: set[str] = set()
    imported: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                bound.add(name)
            case ast.Import() | ast.ImportFrom():
                imported.update(binding.name for binding in _imported(node))
                bound.update((a.asname or a.name).partition(".")[0] for a in node.names)
    return bound - imported


def _attribute_chain(node: ast.AST) -> tuple[ast.Name, tuple[str, ...]] | None:
    """Return the name and the attributes of a chain such as ``nb.cuda.jit``."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or isinstance(node.ctx, (ast.Store, ast.Del)):
        return None
    return node, tuple(reversed(attributes))

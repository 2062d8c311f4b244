"""Split the local variables of a function into live ranges (webs).

All assignments that reach one read are one variable; a union-find structure merges them. Reference:
Muchnick, Advanced Compiler Design, section 16.3 (webs).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

from pycu2c.base.records import dataclass, field
from pycu2c.base.source import statements_in
from pycu2c.frontend.scope.reaching_definitions import (
    Definition,
    ReachingDefinitions,
    reaching_definitions,
)


@dataclass(frozen=True, slots=True)
class LiveRanges:
    """The variables of a function.

    ``names`` maps the id of each binding or reading node (``ast.Name``, ``ast.arg``) to its
    variable, which is unique in the function: the first web is ``x``, then ``x.1``. A read without
    a reaching definition has no name.

    ``maybe_undefined`` are reads that some paths leave unassigned, with the other paths'
    assignments; ``undefined`` are reads that no path assigns. Unreachable reads are in neither.
    ``locals`` are the local Python names with the parameters. ``single_assignment`` are variables
    with one binding. ``invariant`` are those of them that are bound outside loops and share their
    Python name with no other variable: a pass may merge variables with the same Python name.
    """

    names: Mapping[int, str]
    maybe_undefined: tuple[tuple[ast.Name, tuple[ast.AST, ...]], ...]
    undefined: tuple[ast.Name, ...]
    locals: frozenset[str]
    single_assignment: frozenset[str] = frozenset()
    invariant: frozenset[str] = frozenset()


def base_name(variable: str) -> str:
    """Return the Python name of a variable."""
    return variable.split(".", 1)[0]


@lru_cache(maxsize=32)
def live_ranges(function: ast.FunctionDef) -> LiveRanges:
    """Analyze ``function`` and name its variables."""
    analysis = reaching_definitions(function)
    names = _webs(analysis).names()
    single_assignment = _single_assignment(analysis, names)
    unassigned_reads = _unassigned_reads(analysis)
    return LiveRanges(
        names=names,
        maybe_undefined=tuple(
            (node, assignments) for node, assignments in unassigned_reads.items() if assignments
        ),
        undefined=tuple(node for node, assignments in unassigned_reads.items() if not assignments),
        locals=frozenset(analysis.binding_nodes),
        single_assignment=single_assignment,
        invariant=single_assignment
        - _bound_in_loops(function, analysis, names)
        - _variables_with_shared_names(names),
    )


def maybe_undefined_reads(
    function: ast.FunctionDef, constant_tests: Mapping[ast.expr, bool]
) -> list[tuple[ast.Name, tuple[ast.AST, ...]]]:
    """Return ``maybe_undefined`` of a function without the branches that never run."""
    reads = live_ranges(function).maybe_undefined
    if not reads or not constant_tests:
        return list(reads)
    unassigned = _unassigned_reads(reaching_definitions(function, constant_tests))
    return [(node, assignments) for node, assignments in reads if node in unassigned]


def _unassigned_reads(analysis: ReachingDefinitions) -> dict[ast.Name, tuple[ast.AST, ...]]:
    """Return the reads that some paths have not assigned, with the other paths' assignments."""
    reads = sorted(analysis.reads.items(), key=lambda item: _position(item[0]))
    reaching = set[Definition]().union(*analysis.reads.values())
    not_assignments = {definition for definition in reaching if not _is_assignment(definition)}
    return {
        node: _assignments(definitions)
        for node, definitions in reads
        if not definitions.isdisjoint(not_assignments)
    }


def _single_assignment(analysis: ReachingDefinitions, names: dict[int, str]) -> frozenset[str]:
    counts = Counter(names[id(node)] for node in _bindings(analysis) if id(node) in names)
    return frozenset(name for name, count in counts.items() if count == 1)


def _bound_in_loops(
    function: ast.FunctionDef, analysis: ReachingDefinitions, names: dict[int, str]
) -> set[str]:
    loops = (n for n in statements_in(function) if isinstance(n, (ast.For, ast.While)))
    ids_in_loops = {id(inner) for loop in loops for inner in ast.walk(loop)}
    return {names[id(n)] for n in _bindings(analysis) if id(n) in ids_in_loops and id(n) in names}


def _variables_with_shared_names(names: dict[int, str]) -> set[str]:
    variables = set(names.values())
    counts = Counter(map(base_name, variables))
    return {name for name in variables if counts[base_name(name)] > 1}


def _bindings(analysis: ReachingDefinitions) -> Iterator[ast.AST]:
    return (node for nodes in analysis.binding_nodes.values() for node in nodes)


def _assignments(definitions: set[Definition]) -> tuple[ast.AST, ...]:
    assignments = [node for node in definitions if node is not None and _is_assignment(node)]
    return tuple(sorted(assignments, key=_position))


def _is_assignment(definition: Definition) -> bool:
    is_deletion = isinstance(definition, ast.Name) and isinstance(definition.ctx, ast.Del)
    return definition is not None and not is_deletion


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _webs(analysis: ReachingDefinitions) -> _Webs:
    webs = _Webs()
    for name, nodes in analysis.binding_nodes.items():
        for node in nodes:
            webs.add(node, name)
            if name in analysis.single_variable_names:
                webs.merge([nodes[0], node])
    for read, definitions in [*analysis.reads.items(), *analysis.dead_reads.items()]:
        if assigned := [definition for definition in definitions if definition is not None]:
            webs.add(read, read.id)
            webs.merge([*assigned, read])
    for read in analysis.closure_reads:
        webs.add(read, read.id)
        webs.merge([analysis.binding_nodes[read.id][0], read])
    return webs


@dataclass(slots=True)
class _Webs:
    """A union-find structure over the nodes that bind or read a local."""

    parent: dict[ast.AST, ast.AST] = field(default_factory=dict)
    name_of: dict[ast.AST, str] = field(default_factory=dict)

    def add(self, node: ast.AST, name: str) -> None:
        self.parent.setdefault(node, node)
        self.name_of[node] = name

    def find(self, node: ast.AST) -> ast.AST:
        while self.parent[node] is not node:
            self.parent[node] = self.parent[self.parent[node]]
            node = self.parent[node]
        return node

    def merge(self, nodes: list[ast.AST]) -> None:
        """Merge nodes into one web, which most of them are in already."""
        parent, root = self.parent, self.find(nodes[0])
        for node in nodes:
            if parent[node] is not root:
                parent[self.find(node)] = root
                parent[node] = root

    def names(self) -> dict[int, str]:
        """Number the webs of each Python name in source order."""
        counts: dict[str, int] = {}
        web_names: dict[ast.AST, str] = {}
        for node in sorted(self.name_of, key=_position):
            web, name = self.find(node), self.name_of[node]
            if web not in web_names:
                count = counts.get(name, 0)
                web_names[web] = f"{name}.{count}" if count else name
                counts[name] = count + 1
        return {id(node): web_names[self.find(node)] for node in self.name_of}

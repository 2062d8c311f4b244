"""Split the local variables of a function into live ranges (webs).

All assignments that reach one read are one variable; a union-find structure merges them. Reference:
Muchnick, Advanced Compiler Design, section 16.3 (webs).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from pycu2c.base.records import dataclass, field
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
    Python name with no other variable (such variables may be merged again).
    """

    names: dict[int, str]
    maybe_undefined: tuple[tuple[ast.Name, tuple[ast.AST, ...]], ...]
    undefined: tuple[ast.Name, ...]
    locals: frozenset[str]
    single_assignment: frozenset[str] = frozenset()
    invariant: frozenset[str] = frozenset()


def live_ranges(function: ast.FunctionDef) -> LiveRanges:
    """Analyze ``function`` and name its variables."""
    flow = reaching_definitions(function)
    reads = sorted(flow.reads.items(), key=lambda item: _position(item[0]))
    names = _webs(flow).names()
    single_assignment = _single_assignment(flow, names)
    unassigned_reads = {
        node: _assignments(definitions)
        for node, definitions in reads
        if not all(map(_assigns, definitions))
    }
    return LiveRanges(
        names=names,
        maybe_undefined=tuple((node, some) for node, some in unassigned_reads.items() if some),
        undefined=tuple(node for node, some in unassigned_reads.items() if not some),
        locals=frozenset(flow.bound),
        single_assignment=single_assignment,
        invariant=single_assignment
        - _bound_in_loops(function, flow, names)
        - _with_shared_names(names),
    )


def _single_assignment(flow: ReachingDefinitions, names: dict[int, str]) -> frozenset[str]:
    counts = Counter(names[id(node)] for node in _bindings(flow) if id(node) in names)
    return frozenset(name for name, count in counts.items() if count == 1)


def _bound_in_loops(
    function: ast.FunctionDef, flow: ReachingDefinitions, names: dict[int, str]
) -> set[str]:
    loops = (n for n in ast.walk(function) if isinstance(n, (ast.For, ast.While)))
    repeated = {id(inner) for loop in loops for inner in ast.walk(loop)}
    return {names[id(n)] for n in _bindings(flow) if id(n) in repeated and id(n) in names}


def _with_shared_names(names: dict[int, str]) -> set[str]:
    variables = set(names.values())
    counts = Counter(name.split(".", 1)[0] for name in variables)
    return {name for name in variables if counts[name.split(".", 1)[0]] > 1}


def _bindings(flow: ReachingDefinitions) -> Iterator[ast.AST]:
    return (node for nodes in flow.bound.values() for node in nodes)


def _assignments(definitions: set[Definition]) -> tuple[ast.AST, ...]:
    assignments = [node for node in definitions if node is not None and _assigns(node)]
    return tuple(sorted(assignments, key=_position))


def _assigns(definition: Definition) -> bool:
    deletes = isinstance(definition, ast.Name) and isinstance(definition.ctx, ast.Del)
    return definition is not None and not deletes


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _webs(flow: ReachingDefinitions) -> _Webs:
    webs = _Webs()
    for name, nodes in flow.bound.items():
        for node in nodes:
            webs.add(node, name)
            if name in flow.unsplit:
                webs.union(node, nodes[0])
    for read, definitions in [*flow.reads.items(), *flow.dead_reads.items()]:
        for definition in filter(None, definitions):
            webs.add(read, read.id)
            webs.union(read, definition)
    for read in flow.deferred_reads:
        webs.add(read, read.id)
        webs.union(read, flow.bound[read.id][0])
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

    def union(self, one: ast.AST, other: ast.AST) -> None:
        self.parent[self.find(one)] = self.find(other)

    def names(self) -> dict[int, str]:
        """Number the webs of each Python name in source order."""
        counts: dict[str, int] = {}
        chosen: dict[ast.AST, str] = {}
        for node in sorted(self.name_of, key=_position):
            web, name = self.find(node), self.name_of[node]
            if web not in chosen:
                count = counts.get(name, 0)
                chosen[web] = f"{name}.{count}" if count else name
                counts[name] = count + 1
        return {id(node): chosen[self.find(node)] for node in self.name_of}

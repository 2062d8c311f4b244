"""Which values all running threads of a block, or lanes of a warp, agree on. Knows nothing of
thread loops.

*Uniform* is said of the threads that are still running: one that has returned never reads
again. A load at a uniform index is uniform, as in a race-free program no thread writes there
between two barriers; whoever evaluates it once for a block has to do so in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import TypeAlias

from pycu2c.analysis import lane_values
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array, Space
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Body,
    Break,
    Call,
    Const,
    Continue,
    Declare,
    ElementOf,
    Expr,
    For,
    If,
    Let,
    Load,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import bodies, children, operands

Shape: TypeAlias = tuple[int, int, int]  # of a block
Construct: TypeAlias = If | While | For
Path: TypeAlias = tuple[Construct, ...]  # the constructs around a statement, outermost first


@dataclass(frozen=True, slots=True)
class Uniformity:
    """``divergent``: ifs with another outcome for some threads, loops that some leave or skip
    a part of before others. ``values``: what is assigned to each declared variable. ``known``
    says of what else the threads in question agree on, ``lanes`` what follows from their places."""

    varying: Set[str]
    divergent: Set[Stmt]
    values: Mapping[str, tuple[Expr, ...]]
    lanes: lane_values.LaneValues
    known: Callable[[Expr], bool]

    def agrees(self, *values: Expr) -> bool:
        """Whether all running threads compute the same."""
        return all(self._agrees(e) or self.known(e) for e in values)

    def _agrees(self, e: Expr) -> bool:
        match e:
            case Const():
                return True
            case Var(name):
                return name not in self.varying
            case Apply(intrinsic, arguments):
                alike = intrinsic.is_pure and not intrinsic.varies
                return alike and self.agrees(*arguments)
            case Load(array, indices):
                return _is_common(array) and self.agrees(*indices)
            case Call() | ElementOf():
                return False
            case Let():
                raise AssertionError("legal code has no Let")
            case _:
                return self.agrees(*children(e))


def _is_common(array: Var) -> bool:
    assert isinstance(array.type, Array)
    return array.type.space in (Space.GLOBAL, Space.SHARED, Space.BLOCK)


@dataclass(frozen=True, slots=True)
class _Definition:
    name: str
    values: tuple[Expr, ...]
    path: Path


@dataclass(slots=True)
class _Facts:
    """A function's definitions, constructs and jumps, each with what stands around it."""

    definitions: list[_Definition] = field(default_factory=list)
    constructs: list[Construct] = field(default_factory=list)
    jumps: list[Path] = field(default_factory=list)
    depth: dict[str, int] = field(default_factory=dict)  # of a variable's own block
    own: set[str] = field(default_factory=set)  # the variables of for loops

    def gather(self, body: Body, path: Path) -> None:
        for s in body:
            match s:
                case Declare(var, init):
                    self.depth[var.name] = len(path)
                    self._define(var, () if init is None else (init,), path)
                case Assign(var, value):
                    self._define(var, (value,), path)
                case Break() | Continue():
                    self.jumps.append(path)
                case If() | While() | For():
                    self._enter(s, (*path, s))
                case _:
                    pass

    def _enter(self, s: Construct, path: Path) -> None:
        self.constructs.append(s)
        if isinstance(s, For):
            self.own.add(s.var.name)
            self._define(s.var, operands(s), ())  # no thread in the body is without it
        for inner in bodies(s):
            self.gather(inner, path)

    def _define(self, var: Var, values: tuple[Expr, ...], path: Path) -> None:
        self.definitions.append(_Definition(var.name, values, path))

    def values(self) -> dict[str, tuple[Expr, ...]]:
        found: dict[str, tuple[Expr, ...]] = {}
        for d in self.definitions:
            if d.name not in self.own:
                found[d.name] = found.get(d.name, ()) + d.values
        return found


def uniformity(body: Body, block: Shape | None = None) -> Uniformity:
    """What the threads of a block agree on, in blocks of this shape, or of any."""
    return _agreement(body, block, lambda _: lambda _: False)


def warp_uniformity(body: Body, block: Shape | None) -> Uniformity:
    """What the lanes of each warp agree on."""
    return _agreement(body, block, lambda lanes: lanes.same_in_warps)


def _agreement(
    body: Body,
    block: Shape | None,
    known: Callable[[lane_values.LaneValues], Callable[[Expr], bool]],
) -> Uniformity:
    """Begin with everything uniform; take away until nothing changes."""
    facts = _Facts()
    facts.gather(body, ())
    varying: set[str] = set()
    divergent: set[Stmt] = set()
    values = facts.values()
    lanes = lane_values.LaneValues(block, values)
    result = Uniformity(varying, divergent, values, lanes, known(lanes))
    before = -1
    while before != len(varying) + len(divergent):
        before = len(varying) + len(divergent)
        divergent |= {s for s in facts.constructs if not result.agrees(*operands(s))}
        divergent |= {loop for path in facts.jumps if (loop := _left_by_some(path, divergent))}
        varying |= {d.name for d in facts.definitions if _varies(d, facts, result)}
    return result


def _left_by_some(jump: Path, divergent: Set[Stmt]) -> Construct | None:
    """The loop of a break or continue, if only some threads may come to that jump."""
    loop = max(i for i, s in enumerate(jump) if isinstance(s, While | For))
    return jump[loop] if any(s in divergent for s in jump[loop + 1 :]) else None


def _varies(d: _Definition, facts: _Facts, known: Uniformity) -> bool:
    """Whether some threads may assign something else, or come here more often than others.

    What stands around the variable's own block does not count: who is not there, has none.
    """
    around = d.path[facts.depth.get(d.name, 0) :]
    return any(s in known.divergent for s in around) or not known.agrees(*d.values)

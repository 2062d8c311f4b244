"""Uniformity analysis: values on which all running threads of a block, or lanes of a warp, agree.

Uniformity covers only the threads that are still running: a thread that has returned reads nothing.
A load at a uniform index is uniform, because in a race-free program no thread writes there between
two barriers. A pass that evaluates it once per block must do so at the same position. Reference:
Karrenberg and Hack, "Improving Performance of OpenCL on CPUs" (2012); pocl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import TypeAlias

from pycu2c.analysis import thread_values
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import bodies, children, operands

Shape: TypeAlias = tuple[int, int, int]  # extents of a block
Construct: TypeAlias = ir.If | ir.While | ir.For
Path: TypeAlias = tuple[Construct, ...]  # the constructs around a statement, outermost first


@dataclass(frozen=True, slots=True)
class Uniformity:
    """Result of the analysis.

    ``varying``: variables that may differ between threads. ``divergent``: ifs whose condition
    varies, and loops that threads leave or continue at different times. ``values``: expressions
    assigned to each variable. ``lanes``: values that the thread index determines. ``agrees_also``:
    additional test
    that an expression is uniform.
    """

    varying: Set[str]
    divergent: Set[ir.Stmt]
    values: Mapping[str, tuple[ir.Expr, ...]]
    lanes: thread_values.ThreadValues
    agrees_also: Callable[[ir.Expr], bool]

    def agrees(self, *values: ir.Expr) -> bool:
        """Return whether all running threads compute the same values."""
        return all(self._agrees(e) or self.agrees_also(e) for e in values)

    def _agrees(self, e: ir.Expr) -> bool:
        match e:
            case ir.Const():
                return True
            case ir.Var(name):
                return name not in self.varying
            case ir.Apply(intrinsic, arguments):
                uniform = intrinsic.is_pure and not intrinsic.is_divergent
                return uniform and self.agrees(*arguments)
            case ir.Load(array, indices):
                is_stable = _is_visible_to_block(array) and array.name not in self.varying
                return is_stable and self.agrees(*indices)
            case ir.Call() | ir.ElementOf():
                return False
            case _:
                return self.agrees(*children(e))


def _is_visible_to_block(array: ir.Var) -> bool:
    return ir.memory_space(array) in (MemorySpace.GLOBAL, MemorySpace.SHARED, MemorySpace.BLOCK)


@dataclass(frozen=True, slots=True)
class _Definition:
    name: str
    values: tuple[ir.Expr, ...]
    path: Path


@dataclass(slots=True)
class _Definitions:
    """Definitions, constructs and jumps of a function, each with its enclosing constructs."""

    definitions: list[_Definition] = field(default_factory=list)
    constructs: list[Construct] = field(default_factory=list)
    jumps: list[Path] = field(default_factory=list)
    depth: dict[str, int] = field(default_factory=dict)  # nesting depth of a variable's block
    loop_variables: set[str] = field(default_factory=set)  # of for loops

    def collect(self, body: ir.Body, path: Path) -> None:
        for s in body:
            match s:
                case ir.Declare(var, init):
                    self.depth[var.name] = len(path)
                    self._define(var, () if init is None else (init,), path)
                case ir.Assign(var, value):
                    self._define(var, (value,), path)
                case ir.Break() | ir.Continue():
                    self.jumps.append(path)
                case ir.If() | ir.While() | ir.For():
                    self._enter(s, (*path, s))

    def _enter(self, s: Construct, path: Path) -> None:
        self.constructs.append(s)
        if isinstance(s, ir.For):
            self.loop_variables.add(s.var.name)
            # without its path: all threads in the body assign it
            self._define(s.var, operands(s), ())
        for inner in bodies(s):
            self.collect(inner, path)

    def _define(self, var: ir.Var, values: tuple[ir.Expr, ...], path: Path) -> None:
        self.definitions.append(_Definition(var.name, values, path))

    def values(self) -> dict[str, tuple[ir.Expr, ...]]:
        result: dict[str, tuple[ir.Expr, ...]] = {}
        for d in self.definitions:
            if d.name not in self.loop_variables:
                result[d.name] = result.get(d.name, ()) + d.values
        return result


def uniformity(
    body: ir.Body,
    block: Shape | None = None,
    agrees_also: Callable[[ir.Expr], bool] = lambda _: False,
    varying: Set[str] = frozenset(),
) -> Uniformity:
    """Return the uniformity of values within a block, for one block shape or for all.

    ``varying``: parameters, and arrays, whose values may differ between threads.
    """
    return _solve(body, block, varying, lambda _: agrees_also)


def warp_uniformity(
    body: ir.Body, block: Shape | None, varying: Set[str] = frozenset()
) -> Uniformity:
    """Return the uniformity of values within each warp."""
    return _solve(body, block, varying, lambda lanes: lanes.is_warp_uniform)


def _solve(
    body: ir.Body,
    block: Shape | None,
    varying_before: Set[str],
    agrees_also: Callable[[thread_values.ThreadValues], Callable[[ir.Expr], bool]],
) -> Uniformity:
    """Assume that everything is uniform, and remove values until a fixed point."""
    collected = _Definitions()
    collected.collect(body, ())
    varying = set(varying_before)
    divergent: set[ir.Stmt] = set()
    values = collected.values()
    lanes = thread_values.ThreadValues(block, values)
    result = Uniformity(varying, divergent, values, lanes, agrees_also(lanes))
    previous = -1
    while previous != len(varying) + len(divergent):
        previous = len(varying) + len(divergent)
        divergent |= {s for s in collected.constructs if not result.agrees(*operands(s))}
        divergent |= {
            loop for path in collected.jumps if (loop := _divergent_exit(path, divergent))
        }
        varying |= {d.name for d in collected.definitions if _varies(d, collected, result)}
    return result


def _divergent_exit(path: Path, divergent: Set[ir.Stmt]) -> Construct | None:
    """Return the loop of a break or continue that only some threads may reach."""
    loop_index = max(i for i, s in enumerate(path) if isinstance(s, ir.While | ir.For))
    return path[loop_index] if any(s in divergent for s in path[loop_index + 1 :]) else None


def _varies(d: _Definition, collected: _Definitions, result: Uniformity) -> bool:
    """Return whether threads may assign different values, or assign a different number of times.

    Constructs outside the variable's own block do not count: threads that skip it do not have the
    variable.
    """
    enclosing = d.path[collected.depth.get(d.name, 0) :]
    return any(s in result.divergent for s in enclosing) or not result.agrees(*d.values)

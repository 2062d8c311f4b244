"""Find convergent operations: all running threads of a block, or lanes of a warp, reach them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TypeGuard

from pycu2c.analysis.effects import written_arguments
from pycu2c.analysis.uniformity import Shape, Uniformity, uniformity, warp_uniformity
from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ops.intrinsics.registry import Effect

_FULL_MASK = 0xFFFFFFFF


def convergent_operations(
    module: ir.Module, own_callees: Set[str], block: Shape | None
) -> Set[ir.Apply]:
    """Return the convergent barriers and warp operations: all threads of their scope reach them.

    own_callees: the device functions with one caller; in the others nothing is convergent.
    """
    functions = {f.name: f for f in module.device_functions if f.name in own_callees}
    finder = _Finder(functions, block, frozenset(_written_arrays(module)))
    finder.function(module.kernel, _CONVERGED)
    for f in module.device_functions:  # may have the same nodes as a function with one caller
        if f.name not in functions:
            finder.divergent.update(walk.all_expressions(f.body))
    return finder.convergent.difference(finder.divergent)


@dataclass(frozen=True, slots=True)
class _Convergence:
    """Whether all threads of the grid, of the block, and of a warp reach a statement."""

    in_grid: bool = True
    in_block: bool = True
    in_warp: bool = True

    def inside(self, s: ir.Stmt, block: Uniformity, warp: Uniformity) -> _Convergence:
        return _Convergence(
            False,
            self.in_block and s not in block.divergent,
            self.in_warp and s not in warp.divergent,
        )

    def holds_for(self, effect: Effect) -> bool:
        match effect:
            case Effect.WARP:
                return self.in_warp
            case Effect.BARRIER:
                return self.in_block
            case _:
                return self.in_grid


_CONVERGED, _DIVERGED = _Convergence(), _Convergence(False, False, False)


@dataclass(slots=True)
class _Finder:
    """written: the arrays that threads may read while others write them."""

    functions: Mapping[str, ir.Function]
    block: Shape | None
    written: Set[str]
    convergent: set[ir.Apply] = field(default_factory=set)
    divergent: set[ir.Expr] = field(default_factory=set)

    def function(self, function: ir.Function, threads: _Convergence) -> None:
        is_called = function.name in self.functions
        varying = {p.name for p in function.parameters} if is_called else self.written
        block = uniformity(function.body, self.block, varying=varying)
        warp = warp_uniformity(function.body, self.block, varying)
        returns = (s for s in walk.statements(function.body) if isinstance(s, ir.Return))
        if is_called and any(s is not function.body[-1] for s in returns):
            threads = _DIVERGED  # threads that have returned continue in the caller
        self._body(function.body, threads, block, warp)

    def _body(
        self, body: ir.Body, threads: _Convergence, block: Uniformity, warp: Uniformity
    ) -> None:
        for s in body:
            inner = threads.inside(s, block, warp)
            for e in walk.operands(s):
                self._expression(e, inner if isinstance(s, ir.While) else threads)
            for nested in walk.bodies(s):
                self._body(nested, inner, block, warp)
            if threads.in_grid and walk.contains((s,), ir.Return):
                threads = _Convergence(False, threads.in_block, threads.in_warp)

    def _expression(self, e: ir.Expr, threads: _Convergence) -> None:
        if isinstance(e, ir.Apply) and e.intrinsic.synchronizes:
            is_convergent = _waits_for_all(e) and threads.holds_for(e.intrinsic.effect)
            (self.convergent if is_convergent else self.divergent).add(e)
        if isinstance(e, ir.Call) and e.function in self.functions:
            self.function(self.functions[e.function], threads)
        is_conditional = isinstance(e, ir.Logical | ir.Select)
        for child in walk.children(e):
            self._expression(child, _DIVERGED if is_conditional else threads)


def _waits_for_all(e: ir.Apply) -> bool:
    """Return whether an operation waits for all threads of its scope."""
    if e.intrinsic.effect is not Effect.WARP:
        return True
    return bool(e.arguments) and is_full_mask(e.arguments[0])


def _written_arrays(module: ir.Module) -> Iterator[str]:
    """Yield the names of the arrays of a kernel whose elements are not the same for all threads."""
    written = written_arguments(module)
    yield from (p.name for p in module.kernel.parameters if p.argument in written)
    for s in walk.statements(module.kernel.body):
        if isinstance(s, ir.Allocate):
            yield s.var.name


# ---- masks of operations of the warp ----


def has_masks(module: ir.Module) -> bool:
    """Return whether a kernel has operations of some lanes of a warp."""
    masks = (e.arguments[0] for e in walk.operations(module.functions) if has_mask(e))
    return not all(map(is_full_mask, masks))


def has_mask(e: ir.Expr) -> TypeGuard[ir.Apply]:
    """Return whether an expression is an operation of the warp with a mask, its first argument."""
    return isinstance(e, ir.Apply) and e.intrinsic.effect is Effect.WARP and bool(e.arguments)


def is_full_mask(mask: ir.Expr) -> bool:
    """Return whether a mask is a constant with all lanes."""
    return isinstance(mask, ir.Const) and int(mask.value) & _FULL_MASK == _FULL_MASK

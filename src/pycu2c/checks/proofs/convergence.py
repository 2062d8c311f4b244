"""Find convergent operations: all running threads of a block, or lanes of a warp, reach them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TypeAlias, TypeGuard

from pycu2c.analysis.effects import written_arguments
from pycu2c.analysis.uniformity import Shape, Uniformity, uniformity, warp_uniformity
from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ops.intrinsics.registry import Effect

_FULL_MASK = 0xFFFFFFFF


def convergent_operations(
    module: ir.Module, clones: Set[str], block: Shape | None
) -> Set[ir.Apply]:
    """Return the convergent barriers and warp operations: all threads of their scope reach them.

    clones: the device functions with one caller; in the others nothing is convergent.
    """
    functions = {f.name: f for f in module.device_functions if f.name in clones}
    finder = _Finder(functions, block, frozenset(_written_arrays(module)))
    finder.function(module.kernel, _GRID | {Effect.BARRIER, Effect.WARP})
    for f in module.device_functions:  # may have the same nodes as a function with one caller
        if f.name not in functions:
            finder.divergent.update(walk.all_expressions(f.body))
    return finder.convergent.difference(finder.divergent)


# the effects of the operations that all threads of their scope reach at a statement
_Scopes: TypeAlias = frozenset[Effect]
_DIVERGED: _Scopes = frozenset()
_GRID = frozenset({Effect.GRID, Effect.CLUSTER})


@dataclass(slots=True)
class _Finder:
    """written: the arrays that threads may read while others write them."""

    functions: Mapping[str, ir.Function]
    block: Shape | None
    written: Set[str]
    convergent: set[ir.Apply] = field(default_factory=set)
    divergent: set[ir.Expr] = field(default_factory=set)

    def function(self, function: ir.Function, scopes: _Scopes) -> None:
        is_called = function.name in self.functions
        varying = {p.name for p in function.parameters} if is_called else self.written
        block = uniformity(function.body, self.block, varying=varying)
        warp = warp_uniformity(function.body, self.block, varying)
        returns = (s for s in walk.statements(function.body) if isinstance(s, ir.Return))
        if is_called and any(s is not function.body[-1] for s in returns):
            scopes = _DIVERGED  # threads that have returned continue in the caller
        self._body(function.body, scopes, block, warp)

    def _body(self, body: ir.Body, scopes: _Scopes, block: Uniformity, warp: Uniformity) -> None:
        for s in body:
            inner = scopes - _GRID
            inner -= {Effect.BARRIER} if s in block.divergent else set()
            inner -= {Effect.WARP} if s in warp.divergent else set()
            for e in walk.operands(s):
                self._expression(e, inner if isinstance(s, ir.While) else scopes)
            for nested in walk.bodies(s):
                self._body(nested, inner, block, warp)
            if walk.contains((s,), ir.Return):
                scopes -= _GRID

    def _expression(self, e: ir.Expr, scopes: _Scopes) -> None:
        if isinstance(e, ir.Apply) and e.intrinsic.synchronizes:
            is_convergent = _waits_for_all(e) and e.intrinsic.effect in scopes
            (self.convergent if is_convergent else self.divergent).add(e)
        if isinstance(e, ir.Call) and e.function in self.functions:
            self.function(self.functions[e.function], scopes)
        is_conditional = isinstance(e, ir.Logical | ir.Select)
        for child in walk.children(e):
            self._expression(child, _DIVERGED if is_conditional else scopes)


def _waits_for_all(e: ir.Apply) -> bool:
    """Return whether an operation waits for all threads of its scope."""
    if e.intrinsic.effect is not Effect.WARP:
        return True
    return bool(e.arguments) and is_full_mask(e.arguments[0])


def _written_arrays(module: ir.Module) -> Iterator[str]:
    """Yield the arrays of a kernel whose elements may differ between reads of two threads."""
    written = written_arguments(module)
    yield from (p.name for p in module.kernel.parameters if p.argument in written)
    for s in walk.statements(module.kernel.body):
        if isinstance(s, ir.Allocate):
            yield s.var.name


def may_wait(e: ir.Apply) -> bool:
    """Return whether an operation waits for other threads."""
    is_of_warp = e.intrinsic.effect is Effect.WARP
    return e.intrinsic.synchronizes and (not is_of_warp or bool(e.arguments))


# ---- masks of warp operations ----


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

"""Which lanes the masks of operations of the warp name."""

from __future__ import annotations

from typing import TypeGuard

from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions
from pycu2c.ops.intrinsics.registry import Effect

_FULL_MASK = 0xFFFFFFFF


def has_masks(module: ir.Module) -> bool:
    """Return whether a kernel has operations of some lanes of a warp."""
    expressions = (e for f in module.functions for e in all_expressions(f.body))
    masks = (e.arguments[0] for e in expressions if has_mask(e))
    return not all(map(is_full_mask, masks))


def has_mask(e: ir.Expr) -> TypeGuard[ir.Apply]:
    """Return whether an expression is an operation of the warp with a mask, its first argument."""
    return isinstance(e, ir.Apply) and e.intrinsic.effect is Effect.WARP and bool(e.arguments)


def is_full_mask(mask: ir.Expr) -> bool:
    """Return whether a mask certainly names all lanes."""
    return isinstance(mask, ir.Const) and int(mask.value) & _FULL_MASK == _FULL_MASK

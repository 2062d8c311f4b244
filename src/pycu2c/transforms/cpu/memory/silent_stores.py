"""Do not store a constant that is there already (CPU).

Before: ``changed[0] = 1``, as many threads set a flag. After: ``if changed[0] != 1: changed[0] =
1``. A store takes the cache line from the other cores, even if it changes nothing; with a load all
cores keep a copy. Requires C meaning.
"""

from __future__ import annotations

from pycu2c.base.types import WEAK_BOOL
from pycu2c.ir import nodes as ir
from pycu2c.ir.verify_expressions import is_integer
from pycu2c.ir.walk import map_bodies, map_stmt, with_kernel_body
from pycu2c.ops import operators as ops


def skip_silent_stores(module: ir.Module) -> ir.Module:
    """Test the elements of arguments before conditional stores of integer constants."""
    kernel = module.kernel
    arrays = {p.name for p in kernel.parameters}

    def tested(s: ir.Stmt) -> ir.Body:
        if not isinstance(s, ir.Store) or not _is_flag(s, arrays):
            return (s,)
        old = ir.Load(s.array, s.indices, s.span)
        return (ir.If(ir.Binary(ops.NE, old, s.value, WEAK_BOOL, s.span), (s,), (), s.span),)

    body = (map_bodies(s, lambda body: map_stmt(body, tested)) for s in kernel.body)
    return with_kernel_body(module, tuple(body))


def _is_flag(s: ir.Store, arrays: set[str]) -> bool:
    operands = (*s.indices, s.value)
    is_flag = s.array.name in arrays and not s.path and is_integer(s.value.type)
    return is_flag and all(isinstance(e, ir.Const) for e in operands)

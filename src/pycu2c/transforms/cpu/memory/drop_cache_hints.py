"""Replace loads and stores with cache hints by plain ones (CPU).

Requires linearized IR: expressions with a fixed evaluation order are statements.
"""

from __future__ import annotations

from pycu2c.base.records import replace
from pycu2c.base.types import Array
from pycu2c.ir import nodes as ir
from pycu2c.ir.views import read_path
from pycu2c.ir.walk import map_expr, map_functions, map_stmt
from pycu2c.ops.intrinsics.memory.cache_hints import LOADS, STORES


def drop_cache_hints(module: ir.Module) -> ir.Module:
    """Replace ``cuda.ldcg(&a[i])`` by ``a[i]``, and ``cuda.stcs(&a[i], x)`` by ``a[i] = x``."""
    return map_functions(module, _drop_hints)


def _drop_hints(function: ir.Function) -> ir.Function:
    body = map_stmt(map_expr(function.body, _as_load), _as_store)
    return replace(function, body=body)


def _as_load(e: ir.Expr) -> ir.Expr:
    if not isinstance(e, ir.Apply) or e.intrinsic not in LOADS:
        return e
    element = e.arguments[0]
    assert isinstance(element, ir.ElementOf)
    assert isinstance(element.array.type, Array)
    return read_path(ir.Load(element.array, element.indices, e.span), element.path, e.span)


def _as_store(s: ir.Stmt) -> ir.Body:
    if not isinstance(s, ir.Evaluate) or not isinstance(s.value, ir.Apply):
        return (s,)
    if s.value.intrinsic not in STORES:
        return (s,)
    element, value = s.value.arguments
    assert isinstance(element, ir.ElementOf)
    return (ir.Store(element.array, element.indices, value, s.span, element.path),)

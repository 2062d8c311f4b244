"""Split loops from a loaded value into one whose counter is not negative and a general one (GPU).

``for k in range(start[i], stop): total += x[k]`` becomes ``if first >= 0: … else: …`` with the loop
in both branches. A counter that grows is negative at most in its first iterations, so the range
analysis proves for the first loop that no index counts from the end, and the compiler unrolls it.
Only for short innermost loops. Requires the form TYPED (``ir/forms.py``), and keeps it. Uses the
range analysis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import count

from pycu2c.analysis.launch_ranges import IndexRules
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.analysis.variables import count_uses
from pycu2c.base.records import replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, const, is_atom, scalar_type
from pycu2c.ir.walk import (
    accesses,
    all_expressions,
    contains,
    map_expr,
    map_functions,
    map_stmt,
    statements,
    with_body,
)
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.ops.operators import ADD, GE
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables

_MAX_STATEMENTS = 8  # of a loop body that is copied

_COPIED_STATEMENTS = ir.Assign | ir.Store | ir.Evaluate | ir.If | ir.Break | ir.Continue


def version_loops(module: ir.Module, rules: IndexRules, ranges: Mapping[str, Ranges]) -> ir.Module:
    """Split the loops of all functions."""
    if not rules.wraparound:
        return module

    def version_function(function: ir.Function) -> ir.Function:
        numbers, known, uses = count(1), ranges[function.name], count_uses(function.body)

        def version(s: ir.Stmt) -> ir.Body:
            if isinstance(s, ir.For) and _profits(s, known):
                return _versions(s, next(numbers), uses)
            return (s,)

        if not contains(function.body, ir.For):
            return function
        return with_body(function, map_stmt(function.body, version))

    return map_functions(module, version_function)


def _profits(loop: ir.For, ranges: Ranges) -> bool:
    """Return whether indices of a loop are negative at most because its counter is."""
    start = ranges.of(loop.start)
    body = list(statements(loop.body))
    return (
        isinstance(loop.step, ir.Const)
        and int(loop.step.value) > 0
        and start.low < 0 <= start.high
        and len(body) <= _MAX_STATEMENTS
        and all(isinstance(s, _COPIED_STATEMENTS) for s in body)
        and all(map(_may_be_copied, all_expressions(loop.body)))
        and not any(isinstance(s, ir.Assign) and s.var.name == loop.var.name for s in body)
        and any(
            _follows_counter(index, loop.var, ranges)
            for access in accesses(loop.body)
            for index in access.indices
        )
    )


def _may_be_copied(e: ir.Expr) -> bool:
    """Return whether threads may execute an expression at two places.

    All threads of a block wait at the same barrier, and a device function may have one.
    """
    if isinstance(e, ir.Apply):
        return e.intrinsic.effect in (Effect.PURE, Effect.MEMORY)
    return not isinstance(e, ir.Call)


def _follows_counter(index: ir.Expr, counter: ir.Var, ranges: Ranges) -> bool:
    """Return whether an index is the counter, or the counter plus a number of 0 or more."""
    match index:
        case ir.Var(name=counter.name):
            return True
        case ir.Binary(op=op, left=left, right=right) if op is ADD:
            return any(
                _follows_counter(x, counter, ranges) and ranges.of(y).low >= 0
                for x, y in ((left, right), (right, left))
            )
        case _:
            return False


def _versions(loop: ir.For, number: int, uses: Counter[str]) -> ir.Body:
    """Return the two loops, which share no variables that nothing else uses."""
    preceding: list[ir.Stmt] = []

    def to_variable(e: ir.Expr, name: str) -> ir.Expr:
        if is_atom(e):
            return e
        var = ir.Var(f"{name}.v{number}", scalar_type(e), e.span)
        preceding.append(ir.Assign(var, e, e.span))
        return var

    start, stop = to_variable(loop.start, "first"), to_variable(loop.stop, "stop")
    loop = replace(loop, start=start, stop=stop)
    assigned = {s.var.name for s in statements((loop,)) if isinstance(s, ir.Assign | ir.For)}
    own_uses = count_uses((loop,))
    local = {name: f"{name}.v{number}" for name in assigned if own_uses[name] == uses[name]}
    general = rename_variables(_copy(loop), local)
    zero = const(0, loop.span, scalar_type(start))
    is_nonnegative = binary(GE, start, zero, loop.span)
    return (*preceding, ir.If(is_nonnegative, _copy(loop), general, loop.span))


def _copy(s: ir.Stmt) -> ir.Body:
    """Return a copy with other nodes, since analyses tell nodes apart by their identity."""
    copied = map_expr((s,), lambda e: replace(e))
    return map_stmt(copied, lambda s: (replace(s),))

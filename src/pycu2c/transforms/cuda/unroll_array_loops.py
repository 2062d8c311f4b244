"""Request the unrolling of loops whose counters index local arrays (GPU).

Before: ``for n in range(64): total[2 * n] = 0``. After: the same loop with ``#pragma unroll``, so
that ``total`` is in registers; without it, NVRTC unrolls loops with small bodies alone. Requires
the form TYPED (``ir/forms.py``), and keeps it. Uses the range analysis.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.analysis.register_arrays import register_arrays
from pycu2c.base.records import replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import map_bodies, map_functions, with_body


def unroll_array_loops(module: ir.Module, ranges: Mapping[str, Ranges]) -> ir.Module:
    """Request the unrolling of loops of all functions."""
    arrays = register_arrays(module, ranges)

    def unroll_in(function: ir.Function) -> ir.Function:
        loops = {loop for loop in arrays[function.name].loops if loop.unroll is None}
        if not loops:
            return function
        return with_body(function, _with_requests(function.body, loops))

    return map_functions(module, unroll_in)


def _with_requests(body: ir.Body, loops: Set[ir.For]) -> ir.Body:
    return tuple(
        map_bodies(
            replace(s, unroll=0) if isinstance(s, ir.For) and s in loops else s,
            lambda inner: _with_requests(inner, loops),
        )
        for s in body
    )

"""Replace the lengths of short last axes by constants where the launch has them.

With an image of three colors, ``rgb[(i * rgb.shape.1 + j) * rgb.shape.2 + 1]`` becomes ``rgb[(i *
rgb.shape.1 + j) * 3 + 1]``, so that C compilers know the stride of neighbouring pixels and unroll
loops over the colors. Requires the form DECLARED (``ir/forms.py``), and keeps it.
"""

from __future__ import annotations

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import replace
from pycu2c.base.types import Array
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import const, scalar_type
from pycu2c.ir.walk import accesses, map_expr, statements


def fix_short_axes(module: ir.Module, assumptions: LaunchAssumptions) -> ir.Module:
    """Replace the lengths in the kernel; device functions get them as arguments."""
    kernel = module.kernel
    lengths = {
        p.name: length
        for p in kernel.parameters
        for argument, axis, length in assumptions.short_axes
        if p.part is ir.ArgumentPart.SHAPE and (p.argument, p.axis) == (argument, axis)
    }
    if not lengths:
        return module

    def fixed(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Var) and e.name in lengths:
            return const(lengths[e.name], e.span, scalar_type(e))
        return e

    parameters = tuple(p for p in kernel.parameters if p.name not in lengths)
    body = map_expr(kernel.body, fixed)
    return replace(module, kernel=replace(kernel, parameters=parameters, body=body))


def short_axis_candidates(module: ir.Module) -> tuple[tuple[int, int], ...]:
    """Return the array arguments of a built kernel whose last axis may be a short one.

    Its index is a constant or the variable of a loop, and neighbouring threads do not access
    neighbouring elements. The result is pairs of the position of the argument and the axis.
    """
    arguments = {p.name: p for p in module.kernel.parameters if isinstance(p.type, Array)}
    loop_variables = {s.var.name for s in statements(module.kernel.body) if isinstance(s, ir.For)}
    found = {
        access.array.name
        for access in accesses(module.kernel.body)
        for index in access.indices[-1:]
        if isinstance(index, ir.Const)
        or (isinstance(index, ir.Var) and index.name in loop_variables)
    }
    return tuple(
        (p.argument, p.type.ndim - 1)
        for name, p in arguments.items()
        if name in found and isinstance(p.type, Array) and _has_rows(p.type)
    )


def _has_rows(array: Array) -> bool:
    return array.ndim > 1 and array.layout == "C" and array.shape is None

"""Find the strides of array parameters that are the same constant in all calls of a function.

In ``total(a[:, 2:])`` with a contiguous ``a``, the last axis of the parameter has stride 1. The
first axis has the length of a row as its stride, which is not a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TypeAlias

from pycu2c.base.types import Array
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import recursive_functions
from pycu2c.ir.views import has_linear_start, itemsize_ratio, stride_inside_field
from pycu2c.ir.walk import all_expressions, contains

# the strides of the axes of a function's array parameters, by name; None: not constant
ConstantStrides: TypeAlias = Mapping[str, tuple[int | None, ...]]


def constant_strides(module: ir.Module) -> Mapping[str, ConstantStrides]:
    """Return the constant strides in each function, by name.

    Those of a kernel, of recursive functions and of inline C, which names them, are unknown.
    """
    recursive = recursive_functions(module)
    functions = {
        f.name: f
        for f in module.device_functions
        if f.name not in recursive and not contains(f.body, ir.InlineC)
    }
    result: dict[str, dict[str, tuple[int | None, ...]]] = {
        f.name: {} for f in (module.kernel, *module.device_functions)
    }
    if not functions:
        return result
    for caller in (module.kernel, *reversed(module.device_functions)):  # callers before callees
        for call in all_expressions(caller.body):
            if not isinstance(call, ir.Call) or call.function not in functions:
                continue
            known = result[call.function]
            for p, argument in zip(functions[call.function].parameters, call.arguments):
                if isinstance(argument, ir.Var | ir.View) and isinstance(p.type, Array):
                    strides = _strides(argument, result[caller.name])
                    known[p.name] = tuple(
                        a if a == b else None for a, b in zip(strides, known.get(p.name, strides))
                    )
    return result


def constant_stride(array: ir.Var | ir.View, axis: int, known: ConstantStrides) -> int | None:
    """Return the stride of an axis in elements, if it is a constant."""
    if isinstance(array, ir.View):
        return _view_stride(array, axis, known)
    array_type = array.type
    assert isinstance(array_type, Array)
    if ir.in_cluster(array):
        return None
    if array_type.shape is not None:
        return prod(array_type.shape[axis + 1 :])
    if array_type.layout == "C" and axis == array_type.ndim - 1:
        return 1
    return known[array.name][axis] if array.name in known else None


def _view_stride(view: ir.View, axis: int, known: ConstantStrides) -> int | None:
    step, array_axis = view.steps[axis], view.axes[axis]
    if not isinstance(step, ir.Const):
        return None
    if array_axis < 0:
        return int(step.value) * stride_inside_field(view, array_axis)
    step_in_elements = int(step.value) * itemsize_ratio(view)
    if has_linear_start(view):
        return step_in_elements
    stride = constant_stride(view.array, array_axis, known)
    return None if stride is None else step_in_elements * stride


def _strides(array: ir.Var | ir.View, known: ConstantStrides) -> tuple[int | None, ...]:
    assert isinstance(array.type, Array)
    return tuple(constant_stride(array, axis, known) for axis in range(array.type.ndim))

"""Describe calls of reductions: their axes, and their arguments in the order of the axes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.generated_kernel import KernelCall
from pycu2c.compat.cupy.operands import Operand
from pycu2c.compat.cupy.parameter_declarations import ArgumentValueError
from pycu2c.compat.cupy.reduction.iteration_space import ReductionAxes
from pycu2c.compat.cupy.reduction.source_parts import ReductionSpec
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape


@dataclass(frozen=True, slots=True)
class ReductionCall(KernelCall):
    """A checked call of a reduction.

    output_strides: the strides of each output along the axes that are not reduced.
    """

    reduced_axes: tuple[int, ...]
    output_strides: tuple[Shape, ...]

    @property
    def is_empty(self) -> bool:
        """Return whether there are no elements to reduce."""
        outputs = self.operands[len(self.arguments.inputs) :]
        return not any(a.size for a in outputs if isinstance(a, ArrayArgument))


def normalize_axes(axis: Any, count: int, name: str) -> tuple[int, ...]:
    """Return the reduced axes in order. Raises ArgumentValueError."""
    if axis is None:
        return tuple(range(count))
    axes = []
    for item in axis if isinstance(axis, (tuple, list)) else (axis,):
        index = operator.index(item)
        if not -count <= index < count:
            raise np.exceptions.AxisError(index, count, name)
        axes.append(index % count)
    if len(set(axes)) != len(axes):
        raise ArgumentValueError(f"{name}: duplicate value in 'axis': {axis}")
    return tuple(sorted(axes))


def reordered_arguments(
    call: ReductionCall, spec: ReductionSpec, axes: ReductionAxes
) -> list[Operand]:
    """Return the arguments; arrays have the axes of the iteration spaces."""
    kept, reduced = iter(axes.kept.strides), iter(axes.reduced.strides)
    reordered: list[Operand] = []
    for k, (bound, operand) in enumerate(zip(spec.bound_parameters, call.operands)):
        if not isinstance(operand, ArrayArgument) or bound.kind != "array":
            reordered.append(operand)
            continue
        is_input = k < spec.input_count
        shape = (*axes.kept.shape, *(axes.reduced.shape if is_input else ()))
        strides = (*next(kept), *(next(reduced) if is_input else ()))
        reordered.append(operand._replace(shape=shape, strides=strides, contiguous=False))
    return reordered

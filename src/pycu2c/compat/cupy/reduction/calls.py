"""Check the arguments of a reduction."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass, replace
from pycu2c.compat.cupy import operands
from pycu2c.compat.cupy.call_arguments import CallArguments
from pycu2c.compat.cupy.operands import Operand
from pycu2c.compat.cupy.parameter_declarations import ArgumentValueError
from pycu2c.compat.cupy.reduction.iteration_space import ReductionAxes
from pycu2c.compat.cupy.reduction.source_parts import ReductionForm
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape


@dataclass(frozen=True, slots=True)
class ReductionCall:
    """A checked call. ``targets``: the strides of outputs along the axes that are not reduced."""

    shape: Shape
    reduced: tuple[int, ...]
    leaves: tuple[Operand, ...]
    targets: tuple[Shape, ...]
    results: tuple[Any, ...]
    arguments: CallArguments

    def without_memory(self) -> ReductionCall:
        """Return a copy that keeps no array alive."""
        leaves = tuple(map(operands.without_memory, self.leaves))
        return replace(self, leaves=leaves, results=(), arguments=self.arguments.without_memory())

    def at(self, backend: str) -> ReductionCall:
        """Return this call for another backend."""
        return replace(self, arguments=replace(self.arguments, backend=backend))


def normalize_axes(axis: Any, count: int, name: str) -> tuple[int, ...]:
    """Return the reduced axes in order. Raises ArgumentValueError."""
    if axis is None:
        return tuple(range(count))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = []
    for each in given:
        index = operator.index(each)
        if not -count <= index < count:
            raise np.exceptions.AxisError(index, count, name)
        found.append(index % count)
    if len(set(found)) != len(found):
        raise ArgumentValueError(f"{name}: duplicate value in 'axis': {axis}")
    return tuple(sorted(found))


def reordered_arguments(
    call: ReductionCall, form: ReductionForm, axes: ReductionAxes
) -> list[Operand]:
    """Return the arguments, with the axes of the iteration spaces."""
    kept, reduced = iter(axes.kept.strides), iter(axes.reduced.strides)
    found: list[Operand] = []
    for k, (bound, leaf) in enumerate(zip(form.bounds, call.leaves)):
        if not isinstance(leaf, ArrayArgument) or bound.kind != "array":
            found.append(leaf)
            continue
        own = k < form.inputs
        shape = (*axes.kept.shape, *(axes.reduced.shape if own else ()))
        strides = (*next(kept), *(next(reduced) if own else ()))
        found.append(leaf._replace(shape=shape, strides=strides, contiguous=False))
    return found

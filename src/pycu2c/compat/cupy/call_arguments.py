"""What the kernels of this package share of a call: its arguments counted, seen as arrays and
numbers, and their types. Knows neither shapes nor how a kernel runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass, replace
from pycu2c.compat.cupy import iteration_space, operands
from pycu2c.compat.cupy.operands import Operand
from pycu2c.compat.cupy.parameter_declarations import (
    ParameterInfo,
    Types,
    WrongType,
    WrongValue,
    is_kernel_name,
    parameters,
    types_of,
)
from pycu2c.runtime.arguments.array_argument import ArrayArgument, HandleArgument
from pycu2c.runtime.arguments.strides import Shape


@dataclass(frozen=True, slots=True)
class Taken:
    """The arguments of a call: those of inputs, the arrays given for outputs; where the kernel
    runs; the family of its arrays, and one of them."""

    given: tuple[Operand, ...]
    out: tuple[ArrayArgument, ...]
    types: Types
    place: str
    family: operands.Family
    like: Any

    def without_memory(self) -> Taken:
        """The same, keeping no array alive."""
        given = tuple(map(operands.without_memory, self.given))
        return replace(self, given=given, out=(), like=None)

    def stream(self, wanted: Any) -> Any:
        """The one to run in: that which the arrays' package works in, if nobody says it."""
        return self.family.stream() if wanted is None and self.place == "cuda" else wanted


class Declaration:
    """The name and parameters of a kernel."""

    def __init__(self, name: str, in_params: str, out_params: str) -> None:
        if not is_kernel_name(name):
            raise ValueError(f"Invalid kernel name: {name!r} is no name in C")
        self.name = name
        self.inputs = parameters(in_params, is_const=True)
        self.outputs = parameters(out_params, is_const=False)
        self.all = (*self.inputs, *self.outputs)
        self.shown = tuple(f"{name}: argument {k} ({p.name})" for k, p in enumerate(self.all, 1))

    @property
    def input_names(self) -> tuple[str, ...]:
        """What errors call the inputs."""
        return self.shown[: len(self.inputs)]

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.shown[len(self.inputs) :]

    def taken(self, args: Sequence[Any]) -> Taken:
        """The arguments of a call. Raises WrongType, LaunchError."""
        count = len(self.inputs)
        if len(args) not in (count, len(self.all)):
            outputs = f", or {len(self.all)} with outputs" if self.outputs else ""
            raise WrongType(f"{self.name} takes {count} arguments{outputs}, not {len(args)}")
        found = [operands.operand(a, n) for a, n in zip(args, self.shown)]
        given, out = found[:count], tuple(map(_target, found[count:], self.output_names))
        arrays = [(n, a) for n, a in zip(self.shown, found) if isinstance(a, ArrayArgument)]
        if not arrays:
            raise WrongValue(f"{self.name}: Loop size is undecided: no argument is an array")
        kinds = [_kind(a) for a in given]
        types = types_of(self.inputs, self.outputs, kinds, [a.dtype.numpy for a in out])
        fitting = (
            a if isinstance(a, _OBJECTS) else operands.number_as(a, row, name)
            for a, row, name in zip(given, types.inputs, self.shown)
        )
        first = arrays[0][1]
        family = operands.family_of(first)
        return Taken(tuple(fitting), out, types, operands.place_of(arrays), family, first.owner)

    def new(self, taken: Taken, shape: Shape) -> tuple[ArrayArgument, ...]:
        """Arrays for the outputs, of the kind that the call was given."""
        made = (taken.family.empty(shape, row.numpy, taken.like) for row in taken.types.outputs)
        found = (operands.operand(array, self.name) for array in made)
        return tuple(array for array in found if isinstance(array, ArrayArgument))

    def apart(self, taken: Taken, targets: Sequence[ArrayArgument]) -> tuple[Operand, ...]:
        """The inputs, with copies of those that what is written would change before they are
        read."""
        return tuple(_apart(p, a, targets) for p, a in zip(self.inputs, taken.given))


_OBJECTS = (ArrayArgument, HandleArgument)


def _kind(given: Operand) -> Any:
    """What tells the type of a parameter: a dtype, the type of a texture, a number."""
    if isinstance(given, HandleArgument):
        return given.dtype
    return given.dtype.numpy if isinstance(given, ArrayArgument) else given


def _target(value: Operand, name: str) -> ArrayArgument:
    if not isinstance(value, ArrayArgument):
        raise WrongType(f"{name} is an output: pass an array, not {value!r}")
    if value.readonly:
        raise LaunchError(f"{name} is written, and it is read-only: pass a copy")
    return value


def _apart(parameter: ParameterInfo, given: Operand, targets: Sequence[ArrayArgument]) -> Operand:
    if not isinstance(given, ArrayArgument) or parameter.raw:
        return given
    if not any(iteration_space.may_disturb(given, target) for target in targets):
        return given
    return operands.operand(operands.family_of(given).copy(given.owner), parameter.name)

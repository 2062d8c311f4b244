"""Parse and check the arguments of a call of an elementwise or reduction kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass, replace
from pycu2c.compat.cupy import iteration_space, operands
from pycu2c.compat.cupy.operands import Operand
from pycu2c.compat.cupy.parameter_declarations import (
    ArgumentTypeError,
    ArgumentValueError,
    CallTypes,
    ParameterInfo,
    is_kernel_name,
    parameters,
    types_of,
)
from pycu2c.runtime.arguments.array_argument import ArrayArgument, HandleArgument
from pycu2c.runtime.arguments.strides import Shape


@dataclass(frozen=True, slots=True)
class CallArguments:
    """The arguments of a call.

    given, out: the inputs, and the arrays that were passed for outputs.
    types: the types of the parameters.
    backend: where the kernel runs, "cuda" or "cpu".
    family, like: the package of the arrays, and one of the arrays.
    """

    given: tuple[Operand, ...]
    out: tuple[ArrayArgument, ...]
    types: CallTypes
    backend: str
    family: operands.ArrayPackage
    like: Any

    def without_memory(self) -> CallArguments:
        """Return a copy that keeps no array alive."""
        given = tuple(map(operands.without_memory, self.given))
        return replace(self, given=given, out=(), like=None)

    def stream(self, wanted: Any) -> Any:
        """Return the stream to use; the default is the current stream of the array package."""
        return self.family.stream() if wanted is None and self.backend == "cuda" else wanted


class KernelDeclaration:
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
        """Return the names of the inputs in errors."""
        return self.shown[: len(self.inputs)]

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.shown[len(self.inputs) :]

    def parse(self, args: Sequence[Any]) -> CallArguments:
        """Parse the arguments of a call. Raises ArgumentTypeError, LaunchError."""
        count = len(self.inputs)
        if len(args) not in (count, len(self.all)):
            outputs = f", or {len(self.all)} with outputs" if self.outputs else ""
            raise ArgumentTypeError(
                f"{self.name} takes {count} arguments{outputs}, not {len(args)}"
            )
        found = [operands.operand(a, n) for a, n in zip(args, self.shown)]
        given, out = found[:count], tuple(map(_target, found[count:], self.output_names))
        arrays = [(n, a) for n, a in zip(self.shown, found) if isinstance(a, ArrayArgument)]
        if not arrays:
            raise ArgumentValueError(
                f"{self.name}: Loop size is undecided: no argument is an array"
            )
        kinds = [_argument_type(a) for a in given]
        types = types_of(self.inputs, self.outputs, kinds, [a.dtype.numpy for a in out])
        fitting = (
            a if isinstance(a, _OBJECTS) else operands.number_as(a, row, name)
            for a, row, name in zip(given, types.inputs, self.shown)
        )
        first = arrays[0][1]
        family = operands.array_package_of(first)
        return CallArguments(
            tuple(fitting), out, types, operands.backend_of(arrays), family, first.owner
        )

    def new(self, arguments: CallArguments, shape: Shape) -> tuple[ArrayArgument, ...]:
        """Allocate the outputs, as arrays of the package of the inputs."""
        made = (
            arguments.family.empty(shape, row.numpy, arguments.like)
            for row in arguments.types.outputs
        )
        found = (operands.operand(array, self.name) for array in made)
        return tuple(array for array in found if isinstance(array, ArrayArgument))

    def apart(
        self, arguments: CallArguments, targets: Sequence[ArrayArgument]
    ) -> tuple[Operand, ...]:
        """Return the inputs, with copies of those that overlap an output and would be overwritten
        before they are read."""
        return tuple(_unaliased(p, a, targets) for p, a in zip(self.inputs, arguments.given))


_OBJECTS = (ArrayArgument, HandleArgument)


def _argument_type(given: Operand) -> Any:
    """Return what determines the type of a parameter: a dtype, a texture type, or a number."""
    if isinstance(given, HandleArgument):
        return given.dtype
    return given.dtype.numpy if isinstance(given, ArrayArgument) else given


def _target(value: Operand, name: str) -> ArrayArgument:
    if not isinstance(value, ArrayArgument):
        raise ArgumentTypeError(f"{name} is an output: pass an array, not {value!r}")
    if value.readonly:
        raise LaunchError(f"{name} is written, and it is read-only: pass a copy")
    return value


def _unaliased(
    parameter: ParameterInfo, given: Operand, targets: Sequence[ArrayArgument]
) -> Operand:
    if not isinstance(given, ArrayArgument) or parameter.raw:
        return given
    if not any(iteration_space.may_overwrite(given, target) for target in targets):
        return given
    return operands.operand(operands.array_package_of(given).copy(given.owner), parameter.name)

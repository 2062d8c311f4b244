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
    CallTypes,
    ParameterInfo,
    infer_types,
    is_kernel_name,
    parse_parameters,
)
from pycu2c.runtime.arguments.array_argument import ArrayArgument, HandleArgument
from pycu2c.runtime.arguments.strides import Shape


@dataclass(frozen=True, slots=True)
class CallArguments:
    """The arguments of a call.

    inputs, out: the inputs, and the arrays that were passed for outputs.
    types: the types of the parameters.
    backend: where the kernel runs, "cuda" or "cpu".
    package: the package of the arrays. like: one of them, as a model for new arrays; None without
    arrays.
    """

    inputs: tuple[Operand, ...]
    out: tuple[ArrayArgument, ...]
    types: CallTypes
    backend: str
    package: operands.ArrayPackage
    like: Any

    def without_memory(self) -> CallArguments:
        """Return a copy that keeps no array alive."""
        inputs = tuple(map(operands.without_memory, self.inputs))
        return replace(self, inputs=inputs, out=(), like=None)

    def stream(self, stream: Any) -> Any:
        """Return the stream to use; the default is the current stream of the array package."""
        return self.package.stream() if stream is None and self.backend == "cuda" else stream


class KernelDeclaration:
    """The name and parameters of a kernel."""

    def __init__(self, name: str, in_params: str, out_params: str) -> None:
        if not is_kernel_name(name):
            raise ValueError(f"Invalid kernel name: {name!r} is not an identifier in C")
        self.name = name
        self.inputs = parse_parameters(in_params, is_const=True)
        self.outputs = parse_parameters(out_params, is_const=False)
        self.parameters = (*self.inputs, *self.outputs)
        self.error_names = tuple(
            f"{name}: argument {k} ({p.name})" for k, p in enumerate(self.parameters, 1)
        )

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.error_names[len(self.inputs) :]

    def parse(self, args: Sequence[Any]) -> CallArguments:
        """Describe, check and convert the arguments of a call.

        Raises ArgumentTypeError, LaunchError.
        """
        count = len(self.inputs)
        if len(args) not in (count, len(self.parameters)):
            outputs = f", or {len(self.parameters)} with outputs" if self.outputs else ""
            raise ArgumentTypeError(
                f"{self.name} takes {count} arguments{outputs}, not {len(args)}"
            )
        call_operands = [operands.operand(a, n) for a, n in zip(args, self.error_names)]
        inputs = call_operands[:count]
        out = tuple(map(_checked_output, call_operands[count:], self.output_names))
        arrays = [
            (n, a) for n, a in zip(self.error_names, call_operands) if isinstance(a, ArrayArgument)
        ]
        argument_types = [_argument_type(a) for a in inputs]
        types = infer_types(self.inputs, self.outputs, argument_types, [a.dtype.numpy for a in out])
        converted = (
            a if isinstance(a, _ARRAYS_AND_HANDLES) else operands.convert_number(a, dtype, name)
            for a, dtype, name in zip(inputs, types.inputs, self.error_names)
        )
        if not arrays:
            backend, package = operands.default_backend_and_package()
            return CallArguments(tuple(converted), out, types, backend, package, None)
        first = arrays[0][1]
        package = operands.array_package_of(first)
        return CallArguments(
            tuple(converted), out, types, operands.backend_of(arrays), package, first.owner
        )

    def new_outputs(self, arguments: CallArguments, shape: Shape) -> tuple[ArrayArgument, ...]:
        """Allocate the outputs, as arrays of the package of the inputs."""
        arrays = (
            arguments.package.empty(shape, dtype.numpy, arguments.like)
            for dtype in arguments.types.outputs
        )
        call_operands = (operands.operand(array, self.name) for array in arrays)
        return tuple(array for array in call_operands if isinstance(array, ArrayArgument))

    def unaliased_inputs(
        self, arguments: CallArguments, targets: Sequence[ArrayArgument]
    ) -> tuple[Operand, ...]:
        """Return the inputs, with copies of those that overlap an output and would be overwritten
        before they are read."""
        return tuple(_unaliased(p, a, targets) for p, a in zip(self.inputs, arguments.inputs))


_ARRAYS_AND_HANDLES = (ArrayArgument, HandleArgument)


def _argument_type(operand: Operand) -> Any:
    """Return the dtype of an array, the type of a texture, or the number itself."""
    if isinstance(operand, HandleArgument):
        return operand.dtype
    return operand.dtype.numpy if isinstance(operand, ArrayArgument) else operand


def _checked_output(value: Operand, name: str) -> ArrayArgument:
    if not isinstance(value, ArrayArgument):
        raise ArgumentTypeError(f"{name} is an output: pass an array, not {value!r}")
    if value.readonly:
        raise LaunchError(f"{name} is an output, and the array is read-only: pass a copy")
    return value


def _unaliased(
    parameter: ParameterInfo, operand: Operand, targets: Sequence[ArrayArgument]
) -> Operand:
    if not isinstance(operand, ArrayArgument) or parameter.raw:
        return operand
    if not any(iteration_space.may_overwrite(operand, target) for target in targets):
        return operand
    return operands.operand(operands.array_package_of(operand).copy(operand.owner), parameter.name)

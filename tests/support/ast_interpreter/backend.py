"""Launch kernels on the oracle, in place of ``backend="python"``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from pycu2c.base.diagnostics import reporting_recursion_limit
from pycu2c.base.recursion_limit import frames_for_calls
from pycu2c.base.types import ParameterType
from pycu2c.kernels import specialization
from pycu2c.kernels.specialization import Specialization
from pycu2c.ops.intrinsics.library import device_source
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.arguments.flattened_arguments import unflatten
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import Runner
from support.ast_interpreter.interpreter import ReferenceKernel
from support.sample_types.type_inference import inferred_from


@dataclass(frozen=True, slots=True)
class OracleRunner(Runner):
    kernel: ReferenceKernel
    types: tuple[ParameterType, ...]
    device_function_count: int

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        owners = iter(map(_python_value, arguments))
        values = [unflatten(argument_type, owners) for argument_type in self.types]
        with frames_for_calls(self.device_function_count):
            self.kernel.launch(launch.grid, launch.block, launch.shared_bytes, values)


def _python_value(argument: Argument) -> Any:
    """Return the object that Python code gets for an argument."""
    if isinstance(argument, ArrayArgument) and not argument.shape and argument.dtype.has_fields:
        return argument.owner[()]
    return argument.owner if isinstance(argument, ArrayArgument | HandleArgument) else argument


def _oracle_runner(kernel: Specialization) -> OracleRunner:
    source, options, types = kernel.source, kernel.options, kernel.signature.parameters
    count = len(kernel.built.module.device_functions)
    with reporting_recursion_limit(source.span(source.tree)), frames_for_calls(2 * count):
        inferred = inferred_from(source, types, options.weak_float is not None, bool(options.check))
        interpreted = ReferenceKernel(source, inferred, types, device_source, options)
    return OracleRunner(interpreted, types, count)


@contextmanager
def oracle() -> Iterator[None]:
    """Let the oracle run the kernels that are compiled for ``backend="python"``."""
    with mock.patch.object(specialization, "_interpreter_runner", _oracle_runner):
        yield

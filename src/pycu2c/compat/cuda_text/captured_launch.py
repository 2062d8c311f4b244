"""Adapt a CUDA C kernel to graph capture, which expects the launcher interface of ``@kernel``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.types import Signature
from pycu2c.compat.cuda_text.arguments import argument_names, leaves_of
from pycu2c.kernels.launcher import BoundArguments, ResolvedLaunch, TypedKernel
from pycu2c.runtime.launch_configuration import LaunchRequest
from pycu2c.runtime.runner import KernelMetadata, SpecializationKey


class CapturedTextLaunch:
    """A CUDA C kernel with the launcher interface that a captured graph uses."""

    def __init__(self, function: Any, cooperative: bool) -> None:
        self._function, self._cooperative = function, cooperative
        self.name: str = function.name

    def bind(
        self, arguments: tuple[object, ...], named: Mapping[str, object]
    ) -> tuple[object, ...]:
        """Return the arguments in parameter order. Raises LaunchError."""
        if named:
            raise LaunchError(f"{self.name} is a CUDA C kernel: pass its arguments by position")
        return arguments

    def resolve(self, request: LaunchRequest, values: tuple[object, ...]) -> ResolvedLaunch:
        """Return a checked launch, ready to start. Raises LaunchError."""
        prepared = self._function.prepare(request, values, self._cooperative)
        leaves = leaves_of(prepared.bound_arguments)
        types = Signature(tuple(argument.type for argument in prepared.bound_arguments))
        metadata = KernelMetadata(frozenset(prepared.writable))
        backend = self._function.module.chosen_backend()
        key = SpecializationKey(backend, LaunchAssumptions(index32_safe=True))
        bound = BoundArguments(values, leaves, types)
        typed = TypedKernel(metadata, {}, None)
        return ResolvedLaunch(
            prepared.launch, bound, typed, key, prepared.runner, prepared.is_first
        )

    def leaf_names(self, signature: Signature) -> tuple[str, ...]:
        """Return the argument names for error messages."""
        kernel_parameters = self._function.parameters
        return argument_names(self.name, kernel_parameters, signature.parameters)

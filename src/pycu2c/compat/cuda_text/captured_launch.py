"""Adapt kernels in CUDA C to graph capture, which expects the launcher of ``@kernel``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.types import Signature
from pycu2c.kernels.launcher import ResolvedLaunch, TypedKernel
from pycu2c.runtime.launch_configuration import Launch, LaunchRequest
from pycu2c.runtime.runner import KernelMetadata, Runner, SpecializationKey

Resolve: TypeAlias = Callable[[LaunchRequest, tuple[object, ...]], ResolvedLaunch]


class CapturedLaunch:
    """A kernel with positional arguments, with the launcher interface that a graph uses.

    resolve: prepares a launch without starting it. leaf_names: returns the names of arguments.
    """

    def __init__(
        self, name: str, resolve: Resolve, leaf_names: Callable[[Signature], tuple[str, ...]]
    ) -> None:
        self.name, self.resolve, self.leaf_names = name, resolve, leaf_names

    def bind(
        self, arguments: tuple[object, ...], named: Mapping[str, object]
    ) -> tuple[object, ...]:
        """Return the arguments in parameter order. Raises LaunchError."""
        if named:
            raise LaunchError(f"{self.name} is a CUDA C kernel: pass its arguments by position")
        return arguments


def resolved_launch(
    launch: Launch,
    runner: Runner,
    values: tuple[object, ...],
    leaves: tuple[Any, ...],
    *,
    writable: frozenset[int],
    backend: str,
    signature: Signature | None = None,
    is_first: bool = False,
) -> ResolvedLaunch:
    """Return a checked launch, ready to start."""
    typed = TypedKernel(KernelMetadata(writable), {}, None)
    key = SpecializationKey(backend, LaunchAssumptions(index32_safe=True))
    types = signature or Signature(())
    return ResolvedLaunch(launch, values, leaves, types, typed, key, runner, is_first)

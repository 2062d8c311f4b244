"""Adapt calls to graph capture, with the interface of the launcher of Python kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass
from pycu2c.base.types import Signature
from pycu2c.compat.cupy.call_arguments import KernelDeclaration
from pycu2c.compat.cupy.fast_calls import WorkspaceFactory
from pycu2c.kernels.launcher import Ready, Taken, Typed
from pycu2c.runtime.launch_configuration import Launch, LaunchRequest
from pycu2c.runtime.runner import KernelMetadata, Runner, SpecializationKey


@dataclass(frozen=True, slots=True)
class PreparedLaunch:
    """A launch, its arguments and its runner. ``make_workspace`` allocates memory per call."""

    launch: Launch
    passed: tuple[Any, ...]
    runner: Runner
    make_workspace: WorkspaceFactory = tuple


class CapturableKernel:
    """A kernel that graphs can capture.

    checked: checks the arguments of a call. prepared: prepares its launch in a stream.
    """

    def __init__(
        self,
        declared: KernelDeclaration,
        name: str,
        checked: Callable[[tuple[Any, ...]], Any],
        prepared: Callable[[Any, Any], PreparedLaunch],
    ) -> None:
        self._declared, self.name = declared, name
        self._checked, self._prepared = checked, prepared

    def values(self, given: tuple[object, ...], named: Mapping[str, object]) -> tuple[object, ...]:
        """Bind the arguments. Raises LaunchError."""
        count = len(self._declared.all)
        if named or len(given) != count:
            raise LaunchError(
                f"{self.name}: a node is given all {count} arguments in their order, with the "
                "outputs"
            )
        return given

    def ready(self, wanted: LaunchRequest, values: tuple[object, ...]) -> Ready:
        """Prepare a launch without starting it. Raises LaunchError."""
        call = self._checked(values)
        if any(a is not b for a, b in zip(call.leaves, call.arguments.given)):
            graph_capture.reject(
                f"{self.name} would copy an argument, which an output overlaps: pass the copy"
            )
        found = self._prepared(call, wanted.stream)
        outputs = frozenset(range(len(self._declared.inputs), len(self._declared.all)))
        typed = Typed(KernelMetadata(outputs), {}, None)
        taken = Taken(values, found.passed, Signature(()))
        assumptions = LaunchAssumptions(index32_safe=True)
        key = SpecializationKey(call.arguments.backend, assumptions)
        return Ready(found.launch, taken, typed, key, found.runner, False)

    def leaf_names(self, _: Signature) -> tuple[str, ...]:
        """Return the names of the arguments in errors; further arguments are internal."""
        return self._declared.shown

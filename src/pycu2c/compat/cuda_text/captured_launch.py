"""A kernel in CUDA C as graphs launch one: what they ask of the launcher of a kernel in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.types import Signature
from pycu2c.compat.cuda_text import arguments
from pycu2c.kernels.launcher import Ready, Taken, Typed
from pycu2c.runtime.launch_configuration import Wanted
from pycu2c.runtime.runner import Known, Variant


class CapturedTextLaunch:
    """A function for graphs. ``cooperative``: its blocks run at the same time."""

    def __init__(self, function: Any, cooperative: bool) -> None:
        self._function, self._cooperative = function, cooperative
        self.name: str = function.name

    def values(self, given: tuple[object, ...], named: Mapping[str, object]) -> tuple[object, ...]:
        """What each parameter gets. Raises LaunchError."""
        if named:
            raise LaunchError(f"{self.name} is in CUDA C: its arguments are given in their order")
        return given

    def ready(self, wanted: Wanted, values: tuple[object, ...]) -> Ready:
        """A launch up to its start. Raises LaunchError."""
        found = self._function.prepared(wanted, values, self._cooperative)
        leaves = arguments.leaves_of(found.taken)
        types = Signature(tuple(argument.type for argument in found.taken))
        known = Known(frozenset(found.writable), (), True, False, ())
        variant = Variant(self._function.module.chosen_backend(), True, None)
        taken = Taken(values, leaves, types)
        typed = Typed(known, {}, None)
        return Ready(found.launch, taken, typed, variant, found.runner, found.is_first)

    def leaf_names(self, signature: Signature) -> tuple[str, ...]:
        """What errors call the arguments."""
        known = self._function.parameters
        return arguments.argument_names(self.name, known, signature.parameters)

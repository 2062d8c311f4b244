"""A call of an elementwise kernel as graphs launch one: what they ask of the launcher of a kernel
in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pycu2c.diagnostics import LaunchError
from pycu2c.launching import Ready, Taken, Typed
from pycu2c.runtime import capturing
from pycu2c.runtime.configuration import Wanted
from pycu2c.runtime.runner import Known, Variant
from pycu2c.types import Signature


class Noted:
    """A kernel for graphs. ``size`` and ``threads`` are those of the call."""

    def __init__(self, kernel: Any, size: int | None, threads: int) -> None:
        self._kernel, self._size, self._threads = kernel, size, threads
        self.name: str = kernel.name

    def values(self, given: tuple[object, ...], named: Mapping[str, object]) -> tuple[object, ...]:
        """What each parameter gets. Raises LaunchError."""
        if named or len(given) != self._kernel.nargs:
            raise LaunchError(
                f"{self.name}: a node is given all {self._kernel.nargs} arguments in their order, "
                "with the outputs"
            )
        return given

    def ready(self, wanted: Wanted, values: tuple[object, ...]) -> Ready:
        """A launch up to its start. Raises LaunchError."""
        call = self._kernel.checked(values, self._size)
        if any(a is not b for a, b in zip(call.leaves, call.taken.given)):
            capturing.refuse(
                f"{self.name} would copy an argument, which an output overlaps: pass the copy"
            )
        found = self._kernel.prepared(call, wanted.stream, self._threads)
        outputs = frozenset(range(self._kernel.nin, self._kernel.nargs))
        typed = Typed(Known(outputs, (), True, False, ()), {}, None)
        taken = Taken(values, found.passed, Signature(()))
        variant = Variant(call.taken.place, True, None)
        return Ready(found.launch, taken, typed, variant, found.runner, False)

    def leaf_names(self, _: Signature) -> tuple[str, ...]:
        """What errors call the arguments; after them there are numbers alone."""
        names: tuple[str, ...] = self._kernel.shown
        return names

"""A call of a kernel as graphs launch one: what they ask of the launcher of a kernel in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass
from pycu2c.base.types import Signature
from pycu2c.compat.cupy.call_arguments import Declaration
from pycu2c.compat.cupy.fast_calls import Rooms
from pycu2c.kernels.launcher import Ready, Taken, Typed
from pycu2c.runtime.launch_configuration import Launch, LaunchRequest
from pycu2c.runtime.runner import Known, Runner, Variant


@dataclass(frozen=True, slots=True)
class Prepared:
    """A launch, what the kernel is passed, what runs it; ``rooms``: what each call needs anew."""

    launch: Launch
    passed: tuple[Any, ...]
    runner: Runner
    rooms: Rooms = tuple


class Noted:
    """A kernel for graphs. ``checked`` makes a call of arguments as this one was, ``prepared`` a
    launch in a stream of that."""

    def __init__(
        self,
        declared: Declaration,
        name: str,
        checked: Callable[[tuple[Any, ...]], Any],
        prepared: Callable[[Any, Any], Prepared],
    ) -> None:
        self._declared, self.name = declared, name
        self._checked, self._prepared = checked, prepared

    def values(self, given: tuple[object, ...], named: Mapping[str, object]) -> tuple[object, ...]:
        """What each parameter gets. Raises LaunchError."""
        count = len(self._declared.all)
        if named or len(given) != count:
            raise LaunchError(
                f"{self.name}: a node is given all {count} arguments in their order, with the "
                "outputs"
            )
        return given

    def ready(self, wanted: LaunchRequest, values: tuple[object, ...]) -> Ready:
        """A launch up to its start. Raises LaunchError."""
        call = self._checked(values)
        if any(a is not b for a, b in zip(call.leaves, call.taken.given)):
            graph_capture.reject(
                f"{self.name} would copy an argument, which an output overlaps: pass the copy"
            )
        found = self._prepared(call, wanted.stream)
        outputs = frozenset(range(len(self._declared.inputs), len(self._declared.all)))
        typed = Typed(Known(outputs, (), True, False, ()), {}, None)
        taken = Taken(values, found.passed, Signature(()))
        variant = Variant(call.taken.place, True, None)
        return Ready(found.launch, taken, typed, variant, found.runner, False)

    def leaf_names(self, _: Signature) -> tuple[str, ...]:
        """What errors call the arguments; after them there is what the kernel makes itself."""
        return self._declared.shown

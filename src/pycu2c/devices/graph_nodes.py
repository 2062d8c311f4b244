"""What graphs on a GPU and on the CPU have in common: nodes, and what is asked of the graph."""

from __future__ import annotations

import contextlib
import weakref
from typing import Protocol

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.kernels.launcher import Launcher, Ready
from pycu2c.runtime.launch_configuration import Extent, LaunchRequest


class Captured(graph_capture.Capture, Protocol):
    """A graph on one kind of machine: in the making, and made."""

    @property
    def nodes(self) -> list[Node]: ...

    def going_on(self) -> contextlib.AbstractContextManager[None]:
        """Capture in a ``with``."""

    def there(self) -> contextlib.AbstractContextManager[None]:
        """Be where it runs, in a ``with``."""

    def make(self, before: Captured | None) -> None:
        """Be ready to be launched, by changing what was captured before if that can be done."""

    def change(self, place: int, ready: Ready) -> None:
        """Let a node launch something else from now on."""

    def start(self, stream: object) -> None: ...


class Node:
    """One launch of a graph."""

    __slots__ = ("_is_current", "_owner", "_place", "_wanted", "launcher", "ready")

    def __init__(
        self, owner: Captured, launcher: Launcher, wanted: LaunchRequest, ready: Ready
    ) -> None:
        self._owner = weakref.ref(owner)  # which keeps this: what is used goes with the graph
        self._is_current = True
        self._place = len(owner.nodes)
        self.launcher, self._wanted, self.ready = launcher, wanted, ready

    def __repr__(self) -> str:
        return f"<launch of {self.name} on grid {self.grid}, block {self.block}>"

    @property
    def name(self) -> str:
        """The kernel's."""
        return self.launcher.name

    @property
    def grid(self) -> Extent:
        return self.ready.launch.grid

    @property
    def block(self) -> Extent:
        return self.ready.launch.block

    def set(self, *arguments: object, **named: object) -> None:
        """Launch the kernel with other arguments from now on. They are checked as a launch's."""
        owner = self._owner()
        if owner is None or not self._is_current:
            raise LaunchError(
                f"{self.name}: this node's graph has gone, or has been captured again: take the "
                "node from g.nodes"
            )
        values = self.launcher.values(arguments, named)
        with graph_capture.capturing(None), owner.there():
            ready = self.launcher.ready(self._wanted, values)
            owner.change(self._place, ready)
        self.ready = ready

    def forget(self) -> None:
        """The graph has got other nodes."""
        self._is_current = False

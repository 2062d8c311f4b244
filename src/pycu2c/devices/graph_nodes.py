"""The nodes of graphs, and the interface that graphs of a GPU and of the CPU share."""

from __future__ import annotations

import contextlib
import weakref
from typing import Protocol

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.kernels.launcher import Launcher, ResolvedLaunch
from pycu2c.runtime.launch_configuration import Extent, LaunchRequest


class CapturedGraph(graph_capture.Capture, Protocol):
    """A graph during capture and after it."""

    @property
    def nodes(self) -> list[Node]: ...

    def capturing(self) -> contextlib.AbstractContextManager[None]:
        """Capture the work of the thread inside a ``with``."""

    def on_device(self) -> contextlib.AbstractContextManager[None]:
        """Select the device of the graph inside a ``with``."""

    def instantiate(self, previous: CapturedGraph | None) -> None:
        """Prepare the graph for launches, by updating ``previous`` if possible."""

    def update_node(self, index: int, resolved_launch: ResolvedLaunch) -> None:
        """Replace the launch of a node."""

    def start(self, stream: object) -> None:
        """Launch the graph."""


class Node:
    """A launch of a graph."""

    __slots__ = ("_graph", "_index", "_is_current", "_request", "launcher", "resolved_launch")

    def __init__(
        self,
        graph: CapturedGraph,
        launcher: Launcher,
        request: LaunchRequest,
        resolved_launch: ResolvedLaunch,
    ) -> None:
        self._graph = weakref.ref(graph)  # the graph owns the node
        self._is_current = True
        self._index = len(graph.nodes)
        self.launcher, self._request, self.resolved_launch = launcher, request, resolved_launch

    def __repr__(self) -> str:
        return f"<launch of {self.name} on grid {self.grid}, block {self.block}>"

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.launcher.name

    @property
    def grid(self) -> Extent:
        return self.resolved_launch.launch.grid

    @property
    def block(self) -> Extent:
        return self.resolved_launch.launch.block

    def set(self, *arguments: object, **keywords: object) -> None:
        """Replace the arguments of the launch. They are checked as in a launch."""
        graph = self._graph()
        if graph is None or not self._is_current:
            raise LaunchError(
                f"{self.name}: this node's graph was freed, or has been captured again: take the "
                "node from g.nodes"
            )
        values = self.launcher.bind(arguments, keywords)
        # resolve() must not be captured
        with graph_capture.capturing(None), graph.on_device():
            resolved_launch = self.launcher.resolve(self._request, values)
            graph.update_node(self._index, resolved_launch)
        self.resolved_launch = resolved_launch

    def invalidate(self) -> None:
        """Reject later updates: the graph has been captured again."""
        self._is_current = False

"""Graphs: launches, copies and fills that are captured once and then launched together, often."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import driver
from pycu2c.devices import cuda_graphs
from pycu2c.devices.cpu_graphs import HostGraph
from pycu2c.devices.gpu_selection import Where, ordinal_of
from pycu2c.devices.graph_nodes import Captured, Node
from pycu2c.devices.streams import Stream
from pycu2c.runtime.cuda.memory import HOST


class Graph:
    """Launches, copies and fills that are done together.

    ``with g.capture():`` notes what the calling thread launches and copies instead of doing it,
    and ``g.launch()`` does it. Arrays that take part are kept as long as the graph.
    """

    def __init__(self, *, device: Where = None) -> None:
        """device: 'cpu', or a GPU; without it a GPU if there is one."""
        self._ordinal = ordinal_of(device)
        self._made: Captured | None = None
        self.stream: Stream | None = None

    def __repr__(self) -> str:
        where = "on the CPU" if self._ordinal == HOST else f"on GPU {self._ordinal}"
        return f"<graph of {len(self.nodes)} launches {where}>"

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Its launches, in the order in which they were captured."""
        return tuple(self._made.nodes) if self._made else ()

    @contextlib.contextmanager
    def capture(self, stream: object = None) -> Iterator[Graph]:
        """Take in what the thread launches, copies and fills in the ``with``: of what names no
        stream all, and what is in ``stream``, or in those that wait for it. Without one,
        ``g.stream`` is the stream. A graph that has been captured becomes another: that is cheap
        if both do the same to other arrays and numbers."""
        if graph_capture.current() is not None:
            graph_capture.reject("no other can be begun there: launch that one in it")
        before, fresh = self.nodes, self._fresh(stream)
        with driver.on_device(self._ordinal):
            try:
                with fresh.going_on():
                    yield self
            finally:
                self.stream = None
            fresh.make(self._made)
        self._made = fresh
        for node in before:
            node.forget()

    def _fresh(self, stream: object) -> Captured:
        if self._ordinal == HOST:
            self.stream = Stream(0)
            return HostGraph()
        with driver.on_device(self._ordinal):
            self.stream = cuda_graphs.stream_to_capture(stream)
        return cuda_graphs.DeviceGraph(self.stream, self._ordinal)

    def launch(self, stream: object = None) -> None:
        """Do all of it, in the order of a stream: the default one if none is named."""
        if self._made is None:
            raise LaunchError("this graph is empty: capture what it is to do (with g.capture():)")
        self._made.start(stream)

    __call__ = launch


@contextlib.contextmanager
def graph(stream: object = None, *, device: Where = None) -> Iterator[Graph]:
    """``with cuda.graph() as g:`` captures what is in the ``with``; ``g.launch()`` does it."""
    made = Graph(device=device)
    with made.capture(stream):
        yield made

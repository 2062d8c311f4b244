"""Graphs: launches, copies and fills that are captured once, and then launched together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import driver
from pycu2c.devices import cuda_graphs
from pycu2c.devices.cpu_graphs import CpuGraph
from pycu2c.devices.gpu_selection import DeviceLike, ordinal_of
from pycu2c.devices.graph_nodes import CapturedGraph, Node
from pycu2c.devices.streams import Stream
from pycu2c.runtime.cuda.memory import HOST


class Graph:
    """A graph of launches, copies and fills.

    ``with g.capture():`` records the work of the calling thread without executing it, and
    ``g.launch()`` executes it. The graph keeps its arrays alive.

    Parameters
    ----------
    device
        The ordinal of a GPU, or "cpu"; by default the current GPU, or the CPU without one.
    """

    def __init__(self, *, device: DeviceLike = None) -> None:
        self._ordinal = ordinal_of(device)
        self._captured: CapturedGraph | None = None
        self.stream: Stream | None = None

    def __repr__(self) -> str:
        location = "on the CPU" if self._ordinal == HOST else f"on GPU {self._ordinal}"
        return f"<graph of {len(self.nodes)} launches {location}>"

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The launches, in the order of their capture."""
        return tuple(self._captured.nodes) if self._captured else ()

    @contextlib.contextmanager
    def capture(self, stream: object = None) -> Iterator[Graph]:
        """Capture the work of the thread inside a ``with``.

        The graph takes work that names no stream, and work of the captured stream and of streams
        that wait for it. To capture a graph again replaces its content; that is fast if only
        arrays and numbers differ.

        Parameters
        ----------
        stream
            The stream to capture; by default a new one. It is ``g.stream`` inside the ``with``.
        """
        if graph_capture.current() is not None:
            graph_capture.reject(
                "another graph cannot be captured inside it: capture that one before, and launch "
                "it inside"
            )
        old_nodes, captured = self.nodes, self._new_capture(stream)
        with driver.on_device(self._ordinal):
            try:
                with captured.capturing():
                    yield self
            finally:
                self.stream = None
            captured.instantiate(self._captured)
        self._captured = captured
        for node in old_nodes:
            node.invalidate()

    def _new_capture(self, stream: object) -> CapturedGraph:
        if self._ordinal == HOST:
            self.stream = Stream(0)
            return CpuGraph()
        with driver.on_device(self._ordinal):
            self.stream = cuda_graphs.stream_to_capture(stream)
        return cuda_graphs.CudaGraph(self.stream, self._ordinal)

    def launch(self, stream: object = None) -> None:
        """Execute the captured work in a stream, by default the default stream."""
        if self._captured is None:
            raise LaunchError("this graph is empty: capture work in `with g.capture():`")
        self._captured.start(stream)

    __call__ = launch


@contextlib.contextmanager
def graph(stream: object = None, *, device: DeviceLike = None) -> Iterator[Graph]:
    """Yield a new graph that captures the work inside: ``with cuda.graph() as g: …``, then
    ``g.launch()``."""
    new_graph = Graph(device=device)
    with new_graph.capture(stream):
        yield new_graph

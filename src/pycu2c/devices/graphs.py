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
    device : int or "cpu", optional
        The GPU, or the CPU; by default the current GPU, or the CPU without one.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import cuda, kernel
    >>> @kernel
    ... def increment(x):
    ...     x[cuda.grid(1)] += 1
    >>> x = cuda.to_device(np.zeros(4))
    >>> g = cuda.Graph()
    >>> with g.capture():
    ...     increment[1, 4](x)
    >>> g.launch()
    >>> x.copy_to_host()
    array([1., 1., 1., 1.])
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
        stream : Stream, optional
            The stream to capture; by default a new one. It is ``g.stream`` inside the ``with``.

        Yields
        ------
        Graph
            The graph.

        Raises
        ------
        LaunchError
            If the work cannot be captured, such as a synchronization.
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
        """Execute the captured work.

        Parameters
        ----------
        stream : Stream, optional
            The stream; by default the default stream.
        """
        if self._captured is None:
            raise LaunchError("this graph is empty: capture work in `with g.capture():`")
        self._captured.start(stream)

    __call__ = launch


@contextlib.contextmanager
def graph(stream: object = None, *, device: DeviceLike = None) -> Iterator[Graph]:
    """Capture the work inside a ``with`` in a new graph: ``with cuda.graph() as g: …``.

    Parameters
    ----------
    stream : Stream, optional
        The stream to capture; by default a new one.
    device : int or "cpu", optional
        The GPU, or the CPU, as for ``Graph``.

    Yields
    ------
    Graph
        The graph; ``g.launch()`` executes it.
    """
    new_graph = Graph(device=device)
    with new_graph.capture(stream):
        yield new_graph

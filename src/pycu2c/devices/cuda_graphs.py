"""Graphs of the driver: what a stream is given while it is captured becomes one.

The stream is one that the default stream does not wait for, and the capture a relaxed one: all
else goes on as ever meanwhile, in this thread and in others. What arrays need before their memory
is used on a stream is done at each launch of the graph.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import driver, libcuda, recent_launches
from pycu2c.devices import streams
from pycu2c.devices.graph_nodes import Captured, Node
from pycu2c.devices.streams import Stream
from pycu2c.kernels.launcher import Launcher, Ready
from pycu2c.runtime import nvtx_ranges
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.cuda import peer_access, transfers
from pycu2c.runtime.cuda.cuda_runner import CudaRunner
from pycu2c.runtime.cuda.memory import DeviceMemory, memory_behind
from pycu2c.runtime.launch_configuration import LaunchRequest

_MOST_NAMED = 3
_INSTEAD = 1  # of the nodes that a stream's next one came after so far


def stream_to_capture(stream: object) -> Stream:
    """The stream that is named, if it can be captured; else a new one."""
    driver.make_current()
    if stream is None:
        return streams.stream(blocking=False)
    found = stream if isinstance(stream, Stream) else streams.external_stream(stream)
    if found.handle in graph_capture.DEFAULT_STREAMS or not _is_apart(found.handle):
        raise LaunchError(
            "a graph is captured in a stream that the default stream does not wait for: pass one "
            "made by cuda.stream(blocking=False), or none"
        )
    return found


def _is_apart(handle: int) -> bool:
    bindings = driver.api()
    flags = driver.check(bindings.cuStreamGetFlags(handle), "ask a stream")
    return bool(int(flags) & int(bindings.CUstream_flags.CU_STREAM_NON_BLOCKING))


class _Drawing:
    """What was captured: the driver's graph and the handles of its launches."""

    def __init__(self) -> None:
        self.graph: Any = None
        self.nodes: list[Any] = []

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self.graph is not None and not finalizing():
            with contextlib.suppress(Exception):  # of a driver that is gone
                driver.api().cuGraphDestroy(self.graph)


class DeviceGraph:
    """A graph of the driver, with what may change of it."""

    def __init__(self, stream: Stream, ordinal: int) -> None:
        self.handle, self._stream, self._ordinal = stream.handle, stream, ordinal
        self.nodes: list[Node] = []
        self._drawn = _Drawing()
        self._origin = self._drawn  # what was made ready first: changes name its nodes
        self._kept: dict[int, object] = {}  # what work uses beside the arguments of nodes
        self._owners: list[object] = []
        self._memories: list[DeviceMemory] = []
        self._ready: Any = None  # the graph as it is launched

    # ---- capturing ----

    @contextlib.contextmanager
    def going_on(self) -> Iterator[None]:
        driver.make_current()
        bindings = driver.api()
        mode = bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        driver.check(bindings.cuStreamBeginCapture(self.handle, mode), "begin to capture a graph")
        try:
            with graph_capture.capturing(self):
                yield
        except BaseException:
            _, self._drawn.graph = bindings.cuStreamEndCapture(self.handle)
            raise
        doing = "end the capture of a graph"
        self._drawn.graph = driver.check(bindings.cuStreamEndCapture(self.handle), doing)

    def launch(self, launcher: Launcher, wanted: LaunchRequest, values: tuple[object, ...]) -> None:
        ready = launcher.ready(wanted, values)
        runner = _checked(launcher, ready)
        handle = driver.working_stream(wanted.stream)
        if handle != self.handle:
            _check_other(handle)
        runner.run(ready.launch, ready.taken.leaves)
        if graph_capture.records_nodes():
            self._drawn.nodes.append(_latest(handle))
            self.nodes.append(Node(self, launcher, wanted, ready))
        else:
            self._keep(ready)

    def do(self, action: Callable[[], object]) -> None:
        graph_capture.reject(
            "it is one of the GPU, and this is work of the CPU: use arrays on the GPU, or capture "
            "with device='cpu'"
        )

    def use(self, memory: object) -> None:
        self._kept[id(memory)] = memory

    def join(self, stream: int) -> None:
        if not _is_captured(stream) and not _is_apart(stream):
            graph_capture.reject(
                "a stream that the default stream waits for would become a part of it: make it "
                "by cuda.stream(blocking=False)"
            )

    def _take_in(self, other: DeviceGraph, handle: int) -> None:
        """A part that does as the other graph does now."""
        if handle != self.handle:
            _check_other(handle)
        for owner in other._owners:
            self.use(owner)
        graph, latest = _state(handle)
        bindings = driver.api()
        call = graph, latest, len(latest), other._drawn.graph
        part = driver.check(bindings.cuGraphAddChildGraphNode(*call), "put a graph into another")
        nodes = (ctypes.c_void_p * 1)(int(part))
        move = _taking(4, "cuStreamUpdateCaptureDependencies")
        code = move(handle, nodes, 1, _INSTEAD)
        driver.check((bindings.CUresult(code),), "put a graph into another")

    def _keep(self, ready: Ready) -> None:
        for leaf in ready.taken.leaves:
            if isinstance(leaf, ArrayArgument):
                self.use(leaf.owner)

    # ---- made ----

    def there(self) -> contextlib.AbstractContextManager[None]:
        return driver.on_device(self._ordinal)

    def make(self, before: Captured | None) -> None:
        if not (isinstance(before, DeviceGraph) and self._take_over(before)):
            answer = driver.api().cuGraphInstantiate(self._drawn.graph, 0)
            self._ready = driver.check(answer, "make a graph ready to be launched")
        self._note_memories()

    def _take_over(self, before: DeviceGraph) -> bool:
        """Whether a graph that is ready could be changed into this one: it keeps the nodes that it
        was made of."""
        code, *_ = driver.api().cuGraphExecUpdate(before._ready, self._drawn.graph)
        if int(code):
            return False
        self._ready, before._ready = before._ready, None
        self._origin = before._origin
        return True

    def change(self, place: int, ready: Ready) -> None:
        node = self.nodes[place]
        runner = _checked(node.launcher, ready)
        peer_access.peer_devices(ready.taken.leaves, node.name)
        made = runner.as_node(ready.launch, ready.taken.leaves)
        bindings, doing = driver.api(), f"change {node!r}"
        call = self._ready, self._origin.nodes[place], made.parameters
        driver.check(bindings.cuGraphExecKernelNodeSetParams(*call), doing)
        drawn = self._drawn.nodes[place], made.parameters  # for graphs that take this one in
        driver.check(bindings.cuGraphKernelNodeSetParams(*drawn), doing)
        node.ready = ready
        self._note_memories()

    def _note_memories(self) -> None:
        """What has to be ordered with other streams at each launch."""
        leaves = (leaf for node in self.nodes for leaf in node.ready.taken.leaves)
        owners = [leaf.owner for leaf in leaves if isinstance(leaf, ArrayArgument)]
        used = {id(owner): owner for owner in (*owners, *self._kept.values())}
        self._owners = list(used.values())
        found = dict.fromkeys(map(memory_behind, self._owners))
        self._memories = [each for each in found if isinstance(each, DeviceMemory)]
        names = list(dict.fromkeys(node.name for node in self.nodes))
        more = ", …" if len(names) > _MOST_NAMED else ""
        self._name = f"a graph ({', '.join(names[:_MOST_NAMED])}{more})"

    def start(self, stream: object) -> None:
        if driver.has_multiple_devices() and driver.current_ordinal() != self._ordinal:
            with driver.on_device(self._ordinal):
                return self.start(stream)
        driver.make_current()
        handle = driver.working_stream(stream)
        match graph_capture.current():
            case None:
                self._start(stream, handle)
            case DeviceGraph() as other:
                other._take_in(self, handle)
            case _:
                graph_capture.reject(
                    "it is one of the CPU, and what it is to launch is a graph of a GPU: leave "
                    "device='cpu' out"
                )

    def _start(self, stream: object, handle: int) -> None:
        for memory in self._memories:
            memory.before_use(handle)
            if stream is not None:
                memory.used_on(stream)
        (code,) = driver.api().cuGraphLaunch(self._ready, handle)
        if code:
            driver.check((code,), f"launch {self._name}")
        recent_launches.record(self._name)

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if finalizing():
            return
        with contextlib.suppress(Exception):  # of a driver that is gone
            if self._ready is not None:
                driver.api().cuGraphExecDestroy(self._ready)


# ---- what can be captured ----------------------------------------------------------------------


def _checked(launcher: Launcher, ready: Ready) -> CudaRunner:
    """The kernel of a launch that copies and prints nothing, and is one of the GPU. Raises
    LaunchError."""
    if ready.key.backend != "cuda":
        raise LaunchError(
            f"{launcher.name} runs on the CPU, and the graph on a GPU: capture it with "
            "device='cpu', or leave the kernel's backend out"
        )
    runner = nvtx_ranges.without_nvtx_ranges(ready.runner)
    if not isinstance(runner, CudaRunner):
        raise LaunchError(
            f"{launcher.name} prints, and a graph is not waited for: launch it outside of the graph"
        )
    names = launcher.leaf_names(ready.taken.signature)
    for name, leaf in zip(names, ready.taken.leaves):
        if isinstance(leaf, ArrayArgument) and not transfers.is_used_in_place(leaf):
            raise LaunchError(
                f"{name} is in memory of the host, and a graph does not copy it for the launch: "
                "pass a device array (cuda.to_device) or a cuda.mapped_array"
            )
    return runner


def _check_other(handle: int) -> None:
    """That a stream takes part in the capture."""
    if not _is_captured(handle):
        graph_capture.reject(
            "a launch names another stream: leave the stream out; or make it by "
            "cuda.stream(blocking=False) and let it wait for g.stream, and g.stream for it before "
            "the end"
        )


def _is_captured(handle: int) -> bool:
    bindings = driver.api()
    status = driver.check(bindings.cuStreamIsCapturing(handle), "ask a stream")
    return int(status) == int(bindings.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE)


def _latest(handle: int) -> Any:
    """The node that a stream has been given last."""
    _, (node,) = _state(handle)  # a launch is one node
    return node


def _state(handle: int) -> tuple[Any, list[Any]]:
    """The graph that a stream is captured into, and the nodes that its next one comes after. (The
    bindings read more than is asked for.)"""
    status, count = ctypes.c_int(), ctypes.c_size_t()
    graph, latest = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_void_p)()
    asked = ctypes.addressof(status), None, ctypes.byref(graph), ctypes.byref(latest)
    try:
        ask = _taking(7, "cuStreamGetCaptureInfo_v3")
        code = ask(handle, *asked, None, ctypes.byref(count))
    except AttributeError:  # a driver of before CUDA 12.3
        code = _taking(6, "cuStreamGetCaptureInfo_v2")(handle, *asked, ctypes.byref(count))
    bindings = driver.api()
    driver.check((bindings.CUresult(code),), "ask a stream what it has been given")
    nodes = [bindings.CUgraphNode(latest[place]) for place in range(count.value)]
    return bindings.CUgraph(graph.value), nodes


def _taking(pointers: int, name: str) -> Callable[..., int]:
    """A function of the driver."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * pointers)
    return kind(libcuda.address_of(name))

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

from pycu2c.devices import streams
from pycu2c.devices.graph_nodes import Captured, Node
from pycu2c.devices.streams import Stream
from pycu2c.diagnostics import LaunchError
from pycu2c.launching import Launcher, Ready
from pycu2c.runtime import capturing, cuda_errors, driver, marking, peers, transfers
from pycu2c.runtime.arguments import ArrayArgument
from pycu2c.runtime.configuration import Wanted
from pycu2c.runtime.cuda_runner import CudaRunner
from pycu2c.runtime.memory import DeviceMemory

_MOST_NAMED = 3


def stream_to_capture(stream: object) -> Stream:
    """The stream that is named, if it can be captured; else a new one."""
    driver.make_current()
    if stream is None:
        return streams.stream(blocking=False)
    found = stream if isinstance(stream, Stream) else streams.external_stream(stream)
    if found.handle in capturing.DEFAULT_STREAMS or not _is_apart(found.handle):
        raise LaunchError(
            "a graph is captured in a stream that the default stream does not wait for: pass one "
            "made by cuda.stream(blocking=False), or none"
        )
    return found


def _is_apart(handle: int) -> bool:
    bindings = driver.api()
    flags = driver.check(bindings.cuStreamGetFlags(handle), "ask a stream")
    return bool(int(flags) & int(bindings.CUstream_flags.CU_STREAM_NON_BLOCKING))


class DeviceGraph:
    """A graph of the driver, with what may change of it."""

    def __init__(self, stream: Stream, ordinal: int) -> None:
        self.handle, self._stream, self._ordinal = stream.handle, stream, ordinal
        self.nodes: list[Node] = []
        self._handles: list[Any] = []  # of nodes, in the graph that was made ready first
        self._kept: dict[int, object] = {}  # what work uses beside the arguments of nodes
        self._memories: list[DeviceMemory] = []
        self._graph: Any = None
        self._ready: Any = None  # the graph as it is launched

    # ---- capturing ----

    @contextlib.contextmanager
    def going_on(self) -> Iterator[None]:
        driver.make_current()
        bindings = driver.api()
        mode = bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        driver.check(bindings.cuStreamBeginCapture(self.handle, mode), "begin to capture a graph")
        try:
            with capturing.into(self):
                yield
        except BaseException:
            _, self._graph = bindings.cuStreamEndCapture(self.handle)
            raise
        doing = "end the capture of a graph"
        self._graph = driver.check(bindings.cuStreamEndCapture(self.handle), doing)

    def launch(self, launcher: Launcher, wanted: Wanted, values: tuple[object, ...]) -> None:
        ready = launcher.ready(wanted, values)
        runner = _checked(launcher, ready)
        handle = driver.working_stream(wanted.stream)
        if handle != self.handle:
            _check_other(handle)
        runner.run(ready.launch, ready.taken.leaves)
        if capturing.lists():
            self._handles.append(_latest(handle))
            self.nodes.append(Node(self, launcher, wanted, ready))
        else:
            self._keep(ready)

    def do(self, action: Callable[[], object]) -> None:
        capturing.refuse(
            "it is one of the GPU, and this is work of the CPU: use arrays on the GPU, or capture "
            "with device='cpu'"
        )

    def use(self, memory: object) -> None:
        self._kept[id(memory)] = memory

    def _keep(self, ready: Ready) -> None:
        for leaf in ready.taken.leaves:
            if isinstance(leaf, ArrayArgument):
                self.use(leaf.owner)

    # ---- made ----

    def there(self) -> contextlib.AbstractContextManager[None]:
        return driver.on(self._ordinal)

    def make(self, before: Captured | None) -> None:
        if not (isinstance(before, DeviceGraph) and self._take_over(before)):
            answer = driver.api().cuGraphInstantiate(self._graph, 0)
            self._ready = driver.check(answer, "make a graph ready to be launched")
        self._note_memories()

    def _take_over(self, before: DeviceGraph) -> bool:
        """Whether a graph that is ready could be changed into this one: it keeps the nodes that it
        was made of."""
        code, *_ = driver.api().cuGraphExecUpdate(before._ready, self._graph)
        if int(code):
            return False
        self._ready, before._ready = before._ready, None
        self._graph, before._graph = before._graph, self._graph
        self._handles = before._handles
        return True

    def change(self, place: int, ready: Ready) -> None:
        node = self.nodes[place]
        runner = _checked(node.launcher, ready)
        peers.others(ready.taken.leaves, node.name)
        made = runner.as_node(ready.launch, ready.taken.leaves)
        call = self._ready, self._handles[place], made.parameters
        driver.check(driver.api().cuGraphExecKernelNodeSetParams(*call), f"change {node!r}")
        node.ready = ready
        self._note_memories()

    def _note_memories(self) -> None:
        """What has to be ordered with other streams at each launch."""
        leaves = (leaf for node in self.nodes for leaf in node.ready.taken.leaves)
        owners = [leaf.owner for leaf in leaves if isinstance(leaf, ArrayArgument)]
        used = {id(o): o for o in (*owners, *self._kept.values()) if isinstance(o, DeviceMemory)}
        self._memories = list(used.values())
        names = list(dict.fromkeys(node.name for node in self.nodes))
        more = ", …" if len(names) > _MOST_NAMED else ""
        self._name = f"a graph ({', '.join(names[:_MOST_NAMED])}{more})"

    def start(self, stream: object) -> None:
        if driver.several() and driver.current_ordinal() != self._ordinal:
            with driver.on(self._ordinal):
                return self.start(stream)
        driver.make_current()
        handle = driver.working_stream(stream)
        for memory in self._memories:
            memory.before_use(handle)
            if stream is not None:
                memory.used_on(stream)
        (code,) = driver.api().cuGraphLaunch(self._ready, handle)
        if code:
            driver.check((code,), f"launch {self._name}")
        cuda_errors.launched(self._name)

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if finalizing():
            return
        with contextlib.suppress(Exception):  # of a driver that is gone
            if self._ready is not None:
                driver.api().cuGraphExecDestroy(self._ready)
            if self._graph is not None:
                driver.api().cuGraphDestroy(self._graph)


# ---- what can be captured ----------------------------------------------------------------------


def _checked(launcher: Launcher, ready: Ready) -> CudaRunner:
    """The kernel of a launch that copies and prints nothing, and is one of the GPU. Raises
    LaunchError."""
    if ready.variant.backend != "cuda":
        raise LaunchError(
            f"{launcher.name} runs on the CPU, and the graph on a GPU: capture it with "
            "device='cpu', or leave the kernel's backend out"
        )
    runner = marking.unmarked(ready.runner)
    if not isinstance(runner, CudaRunner):
        raise LaunchError(
            f"{launcher.name} prints, and a graph is not waited for: launch it outside of the graph"
        )
    names = launcher.leaf_names(ready.taken.signature)
    for name, leaf in zip(names, ready.taken.leaves):
        if isinstance(leaf, ArrayArgument) and not transfers.is_there(leaf):
            raise LaunchError(
                f"{name} is in memory of the host, and a graph does not copy it for the launch: "
                "pass a device array (cuda.to_device) or a cuda.mapped_array"
            )
    return runner


def _check_other(handle: int) -> None:
    """That a stream takes part in the capture."""
    bindings = driver.api()
    status = driver.check(bindings.cuStreamIsCapturing(handle), "ask a stream")
    active = bindings.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    if int(status) != int(active) or not _is_apart(handle):
        capturing.refuse(
            "a launch names another stream: leave the stream out; or make it by "
            "cuda.stream(blocking=False) and let it wait for g.stream, and g.stream for it before "
            "the end"
        )


def _latest(handle: int) -> Any:
    """The node that a stream has been given last. (The bindings read more than is asked for.)"""
    status, latest, count = ctypes.c_int(), ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_size_t()
    state = handle, ctypes.addressof(status), None, None, ctypes.byref(latest)
    try:
        ask = _taking(7, "cuStreamGetCaptureInfo_v3")
        code = ask(*state, None, ctypes.byref(count))
    except AttributeError:  # a driver of before CUDA 12.3
        code = _taking(6, "cuStreamGetCaptureInfo_v2")(*state, ctypes.byref(count))
    bindings = driver.api()
    driver.check((bindings.CUresult(code),), "ask for the node of a launch")
    assert count.value == 1, "a launch is one node"
    return bindings.CUgraphNode(latest[0])


def _taking(pointers: int, name: str) -> Callable[..., int]:
    """A function of the driver."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * pointers)
    return kind(driver.address_of(name))

"""Graphs of the CUDA driver, captured from a stream.

The stream does not synchronize with the default stream, and the capture mode is relaxed: other work
of this and other threads continues. Each launch of a graph orders it with other streams' work on
its memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import cuda_errors, driver, libcuda
from pycu2c.devices import streams
from pycu2c.devices.graph_nodes import CapturedGraph, Node
from pycu2c.devices.streams import Stream
from pycu2c.kernels.launcher import Launcher, ResolvedLaunch
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.cuda import peer_access, transfers
from pycu2c.runtime.cuda.cuda_runner import CudaRunner
from pycu2c.runtime.cuda.memory import DeviceMemory, memory_behind
from pycu2c.runtime.launch_configuration import LaunchRequest

_MAX_NAMES = 3  # of kernels in the name of a graph
_SET_DEPENDENCIES = 1  # CU_STREAM_SET_CAPTURE_DEPENDENCIES


def stream_to_capture(stream: object) -> Stream:
    """Return a stream, or a new one for None. Raises LaunchError if it cannot be captured."""
    driver.make_current()
    if stream is None:
        return streams.stream(blocking=False)
    candidate = stream if isinstance(stream, Stream) else streams.external_stream(stream)
    if candidate.handle in graph_capture.DEFAULT_STREAMS or not _is_non_blocking(candidate.handle):
        raise LaunchError(
            "a graph is captured in a non-blocking stream: pass cuda.stream(blocking=False), or "
            "no stream"
        )
    return candidate


def _is_non_blocking(handle: int) -> bool:
    flags = driver.call("cuStreamGetFlags", handle, doing="read the flags of a stream")
    return bool(int(flags) & int(driver.api().CUstream_flags.CU_STREAM_NON_BLOCKING))


class _GraphTemplate:
    """A captured graph of the driver, and the handles of its launches."""

    def __init__(self) -> None:
        self.graph: Any = None
        self.nodes: list[Any] = []

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self.graph is not None and not finalizing():
            with contextlib.suppress(Exception):  # the driver is unloaded
                driver.api().cuGraphDestroy(self.graph)


class CudaGraph:
    """A graph of the driver, whose launches can be updated."""

    def __init__(self, stream: Stream, ordinal: int) -> None:
        self.handle, self._stream, self._ordinal = stream.handle, stream, ordinal
        self.nodes: list[Node] = []
        self._template = _GraphTemplate()
        self._instantiated_template = self._template  # updates name the nodes of this one
        self._kept_alive: dict[int, object] = {}  # memory that is no argument of a node
        self._owners: list[object] = []
        self._memories: list[DeviceMemory] = []
        self._executable: Any = None

    # ---- capture ----

    @contextlib.contextmanager
    def capturing(self) -> Iterator[None]:
        driver.make_current()
        mode = driver.api().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        driver.call("cuStreamBeginCapture", self.handle, mode, doing="begin to capture a graph")
        try:
            with graph_capture.capturing(self):
                yield
        except BaseException:
            _, self._template.graph = driver.api().cuStreamEndCapture(self.handle)
            raise
        doing = "end the capture of a graph"
        self._template.graph = driver.call("cuStreamEndCapture", self.handle, doing=doing)

    def launch(
        self, launcher: Launcher, request: LaunchRequest, values: tuple[object, ...]
    ) -> None:
        resolved_launch = launcher.resolve(request, values)
        runner = _capturable_runner(launcher, resolved_launch)
        handle = driver.working_stream(request.stream)
        if handle != self.handle:
            _check_is_captured(handle)
        runner.run(resolved_launch.launch, resolved_launch.leaves)
        if graph_capture.records_nodes():
            self._template.nodes.append(_latest_node(handle))
            self.nodes.append(Node(self, launcher, request, resolved_launch))
            return
        for leaf in resolved_launch.leaves:
            if isinstance(leaf, ArrayArgument):
                self.use(leaf.owner)

    def do(self, action: Callable[[], object]) -> None:
        graph_capture.reject(
            "the graph is on the GPU, but this work is on the CPU: use arrays on the GPU, or "
            "capture with device='cpu'"
        )

    def use(self, memory: object) -> None:
        self._kept_alive[id(memory)] = memory

    def check_can_join(self, stream: int) -> None:
        if not _is_captured(stream) and not _is_non_blocking(stream):
            graph_capture.reject(
                "a stream of a capture must be non-blocking: create it by "
                "cuda.stream(blocking=False)"
            )

    def _add_child(self, other: CudaGraph, handle: int) -> None:
        """Add a copy of another graph as a node of the stream that is captured."""
        if handle != self.handle:
            _check_is_captured(handle)
        for owner in other._owners:
            self.use(owner)
        graph, latest_nodes = _capture_state(handle)
        doing = "add a graph to another graph"
        arguments = graph, latest_nodes, len(latest_nodes), other._template.graph
        child = driver.call("cuGraphAddChildGraphNode", *arguments, doing=doing)
        nodes = (ctypes.c_void_p * 1)(int(child))
        set_dependencies = _driver_function("cuStreamUpdateCaptureDependencies", 4)
        code = set_dependencies(handle, nodes, 1, _SET_DEPENDENCIES)
        driver.check((driver.api().CUresult(code),), doing)

    # ---- launches ----

    def on_device(self) -> contextlib.AbstractContextManager[None]:
        return driver.on_device(self._ordinal)

    def instantiate(self, previous: CapturedGraph | None) -> None:
        if not (isinstance(previous, CudaGraph) and self._update_executable(previous)):
            doing = "instantiate a graph"
            self._executable = driver.call(
                "cuGraphInstantiate", self._template.graph, 0, doing=doing
            )
        self._collect_memories()

    def _update_executable(self, previous: CudaGraph) -> bool:
        """Take over the executable of another graph; return whether it could be updated.

        An updated executable keeps the node handles of its first template.
        """
        code, *_ = driver.api().cuGraphExecUpdate(previous._executable, self._template.graph)
        if int(code):
            return False
        self._executable, previous._executable = previous._executable, None
        self._instantiated_template = previous._instantiated_template
        return True

    def update_node(self, index: int, resolved_launch: ResolvedLaunch) -> None:
        node = self.nodes[index]
        runner = _capturable_runner(node.launcher, resolved_launch)
        peer_access.peer_devices(resolved_launch.leaves, node.name)
        new_node = runner.as_node(resolved_launch.launch, resolved_launch.leaves)
        doing = f"change {node!r}"
        handle = self._instantiated_template.nodes[index]
        update = "cuGraphExecKernelNodeSetParams"
        driver.call(update, self._executable, handle, new_node.parameters, doing=doing)
        # the template, for graphs that have this one as a child
        handle = self._template.nodes[index]
        driver.call("cuGraphKernelNodeSetParams", handle, new_node.parameters, doing=doing)
        node.resolved_launch = resolved_launch
        self._collect_memories()

    def _collect_memories(self) -> None:
        """Collect the memory that each launch must order with other streams, and the name."""
        leaves = (leaf for node in self.nodes for leaf in node.resolved_launch.leaves)
        owners = [leaf.owner for leaf in leaves if isinstance(leaf, ArrayArgument)]
        used = {id(owner): owner for owner in (*owners, *self._kept_alive.values())}
        self._owners = list(used.values())
        memories = dict.fromkeys(map(memory_behind, self._owners))
        self._memories = [each for each in memories if isinstance(each, DeviceMemory)]
        names = list(dict.fromkeys(node.name for node in self.nodes))
        ellipsis = ", …" if len(names) > _MAX_NAMES else ""
        self._name = f"a graph ({', '.join(names[:_MAX_NAMES])}{ellipsis})"

    def start(self, stream: object) -> None:
        if driver.has_multiple_devices() and driver.current_ordinal() != self._ordinal:
            with driver.on_device(self._ordinal):
                return self.start(stream)
        driver.make_current()
        handle = driver.working_stream(stream)
        match graph_capture.current():
            case None:
                self._launch_executable(stream, handle)
            case CudaGraph() as other:
                other._add_child(self, handle)
            case _:
                graph_capture.reject(
                    "the graph is on the CPU, but the graph to launch is on a GPU: create the "
                    "first graph without device='cpu'"
                )

    def _launch_executable(self, stream: object, handle: int) -> None:
        for memory in self._memories:
            memory.before_use(handle)
            if stream is not None:
                memory.used_on(stream)
        (code,) = driver.api().cuGraphLaunch(self._executable, handle)
        if code:
            driver.check((code,), f"launch {self._name}")
        cuda_errors.record_launch(self._name)

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if self._executable is not None and not finalizing():
            with contextlib.suppress(Exception):  # the driver is unloaded
                driver.api().cuGraphExecDestroy(self._executable)


# ---- checks ------------------------------------------------------------------------------------


def _capturable_runner(launcher: Launcher, resolved_launch: ResolvedLaunch) -> CudaRunner:
    """Return the runner of a launch on the GPU that neither copies nor prints. Raises
    LaunchError."""
    if resolved_launch.key.backend != "cuda":
        raise LaunchError(
            f"{launcher.name} runs on the CPU, and the graph on a GPU: capture it with "
            "device='cpu', or leave the kernel's backend out"
        )
    runner = resolved_launch.runner
    if not isinstance(runner, CudaRunner):
        raise LaunchError(
            f"{launcher.name} prints, and a graph is not waited for: launch it outside of the graph"
        )
    names = launcher.leaf_names(resolved_launch.signature)
    for name, leaf in zip(names, resolved_launch.leaves):
        if isinstance(leaf, ArrayArgument) and not transfers.is_used_in_place(leaf):
            raise LaunchError(
                f"{name} is in host memory, and a graph does not copy it for the launch: "
                "pass a device array (cuda.to_device) or a cuda.mapped_array"
            )
    return runner


def _check_is_captured(handle: int) -> None:
    """Raise LaunchError if a stream is not part of the capture."""
    if not _is_captured(handle):
        graph_capture.reject(
            "a launch uses a stream outside of the capture: omit the stream; or create it by "
            "cuda.stream(blocking=False), let it wait for g.stream, and at the end let g.stream "
            "wait for it"
        )


def _is_captured(handle: int) -> bool:
    status = driver.call("cuStreamIsCapturing", handle, doing="query the capture of a stream")
    active = driver.api().CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    return int(status) == int(active)


# ---- driver functions by ctypes ----------------------------------------------------------------


def _latest_node(handle: int) -> Any:
    """Return the last node of a stream that is captured."""
    _, (node,) = _capture_state(handle)  # a launch is one node
    return node


def _capture_state(handle: int) -> tuple[Any, list[Any]]:
    """Return the graph that a stream is captured into, and the nodes before its next node.

    By ctypes, because the bindings also read results that are not requested.
    """
    status, count = ctypes.c_int(), ctypes.c_size_t()
    graph, latest_nodes = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_void_p)()
    results = ctypes.addressof(status), None, ctypes.byref(graph), ctypes.byref(latest_nodes)
    try:
        get_info = _driver_function("cuStreamGetCaptureInfo_v3", 7)
        code = get_info(handle, *results, None, ctypes.byref(count))
    except AttributeError:  # a driver before CUDA 12.3
        get_info = _driver_function("cuStreamGetCaptureInfo_v2", 6)
        code = get_info(handle, *results, ctypes.byref(count))
    bindings = driver.api()
    driver.check((bindings.CUresult(code),), "read the state of a capture")
    nodes = [bindings.CUgraphNode(latest_nodes[i]) for i in range(count.value)]
    return bindings.CUgraph(graph.value), nodes


def _driver_function(name: str, parameter_count: int) -> Callable[..., int]:
    """Return a driver function with this number of pointer-sized parameters."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * parameter_count)
    return prototype(libcuda.address_of(name))

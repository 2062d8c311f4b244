"""Launch a cubin with packed arguments."""

from __future__ import annotations

import ctypes
import functools
import math
import threading
from typing import Any, NamedTuple

from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.cuda_driver.cuda_errors import record_launch
from pycu2c.runtime.launch_configuration import LIMITS, Extent
from pycu2c.toolchain.binary import CompiledBinary

# error codes that an invalid launch configuration may cause
_SHAPE_CODES = ("CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
_CLUSTER_CODES = (*_SHAPE_CODES, "CUDA_ERROR_INVALID_CLUSTER_SIZE")
_PORTABLE_CLUSTER = 8  # blocks; the maximum that all devices with clusters support
_PARAMETER_LIMIT = 32764  # bytes, for all architectures that NVRTC 13 supports


class _ParameterBuffer:
    """A parameter buffer and its ``extra`` argument for cuLaunchKernel."""

    def __init__(self, limit: int) -> None:
        self.buffer = (ctypes.c_char * limit)()
        self.size = ctypes.c_size_t(0)
        # CU_LAUNCH_PARAM_BUFFER_POINTER is 1, …_BUFFER_SIZE 2, …_END 0
        entries = (1, ctypes.addressof(self.buffer), 2, ctypes.addressof(self.size), 0)
        self.pointers = (ctypes.c_void_p * 5)(*entries)
        self.extra = ctypes.addressof(self.pointers)

    def fill(self, packed: bytes) -> None:
        self.buffer.raw = packed
        self.size.value = len(packed)


class _ThreadParameterBuffer(threading.local, _ParameterBuffer):
    """The buffer of a thread. The driver copies it during the launch, so it can be reused."""

    def __init__(self) -> None:
        _ParameterBuffer.__init__(self, _PARAMETER_LIMIT)


_BUFFER = _ThreadParameterBuffer()


class NodeParameters(NamedTuple):
    """The parameters of a kernel node in a CUDA graph, and the buffer to which they point."""

    parameters: Any
    packed: object


class CudaKernel:
    """A loaded kernel.

    cooperative: whether all blocks of a launch run at the same time.
    cluster: the cluster size along x, y and z.
    programmatic: whether a launch may begin before the previous kernel of the stream has ended.
    """

    def __init__(
        self,
        binary: CompiledBinary,
        cooperative: bool = False,
        cluster: tuple[int, ...] = (),
        programmatic: bool = False,
        loaded: kernel_api.LoadedKernel | None = None,
    ) -> None:
        assert binary.kind == "cubin", f"the driver loads cubins, not {binary.kind}"
        self.binary, self.name = binary, binary.entry
        self.loaded = loaded or kernel_api.load_kernel(binary.data, binary.entry)
        self._handle = self.loaded.handle
        self.cooperative, self._cluster = cooperative, cluster
        self._programmatic = programmatic
        flags = {
            kernel_api.COOPERATIVE: cooperative,
            kernel_api.PROGRAMMATIC_STREAM_SERIALIZATION: programmatic,
        }
        self.flags = tuple(flag for flag, is_set in flags.items() if is_set)
        if math.prod(cluster) > _PORTABLE_CLUSTER:
            doing = f"allow clusters of {cluster} blocks in {self.name}"
            name = "NON_PORTABLE_CLUSTER_SIZE_ALLOWED"
            kernel_api.set_kernel_attribute(self.loaded, name, 1, doing)
        self._start: Any = driver.api().cuLaunchKernel
        if self.flags:
            self._start = functools.partial(kernel_api.launch_with_flags, self.flags)
        self._dynamic_shared = self.loaded.dynamic_shared

    def __reduce__(self) -> tuple[object, ...]:
        """Let another process load the kernel."""
        return CudaKernel, (self.binary, self.cooperative, self._cluster, self._programmatic)

    def launch(
        self, grid: Extent, block: Extent, shared_bytes: int, stream: object, packed: bytes
    ) -> None:
        """Launch the kernel. ``packed``: its arguments in natural alignment."""
        driver.make_current()
        if shared_bytes > self._dynamic_shared:
            self._opt_in(shared_bytes)
        handle = 0 if stream is None else driver.stream_of(stream)
        _BUFFER.fill(packed)
        call = (self._handle, *grid, *block, shared_bytes, handle, 0, _BUFFER.extra)
        try:
            (code,) = self._start(*call)
        except OverflowError:  # an extent exceeds an unsigned int
            self._check_limits(grid, block)
            raise
        if code:
            self._raise_launch_error(code, call)
        record_launch(self.name)

    def as_node(
        self, grid: Extent, block: Extent, shared_bytes: int, packed: bytes
    ) -> NodeParameters:
        """Return the parameters of a graph node for a launch."""
        if shared_bytes > self._dynamic_shared:
            self._opt_in(shared_bytes)
        buffer = _ParameterBuffer(max(len(packed), 1))
        buffer.fill(packed)
        bindings = driver.api()
        node = bindings.CUDA_KERNEL_NODE_PARAMS()
        node.func, node.sharedMemBytes = bindings.CUfunction(self.address), shared_bytes
        node.gridDimX, node.gridDimY, node.gridDimZ = grid
        node.blockDimX, node.blockDimY, node.blockDimZ = block
        node.kernelParams, node.extra = 0, buffer.extra
        return NodeParameters(node, buffer)

    @property
    def address(self) -> int:
        """The handle of the kernel in the current context, for C."""
        doing = f"find {self.name} in the current context"
        return int(driver.call("cuKernelGetFunction", self._handle, doing=doing))

    def _opt_in(self, shared_bytes: int) -> None:
        """Opt in to more than 48 KB of shared memory if necessary."""
        total = self.loaded.static_shared + shared_bytes
        if total > kernel_api.shared_limit():
            raise LaunchError(
                f"a block of {self.name} needs {total} bytes of shared memory; "
                f"the device has {kernel_api.shared_limit()}: use smaller tiles"
            )
        name, doing = "MAX_DYNAMIC_SHARED_SIZE_BYTES", f"launch {self.name}"
        kernel_api.set_kernel_attribute(self.loaded, name, shared_bytes, doing)
        self._dynamic_shared = shared_bytes

    def _raise_launch_error(self, code: Any, call: tuple[Any, ...]) -> None:
        """Raise the error of a failed launch."""
        grid, block = call[1:4], call[4:7]
        if code.name in _SHAPE_CODES:
            self._check_limits(grid, block)
        if code.name == "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE":
            self._reject_grid(grid, block, call[7])
        if code.name in _CLUSTER_CODES and self._cluster:
            self._check_cluster(block, call[7])
        driver.check((code,), f"launch {self.name} on grid {grid}, block {block}")

    def _reject_grid(self, grid: Extent, block: Extent, shared_bytes: int) -> None:
        """Raise LaunchError for a cooperative launch with too many blocks."""
        maximum = kernel_api.max_coresident_blocks(self.loaded, block, shared_bytes, self._cluster)
        raise LaunchError(
            f"{self.name} has a barrier of the whole grid, so all its {math.prod(grid)} blocks "
            f"must run at the same time; of blocks with {math.prod(block)} threads and "
            f"{self.loaded.static_shared + shared_bytes} bytes of shared memory the device runs "
            f"{maximum}: launch at most that many, each with a loop over more elements"
        )

    def _check_cluster(self, block: Extent, shared_bytes: int) -> None:
        """Raise LaunchError if the device cannot run the blocks of one cluster together."""
        if kernel_api.max_coresident_blocks(self.loaded, block, shared_bytes, self._cluster):
            return
        raise LaunchError(
            f"{self.name}: the device cannot run {math.prod(self._cluster)} blocks of a cluster, "
            f"each with {math.prod(block)} threads and "
            f"{self.loaded.static_shared + shared_bytes} bytes of shared memory, at the same time: "
            f"make cluster={self._cluster} smaller, or the blocks"
        )

    def _check_limits(self, grid: Extent, block: Extent) -> None:
        """Raise LaunchError if the grid or block exceeds a limit of the device or the kernel."""
        for name, size in ("grid", grid), ("block", block):
            for axis, length, maximum in zip("xyz", size, LIMITS[name], strict=True):
                if not 1 <= length <= maximum:
                    raise LaunchError(
                        f"{self.name}: a {name} has 1 to {maximum} along {axis}, not {length}"
                    )
        threads = math.prod(block)
        if threads > self.loaded.block_limit:
            raise LaunchError(
                f"{self.name}: a block has {threads} threads; with {self.loaded.registers} "
                f"registers each, the device takes {self.loaded.block_limit}"
            )

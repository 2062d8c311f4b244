"""A cubin and packed arguments -> a launch on the device. Knows neither arrays nor types."""

from __future__ import annotations

import ctypes
import math
import threading
from typing import Any, TypeAlias

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import NamedTuple
from pycu2c.cuda_driver import driver
from pycu2c.cuda_driver.recent_launches import launched
from pycu2c.toolchain.binary import Binary

Dim3: TypeAlias = tuple[int, int, int]

_GRID_LIMIT: Dim3 = (2**31 - 1, 65535, 65535)
_BLOCK_LIMIT: Dim3 = (1024, 1024, 64)
# what the driver answers where the shape of the launch may be the fault
_SHAPE_CODES = ("CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
_CLUSTER_CODES = (*_SHAPE_CODES, "CUDA_ERROR_INVALID_CLUSTER_SIZE")
_PORTABLE_CLUSTER = 8  # blocks, which every device takes that has clusters
_PARAMETER_LIMIT = 32764  # bytes, of every architecture that NVRTC 13 knows


class _Packed:
    """A parameter buffer, described as cuLaunchKernel's ``extra`` wants it."""

    def __init__(self, limit: int) -> None:
        self.buffer = (ctypes.c_char * limit)()
        self.size = ctypes.c_size_t(0)
        # CU_LAUNCH_PARAM_BUFFER_POINTER is 1, …_BUFFER_SIZE 2, …_END 0
        words = (1, ctypes.addressof(self.buffer), 2, ctypes.addressof(self.size), 0)
        self.list = (ctypes.c_void_p * 5)(*words)
        self.extra = ctypes.addressof(self.list)

    def fill(self, packed: bytes) -> None:
        self.buffer.raw = packed
        self.size.value = len(packed)


class _Launchpad(threading.local, _Packed):
    """Each thread's: the driver copies it during the call, so one serves every launch."""

    def __init__(self) -> None:
        _Packed.__init__(self, _PARAMETER_LIMIT)


_PAD = _Launchpad()


class NodeParameters(NamedTuple):
    """What the driver is to launch as a node of a graph, and the memory that it points to."""

    parameters: Any
    packed: object


class CudaKernel:
    """A loaded kernel. ``together``: all blocks of a launch must run at the same time;
    ``cluster``: how many of them must, along x, y and z."""

    def __init__(
        self,
        binary: Binary,
        together: bool = False,
        cluster: tuple[int, ...] = (),
        loaded: driver.LoadedKernel | None = None,
    ) -> None:
        assert binary.kind == "cubin", f"the driver is given cubins, not {binary.kind}"
        self.binary, self.name = binary, binary.entry
        self.loaded = loaded or driver.load_kernel(binary.data, binary.entry)
        self._handle = self.loaded.handle
        self.together, self._cluster = together, cluster
        if math.prod(cluster) > _PORTABLE_CLUSTER:
            driver.allow_large_clusters(self.loaded, f"let clusters of {self.name} be {cluster}")
        self._start: Any = driver.start_together if together else driver.api().cuLaunchKernel
        self._dynamic_shared = self.loaded.dynamic_shared

    def launch(
        self, grid: Dim3, block: Dim3, shared_bytes: int, stream: object, packed: bytes
    ) -> None:
        """Start the kernel. ``packed`` holds its arguments, each at its natural alignment."""
        pad = _PAD
        driver.make_current()
        if shared_bytes > self._dynamic_shared:
            self._opt_in(shared_bytes)
        handle = 0 if stream is None else driver.stream_of(stream)
        pad.fill(packed)
        call = (self._handle, *grid, *block, shared_bytes, handle, 0, pad.extra)
        try:
            (code,) = self._start(*call)
        except OverflowError:  # a size that is no unsigned int
            self._refuse(grid, block)
            raise
        if code:
            self._failed(code, call)
        launched(self.name)

    def as_node(self, grid: Dim3, block: Dim3, shared_bytes: int, packed: bytes) -> NodeParameters:
        """The same launch, for a node of a graph."""
        if shared_bytes > self._dynamic_shared:
            self._opt_in(shared_bytes)
        given = _Packed(max(len(packed), 1))
        given.fill(packed)
        bindings = driver.api()
        made = bindings.CUDA_KERNEL_NODE_PARAMS()
        made.func, made.sharedMemBytes = bindings.CUfunction(self.address), shared_bytes
        made.gridDimX, made.gridDimY, made.gridDimZ = grid
        made.blockDimX, made.blockDimY, made.blockDimZ = block
        made.kernelParams, made.extra = 0, given.extra
        return NodeParameters(made, given)

    @property
    def address(self) -> int:
        """The handle of the kernel in the current context, for C."""
        answer = driver.api().cuKernelGetFunction(self._handle)
        return int(driver.check(answer, f"look {self.name} up in the current context"))

    def _opt_in(self, shared_bytes: int) -> None:
        """Blocks get 48 KB unless a kernel asks for more."""
        total = self.loaded.static_shared + shared_bytes
        if total > driver.shared_limit():
            raise LaunchError(
                f"a block of {self.name} needs {total} bytes of shared memory; "
                f"the device has {driver.shared_limit()}: use smaller tiles"
            )
        driver.allow_dynamic_shared(self.loaded, shared_bytes, f"launch {self.name}")
        self._dynamic_shared = shared_bytes

    def _failed(self, code: Any, call: tuple[Any, ...]) -> None:
        """Raise what is wrong."""
        grid, block = call[1:4], call[4:7]
        if code.name in _SHAPE_CODES:
            self._refuse(grid, block)
        if code.name == "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE":
            self._too_many(grid, block, call[7])
        if code.name in _CLUSTER_CODES and self._cluster:
            self._place_cluster(block, call[7])
        driver.check((code,), f"launch {self.name} on grid {grid}, block {block}")

    def _too_many(self, grid: Dim3, block: Dim3, shared_bytes: int) -> None:
        most = driver.blocks_together(self.loaded, block, shared_bytes, self._cluster)
        raise LaunchError(
            f"{self.name} has a barrier of the whole grid, so all its {math.prod(grid)} blocks "
            f"must run at the same time; of blocks with {math.prod(block)} threads and "
            f"{self.loaded.static_shared + shared_bytes} bytes of shared memory the device runs "
            f"{most}: launch at most so many, each with a loop over more elements"
        )

    def _place_cluster(self, block: Dim3, shared_bytes: int) -> None:
        """Raise a LaunchError if the device cannot run the blocks of one cluster together."""
        if driver.blocks_together(self.loaded, block, shared_bytes, self._cluster):
            return
        raise LaunchError(
            f"{self.name}: the device has no place where {math.prod(self._cluster)} blocks, each "
            f"with {math.prod(block)} threads and {self.loaded.static_shared + shared_bytes} bytes "
            f"of shared memory, run together: make cluster={self._cluster} smaller, or the blocks"
        )

    def _refuse(self, grid: Dim3, block: Dim3) -> None:
        """Raise a LaunchError if no launch of this shape can run."""
        for what, size, limit in (("grid", grid, _GRID_LIMIT), ("block", block, _BLOCK_LIMIT)):
            for axis, length, most in zip("xyz", size, limit, strict=True):
                if not 1 <= length <= most:
                    raise LaunchError(
                        f"{self.name}: a {what} has 1 to {most} along {axis}, not {length}"
                    )
        threads = math.prod(block)
        if threads > self.loaded.block_limit:
            raise LaunchError(
                f"{self.name}: a block has {threads} threads; with {self.loaded.registers} "
                f"registers each, the device takes {self.loaded.block_limit}"
            )

"""Share device arrays between the processes of a machine, by CUDA IPC handles.

CUDA exports memory of ``cuMemAlloc`` but not that of the driver's pool, so shareable arrays are
allocated outside the pool. Without a GPU they are in shared memory of the operating system.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import weakref
from multiprocessing.shared_memory import SharedMemory
from typing import Any, Generic, TypeVar

import numpy as np

from pycu2c.base.lazy_imports import import_module
from pycu2c.cuda_driver import driver
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices.array_data import ArrayData, stream_or_none
from pycu2c.devices.gpu_device import Gpu
from pycu2c.runtime.cuda.memory import HOST, DeviceMemory, Memory
from pycu2c.runtime.cuda.memory_pool import order_default_stream_after, round_up_to_even

# by the name of the allocation and an offset in it, because a process cannot open its own CUDA
# handles; an allocation may contain the memory of several arrays of another package
_EXPORTED: weakref.WeakValueDictionary[tuple[bytes | str, int], Memory] = (
    weakref.WeakValueDictionary()
)

A = TypeVar("A", bound=ArrayData)


class IpcArrayHandle(Generic[A]):
    """A handle of a device array that is pickled and opened in other processes of the machine.

    ``DeviceArray.get_ipc_handle`` creates it, and ``with handle as array:`` opens and closes it.
    The array shares the memory of the original, whose process must keep it. The processes order
    their work themselves: call ``cuda.synchronize()``, then send a message or wait at a barrier.

    In the process of the original, the handle opens a view of it.
    """

    __slots__ = ("_allocation", "_array_class", "_gpu", "_layout", "_opened", "_source")

    def __init__(
        self, array_class: type[A], allocation: Any, gpu: str, layout: Any, source: Memory | None
    ) -> None:
        self._array_class = array_class
        self._allocation, self._gpu = allocation, gpu
        self._layout, self._source = layout, source
        self._opened: Memory | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return IpcArrayHandle, (self._array_class, self._allocation, self._gpu, self._layout, None)

    def __repr__(self) -> str:
        _, shape, _, dtype, _ = self._layout
        return f"<IPC handle of {dtype}{list(shape)} on {self._gpu or 'the host'}>"

    def open(self, stream: object = 0) -> A:
        """Return the array, for kernels and copies on the current GPU.

        The memory may be on another GPU to which the current one has peer access, also if
        ``CUDA_VISIBLE_DEVICES`` hides that GPU.

        Raises
        ------
        ValueError
            If the handle is already open.
        CudaError
            If its process has freed the memory, or the current GPU cannot access it.
        FileNotFoundError
            If its process has freed host memory.
        """
        if self._opened is not None:
            raise ValueError("this handle is already open")
        stream, (name, address, size) = stream_or_none(stream), self._allocation
        offset, shape, strides, dtype, writeable = self._layout
        memory = self._source or _EXPORTED.get((name, offset))
        if memory is None:
            memory = _map(name, size, self._gpu)
            address = memory.address
        self._opened = memory
        address += offset
        return self._array_class(memory, address, shape, strides, dtype, writeable, stream)

    def close(self) -> None:
        """Release the memory, which is unmapped when the last array over it is collected.

        Raises
        ------
        ValueError
            If the handle is not open.
        """
        if self._opened is None:
            raise ValueError("this handle is not open")
        self._opened = None

    def __enter__(self) -> A:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()


def handle_of(array: A) -> IpcArrayHandle[A]:
    """Return the value of ``array.get_ipc_handle()``."""
    memory, gpu = array._memory, ""
    if isinstance(memory, SharedHostMemory):
        allocation: Any = memory.name, memory.address, memory.size
    elif memory.ordinal == HOST or type(memory) is DeviceMemory:
        allocation = None
    else:
        allocation, gpu = _exported(memory), Gpu(driver.devices()[memory.ordinal]).uuid
    if allocation is None:
        raise TypeError(
            "other processes cannot map the memory of this array: create it with "
            "cuda.device_array(shape, dtype, shareable=True); of arrays of other packages, only "
            "those in memory of cudaMalloc are shared"
        )
    name, address, _ = allocation
    offset = array.address - address
    _EXPORTED[name, offset] = memory
    layout = offset, array.shape, array.strides, array.dtype, array.writeable
    return IpcArrayHandle(type(array), allocation, gpu, layout, memory)


def allocate_shareable(size: int, ordinal: int) -> Memory:
    """Allocate memory that other processes can map, on a GPU or on ``HOST``."""
    return SharedHostMemory(size) if ordinal == HOST else IpcMemory(size, ordinal)


def _map(name: bytes | str, size: int, gpu: str) -> Memory:
    """Map an allocation of another process."""
    if isinstance(name, str):
        return SharedHostMemory(size, name)
    here = Gpu(driver.device())
    doing = (
        f"map an array of another process, which must still have it on {gpu}, on GPU {here.id} "
        f"({here.uuid})"
    )
    return IpcMemory(size, here.id, name, doing)


# ---- memory of GPUs ----------------------------------------------------------------------------


class IpcMemory(DeviceMemory):
    """GPU memory outside the pool: an allocation for other processes, or a mapping of one."""

    __slots__ = ("_release",)

    def __init__(self, size: int, ordinal: int, name: bytes = b"", doing: str = "") -> None:
        super().__init__(0, ordinal)
        self.size, self._release = size, "cuIpcCloseMemHandle" if name else "cuMemFree"
        with driver.on_device(self.ordinal):
            driver.make_current()
            if not name:
                self.address = driver.allocate(round_up_to_even(size) or 2)
                return
            handle = driver.api().CUipcMemHandle()
            ctypes.memmove(handle.getPtr(), name, len(name))
            flag = driver.api().CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
            # the driver counts the mappings of an allocation
            self.address = int(driver.call("cuIpcOpenMemHandle", handle, int(flag), doing=doing))

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if not self.address or finalizing():
            return
        try:
            with driver.on_device(self.ordinal):
                driver.make_current()
                for stream in self._streams or ():
                    order_default_stream_after(stream)  # also one of a peer
                driver.synchronize_device()  # kernels may use the memory in any stream
                driver.call(self._release, self.address, doing="free shared memory")
        except Exception:  # the driver is unloaded, or a kernel has failed
            return


def _exported(memory: Memory) -> tuple[bytes, int, int] | None:
    """Return the handle and the range of the allocation that contains memory.

    None if the allocation cannot be shared.
    """
    kinds, doing = driver.api().CUpointer_attribute, "share memory with other processes"
    can_export = kinds.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
    with driver.on_device(memory.ordinal):
        driver.make_current()
        if not driver.call("cuPointerGetAttribute", can_export, memory.address, doing=doing):
            return None
        base = int(driver.call("cuMemGetAddressRange", memory.address, doing=doing))
        handle = driver.call("cuIpcGetMemHandle", base, doing=doing)
    name = ctypes.string_at(handle.getPtr(), driver.api().CU_IPC_HANDLE_SIZE)
    return name, base, memory.size


# ---- host memory -------------------------------------------------------------------------------


class SharedHostMemory(Memory):
    """Host memory that other processes map by its name."""

    __slots__ = ("_segment", "name")

    def __init__(self, size: int, name: str = "") -> None:
        """Allocate memory, or map that of another process."""
        self._segment: Any
        if name:
            self.name, self._segment = name, _map_segment(name, size or 1)
        else:
            self._segment = SharedMemory(create=True, size=size or 1)
            self.name = self._segment.name
            weakref.finalize(self, _unlink, self._segment, os.getpid())
        mapping = getattr(self._segment, "buf", self._segment)
        super().__init__(np.frombuffer(mapping, np.uint8).ctypes.data, size, HOST)


def _unlink(segment: SharedMemory, owner: int) -> None:
    if os.getpid() == owner:  # not in a forked child
        segment.unlink()


def _map_segment(name: str, size: int) -> SharedMemory | mmap.mmap:
    """Map a segment of another process."""
    try:
        return SharedMemory(name) if sys.platform == "win32" else _map_file(name, size)
    except FileNotFoundError:
        raise FileNotFoundError("the process of this handle has freed the array") from None


def _map_file(name: str, size: int) -> mmap.mmap:
    """Map a segment where ``SharedMemory`` would remove it at the exit of this process."""
    shm_open = import_module("_posixshmem").shm_open
    with open(f"/{name}", "r+b", buffering=0, opener=shm_open) as segment:
        return mmap.mmap(segment.fileno(), size)


document_parameters(
    globals(),
    """
array_class : type | ``DeviceArray``.
allocation : tuple | Its name, its address in the process that allocated it, and its bytes.
gpu : str | The UUID of the GPU; empty for host memory.
layout : tuple | Offset in the allocation, shape, strides, dtype, and whether it is writeable.
source : object | In the process that allocated it, the memory.
stream : Stream | The stream of copies of the array by default.
""",
)

"""Represent the GPUs of this machine, and their contexts with numba's interface."""

from __future__ import annotations

import contextlib
import operator
import threading
import uuid

from pycu2c.base import graph_capture
from pycu2c.base.backends import gpu_disabled_by
from pycu2c.base.lazy_imports import lazy_method
from pycu2c.cuda_driver import driver
from pycu2c.cuda_driver.cuda_errors import NoDeviceError
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import streams
from pycu2c.devices.cpu_device import DeviceName, MemoryInfo
from pycu2c.runtime.cuda import memory_pool, peer_access


def device_count() -> int:
    """Return the number of GPUs; 1 if the environment disables them: the CPU acts as a device."""
    return len(driver.devices()) if driver.available() else int(bool(gpu_disabled_by()))


def check_ordinal(number: int | Gpu) -> int:
    """Return the ordinal of an existing GPU. Raises TypeError, IndexError, NoDeviceError."""
    try:
        ordinal, count = operator.index(number), device_count()
    except TypeError:
        raise TypeError(f"a device is the number of a GPU, or 'cpu', not {number!r}") from None
    if not count:
        raise NoDeviceError(
            "CUDA_ERROR_NO_DEVICE", driver.unavailable_reason(), f"use GPU {ordinal}"
        )
    if not 0 <= ordinal < count:
        existing = "only GPU 0" if count == 1 else f"GPUs 0 to {count - 1}"
        raise IndexError(f"there is no GPU {ordinal} here, {existing}")
    return ordinal


def select(ordinal: int) -> None:
    """Set the current GPU of the calling thread. Raises LaunchError during graph capture."""
    if graph_capture.current() is not None and ordinal != driver.current_ordinal():
        graph_capture.reject("another GPU would be selected: a graph uses one GPU")
    driver.set_device(ordinal)


class _PreviousOrdinals(threading.local):
    """The devices that a thread returns to at the end of each ``with``."""

    def __init__(self) -> None:
        self.stack: list[int] = []


_PREVIOUS_ORDINALS = _PreviousOrdinals()

_DRIVER_NAMES = {  # of attributes that numba spells differently
    "MAX_THREADS_PER_MULTI_PROCESSOR": "MAX_THREADS_PER_MULTIPROCESSOR",
    "IS_MULTI_GPU_BOARD": "MULTI_GPU_BOARD",
}


class Gpu:
    """A GPU. ``with cuda.gpus[1]:`` selects it, and at its end the previous GPU."""

    __slots__ = ("_device",)

    supports_float16 = True

    def __init__(self, device: driver.DriverDevice) -> None:
        self._device = device

    def __repr__(self) -> str:
        return f"<GPU {self.id}: {self.name}, {self.arch}>"

    _repr_html_ = lazy_method("pycu2c.devices.html_views", "device_view")

    def __index__(self) -> int:
        return self.id

    @property
    def id(self) -> int:
        """The ordinal, from 0."""
        return self._device.ordinal

    @property
    def name(self) -> DeviceName:
        """Return the name of the device."""
        return DeviceName(self._device.name)

    @property
    def uuid(self) -> str:
        """The unique identifier: ``GPU-e6489c45-…``."""
        result = driver.api().cuDeviceGetUuid(self._device.handle)
        return f"GPU-{uuid.UUID(bytes=driver.check(result, 'read the UUID of a GPU').bytes)}"

    @property
    def arch(self) -> str:
        """The architecture that kernels are compiled for: ``sm_90``."""
        return self._device.arch

    @property
    def compute_capability(self) -> tuple[int, int]:
        """Return the compute capability, such as (9, 0)."""
        return divmod(int(self.arch.removeprefix("sm_")), 10)

    def __getattr__(self, name: str) -> int:
        """Return an attribute by the driver's name: ``gpu.MULTIPROCESSOR_COUNT``."""
        bindings = driver.api()
        attribute = f"CU_DEVICE_ATTRIBUTE_{_DRIVER_NAMES.get(name, name)}"
        attribute_id = getattr(bindings.CUdevice_attribute, attribute, None)
        if attribute_id is None:
            raise AttributeError(f"a GPU has no {name}", name=name, obj=self)
        result = bindings.cuDeviceGetAttribute(attribute_id, self._device.handle)
        return int(driver.check(result, f"read {name} of GPU {self.id}"))

    @property
    def memory(self) -> MemoryInfo:
        """Free and total bytes. Unused memory of the pool does not count as free."""
        with self._on_this_device():
            return MemoryInfo(*memory_pool.free_and_total())

    def synchronize(self) -> None:
        """Wait for all work of the GPU. Raises the errors of its kernels."""
        graph_capture.reject_during_capture("synchronize()")
        with self._on_this_device():
            driver.check(driver.api().cuCtxSynchronize(), f"wait for GPU {self.id}")

    def reset(self) -> None:
        """Wait for all work of the GPU, and return unused memory to the driver."""
        with self._on_this_device():
            memory_pool.trim()

    def get_primary_context(self) -> Context:
        """Return the context under numba's name."""
        return Context(self)

    def can_access_peer(self, other: int | Gpu) -> bool:
        """Return whether the hardware lets kernels access the memory of another GPU."""
        return peer_access.can_access(self.id, check_ordinal(other))

    def enable_peer_access(self, other: int | Gpu) -> None:
        """Let kernels access arrays of another GPU.

        A launch that accesses such an array is ordered with the other GPU's default stream, except
        in non-blocking streams.

        Raises
        ------
        PeerAccessError
            If the hardware does not support the access.
        """
        peer_access.enable_access(self.id, check_ordinal(other))

    def _on_this_device(self) -> contextlib.AbstractContextManager[None]:
        driver.make_current()
        return driver.on_device(self.id)

    def __enter__(self) -> Gpu:
        previous = driver.current_ordinal()
        select(self.id)
        _PREVIOUS_ORDINALS.stack.append(previous)
        return self

    def __exit__(self, *_: object) -> None:
        select(_PREVIOUS_ORDINALS.stack.pop())


# ---- contexts ----------------------------------------------------------------------------------


class Deallocations:
    """Numba's list of pending deallocations. It is empty: memory is freed with its last array."""

    def __len__(self) -> int:
        return 0

    def clear(self) -> None:
        """Return unused memory of the pool to the driver."""
        if driver.available():
            memory_pool.trim()

    def disable(self) -> contextlib.AbstractContextManager[None]:
        """Return the context manager of ``defer_cleanup``."""
        return defer_cleanup()


def defer_cleanup() -> contextlib.AbstractContextManager[None]:
    """Return a context manager without effect: freeing memory never blocks."""
    return contextlib.nullcontext()


class Context:
    """The context of a device, under numba's name."""

    __slots__ = ("device",)

    def __init__(self, device: Gpu) -> None:
        self.device = device

    def __repr__(self) -> str:
        return f"<context of {self.device!r}>"

    @property
    def id(self) -> int:
        """The ordinal of the device."""
        return self.device.id

    @property
    def deallocations(self) -> Deallocations:
        """Return numba's object of pending deallocations, of which there are none."""
        return Deallocations()

    def get_memory_info(self) -> MemoryInfo:
        """Return the free and the total bytes of the device."""
        return self.device.memory

    def synchronize(self) -> None:
        """Wait for all work of the device."""
        self.device.synchronize()

    def reset(self) -> None:
        """Wait for all work of the device, and return unused memory to the driver."""
        self.device.reset()

    def push(self) -> None:
        """Do nothing: the thread already uses the device."""

    def pop(self) -> None:
        """Do nothing: the thread still uses the device."""

    def create_stream(self) -> streams.Stream:
        """Return a new stream, as ``cuda.stream`` does."""
        return streams.stream()

    def create_external_stream(self, ptr: object) -> streams.Stream:
        """Return a stream of another package, as ``cuda.external_stream`` does."""
        return streams.external_stream(ptr)

    def get_default_stream(self) -> streams.Stream:
        """Return the default stream."""
        return streams.default_stream()

    def create_event(self, timing: bool = True) -> streams.Event:
        """Return a new event, as ``cuda.event`` does."""
        return streams.event(timing)

    def can_access_peer(self, peer_context: int | Context) -> bool:
        """Return whether the hardware lets kernels access the memory of another device."""
        return self.device.can_access_peer(_ordinal(peer_context))

    def enable_peer_access(self, peer_context: int | Context, flags: int = 0) -> None:
        """Let kernels access the memory of another device."""
        self.device.enable_peer_access(_ordinal(peer_context))

    def defer_cleanup(self) -> contextlib.AbstractContextManager[None]:
        """Return a context manager without effect: freeing memory never blocks."""
        return defer_cleanup()


def _ordinal(device: int | Context) -> int:
    return device.id if isinstance(device, Context) else device


document_parameters(
    globals(),
    """
other : int or Gpu | The other GPU.
peer_context : int or Context | The other device.
flags : int | Ignored.
ptr : int or object | A ``CUstream`` handle, or a stream of another package.
timing : bool | Whether the event records its time.
""",
)

"""Implement ``Memcpy2D`` and ``Memcpy3D`` between host memory and device memory."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pycu2c.compat.pycuda.errors import LogicError, translate_errors
from pycu2c.compat.pycuda.memory import bounds_checks
from pycu2c.compat.pycuda.memory.allocations import flat_bytes, on_gpu, pointer
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.strides import array_over

MemoryKind: TypeAlias = Literal["host", "device"]


class CopyEndpoint(NamedTuple):
    """The source or target of a copy.

    size: the allocated bytes, or None if they are unknown. owner: the object that owns the memory.
    """

    kind: MemoryKind
    address: int
    size: int | None
    owner: Any


class _StridedCopy:
    """A copy; extents and pitches are in bytes, heights and depths in rows and planes."""

    def __init__(self) -> None:
        self.width_in_bytes, self.height, self.depth = 0, 1, 1
        self.src_x_in_bytes = self.src_y = self.src_z = self.src_lod = 0
        self.dst_x_in_bytes = self.dst_y = self.dst_z = self.dst_lod = 0
        self.src_pitch = self.dst_pitch = self.src_height = self.dst_height = 0
        self._src: CopyEndpoint | None = None
        self._dst: CopyEndpoint | None = None

    def set_src_host(self, buffer: Any) -> None:
        """Copy from an array or a buffer of the host."""
        source = flat_bytes(buffer)
        self._src = CopyEndpoint("host", source.ctypes.data, source.size, source)

    def set_dst_host(self, buffer: Any) -> None:
        """Copy to an array of the host."""
        target = flat_bytes(buffer, written=True)
        self._dst = CopyEndpoint("host", target.ctypes.data, target.size, target)

    def set_src_device(self, devptr: Any) -> None:
        """Copy from device memory."""
        self._src = CopyEndpoint("device", pointer(devptr), None, devptr)

    def set_dst_device(self, devptr: Any) -> None:
        """Copy to device memory."""
        self._dst = CopyEndpoint("device", pointer(devptr), None, devptr)

    set_src_unified, set_dst_unified = set_src_device, set_dst_device

    def _start(self, stream: object, *, wait: bool) -> None:
        if self._src is None or self._dst is None:
            raise LogicError(f"{type(self).__name__}: set a source and a destination first")
        if self.width_in_bytes and self.height and self.depth:
            if on_gpu():
                self._copy_on_gpu(self._src, self._dst, stream, wait)
            else:
                np.copyto(
                    self._copied_bytes(self._dst, "dst"), self._copied_bytes(self._src, "src")
                )

    def _copied_bytes(self, endpoint: CopyEndpoint, side: str) -> NDArray[np.uint8]:
        """Return an array over the bytes that the copy reads or writes. Raises LogicError."""
        pitch = getattr(self, f"{side}_pitch") or self.width_in_bytes
        rows = getattr(self, f"{side}_height") or self.height
        x, y, z = (getattr(self, f"{side}_{axis}") for axis in ("x_in_bytes", "y", "z"))
        start = x + (z * rows + y) * pitch
        extent = ((self.depth - 1) * rows + self.height - 1) * pitch + self.width_in_bytes
        if endpoint.kind == "device":
            bounds_checks.check(endpoint.address + start, extent, type(self).__name__)
        elif endpoint.size is not None and start + extent > endpoint.size:
            raise LogicError(
                f"{type(self).__name__}: the copy ends at byte {start + extent} of the "
                f"{endpoint.kind}, which has {endpoint.size} bytes"
            )
        shape = self.depth, self.height, self.width_in_bytes
        layout = shape, (rows * pitch, pitch, 1), np.dtype(np.uint8)
        return array_over(endpoint.address + start, layout, memory=endpoint.owner)

    def _copy_on_gpu(
        self, src: CopyEndpoint, dst: CopyEndpoint, stream: object, wait: bool
    ) -> None:
        driver.make_current()
        bindings = driver.api()
        copy = bindings.CUDA_MEMCPY3D()
        copy.WidthInBytes, copy.Height, copy.Depth = self.width_in_bytes, self.height, self.depth
        self._set_endpoint(copy, src, "src")
        self._set_endpoint(copy, dst, "dst")
        handle = driver.working_stream(stream)
        operation = f"copy {self.depth} x {self.height} rows of {self.width_in_bytes} bytes"
        driver.check(bindings.cuMemcpy3DAsync(copy, handle), operation)
        if wait:
            driver.synchronize(handle, operation)

    def _set_endpoint(self, copy: Any, endpoint: CopyEndpoint, side: str) -> None:
        """Set the source or target of the driver's descriptor."""
        kinds = driver.api().CUmemorytype
        kind = getattr(kinds, f"CU_MEMORYTYPE_{endpoint.kind.upper()}")
        fields: dict[str, Any] = {
            "MemoryType": kind,
            endpoint.kind.capitalize(): endpoint.address,
            "XInBytes": getattr(self, f"{side}_x_in_bytes"),
            "Y": getattr(self, f"{side}_y"),
            "Z": getattr(self, f"{side}_z"),
            "Pitch": getattr(self, f"{side}_pitch") or self.width_in_bytes,
            "Height": getattr(self, f"{side}_height") or self.height,
        }
        for name, value in fields.items():
            setattr(copy, side + name, value)


class Memcpy2D(_StridedCopy):
    """A copy of rows."""

    @translate_errors
    def __call__(self, stream: object = None, aligned: bool = True) -> None:
        """Copy now, or in a stream."""
        in_stream = stream is not None and not isinstance(stream, bool)
        self._start(stream if in_stream else None, wait=not in_stream)


class Memcpy3D(_StridedCopy):
    """A copy of boxes."""

    @translate_errors
    def __call__(self, stream: object = None) -> None:
        """Copy now, or in a stream."""
        self._start(stream, wait=stream is None)

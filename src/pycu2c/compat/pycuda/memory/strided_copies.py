"""Implement ``Memcpy2D`` and ``Memcpy3D`` between host memory, device memory and CUDA arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pycu2c.base.records import NamedTuple
from pycu2c.compat.pycuda.errors import LogicError, translating
from pycu2c.compat.pycuda.memory import bounds_checks
from pycu2c.compat.pycuda.memory.allocations import on_gpu, pointer
from pycu2c.compat.pycuda.memory.host_buffers import flat_bytes
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.strides import array_over

Kind: TypeAlias = Literal["host", "device", "array"]


class CopyEndpoint(NamedTuple):
    """The source or target of a copy: an address, the bytes that are known to be allocated there,
    and the owner of the memory."""

    kind: Kind
    address: int
    size: int | None
    owner: Any
    pitch: int = 0
    rows: int = 0


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
        found = flat_bytes(buffer)
        self._src = CopyEndpoint("host", found.ctypes.data, found.size, found)

    def set_dst_host(self, buffer: Any) -> None:
        """Copy to an array of the host."""
        found = flat_bytes(buffer, written=True)
        self._dst = CopyEndpoint("host", found.ctypes.data, found.size, found)

    def set_src_device(self, devptr: Any) -> None:
        """Copy from device memory."""
        self._src = CopyEndpoint("device", pointer(devptr), None, devptr)

    def set_dst_device(self, devptr: Any) -> None:
        """Copy to device memory."""
        self._dst = CopyEndpoint("device", pointer(devptr), None, devptr)

    set_src_unified, set_dst_unified = set_src_device, set_dst_device

    def set_src_array(self, ary: Any) -> None:
        """Copy from a CUDA array."""
        self._src = ary.end()

    def set_dst_array(self, ary: Any) -> None:
        """Copy to a CUDA array."""
        self._dst = ary.end()

    def _start(self, stream: object, *, wait: bool) -> None:
        if self._src is None or self._dst is None:
            raise LogicError(f"{type(self).__name__}: a copy has a source and a destination")
        if self.width_in_bytes and self.height and self.depth:
            if on_gpu():
                self._on_gpu(self._src, self._dst, stream, wait)
            else:
                np.copyto(self._box(self._dst, "dst"), self._box(self._src, "src"))

    def _box(self, end: CopyEndpoint, side: str) -> NDArray[np.uint8]:
        """Return an array over the copied bytes."""
        pitch = getattr(self, f"{side}_pitch") or end.pitch or self.width_in_bytes
        if end.kind == "array":
            pitch = end.pitch
        rows = end.rows or getattr(self, f"{side}_height") or self.height
        x, y, z = (getattr(self, f"{side}_{axis}") for axis in ("x_in_bytes", "y", "z"))
        start = x + (z * rows + y) * pitch
        last = ((self.depth - 1) * rows + self.height - 1) * pitch + self.width_in_bytes
        if end.kind == "device":
            bounds_checks.check(end.address + start, last, type(self).__name__)
        elif end.size is not None and start + last > end.size:
            raise LogicError(
                f"{type(self).__name__}: the copy goes to byte {start + last} of the {end.kind}, "
                f"which has {end.size}"
            )
        shape = self.depth, self.height, self.width_in_bytes
        form = shape, (rows * pitch, pitch, 1), np.dtype(np.uint8)
        return array_over(end.address + start, form, memory=end.owner)

    def _on_gpu(self, src: CopyEndpoint, dst: CopyEndpoint, stream: object, wait: bool) -> None:
        driver.make_current()
        bindings = driver.api()
        made = bindings.CUDA_MEMCPY3D()
        made.WidthInBytes, made.Height, made.Depth = self.width_in_bytes, self.height, self.depth
        self._describe(made, src, "src")
        self._describe(made, dst, "dst")
        handle = driver.working_stream(stream)
        doing = f"copy {self.depth} x {self.height} rows of {self.width_in_bytes} bytes"
        driver.check(bindings.cuMemcpy3DAsync(made, handle), doing)
        if wait:
            driver.synchronize(handle, doing)

    def _describe(self, made: Any, end: CopyEndpoint, side: str) -> None:
        """Set the source or target of the driver's descriptor."""
        kinds = driver.api().CUmemorytype
        kind = getattr(kinds, f"CU_MEMORYTYPE_{end.kind.upper()}")
        fields: dict[str, Any] = {
            "MemoryType": kind,
            end.kind.capitalize(): end.owner.handle if end.kind == "array" else end.address,
            "XInBytes": getattr(self, f"{side}_x_in_bytes"),
            "Y": getattr(self, f"{side}_y"),
            "Z": getattr(self, f"{side}_z"),
            "Pitch": getattr(self, f"{side}_pitch") or self.width_in_bytes,
            "Height": getattr(self, f"{side}_height") or self.height,
        }
        for name, value in fields.items():
            setattr(made, side + name, value)


class Memcpy2D(_StridedCopy):
    """A copy of rows."""

    @translating
    def __call__(self, stream: object = None, aligned: bool = True) -> None:
        """Copy now, or in a stream."""
        in_stream = stream is not None and not isinstance(stream, bool)
        self._start(stream if in_stream else None, wait=not in_stream)


class Memcpy3D(_StridedCopy):
    """A copy of boxes."""

    @translating
    def __call__(self, stream: object = None) -> None:
        """Copy now, or in a stream."""
        self._start(stream, wait=stream is None)


# ---- arrays of one axis ------------------------------------------------------------------------


def _row(size: int, set_src: Callable[[Memcpy3D], Any], set_dst: Callable[[Memcpy3D], Any]) -> None:
    copy = Memcpy3D()
    set_src(copy)
    set_dst(copy)
    copy.width_in_bytes = size
    copy()


def memcpy_htoa(ary: Any, index: int, src: Any) -> None:
    """Copy host memory to a CUDA array, starting at its byte ``index``."""

    def to(copy: Memcpy3D) -> None:
        copy.set_dst_array(ary)
        copy.dst_x_in_bytes = index

    _row(flat_bytes(src).size, lambda copy: copy.set_src_host(src), to)


def memcpy_atoh(dest: Any, ary: Any, index: int) -> None:
    """Copy a CUDA array, starting at its byte ``index``, to host memory."""

    def start(copy: Memcpy3D) -> None:
        copy.set_src_array(ary)
        copy.src_x_in_bytes = index

    _row(flat_bytes(dest).size, start, lambda copy: copy.set_dst_host(dest))


def memcpy_dtoa(ary: Any, index: int, src: Any, len: int) -> None:
    """Copy device memory to a CUDA array."""

    def to(copy: Memcpy3D) -> None:
        copy.set_dst_array(ary)
        copy.dst_x_in_bytes = index

    _row(len, lambda copy: copy.set_src_device(src), to)


def memcpy_atod(dest: Any, ary: Any, index: int, len: int) -> None:
    """Copy a CUDA array to device memory."""

    def start(copy: Memcpy3D) -> None:
        copy.set_src_array(ary)
        copy.src_x_in_bytes = index

    _row(len, start, lambda copy: copy.set_dst_device(dest))


def memcpy_atoa(dest: Any, dest_index: int, src: Any, src_index: int, len: int) -> None:
    """Copy a CUDA array to another one."""

    def start(copy: Memcpy3D) -> None:
        copy.set_src_array(src)
        copy.src_x_in_bytes = src_index

    def to(copy: Memcpy3D) -> None:
        copy.set_dst_array(dest)
        copy.dst_x_in_bytes = dest_index

    _row(len, start, to)

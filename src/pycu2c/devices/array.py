"""Device arrays: indexing, copies and fills as in numpy, and arrays of other packages.

Indexing, slicing and reshaping return views. Elements are only copied; kernels compute with them.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.lazy_imports import import_module, lazy_method
from pycu2c.cuda_driver import driver
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import copies, gpu_selection, interoperability, view_geometry
from pycu2c.devices.array_data import ArrayData, Order, as_supported_dtype
from pycu2c.devices.gpu_selection import DeviceLike
from pycu2c.devices.unsupported_arithmetic import ARITHMETIC_HINT, NoHostArithmetic
from pycu2c.devices.view_geometry import ViewGeometry
from pycu2c.runtime.arguments import array_interface, dlpack
from pycu2c.runtime.arguments.conversion_hints import described, host_array
from pycu2c.runtime.arguments.dlpack import CPU, CUDA, CUDA_HOST, CUDA_MANAGED
from pycu2c.runtime.arguments.strides import packed_strides
from pycu2c.runtime.cuda import peer_access
from pycu2c.runtime.cuda.memory import HOST, ExternalMemory

if TYPE_CHECKING:
    from pycu2c.devices.ipc import IpcArrayHandle

_COPY_METHODS = ("get", "cpu", "numpy", "to_host", "asnumpy")  # of other packages
_TO_DEVICE_HINT = ": cuda.to_device(…) copies it"
_COPY_HINT = ": copy_to_host() gives a numpy array"
_HINTS = {
    "__array_namespace__": ARITHMETIC_HINT,
    "gpu_data": ": device_ctypes_pointer is the address",
    "device_pointer": ": device_ctypes_pointer is the address",
}


class DeviceArray(ArrayData, NoHostArithmetic):
    """An array on a GPU, or in host memory if there is no GPU.

    ``cuda.to_device``, ``cuda.device_array`` and similar functions create it. Kernels take it as an
    argument, and other libraries read it by ``__cuda_array_interface__`` and ``__dlpack__``.
    ``a[key]`` is a view, ``a[key] = value`` a copy, as in NumPy. Its shape and strides do not
    change.

    Attributes
    ----------
    shape, strides : tuple of int
        The lengths of the axes, and their strides in bytes.
    dtype : dtype
        The dtype of the elements.
    device : int
        The number of the GPU; -1 for host memory.
    address : int
        The address of the first element.
    writeable : bool
        Whether kernels and assignments may write.
    """

    __slots__ = ()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __bool__(self) -> bool:
        """Return whether the only element is true, as in numpy; copies it to the host."""
        if self.size != 1:
            raise ValueError(
                f"an array of {self.size} elements has no truth value: copy_to_host() returns a "
                "numpy array, which has any() and all(); use `is not None` to test for None"
            )
        return bool(self.item())

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        location = "on the host" if self.device == HOST else f"on GPU {self.device}"
        return f"<device array {self.dtype}{list(self.shape)} {location}, at {self.address:#x}>"

    _repr_html_ = lazy_method("pycu2c.devices.html_views", "array_view")

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a device array cannot be pickled, as its memory belongs to this process: pickle the "
            "result of copy_to_host() or, for other processes of this machine, get_ipc_handle()"
        )

    if not TYPE_CHECKING:  # type checkers report unknown attributes themselves

        def __getattr__(self, name: str) -> NoReturn:
            if isinstance(descriptor := getattr(type(self), name, None), property):
                descriptor.__get__(self)  # raises the AttributeError that led here
            is_numpy_name = not name.startswith("_") and hasattr(np.ndarray, name)
            hint = _COPY_HINT if name in _COPY_METHODS else _HINTS.get(name, "")
            hint = ARITHMETIC_HINT if is_numpy_name else hint
            raise AttributeError(f"a device array has no {name}{hint}", name=name, obj=self)

    # ---- elements ----

    def __getitem__(self, key: Any) -> Any:
        """Return a view; for a single element its value, copied to the host."""
        view = view_geometry.indexed(self.shape, self.strides, key)
        keys = key if isinstance(key, tuple) else (key,)
        if view.shape or any(each is Ellipsis for each in keys):
            return self._view(view)
        return self._view(view).copy_to_host()[()]

    def getitem(self, key: Any, stream: object = None) -> Any:
        """Return ``a[key]``; the copy of a single element uses ``stream``.

        Returns
        -------
        DeviceArray or scalar
            A view, or a single element.
        """
        return self.bind(stream)[key]

    def __setitem__(self, key: Any, value: object) -> None:
        """Fill a part with a number, or copy an array to it, as in numpy."""
        self.setitem(key, value)

    def setitem(self, key: Any, value: object, stream: object = None) -> None:
        """Assign ``a[key] = value`` in a stream."""
        view = view_geometry.indexed(self.shape, self.strides, key)
        target = self if key is Ellipsis else self._view(view)
        copies.assign(target, _import_if_on_device(value), self._stream_for(stream))

    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises
        ------
        ValueError
            If the array does not have exactly one element.
        """
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements is not a single number")
        return self.copy_to_host().item()

    # ---- shapes ----

    def reshape(self, *shape: Any, order: Order | Literal["A"] = "C") -> DeviceArray:
        """Return the elements with another shape: a view if possible, else a copy.

        Raises
        ------
        ValueError
            If the shape has another number of elements.
        """
        if order == "A":
            order = self._memory_order
        if order not in ("C", "F"):
            raise ValueError(f"order is 'C', 'F' or 'A', not {order!r}")
        extents = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
        target = tuple(map(operator.index, extents))
        view = view_geometry.reshaped(self.shape, self.strides, target, order)
        return self.copy(order).reshape(target, order=order) if view is None else self._view(view)

    def ravel(self, order: Order | Literal["A"] = "C") -> DeviceArray:
        """Return the elements along one axis: a view if possible, else a copy."""
        return self.reshape(self.size, order=order)

    def split(self, section: int, stream: object = None) -> list[DeviceArray]:
        """Split a one-dimensional array.

        Returns
        -------
        list of DeviceArray
            Views of the parts.
        """
        if self.ndim != 1:
            raise ValueError("only an array with one axis is split")
        return [self.bind(stream)[i : i + section] for i in range(0, self.size, section)]

    # ---- copies ----

    def _stream_for(self, stream: object) -> object:
        """Return the stream of a copy: the array's own if the caller names none."""
        return self.stream if stream is None or (type(stream) is int and not stream) else stream

    def bind(self, stream: object = None) -> DeviceArray:
        """Return a view whose copies use a stream by default."""
        bound = self._view(ViewGeometry(0, self.shape, self.strides))
        bound.stream = self._stream_for(stream)
        return bound

    def copy_to_host(self, ary: NDArray[Any] | None = None, stream: object = None) -> NDArray[Any]:
        """Copy the elements to a numpy array.

        Returns
        -------
        ndarray
            The target.
        """
        return copies.to_host(self, ary, self._stream_for(stream))

    def copy_to_device(self, ary: object, stream: object = None) -> None:
        """Copy the elements of an array of the same shape and dtype to this array."""
        source = _import_if_on_device(ary)
        if not isinstance(source, ArrayData):
            source = host_array(source)
        if (source.shape, source.dtype) != (self.shape, self.dtype):
            raise ValueError(
                f"an array of shape {source.shape} and dtype {source.dtype} cannot be copied to "
                f"one of shape {self.shape} and dtype {self.dtype}: array[...] = values converts it"
            )
        copies.assign(self, source, self._stream_for(stream))

    def copy(self, order: Order = "C", stream: object = None) -> DeviceArray:
        """Return a contiguous copy."""
        return copies.duplicate(self, self._stream_for(stream), order=order)

    def copy_to(self, device: DeviceLike, stream: object = None) -> DeviceArray:
        """Return a contiguous copy on a GPU, or in host memory if ``device`` is "cpu"."""
        ordinal = gpu_selection.ordinal_of(device)
        out = self.empty(self.shape, self.dtype, ordinal, order=self._memory_order)
        copies.copy(out, self, self._stream_for(stream))
        return out

    def astype(self, dtype: DTypeLike, *, copy: bool = True, stream: object = None) -> DeviceArray:
        """Return the elements converted to another dtype, as in numpy."""
        target = as_supported_dtype(dtype)
        if target == self.dtype and not copy:
            return self
        return copies.duplicate(self, self._stream_for(stream), dtype=target)

    # ---- export to other processes and packages ----

    def get_ipc_handle(self) -> IpcArrayHandle[DeviceArray]:
        """Return a handle, to be pickled, by which other processes of the machine use the memory.

        They must use the array only while this process keeps it.

        Raises
        ------
        TypeError
            If the array has memory of the driver's pool: create it with
            ``cuda.device_array(…, shareable=True)``.
        """
        handle: IpcArrayHandle[DeviceArray] = import_module("pycu2c.devices.ipc").handle_of(self)
        return handle

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device == HOST:
            raise AttributeError(
                "an array in host memory has no __cuda_array_interface__",
                name="__cuda_array_interface__",
                obj=self,
            )
        return interoperability.cuda_array_interface(self)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        return interoperability.dlpack_capsule(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return interoperability.dlpack_device(self)


# ---- arrays of the host and of other packages --------------------------------------------------


def from_host(values: ArrayLike, ordinal: int, stream: object) -> DeviceArray:
    """Return a contiguous copy of a host array, with its memory order (C or F)."""
    host = host_array(values)
    as_supported_dtype(host.dtype)
    order: Order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    array = DeviceArray.empty(host.shape, host.dtype, ordinal, order=order, stream=stream)
    copies.copy_in(array, host, stream)
    return array


def wrap_numpy(array: NDArray[Any], ordinal: int, stream: object) -> DeviceArray:
    """Return a device array over the memory of a numpy array, which the GPU can access."""
    address = array.__array_interface__["data"][0]
    return DeviceArray(
        ExternalMemory(array, address, 0, ordinal),
        address,
        array.shape,
        array.strides,
        array.dtype,
        array.flags.writeable,
        stream,
    )


def _import_if_on_device(value: object) -> object:
    """Convert a device array of another package; return any other value unchanged."""
    return as_device_array(value) if interoperability.is_on_device(value) else value


def as_device_array(obj: Any) -> DeviceArray:
    """Return a device array over the memory of an array of any package."""
    if isinstance(obj, DeviceArray):
        return obj
    return as_cuda_array(obj) if interoperability.is_cuda_array(obj) else from_dlpack(obj)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """Return a device array over the memory of an object with ``__cuda_array_interface__``.

    Parameters
    ----------
    obj : object
        An array of any library, which is kept alive.
    sync : bool, optional
        Order later work on the array after the pending work of the object's stream.

    Raises
    ------
    TypeError
        The object has no ``__cuda_array_interface__``.
    """
    if isinstance(obj, DeviceArray):
        return obj
    if not interoperability.is_cuda_array(obj):
        raise TypeError(f"{described(obj)} has no __cuda_array_interface__{_TO_DEVICE_HINT}")
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


def from_cuda_array_interface(
    desc: Mapping[str, Any], owner: object = None, sync: bool = True
) -> DeviceArray:
    """Return a device array over the memory that a ``__cuda_array_interface__`` describes.

    Parameters
    ----------
    desc : dict
        The value of ``__cuda_array_interface__``.
    owner : object, optional
        An object to keep alive.
    sync : bool, optional
        Order later work on the array after the pending work of the stream in ``desc``.
    """
    if desc.get("mask") is not None:
        raise TypeError("an array with a mask cannot be imported: pass its data")
    dtype = array_interface.numpy_dtype(desc)
    shape = tuple(map(int, desc["shape"]))
    strides = desc.get("strides")
    address, readonly = desc["data"]
    address = int(address or 0)
    ordinal = peer_access.ordinal_at(address) if address and driver.has_multiple_devices() else 0
    array = DeviceArray(
        ExternalMemory(owner, address, 0, ordinal),
        address,
        shape,
        tuple(map(int, strides)) if strides else packed_strides(shape, dtype.itemsize),
        dtype,
        writeable=not readonly,
    )
    if sync and desc.get("stream") is not None:
        with driver.on_device(ordinal):
            driver.order_after(int(desc["stream"]), 0)
    return array


def from_dlpack(obj: Any) -> DeviceArray:
    """Return a device array over the memory of an object with ``__dlpack__``.

    Parameters
    ----------
    obj : object
        An array of any library, on a GPU or in host memory.

    Raises
    ------
    TypeError
        If the object does not support DLPack.
    LaunchError
        If kernels do not have its dtype or layout.
    """
    if isinstance(obj, DeviceArray):
        return obj
    if not hasattr(obj, "__dlpack__"):
        raise TypeError(f"{described(obj)} has no __dlpack__{_TO_DEVICE_HINT}")
    if isinstance(obj, np.ndarray):
        obj = host_array(obj)
    try:
        imported = dlpack.import_array(obj, dlpack.DEFAULT_STREAM)
    except dlpack.DlpackUnsupportedError as error:
        raise LaunchError(f"this {type(obj).__name__} cannot be imported: {error}") from None
    device_type, device_number = imported.device
    if device_type not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise TypeError(
            f"a {type(obj).__name__} is on a device of DLPack's type {device_type}: copy it to the "
            "host or to a GPU"
        )
    ordinal = device_number if device_type in (CUDA, CUDA_MANAGED) else HOST
    return DeviceArray(
        ExternalMemory(imported.owner, imported.address, 0, ordinal),
        imported.address,
        imported.shape,
        imported.strides,
        imported.dtype,
        writeable=not imported.readonly,
    )


document_parameters(
    globals(),
    """
stream : Stream | The stream of the copy.
DeviceArray.astype.stream : Stream | The stream of the conversion.
DeviceArray.bind.stream : Stream | The stream.
DeviceArray.copy_to_host.stream : Stream | Copy in this stream, without waiting: synchronize with it
  before you read the array.
DeviceArray.split.stream : Stream | The stream that the parts use by default.
key : int, slice or tuple | The index.
value : array_like | The new elements, which are broadcast to the shape of ``a[key]``.
*shape : int or tuple of int | The lengths of the axes; one may be -1.
order : {"C", "F", "A"} | The order in which elements are read.
DeviceArray.copy.order : {"C", "F"} | The order of the axes in memory.
section : int | The number of elements of each part; the last part may be shorter.
ary : array_like | An array on the host or on a device.
DeviceArray.copy_to_host.ary : ndarray | The target, of the same shape and dtype; by default a new
  array.
device : int or "cpu" | The GPU, or host memory.
dtype : dtype_like | The dtype of the result.
copy : bool | False returns the array itself if it has the dtype.
""",
)

if "distributed" in sys.modules:  # a worker imports this module to receive device arrays
    import_module("pycu2c.devices.dask_serialization")

"""Arrays in the memory of a GPU, or of the host where there is none.

Indexing, slicing and reshaping follow numpy and give views. Elements are read and written by
copies, whole arrays at a time; what computes with them is a kernel.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pycu2c.base.lazy_imports import lazy_module
from pycu2c.devices import gpu_selection, view_geometry
from pycu2c.devices.gpu_selection import Where
from pycu2c.devices.unsupported_arithmetic import COMPUTED, NoHostArithmetic
from pycu2c.devices.view_geometry import ViewGeometry
from pycu2c.native.extension import DeviceArrayBase
from pycu2c.runtime.arguments import array_checks
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape, array_over, is_contiguous
from pycu2c.runtime.cuda.memory import HOST, Memory

if TYPE_CHECKING:
    from pycu2c.devices import copies, interoperability
else:
    copies = lazy_module("pycu2c.devices.copies")
    interoperability = lazy_module("pycu2c.devices.interoperability")

Order: TypeAlias = Literal["C", "F"]

_TO_HOST = ("get", "cpu", "numpy", "to_host", "asnumpy")  # as others call it
_COPIED = ": copy_to_host() gives a numpy array"
_NUMBAS = {
    "get_ipc_handle": ": memory is not shared between processes; copy_to_host() gives what can be "
    "sent",
    "gpu_data": ": device_ctypes_pointer is where it lies",
    "device_pointer": ": device_ctypes_pointer is where it lies",
}


class DeviceArray(DeviceArrayBase, NoHostArithmetic):
    """Elements in the memory of a GPU, with a shape. The array does not change in place or shape:
    a view is an array of its own. ``writeable`` says whether kernels and assignments may write.

    The base class has what launches read: address, device (the ordinal of the GPU; -1 for memory of
    the host), dtype, shape in elements, strides in bytes, and whether it is writeable.
    """

    __slots__ = ("__weakref__", "_argument", "_memory", "stream")

    def __init__(
        self,
        memory: Memory,
        address: int,
        shape: Shape,
        strides: Shape,
        dtype: np.dtype[Any],
        writeable: bool = True,
        stream: object = None,
    ) -> None:
        contiguous = is_contiguous(shape, strides, dtype.itemsize)
        super().__init__(address, memory.ordinal, shape, strides, dtype, writeable, contiguous)
        self.stream, self._memory = stream, memory
        self._argument: ArrayArgument | None = None

    # ---- what it is ----

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def alloc_size(self) -> int:
        """Bytes of its elements."""
        return self.nbytes

    @property
    def device_ctypes_pointer(self) -> ctypes.c_void_p:
        """Where it lies, for libraries that ctypes calls."""
        return ctypes.c_void_p(self.address)

    def is_c_contiguous(self) -> bool:
        """Whether elements lie in C's order, without gaps."""
        return self._c_contiguous

    def is_f_contiguous(self) -> bool:
        """Whether elements lie in Fortran's order, without gaps."""
        return is_contiguous(self.shape, self.strides, self.itemsize, "F")

    @property
    def flags(self) -> dict[str, bool]:
        """``flags["C_CONTIGUOUS"]``, ``flags["F_CONTIGUOUS"]``, as numba has them."""
        return {"C_CONTIGUOUS": self.is_c_contiguous(), "F_CONTIGUOUS": self.is_f_contiguous()}

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __bool__(self) -> bool:
        """Of the one element, copied to the host, as numpy has it."""
        if self.size != 1:
            raise ValueError(
                f"an array of {self.size} elements is not true or false: copy_to_host() gives "
                "numpy's array, which has any() and all(); `is not None` asks whether there is one"
            )
        return bool(self.item())

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        where = "on the host" if self.device == HOST else f"on GPU {self.device}"
        return f"<device array {self.dtype}{list(self.shape)} {where}, at {self.address:#x}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a device array is not pickled: its memory belongs to this process. Pickle what its "
            "copy_to_host() gives"
        )

    if not TYPE_CHECKING:  # checkers know the names that there are

        def __getattr__(self, name: str) -> NoReturn:
            if isinstance(own := vars(type(self)).get(name), property):
                own.__get__(self)  # raises what has brought Python here
            numpys = not name.startswith("_") and hasattr(np.ndarray, name)
            hint = COMPUTED if numpys else _COPIED if name in _TO_HOST else _NUMBAS.get(name, "")
            raise AttributeError(f"a device array has no {name}{hint}", name=name, obj=self)

    # ---- views ----

    @property
    def _shadow(self) -> NDArray[Any]:
        """A numpy array that lies there: of memory of the host the real thing, of a GPU's one
        that must not be read."""
        keep = self._memory if self.device == HOST else None
        form = self.shape, self.strides, self.dtype
        return array_over(self.address, form, writeable=self.writeable, memory=keep)

    def _seen(self, view: ViewGeometry, dtype: np.dtype[Any] | None = None) -> DeviceArray:
        return DeviceArray(
            self._memory,
            self.address + view.offset,
            view.shape,
            view.strides,
            dtype or self.dtype,
            self.writeable,
            self.stream,
        )

    def __getitem__(self, key: Any) -> Any:
        """A view; of one element its value, copied to the host."""
        view = view_geometry.part(self.shape, self.strides, key)
        if view.shape or key is Ellipsis:
            return self._seen(view)
        if isinstance(key, tuple) and any(each is Ellipsis for each in key):
            return self._seen(view)
        return self._seen(view).copy_to_host()[()]

    def __setitem__(self, key: Any, value: object) -> None:
        """Fill a part of it with a number, or copy an array there, as numpy would."""
        self.setitem(key, value)

    def setitem(self, key: Any, value: object, stream: object = None) -> None:
        """``a[key] = value`` in a stream."""
        whole = key is Ellipsis
        target = self if whole else self._seen(view_geometry.part(self.shape, self.strides, key))
        copies.assign(target, value, self._in(stream))

    def getitem(self, key: Any, stream: object = None) -> Any:
        """``a[key]`` in a stream."""
        return self.bind(stream)[key]

    @property
    def T(self) -> DeviceArray:
        """The array with its axes in reverse."""
        return self._seen(ViewGeometry(0, self.shape[::-1], self.strides[::-1]))

    def transpose(self, *axes: Any) -> DeviceArray:
        """A view with its axes in another order: reversed, or as given."""
        if not axes or axes == (None,):
            return self.T
        order = axes if len(axes) != 1 or hasattr(axes[0], "__index__") else axes[0]
        return self._seen(view_geometry.transposed(self.shape, self.strides, order))

    def reshape(self, *shape: Any, order: Order | Literal["A"] = "C") -> DeviceArray:
        """The elements with another shape: a view where there is one, else a copy."""
        if order == "A":
            order = "F" if self.is_f_contiguous() and not self.is_c_contiguous() else "C"
        if order not in ("C", "F"):
            raise ValueError(f"order is 'C', 'F' or 'A', not {order!r}")
        given = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
        wanted = view_geometry.filled_in(self.size, tuple(map(operator.index, given)))
        view = view_geometry.reshaped(self.shape, self.strides, wanted, order)
        if view is None:
            return copies.duplicate(self, order, self.stream).reshape(wanted, order=order)
        return self._seen(view)

    def ravel(self, order: Order | Literal["A"] = "C") -> DeviceArray:
        """The elements along one axis: a view where there is one, else a copy."""
        return self.reshape(self.size, order=order)

    def squeeze(self, axis: int | Sequence[int] | None = None) -> DeviceArray:
        """A view without the axes of length 1, or without those given."""
        axes = (axis,) if isinstance(axis, int) else axis
        return self._seen(view_geometry.squeezed(self.shape, self.strides, axes))

    def view(self, dtype: DTypeLike) -> DeviceArray:
        """The same bytes as elements of another type."""
        seen = self._shadow.view(copies.checked(dtype))
        return self._seen(ViewGeometry(0, seen.shape, seen.strides), seen.dtype)

    def split(self, section: int, stream: object = None) -> list[DeviceArray]:
        """Views of equal parts of an array with one axis; the last may be shorter."""
        if self.ndim != 1:
            raise ValueError("only an array with one axis is split")
        return [self.bind(stream)[i : i + section] for i in range(0, self.size, section)]

    def _in(self, stream: object) -> object:
        """The stream of a copy: the one that is named, else the array's own."""
        return self.stream if stream is None or (type(stream) is int and not stream) else stream

    def bind(self, stream: object = None) -> DeviceArray:
        """A view whose copies are done in a stream, unless they name another one."""
        bound = self._seen(ViewGeometry(0, self.shape, self.strides))
        bound.stream = self._in(stream)
        return bound

    # ---- copies ----

    def copy_to_host(self, ary: NDArray[Any] | None = None, stream: object = None) -> NDArray[Any]:
        """A numpy array with the elements, or the one that is given, filled with them. With a
        stream, wait for it before you read them."""
        return copies.to_host(self, ary, self._in(stream))

    def copy_to_device(self, ary: object, stream: object = None) -> None:
        """Take over the elements of an array of the same shape and dtype."""
        copies.take(self, ary, self._in(stream))

    def copy(self, order: Order = "C", stream: object = None) -> DeviceArray:
        """An array of its own with the same elements."""
        return copies.duplicate(self, order, self._in(stream))

    def copy_to(self, device: Where, stream: object = None) -> DeviceArray:
        """A copy on another GPU, or on the same; of "cpu" in memory of the host."""
        return copies.copied_to(self, gpu_selection.ordinal_of(device), self._in(stream))

    def astype(self, dtype: DTypeLike, *, copy: bool = True, stream: object = None) -> DeviceArray:
        """An array with the elements converted to another type, as numpy converts them."""
        wanted = copies.checked(dtype)
        if wanted == self.dtype and not copy:
            return self
        return copies.converted(self, wanted, self._in(stream))

    def item(self) -> Any:
        """The one element of an array that has no more, as a Python number."""
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements is no single number")
        return self.copy_to_host().item()

    # ---- for launches and other packages ----

    def used_on(self, stream: object) -> None:
        """Work on a stream that the default stream does not wait for uses this array. Launches
        say it; say it yourself where another package works on the memory."""
        self._memory.used_on(stream)

    def __pycu2c_array__(self, name: str) -> ArrayArgument:
        """Return what the slow path reads. It keeps the memory, not this object."""
        if self._argument is None:
            on_host = self.device == HOST
            described = ArrayArgument(
                array_checks.dtype_of(self.dtype, name),
                self.shape,
                self.strides,
                self.address,
                not self.writeable,
                self.is_c_contiguous(),
                "host" if on_host else "device",
                self._shadow if on_host else self._memory,
                placed=True,
            )
            array_checks.check_layout(described, name)
            self._argument = described
        return self._argument

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device == HOST:
            raise AttributeError(
                "an array in memory of the host has no __cuda_array_interface__",
                name="__cuda_array_interface__",
                obj=self,
            )
        self._memory.lend()
        return interoperability.interface_of(self)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        self._memory.lend()
        return interoperability.capsule_of(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return interoperability.dlpack_device(self)

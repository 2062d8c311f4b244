"""Describe arrays of any array library, textures and surfaces."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, Scalar
from pycu2c.base.values import Number

MemoryLocation: TypeAlias = Literal["host", "device"]


class ArrayArgument(NamedTuple):
    """An array argument.

    strides: the strides in bytes.
    owner: the object that keeps the memory alive.
    stream: the CUDA stream on which the owner has pending work, from
        ``__cuda_array_interface__``.
    location_is_explicit: whether the user has chosen the memory (host or device), so that
        kernels run there.
    is_unwritten: whether the memory is new and has undefined elements.

    This is a tuple because a frozen dataclass takes three times as long to create.
    """

    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    readonly: bool
    contiguous: bool
    location: MemoryLocation
    owner: object
    stream: int | None = None
    location_is_explicit: bool = False
    is_unwritten: bool = False

    @property
    def type(self) -> Array:
        return Array(self.dtype, len(self.shape), "C" if self.contiguous else "A")

    @property
    def size(self) -> int:
        """Return the number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def interpreted(self) -> object:
        """Return what the interpreter passes: the user's array."""
        return self.owner

    @property
    def region(self) -> tuple[int, int]:
        """Return the address of the first byte, and the number of bytes up to the last."""
        size = self.size
        if self.contiguous or not size:
            return self.address, size * self.dtype.size
        offsets = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        low = sum(offset for offset in offsets if offset < 0)
        high = sum(offset for offset in offsets if offset > 0) + self.dtype.size
        return self.address + low, high - low


@dataclass(frozen=True, slots=True)
class HandleArgument:
    """A texture or surface, or an address that the launch selects; ``owner`` has the handle."""

    dtype: DType
    owner: Any

    def __repr__(self) -> str:
        return f"a `{self.dtype}`"

    @property
    def type(self) -> Scalar:
        return Scalar(self.dtype)

    def handle(self, location: MemoryLocation) -> int:
        """Return the handle that is passed to a kernel."""
        handle: int = self.owner.__pycu2c_handle__(location)
        return handle

    @property
    def interpreted(self) -> object:
        """Return what the interpreter passes: the object, or an address."""
        return self.owner if self.dtype.handle is not None else self.handle("host")


Argument: TypeAlias = "ArrayArgument | HandleArgument | Number"


def as_int(number: Argument) -> int:
    """Convert an integer argument to a Python int, whose arithmetic cannot overflow.

    The descriptor of a tensor map of host memory is 0.
    """
    assert not isinstance(number, ArrayArgument)
    return number.handle("host") if isinstance(number, HandleArgument) else int(number)

"""Arrays, textures and surfaces as launches see them, whichever package owns them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pycu2c.base.dtypes import DType
from pycu2c.base.records import NamedTuple, dataclass
from pycu2c.base.types import Array, Scalar
from pycu2c.base.values import Number

Where: TypeAlias = Literal["host", "device"]


class ArrayArgument(NamedTuple):
    """An array, whoever made it. ``strides`` are in bytes; ``owner`` keeps the memory alive.

    ``stream`` is the CUDA stream that the owner still works on, as
    ``__cuda_array_interface__`` gives it. ``placed``: the user has chosen where it lies, and runs
    kernels there. (A tuple, because every launch makes some: a frozen
    dataclass takes three times as long to make.)
    """

    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    readonly: bool
    contiguous: bool
    where: Where
    owner: object
    stream: int | None = None
    placed: bool = False

    @property
    def type(self) -> Array:
        return Array(self.dtype, len(self.shape), "C" if self.contiguous else "A")

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def region(self) -> tuple[int, int]:
        """The address of its first byte, and how many bytes there are to its last."""
        if not self.size:
            return self.address, 0
        reaches = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        low = sum(reach for reach in reaches if reach < 0)
        high = sum(reach for reach in reaches if reach > 0) + self.dtype.size
        return self.address + low, high - low


@dataclass(frozen=True, slots=True)
class HandleArgument:
    """A texture or surface; ``owner`` is the object of the program."""

    dtype: DType
    owner: Any

    def __repr__(self) -> str:
        return f"a `{self.dtype}`"

    @property
    def type(self) -> Scalar:
        return Scalar(self.dtype)

    def handle(self, where: Where) -> int:
        """What a kernel there is passed."""
        found: int = self.owner.__pycu2c_handle__(where)
        return found


Argument: TypeAlias = "ArrayArgument | HandleArgument | Number"


def whole(number: Argument) -> int:
    """An argument that is a whole number, as Python's."""
    assert not isinstance(number, (ArrayArgument, HandleArgument))
    return int(number)  # of numpy's numbers, too: the absolute value of the least is none of them

from collections.abc import Iterator
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, overload

from typing_extensions import TypeVar

__all__ = [
    "Array",
    "bfloat16",
    "bool_",
    "boolean",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "surface1d",
    "surface2d",
    "surface3d",
    "texture1d",
    "texture2d",
    "texture3d",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

boolean: TypeAlias = bool
bool_: TypeAlias = bool
int8: TypeAlias = int
int16: TypeAlias = int
int32: TypeAlias = int
int64: TypeAlias = int
uint8: TypeAlias = int
uint16: TypeAlias = int
uint32: TypeAlias = int
uint64: TypeAlias = int
float16: TypeAlias = float
bfloat16: TypeAlias = float
float32: TypeAlias = float
float64: TypeAlias = float
complex64: TypeAlias = complex
complex128: TypeAlias = complex

_Element = TypeVar("_Element", covariant=True)
_Rank = TypeVar("_Rank", covariant=True, default=Literal[1])
_Layout = TypeVar("_Layout", covariant=True, default=Literal["C", "A"])
_Index: TypeAlias = SupportsIndex

class Array(Protocol[_Element, _Rank, _Layout]):
    """An array of this rank; the default rank is 1."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> Any: ...  # a method of torch's tensors
    @property
    def dtype(self) -> Any: ...
    @overload
    def __getitem__(self: Array[_Element, Literal[1], _Layout], key: _Index, /) -> _Element: ...
    @overload
    def __getitem__(
        self: Array[_Element, Literal[2], _Layout], key: tuple[_Index, _Index], /
    ) -> _Element: ...
    @overload
    def __getitem__(
        self: Array[_Element, Literal[3], _Layout], key: tuple[_Index, _Index, _Index], /
    ) -> _Element: ...
    @overload
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...

class texture1d(Protocol[_Element]):
    """A texture with one axis, as ``cuda.texture`` creates it."""

    @property
    def ndim(self) -> int: ...
    def at(self, *coordinates: float) -> Any: ...

class texture2d(texture1d[_Element], Protocol[_Element]):
    """A texture with two axes."""

class texture3d(texture1d[_Element], Protocol[_Element]):
    """A texture with three axes."""

class surface1d(Protocol[_Element]):
    """A surface with one axis, as ``cuda.surface`` creates it."""

    @property
    def ndim(self) -> int: ...
    def element(self, *index: int) -> Any: ...

class surface2d(surface1d[_Element], Protocol[_Element]):
    """A surface with two axes."""

class surface3d(surface1d[_Element], Protocol[_Element]):
    """A surface with three axes."""

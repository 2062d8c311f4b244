"""The types that values of a kernel have, and the NEP 50 join of two of them.

A scalar is *strong* (a numpy dtype) or *weak* (a Python number: its dtype is what it has by
itself, and beside a strong operand it gives way).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias, get_args, get_origin

import numpy as np

from pycu2c.base import dtypes, vectors
from pycu2c.base.dtypes import DType, DTypeKind
from pycu2c.base.limits import INDEX32_LIMIT, INT64_LIMIT, MAX_CLUSTER_BLOCKS
from pycu2c.base.records import Enum, dataclass, field

Layout: TypeAlias = Literal["C", "A"]  # C-contiguous, or any strides


class MemorySpace(Enum):
    """Which memory an array lives in."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONSTANT = "constant"  # of a file: numbers that are known when the kernel is compiled
    CLUSTER = "cluster"  # a shared array of any block of the cluster, whose rank is the first index
    BLOCK = "block"  # CPU build: one slot per thread, shared by the block's code
    WORKER = "worker"  # CPU build: of one OS thread, for all blocks that it runs


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar type. ``float32[:]`` is an array type of it, ``float32(x)`` a conversion."""

    dtype: DType
    weak: bool = False

    def __str__(self) -> str:
        return _WEAK_NAMES[self.dtype.kind] if self.weak else self.dtype.name

    __repr__ = __str__

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The dtype of numpy's arrays: ``np.zeros(n, cuda.float4.numpy)``."""
        return self.dtype.numpy

    @property
    def type(self) -> Scalar:
        """What converts to it: ``a.dtype.type(x)``, as with numpy's dtypes."""
        return self

    __numpy_dtype__ = numpy  # since numpy 2.4: np.zeros(n, cuda.float4)

    def __getitem__(self, axes: slice | tuple[slice, ...]) -> Array:
        """``float32[:, ::1]``: an array type; a step of 1 on the last axis means C-contiguous."""
        if self.dtype.handle is not None:
            raise TypeError(f"there are no arrays of {self}: pass a tuple of them")
        slices = axes if isinstance(axes, tuple) else (axes,)
        plain = all(isinstance(s, slice) and s.start is None and s.stop is None for s in slices)
        steps = [s.step for s in slices] if plain else []
        if not plain or any(s is not None for s in steps[:-1]) or steps[-1] not in (None, 1):
            raise TypeError(f"write {self}[:], {self}[:, :] or {self}[::1], not {axes!r}")
        return Array(self.dtype, len(slices), "C" if steps[-1] == 1 else "A")

    def __call__(self, *values: Any) -> Any:
        """Convert a Python or numpy number, as ``numpy.float32(value)`` does; put a vector
        together from its components. Of types it is the signature of a function that gives it."""
        if values and isinstance(values[0], _TYPES):
            return Signature(values, self)
        if self.dtype.is_vector:
            return vectors.vector(self.dtype, values)
        return self.dtype.numpy.type(*(values or (0,)))


_WEAK_NAMES = {
    DTypeKind.BOOL: "bool",
    DTypeKind.SIGNED: "int",
    DTypeKind.FLOAT: "float",
    DTypeKind.COMPLEX: "complex",
}

WEAK_BOOL = Scalar(dtypes.BOOL, weak=True)
WEAK_INT = Scalar(dtypes.INT64, weak=True)
WEAK_INT32 = Scalar(dtypes.INT32, weak=True)  # a Python int that is proved to fit 32 bits
WEAK_FLOAT = Scalar(dtypes.FLOAT64, weak=True)
WEAK_COMPLEX = Scalar(dtypes.COMPLEX128, weak=True)


@dataclass(frozen=True, slots=True)
class Array:
    """An array of known rank. ``shape`` is set where the kernel fixes it (shared, local)."""

    dtype: DType
    ndim: int
    layout: Layout = "A"
    space: MemorySpace = MemorySpace.GLOBAL
    shape: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """``Array(float32, 2, "F")``, as numba has it: Fortran's order is one of any strides."""
        given: object = self.dtype
        if isinstance(given, Scalar):
            object.__setattr__(self, "dtype", given.dtype)
        if self.layout not in ("C", "A"):
            object.__setattr__(self, "layout", "A")

    def __str__(self) -> str:
        if self.shape is not None:
            return f"{self.space.value} {self.dtype}[{', '.join(map(str, self.shape))}]"
        if not self.ndim:
            return str(self.dtype)
        if self.space is MemorySpace.SHARED:
            return f"shared {self.dtype}[]"
        last = "::1" if self.layout == "C" else ":"
        return f"{self.dtype}[{', '.join([':'] * (self.ndim - 1) + [last])}]"

    __repr__ = __str__

    def __class_getitem__(cls, given: object) -> Array:
        """``Array[float32, 2]``, ``Array[float32, Literal[2], "C"]``; one axis by default."""
        element, *rest = map(_unwrap_literal, given if isinstance(given, tuple) else (given,))
        ndim, layout = (*rest, *(1, "A")[len(rest) :]) if len(rest) < 3 else (0, "A")
        if (
            isinstance(element, Scalar)
            and element.dtype.handle is None
            and ndim in (1, 2, 3, 4, 5, 6, 7, 8)
            and layout in ("C", "A")
        ):
            return Array(element.dtype, ndim, layout)
        raise TypeError('write Array[float32], Array[float32, 2] or Array[float32, 2, "C"]')

    @property
    def element(self) -> Scalar:
        return Scalar(self.dtype)

    @property
    def in_cluster(self) -> Array:
        """A shared array together with those of the other blocks. They lie far apart."""
        shape = None if self.shape is None else (MAX_CLUSTER_BLOCKS, *self.shape)
        return Array(self.dtype, self.ndim + 1, "A", MemorySpace.CLUSTER, shape)

    @property
    def in_block(self) -> Array:
        """The shared array that the one of a cluster is in each block."""
        assert self.space is MemorySpace.CLUSTER
        shape = None if self.shape is None else self.shape[1:]
        return Array(self.dtype, self.ndim - 1, "C", MemorySpace.SHARED, shape)


@dataclass(frozen=True, slots=True)
class GenericHandle:
    """``texture2d``: ``texture2d[float32]`` is the type of a texture with two axes that gives
    floats, ``surface1d[int4]`` that of a surface with one."""

    access: dtypes.Access
    axes: int

    def __getitem__(self, given: object) -> Scalar:
        element = _unwrap_literal(given)
        if not isinstance(element, Scalar) or element.weak or not dtypes.is_texel(element.dtype):
            known = ", ".join(map(str, dtypes.TEXELS))
            raise TypeError(f"{self} gives {known}, or a vector of 2 or 4 of them, not {given!r}")
        return Scalar(dtypes.handle(self.access, self.axes, element.dtype))

    def __str__(self) -> str:
        return f"{self.access}{self.axes}d"

    __repr__ = __str__


def _unwrap_literal(given: object) -> Any:
    """What stands in ``Literal[2]``, as type checkers want it; the scalar of a numpy type."""
    if get_origin(given) is Literal:
        return get_args(given)[0]
    if isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic)):
        row = dtypes.from_numpy(np.dtype(given))
        return Scalar(row) if row else None
    return given


@dataclass(frozen=True, slots=True)
class Void:
    """The type of a call that gives nothing. ``void(float32[:])`` is the signature of one."""

    def __str__(self) -> str:
        return "None"

    def __call__(self, *parameters: ParameterType) -> Signature:
        return Signature(parameters, NONE)


VOID = Void()


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple, a named tuple or a frozen dataclass: it is passed item by item. ``names`` are
    those of the fields, empty for a plain tuple."""

    items: tuple[ParameterType, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = [f"{n}: {i}" for n, i in zip(self.names, self.items)] or list(map(str, self.items))
        return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """The type of a Python object that is known when the kernel is compiled: None, a string, a
    function, a number for a shape. The object itself is the type; nothing is passed at run time.
    Strings and numbers are equal by what they say, other objects if they are one."""

    value: object

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return False
        if isinstance(self.value, (str, int)):
            return type(self.value) is type(other.value) and self.value == other.value
        return self.value is other.value

    def __hash__(self) -> int:
        return hash(self.value) if isinstance(self.value, (str, int)) else id(self.value)

    def __str__(self) -> str:
        name = getattr(self.value, "__name__", None) or repr(self.value)
        return "lambda" if name == "<lambda>" else name

    __repr__ = __str__


NONE = Constant(None)

Path: TypeAlias = tuple[str, ...]  # names of fields, or numbers of items, outermost first

Type: TypeAlias = Scalar | Array | Void  # of values in the IR
ParameterType: TypeAlias = Scalar | Array | Tuple | Constant  # of what functions are given


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of a kernel's or device function's parameters. ``result`` is what a device
    function gives back, None where the signature does not say."""

    parameters: tuple[ParameterType, ...]
    result: ParameterType | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))})"

    @property
    def args(self) -> tuple[ParameterType, ...]:
        """The parameters, as numba calls them."""
        return self.parameters

    @property
    def return_type(self) -> ParameterType | None:
        """The result, as numba calls it."""
        return self.result


_TYPES = (Scalar, Array, Tuple, Constant)


def leaf_paths(kind: ParameterType, path: Path = ()) -> Iterator[tuple[Path, Scalar | Array]]:
    """The numbers and arrays in a value of a type, in order, each with the items on the way."""
    match kind:
        case Tuple(items, names):
            for position, item in enumerate(items, start=1):
                step = names[position - 1] if names else str(position)
                yield from leaf_paths(item, (*path, step))
        case Constant():
            pass
        case _:
            yield path, kind


def leaf_types(kind: ParameterType) -> list[Scalar | Array]:
    """The types of the numbers and arrays in a value."""
    return [leaf for _, leaf in leaf_paths(kind)]


def strong(dtype: DType) -> Scalar:
    return Scalar(dtype)


def to_strong(scalar: Scalar) -> Scalar:
    """The strong type that a weak value has when it stands alone: int is int64."""
    return Scalar(scalar.dtype)


def default_type(kind: ParameterType) -> ParameterType:
    """The type of a value that stands alone: an int, also as an item of a tuple, is int64."""
    match kind:
        case Tuple(items, names):
            return Tuple(tuple(map(default_type, items)), names)
        case Scalar():
            return to_strong(kind)
        case _:
            return kind


def scalar_of(value: object) -> Scalar | None:
    """The scalar type of a number; None if it is not one that kernels have."""
    if isinstance(value, np.generic):  # before float: np.float64 is one
        dtype = dtypes.from_numpy(value.dtype)
        return Scalar(dtype) if dtype else None
    if isinstance(value, tuple) and isinstance(value, vectors.Vector):
        return Scalar(value.row)
    if isinstance(value, bool):
        return WEAK_BOOL
    if isinstance(value, int):
        return WEAK_INT
    if isinstance(value, complex):
        return WEAK_COMPLEX
    return WEAK_FLOAT if isinstance(value, float) else None


def assumed_magnitude_limit(kind: object) -> int | None:
    """How far from 0 an argument of a type lies at most in a launch that is ordinary to the
    compiler; None if nothing is asked of it."""
    if not isinstance(kind, Scalar):
        return None
    if kind.weak and kind.dtype.is_integer:
        return INDEX32_LIMIT - 1
    return INT64_LIMIT if kind.dtype is dtypes.INT64 else None


_WEAK_SAMPLE: dict[DTypeKind, int | float | complex] = {
    DTypeKind.SIGNED: 0,
    DTypeKind.FLOAT: 0.0,
    DTypeKind.COMPLEX: 0j,
}


def have_common_type(a: Scalar, b: Scalar) -> bool:
    """Whether two types have a common one: a vector or texture has only with itself."""
    return a == b or not (a.dtype.stands_alone or b.dtype.stands_alone)


def promote(a: Scalar, b: Scalar) -> Scalar:
    """The NEP 50 common type: ``float32, float -> float32``; ``int32, float -> float64``."""
    assert have_common_type(a, b), f"{a} and {b} have no common type"
    if a == b:
        return a
    if a.weak and b.weak:
        return max(a, b, key=lambda s: s.dtype.bits + s.dtype.is_float)
    if b.weak:
        a, b = b, a
    if dtypes.BFLOAT16 in (a.dtype, b.dtype):
        return _join_bfloat16(a, b)
    if not a.weak:
        joined = np.promote_types(a.dtype.numpy, b.dtype.numpy)
    elif a.dtype.kind is DTypeKind.BOOL:
        return b
    else:
        joined = np.result_type(_WEAK_SAMPLE[a.dtype.kind], b.dtype.numpy)
    dtype = dtypes.from_numpy(joined)
    assert dtype is not None, f"{a} and {b} join to {joined}, which has no row"
    return Scalar(dtype)


def _join_bfloat16(a: Scalar, b: Scalar) -> Scalar:
    """numpy has no bfloat16: as the package that adds it joins its types. ``b`` is strong."""
    if a.weak:
        is_complex = a.dtype.is_complex
        return Scalar(dtypes.COMPLEX64) if is_complex else b
    other = b.dtype if a.dtype is dtypes.BFLOAT16 else a.dtype
    if other is dtypes.BFLOAT16 or (other.is_integral and other.bits == 8):
        return Scalar(dtypes.BFLOAT16)
    if other.is_half or (other.is_integral and other.bits == 16):
        return Scalar(dtypes.FLOAT32)
    return promote(Scalar(dtypes.FLOAT32), Scalar(other))


boolean = strong(dtypes.BOOL)
int8 = strong(dtypes.INT8)
int16 = strong(dtypes.INT16)
int32 = strong(dtypes.INT32)
int64 = strong(dtypes.INT64)
uint8 = strong(dtypes.UINT8)
uint16 = strong(dtypes.UINT16)
uint32 = strong(dtypes.UINT32)
uint64 = strong(dtypes.UINT64)
float16 = strong(dtypes.FLOAT16)
bfloat16 = strong(dtypes.BFLOAT16)
float32 = strong(dtypes.FLOAT32)
float64 = strong(dtypes.FLOAT64)
complex64 = strong(dtypes.COMPLEX64)
complex128 = strong(dtypes.COMPLEX128)
bool_ = boolean
texture1d, texture2d, texture3d = (GenericHandle("texture", axes) for axes in (1, 2, 3))
surface1d, surface2d, surface3d = (GenericHandle("surface", axes) for axes in (1, 2, 3))
HANDLES = {str(h): h for h in (texture1d, texture2d, texture3d, surface1d, surface2d, surface3d)}

# ---- numba's names -----------------------------------------------------------------------------

void, none = VOID, NONE
b1 = boolean
i1, i2, i4, i8 = int8, int16, int32, int64
u1, u2, u4, u8 = uint8, uint16, uint32, uint64
f2, f4, f8 = float16, float32, float64
c8, c16 = complex64, complex128
byte = uchar = uint8
char = int8
short, ushort = int16, uint16
intc, uintc = int32, uint32
int_ = intp = long_ = longlong = ssize_t = int64
uint = uintp = ulong = ulonglong = size_t = uint64
float_, double = float32, float64


def CPointer(element: Scalar) -> Array:
    """The type of what ``ffi.from_buffer(array)`` gives to a function in C."""
    return Array(element.dtype, 1, "C")


def UniTuple(item: ParameterType, count: int) -> Tuple:
    """The type of a tuple of ``count`` items of one type."""
    return Tuple((item,) * count)

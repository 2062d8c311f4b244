"""Types of values in kernels, and the type promotion of NEP 50.

A scalar type is *strong* (a NumPy dtype) or *weak* (a Python number: alone it has its default
dtype, with a strong operand it takes that operand's).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal, TypeAlias, get_args, get_origin

import numpy as np

from pycu2c.base import dtypes, vectors
from pycu2c.base.dtypes import DType, DTypeKind
from pycu2c.base.limits import INDEX32_LIMIT, INT64_LIMIT, MAX_CLUSTER_BLOCKS
from pycu2c.base.numba_typing import type_of_conversion
from pycu2c.base.records import dataclass, field, interned, replace

Layout: TypeAlias = Literal["C", "A"]  # C-contiguous, or any strides


class MemorySpace(Enum):
    """The memory space of an array."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONSTANT = "constant"  # constants of the generated file
    CLUSTER = (
        "cluster"  # shared arrays of all blocks of the cluster; the first index is the block's rank
    )
    BLOCK = "block"  # CPU: one element for each thread of the block (context array)
    WORKER = "worker"  # CPU: private to an OS thread, for all blocks that it runs


@interned
@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A scalar type. ``float32[:]`` is an array type of it, ``float32(x)`` a conversion."""

    dtype: DType
    weak: bool = False

    def __str__(self) -> str:
        return _WEAK_NAMES[self.dtype.kind] if self.weak else self.dtype.name

    __repr__ = __str__

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """Return the NumPy dtype: ``np.zeros(n, cuda.float4.numpy)``."""
        return self.dtype.numpy

    @property
    def type(self) -> Scalar:
        """Return the converter of this type: ``a.dtype.type(x)``, as with NumPy's dtypes."""
        return self

    __numpy_dtype__ = numpy  # NumPy 2.4: np.zeros(n, cuda.float4)
    _numba_type_ = property(type_of_conversion)

    def __getitem__(self, axes: slice | tuple[slice, ...]) -> Array:
        """Return an array type: ``float32[:, ::1]``.

        A step of 1 on the last axis means C-contiguous.
        """
        if self.dtype.handle is not None:
            raise TypeError(f"there are no arrays of {self}: pass a tuple of them")
        slices = axes if isinstance(axes, tuple) else (axes,)
        are_full_slices = all(
            isinstance(s, slice) and s.start is None and s.stop is None for s in slices
        )
        steps = [s.step for s in slices] if are_full_slices else []
        if (
            not are_full_slices
            or any(s is not None for s in steps[:-1])
            or steps[-1] not in (None, 1)
        ):
            raise TypeError(f"write {self}[:], {self}[:, :] or {self}[::1], not {axes!r}")
        return Array(self.dtype, len(slices), "C" if steps[-1] == 1 else "A")

    def __call__(self, *values: Any) -> Any:
        """Convert a number, as ``numpy.float32(value)`` does, or build a vector from components.

        With types as arguments, return the signature of a function with this result type.

        Parameters
        ----------
        *values : number or type
            A number, the components of a vector, or parameter types.

        Returns
        -------
        number or Signature
            The NumPy scalar or vector; or for types the signature.
        """
        if values and isinstance(values[0], _PARAMETER_TYPES):
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
WEAK_INT32 = Scalar(dtypes.INT32, weak=True)  # a Python int that is proved to fit in 32 bits
WEAK_FLOAT = Scalar(dtypes.FLOAT64, weak=True)
WEAK_COMPLEX = Scalar(dtypes.COMPLEX128, weak=True)


@dataclass(frozen=True, slots=True)
class Array:
    """An array of fixed rank; ``shape`` is set if the kernel fixes it (shared, local).

    ``alignment``: that of a shared array in bytes, if it is more than its elements need.
    """

    dtype: DType
    ndim: int
    layout: Layout = "A"
    space: MemorySpace = MemorySpace.GLOBAL
    shape: tuple[int, ...] | None = None
    alignment: int = 0

    def __post_init__(self) -> None:
        """Accept numba's form ``Array(float32, 2, "F")``; Fortran order counts as any strides."""
        element: object = self.dtype
        if isinstance(element, Scalar):
            object.__setattr__(self, "dtype", element.dtype)
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

    def __class_getitem__(cls, parameters: object) -> Array:
        """Return the type of ``Array[float32, 2]`` or ``Array[float32, Literal[2], "C"]``."""
        element, *rest = map(
            _unwrap_literal, parameters if isinstance(parameters, tuple) else (parameters,)
        )
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
        """Return the type of the elements."""
        return Scalar(self.dtype)

    @property
    def in_cluster(self) -> Array:
        """Return the type of this shared array in all blocks of the cluster."""
        shape = None if self.shape is None else (MAX_CLUSTER_BLOCKS, *self.shape)
        return replace(self, ndim=self.ndim + 1, layout="A", space=MemorySpace.CLUSTER, shape=shape)

    @property
    def in_block(self) -> Array:
        """Return the type of one block's array of a cluster's arrays."""
        assert self.space is MemorySpace.CLUSTER
        shape = None if self.shape is None else self.shape[1:]
        return replace(self, ndim=self.ndim - 1, layout="C", space=MemorySpace.SHARED, shape=shape)


@dataclass(frozen=True, slots=True)
class GenericHandle:
    """A texture or surface type without its element, as ``texture2d`` in ``texture2d[float32]``."""

    access: dtypes.Access
    axes: int

    def __getitem__(self, element_type: object) -> Scalar:
        element = _unwrap_literal(element_type)
        if not isinstance(element, Scalar) or element.weak or not dtypes.is_texel(element.dtype):
            texels = ", ".join(map(str, dtypes.TEXEL_COMPONENTS))
            raise TypeError(
                f"{self} gives {texels}, or a vector of 2 or 4 of them, not {element_type!r}"
            )
        return Scalar(dtypes.handle_dtype(self.access, self.axes, element.dtype))

    def __str__(self) -> str:
        return f"{self.access}{self.axes}d"

    __repr__ = __str__


def _unwrap_literal(annotation: object) -> Any:
    """Return the value in ``Literal[2]``, or the scalar type of a NumPy type."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)[0]
    if isinstance(annotation, np.dtype) or (
        isinstance(annotation, type) and issubclass(annotation, np.generic)
    ):
        dtype = dtypes.from_numpy(np.dtype(annotation))
        return Scalar(dtype) if dtype else None
    return annotation


@dataclass(frozen=True, slots=True)
class Void:
    """The type of a call without a result; ``void(float32[:])`` is a signature."""

    def __str__(self) -> str:
        return "None"

    def __call__(self, *parameters: ParameterType) -> Signature:
        """Return the signature of a function without a result.

        Parameters
        ----------
        *parameters : type
            The types of the parameters.
        """
        return Signature(parameters, NONE)


VOID = Void()


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple, named tuple or frozen dataclass, which is passed item by item.

    ``names`` are the names of the fields, empty for a plain tuple.
    """

    items: tuple[ParameterType, ...]
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        texts = [f"{n}: {i}" for n, i in zip(self.names, self.items)] or list(map(str, self.items))
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """The type of a Python object that is a compile-time constant.

    Examples are None, strings, functions and the ints of shapes. Nothing is passed at run time.
    Strings and ints are compared by value, other objects by identity.
    """

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

ItemPath: TypeAlias = tuple[str, ...]  # field names or item numbers, outermost first

Type: TypeAlias = Scalar | Array | Void  # of values in the IR
ParameterType: TypeAlias = Scalar | Array | Tuple | Constant  # of arguments


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameter types of a kernel or device function.

    ``result`` is the type that a device function returns; None if the signature has none.
    """

    parameters: tuple[ParameterType, ...]
    result: ParameterType | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))})"

    @property
    def args(self) -> tuple[ParameterType, ...]:
        """Return the parameters (numba's name)."""
        return self.parameters

    @property
    def return_type(self) -> ParameterType | None:
        """Return the result (numba's name)."""
        return self.result


_PARAMETER_TYPES = (Scalar, Array, Tuple, Constant)


def leaf_paths(
    type_: ParameterType, path: ItemPath = ()
) -> Iterator[tuple[ItemPath, Scalar | Array]]:
    """Yield the scalar and array types in a type, each with its path of items."""
    match type_:
        case Tuple(items, names):
            for position, item in enumerate(items, start=1):
                step = names[position - 1] if names else str(position)
                yield from leaf_paths(item, (*path, step))
        case Constant():
            pass
        case _:
            yield path, type_


def leaf_types(type_: ParameterType) -> list[Scalar | Array]:
    """Return the scalar and array types in a type."""
    return [leaf for _, leaf in leaf_paths(type_)]


def default_type(type_: ParameterType) -> ParameterType:
    """Return the type of a value without a typed context: ints, also in tuples, become int64."""
    match type_:
        case Tuple(items, names):
            return Tuple(tuple(map(default_type, items)), names)
        case Scalar():
            return Scalar(type_.dtype)
        case _:
            return type_


def scalar_of(value: object) -> Scalar | None:
    """Return the scalar type of a number, or None if kernels do not support it."""
    if isinstance(value, np.generic):  # before float: np.float64 is one
        dtype = dtypes.from_numpy(value.dtype)
        return Scalar(dtype) if dtype else None
    if isinstance(value, tuple) and isinstance(value, vectors.Vector):
        return Scalar(value.vector_type)
    if isinstance(value, bool):
        return WEAK_BOOL
    if isinstance(value, int):
        return WEAK_INT
    if isinstance(value, complex):
        return WEAK_COMPLEX
    return WEAK_FLOAT if isinstance(value, float) else None


def assumed_magnitude_limit(type_: object) -> int | None:
    """Return the magnitude that the compiler assumes an argument does not exceed, or None."""
    if not isinstance(type_, Scalar):
        return None
    if type_.dtype is dtypes.INT32 or (type_.weak and type_.dtype.is_integer):
        return INDEX32_LIMIT - 1
    return INT64_LIMIT if type_.dtype is dtypes.INT64 else None


_WEAK_SAMPLES: dict[DTypeKind, int | float | complex] = {
    DTypeKind.SIGNED: 0,
    DTypeKind.FLOAT: 0.0,
    DTypeKind.COMPLEX: 0j,
}


def have_common_type(a: Scalar, b: Scalar) -> bool:
    """Return whether two types promote to a common type; vectors and textures need equal types."""
    return a == b or not (a.dtype.is_unpromotable or b.dtype.is_unpromotable)


def promote(a: Scalar, b: Scalar) -> Scalar:
    """Return the common type by NEP 50: ``float32, float -> float32``.

    ``int32, float`` give ``float64``.
    """
    assert have_common_type(a, b), f"{a} and {b} have no common type"
    if a == b:
        return a
    if a.weak and b.weak:
        return max(a, b, key=lambda s: s.dtype.bits + s.dtype.is_float)
    if b.weak:
        a, b = b, a
    if dtypes.BFLOAT16 in (a.dtype, b.dtype):
        return _promote_bfloat16(a, b)
    if not a.weak:
        common = np.promote_types(a.dtype.numpy, b.dtype.numpy)
    elif a.dtype.kind is DTypeKind.BOOL:
        return b
    else:
        common = np.result_type(_WEAK_SAMPLES[a.dtype.kind], b.dtype.numpy)
    dtype = dtypes.from_numpy(common)
    assert dtype is not None, f"{a} and {b} promote to {common}, which is not supported"
    return Scalar(dtype)


def _promote_bfloat16(a: Scalar, b: Scalar) -> Scalar:
    """Promote bfloat16 as ``ml_dtypes`` does; ``b`` is strong."""
    if a.weak:
        is_complex = a.dtype.is_complex
        return Scalar(dtypes.COMPLEX64) if is_complex else b
    other = b.dtype if a.dtype is dtypes.BFLOAT16 else a.dtype
    if other is dtypes.BFLOAT16 or (other.is_integral and other.bits == 8):
        return Scalar(dtypes.BFLOAT16)
    if other.is_half or (other.is_integral and other.bits == 16):
        return Scalar(dtypes.FLOAT32)
    return promote(Scalar(dtypes.FLOAT32), Scalar(other))


boolean = Scalar(dtypes.BOOL)
int8 = Scalar(dtypes.INT8)
int16 = Scalar(dtypes.INT16)
int32 = Scalar(dtypes.INT32)
int64 = Scalar(dtypes.INT64)
uint8 = Scalar(dtypes.UINT8)
uint16 = Scalar(dtypes.UINT16)
uint32 = Scalar(dtypes.UINT32)
uint64 = Scalar(dtypes.UINT64)
float16 = Scalar(dtypes.FLOAT16)
bfloat16 = Scalar(dtypes.BFLOAT16)
float32 = Scalar(dtypes.FLOAT32)
float64 = Scalar(dtypes.FLOAT64)
complex64 = Scalar(dtypes.COMPLEX64)
complex128 = Scalar(dtypes.COMPLEX128)
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
    """Return the type of ``ffi.from_buffer(array)`` as a parameter of a C function.

    Parameters
    ----------
    element : Scalar
        The type of the elements.
    """
    return Array(element.dtype, 1, "C")


def UniTuple(item: ParameterType, count: int) -> Tuple:
    """Return the type of a tuple of ``count`` items of one type.

    Parameters
    ----------
    item : type
        The type of the items.
    count : int
        The number of items.
    """
    return Tuple((item,) * count)

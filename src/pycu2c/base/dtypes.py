"""Scalar dtypes: width, spelling in C and CUDA C, literal suffix and NumPy dtype of each."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Literal, TypeAlias

import numpy as np

from pycu2c.base.lazy_imports import import_module
from pycu2c.base.records import dataclass, field, interned


class DTypeKind(Enum):
    """The class of a dtype, which decides its arithmetic."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    COMPLEX = "complex"
    RECORD = "record"  # named fields
    VECTOR = "vector"  # CUDA's float4: fields x, y, z, w of one type
    HANDLE = "handle"  # a texture or surface object
    SUBARRAY = "subarray"  # elements of one type in a field of a record (NumPy subarray dtype)


@interned
@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """A fixed-width scalar type, with its names in NumPy, CUDA C and C."""

    name: str
    kind: DTypeKind
    bits: int
    short: str  # the suffix of generated helper names: floordiv_i32
    cuda: str  # its spelling in CUDA C
    c: str  # its spelling in C
    suffix: str = ""  # of a literal
    pack: str = ""  # struct module's format character
    fields: tuple[RecordField, ...] = ()  # of a record, of a vector, of a complex number
    handle: Handle | None = None
    element: DType | None = None  # of a subarray
    is_integer: bool = field(init=False)  # signed or unsigned, not bool
    is_integral: bool = field(init=False)  # an integer or bool
    is_float: bool = field(init=False)
    is_complex: bool = field(init=False)
    is_signed: bool = field(init=False)
    is_half: bool = field(init=False)  # a 16-bit float, which is computed in 32 bits
    is_vector: bool = field(init=False)  # one of CUDA's vector types, which have no arithmetic
    has_fields: bool = field(init=False)  # a record or vector
    minimum: int = field(init=False)  # of an integer type
    maximum: int = field(init=False)  # of an integer type; 1 of bool

    def __post_init__(self) -> None:
        kind, set_attribute = self.kind, object.__setattr__
        is_integer = kind in (DTypeKind.SIGNED, DTypeKind.UNSIGNED)
        is_bool, is_signed = kind is DTypeKind.BOOL, kind is DTypeKind.SIGNED
        value_bits = self.bits - is_signed if is_integer else is_bool
        set_attribute(self, "is_integer", is_integer)
        set_attribute(self, "is_integral", is_integer or is_bool)
        set_attribute(self, "is_float", kind is DTypeKind.FLOAT)
        set_attribute(self, "is_complex", kind is DTypeKind.COMPLEX)
        set_attribute(self, "is_signed", is_signed)
        set_attribute(self, "is_half", self.is_float and self.bits == 16)
        set_attribute(self, "is_vector", kind is DTypeKind.VECTOR)
        set_attribute(self, "has_fields", kind in (DTypeKind.RECORD, DTypeKind.VECTOR))
        set_attribute(self, "minimum", -(1 << value_bits) if is_signed else 0)
        set_attribute(self, "maximum", (1 << value_bits) - 1)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[EncodedDType], DType], tuple[EncodedDType]]:
        """Unpickle as the one instance of this type in the process."""
        return decode_dtype, (encode_dtype(self),)

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """Return the NumPy dtype."""
        if self.element is not None:
            return np.dtype((self.innermost.numpy, self.extents))
        if self.has_fields:
            return np.dtype(
                {
                    "names": [f.name for f in self.fields],
                    "formats": [f.dtype.numpy for f in self.fields],
                    "offsets": [f.offset for f in self.fields],
                    "titles": self._titles,
                    "itemsize": self.size,
                },
                align=self.is_vector,  # records with align=True then align it
            )
        return _numpy_bfloat16() if self.name == "bfloat16" else np.dtype(self.name)

    @property
    def _titles(self) -> list[str | None]:
        """Return the titles of the fields: the first one marks a vector.

        The title distinguishes NumPy's dtype of a vector from a record's. NumPy compares, copies
        and saves titles, but not always ``align`` and ``metadata``.
        """
        others: list[str | None] = [None] * len(self.fields)
        return [self.name, *others[1:]] if self.is_vector else others

    def field(self, name: str) -> RecordField | None:
        """Return the field of a record or vector with a name, or None."""
        return next((f for f in self.fields if f.name == name), None)

    @property
    def alignment(self) -> int:
        """Return the alignment in bytes; 1 for a record whose layout differs from C's."""
        if self.element is not None:
            return self.element.alignment
        if self.is_vector:
            return self.fields[0].dtype.size if len(self.fields) == 3 else min(self.size, 16)
        if self.kind is not DTypeKind.RECORD:
            return self.size
        widest = max((f.dtype.alignment for f in self.fields), default=1)
        if self.size % widest or any(f.offset % f.dtype.alignment for f in self.fields):
            return 1
        return widest

    @property
    def size(self) -> int:
        """Return the bytes of an element."""
        return max(1, self.bits // 8)

    @property
    def extents(self) -> tuple[int, ...]:
        """Return the shape of a subarray; empty for other types."""
        if self.element is None:
            return ()
        return (self.size // self.element.size, *self.element.extents)

    @property
    def innermost(self) -> DType:
        """Return the element type of a subarray; other types return themselves."""
        return self if self.element is None else self.element.innermost

    @property
    def is_unpromotable(self) -> bool:
        """Return True for types that have a common type only with themselves."""
        return self.has_fields or self.handle is not None

    @property
    def real(self) -> DType:
        """Return the type of the components of a complex type; other types return themselves."""
        return self.fields[0].dtype if self.is_complex else self


Access = Literal["texture", "surface"]


@dataclass(frozen=True, slots=True)
class Handle:
    """The type of a texture or surface object, and of what a read returns."""

    access: Access
    axes: int
    element: DType


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field of a record or vector; ``offset`` is in bytes."""

    name: str
    dtype: DType
    offset: int


def aligned_record(named_dtypes: Sequence[tuple[str, DType]]) -> DType:
    """Return the record type with the layout that a C compiler gives these fields."""
    fields: list[RecordField] = []
    end = 0
    for name, dtype in named_dtypes:
        start = -(-end // dtype.alignment) * dtype.alignment
        fields.append(RecordField(name, dtype, start))
        end = start + dtype.size
    alignment = max((dtype.alignment for _, dtype in named_dtypes), default=1)
    return record(tuple(fields), -(-end // alignment) * alignment)


@functools.cache
def record(fields: tuple[RecordField, ...], size: int) -> DType:
    """Return the record type of ``size`` bytes with these fields; cached."""
    listed = ", ".join(f"{f.name}: {f.dtype}" for f in fields)
    short = "_".join(f.dtype.short for f in fields)
    return DType(f"{{{listed}}}", DTypeKind.RECORD, 8 * size, short, short, short, fields=fields)


@functools.cache
def subarray_of(element: DType, count: int) -> DType:
    """Return the type of a field with ``count`` elements; cached."""
    inner = element.innermost
    name = f"{inner}[{', '.join(map(str, (count, *element.extents)))}]"
    short = f"{element.short}x{count}"
    bits = 8 * count * element.size
    return DType(name, DTypeKind.SUBARRAY, bits, short, short, short, element=element)


@functools.cache
def handle_dtype(access: Access, axes: int, element: DType) -> DType:
    """Return the type of a texture or surface object; cached."""
    name, short = f"{access}{axes}d[{element}]", f"{access}{axes}d_{element.short}"
    cuda = {"texture": "cudaTextureObject_t", "surface": "cudaSurfaceObject_t"}[access]
    handle_type = Handle(access, axes, element)
    return DType(name, DTypeKind.HANDLE, 64, short, cuda, access, pack="P", handle=handle_type)


_SIGNED, _UNSIGNED, _FLOAT = DTypeKind.SIGNED, DTypeKind.UNSIGNED, DTypeKind.FLOAT

BOOL = DType("bool", DTypeKind.BOOL, 8, "b1", "bool", "bool", "", "?")
INT8 = DType("int8", _SIGNED, 8, "i8", "signed char", "int8_t", "", "b")
INT16 = DType("int16", _SIGNED, 16, "i16", "short", "int16_t", "", "h")
INT32 = DType("int32", _SIGNED, 32, "i32", "int", "int32_t", "", "i")
INT64 = DType("int64", _SIGNED, 64, "i64", "long long", "int64_t", "LL", "q")
UINT8 = DType("uint8", _UNSIGNED, 8, "u8", "unsigned char", "uint8_t", "", "B")
UINT16 = DType("uint16", _UNSIGNED, 16, "u16", "unsigned short", "uint16_t", "", "H")
UINT32 = DType("uint32", _UNSIGNED, 32, "u32", "unsigned int", "uint32_t", "U", "I")
UINT64 = DType("uint64", _UNSIGNED, 64, "u64", "unsigned long long", "uint64_t", "ULL", "Q")
FLOAT16 = DType("float16", _FLOAT, 16, "f16", "__half", "float16", "", "e")
BFLOAT16 = DType("bfloat16", _FLOAT, 16, "bf16", "__nv_bfloat16", "bfloat16", "", "H")
FLOAT32 = DType("float32", _FLOAT, 32, "f32", "float", "float", "f", "f")
FLOAT64 = DType("float64", _FLOAT, 64, "f64", "double", "double", "", "d")


def _complex(name: str, short: str, real: DType, cuda: str) -> DType:
    fields = (RecordField("x", real, 0), RecordField("y", real, real.size))
    return DType(
        name, DTypeKind.COMPLEX, 2 * real.bits, short, cuda, name, "", 2 * real.pack, fields
    )


COMPLEX64 = _complex("complex64", "c64", FLOAT32, "float2")
COMPLEX128 = _complex("complex128", "c128", FLOAT64, "double2")

DTYPES: tuple[DType, ...] = (
    BOOL,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    FLOAT16,
    BFLOAT16,
    FLOAT32,
    FLOAT64,
    COMPLEX64,
    COMPLEX128,
)

COMPONENTS = "xyzw"
_VECTOR_NAMES = {
    INT8: ("char", "int8x"),
    UINT8: ("uchar", "uint8x"),
    INT16: ("short", "int16x"),
    UINT16: ("ushort", "uint16x"),
    INT32: ("int", "int32x"),
    UINT32: ("uint", "uint32x"),
    INT64: ("longlong", "long", "int64x"),
    UINT64: ("ulonglong", "ulong", "uint64x"),
    FLOAT32: ("float", "float32x"),
    FLOAT64: ("double", "float64x"),
    FLOAT16: ("half", "float16x"),
    BFLOAT16: ("bfloat16", "bfloat16x"),
}  # CUDA's name first; CUDA's long has the width of long long


def _vector(element: DType, count: int) -> DType:
    name = f"{_VECTOR_NAMES[element][0]}{count}"
    names = enumerate(COMPONENTS[:count])
    fields = tuple(RecordField(field, element, i * element.size) for i, field in names)
    bits = count * element.bits
    cuda = f"{name}_16a" if bits == 256 else name  # CUDA 13 names it by its alignment
    cuda = f"__nv_{name}" if element is BFLOAT16 else cuda
    return DType(name, DTypeKind.VECTOR, bits, name, cuda, name, "", count * element.pack, fields)


VECTOR_OF = {
    (element, count): _vector(element, count)
    for element in _VECTOR_NAMES
    for count in ((2,) if element.is_half else (1, 2, 3, 4))
}
# by CUDA's and numba's names: float4 and float32x4
VECTORS = {
    f"{name}{count}": vector
    for (element, count), vector in VECTOR_OF.items()
    for name in _VECTOR_NAMES[element]
}


def _numpy_bfloat16() -> np.dtype[np.generic]:
    """Return the dtype of ml_dtypes: NumPy has none."""
    try:
        bfloat16: np.dtype[np.generic] = np.dtype(import_module("ml_dtypes").bfloat16)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "bfloat16 needs the package ml_dtypes: pip install ml_dtypes", name="ml_dtypes"
        ) from None
    return bfloat16


_NUMBER_DTYPES = {d.name: d for d in DTYPES}
BY_NAME = _NUMBER_DTYPES | VECTORS


# filled by ``from_numpy``, because NumPy computes ``dtype.name`` anew each time
_BY_NUMPY_TYPE: dict[type[np.generic], DType | None] = {}


def from_numpy(dtype: np.dtype[np.generic]) -> DType | None:
    """Return the type of a NumPy dtype in native byte order, or None if it is not supported."""
    if dtype.names:
        return _record_from_numpy(dtype)
    if not dtype.isnative:
        return None
    number_type = dtype.type
    if number_type not in _BY_NUMPY_TYPE:
        _BY_NUMPY_TYPE[number_type] = _NUMBER_DTYPES.get(dtype.name)
    return _BY_NUMPY_TYPE[number_type]


def _subarray_from_numpy(element: np.dtype[Any], shape: tuple[int, ...]) -> DType | None:
    dtype = from_numpy(element)
    if dtype is None or 0 in shape:
        return None
    return functools.reduce(subarray_of, reversed(shape), dtype)


def _record_from_numpy(dtype: np.dtype[np.generic]) -> DType | None:
    """Return the type of a structured dtype if its fields are supported and do not overlap."""
    entries: Any = dtype.fields or {}
    fields: list[RecordField] = []
    for name in dtype.names or ():
        element, offset, *_ = entries[name]  # the rest is a title
        subarray = element.subdtype
        converted = from_numpy(element) if subarray is None else _subarray_from_numpy(*subarray)
        if converted is None:
            return None
        fields.append(RecordField(name, converted, offset))
    by_offset = sorted(fields, key=lambda field: field.offset)
    if any(a.offset + a.dtype.size > b.offset for a, b in itertools.pairwise(by_offset)):
        return None
    result = record(tuple(fields), dtype.itemsize)
    vector, titles = vector_like(result), entries[fields[0].name][2:]
    return vector if vector and titles == (vector.name,) else result


def vector_like(dtype: DType) -> DType | None:
    """Return the vector type with the layout of a record, or None."""
    vector = VECTOR_OF.get((dtype.fields[0].dtype, len(dtype.fields))) if dtype.fields else None
    if vector and vector.fields == dtype.fields and vector.size == dtype.size:
        return vector
    return None


# a name; ("record", fields, size); ("subarray", element, count); ("handle", access, axes, element)
EncodedDType: TypeAlias = Any


def encode_dtype(dtype: DType) -> EncodedDType:
    """Encode a type as text and numbers: its name, or the layout of a record or subarray."""
    if dtype.element is not None:
        return "subarray", encode_dtype(dtype.element), dtype.extents[0]
    if dtype.handle is not None:
        return "handle", dtype.handle.access, dtype.handle.axes, encode_dtype(dtype.handle.element)
    if dtype.kind is not DTypeKind.RECORD:
        return dtype.name
    fields = tuple((f.name, encode_dtype(f.dtype), f.offset) for f in dtype.fields)
    return "record", fields, dtype.size


def decode_dtype(encoded: EncodedDType) -> DType:
    """Decode a type that ``encode_dtype`` encoded."""
    match encoded:
        case "subarray", element, count:
            return subarray_of(decode_dtype(element), count)
        case "handle", access, axes, element:
            return handle_dtype(access, axes, decode_dtype(element))
        case "record", fields, size:
            decoded = (RecordField(name, decode_dtype(e), offset) for name, e, offset in fields)
            return record(tuple(decoded), size)
        case name:
            return BY_NAME[name]


TEXEL_COMPONENTS = (INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32)
ACCESSES: tuple[Access, ...] = ("texture", "surface")


def is_texel(dtype: DType) -> bool:
    """Return whether a read of a texture or surface can return a type: 1, 2 or 4 numbers."""
    if dtype.is_vector:
        return len(dtype.fields) in (1, 2, 4) and dtype.fields[0].dtype in TEXEL_COMPONENTS
    return dtype in TEXEL_COMPONENTS

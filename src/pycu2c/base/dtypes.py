"""Scalar dtypes, one row each: the only place that knows a width, a C spelling or a suffix."""

from __future__ import annotations

import functools
import importlib
import itertools
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, cast

import numpy as np

from pycu2c.base.records import Enum, dataclass


class DTypeKind(Enum):
    """What arithmetic a dtype has."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    COMPLEX = "complex"
    RECORD = "record"  # several fields in one value
    VECTOR = "vector"  # CUDA's float4: fields x, y, z, w of one type
    HANDLE = "handle"  # what stands for an object of the host: a texture, a surface
    ROW = "row"  # several elements of one type in a field of a record


@dataclass(frozen=True, slots=True)
class DType:
    """A fixed-width scalar type, as numpy, CUDA C and C name it."""

    name: str
    kind: DTypeKind
    bits: int
    short: str  # the suffix of generated helper names: floordiv_i32
    cuda: str
    c: str
    suffix: str = ""  # of a literal
    pack: str = ""  # struct module's format character
    fields: tuple[RecordField, ...] = ()  # of a record, of a vector, of a complex number
    handle: Handle | None = None
    element: DType | None = None  # of a row

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)  # it nearly tells them apart, and tables of all dtypes are many

    @property
    def numpy(self) -> np.dtype[np.generic]:
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
                align=self.is_vector,  # so that records with align=True give it a good place
            )
        if self.name == "bfloat16":  # numpy has none of its own
            added: np.dtype[np.generic] = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
            return added
        return np.dtype(self.name)

    @property
    def _titles(self) -> list[str | None]:
        """By the title of its first field numpy's dtype of a vector differs from a record's. It is
        a part of the dtype, which numpy compares, copies and saves; of ``align`` and ``metadata``
        it does neither always."""
        others: list[str | None] = [None] * len(self.fields)
        return [self.name, *others[1:]] if self.is_vector else others

    def field(self, name: str) -> RecordField | None:
        """The field of a record by its name."""
        return next((f for f in self.fields if f.name == name), None)

    @property
    def alignment(self) -> int:
        """Bytes at whose multiples a value lies; 1 where a record is laid out otherwise than C
        would: a field lies elsewhere, or the elements of an array do."""
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
        """Bytes an element takes."""
        return max(1, self.bits // 8)

    @property
    def extents(self) -> tuple[int, ...]:
        """How many elements a row has along each of its axes; none of any other type."""
        if self.element is None:
            return ()
        return (self.size // self.element.size, *self.element.extents)

    @property
    def innermost(self) -> DType:
        """The type of a row's elements; of any other type, itself."""
        return self if self.element is None else self.element.innermost

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, not for bool."""
        return self.kind in (DTypeKind.SIGNED, DTypeKind.UNSIGNED)

    @property
    def is_integral(self) -> bool:
        """True for integers and bool."""
        return self.is_integer or self.kind is DTypeKind.BOOL

    @property
    def is_float(self) -> bool:
        return self.kind is DTypeKind.FLOAT

    @property
    def is_signed(self) -> bool:
        return self.kind is DTypeKind.SIGNED

    @property
    def is_complex(self) -> bool:
        return self.kind is DTypeKind.COMPLEX

    @property
    def is_vector(self) -> bool:
        """True for ``float4`` and its like: values of several numbers, without arithmetic."""
        return self.kind is DTypeKind.VECTOR

    @property
    def has_fields(self) -> bool:
        """True for what has parts with names: records and vectors."""
        return self.kind in (DTypeKind.RECORD, DTypeKind.VECTOR)

    @property
    def stands_alone(self) -> bool:
        """True for what has no common type but with itself."""
        return self.has_fields or self.handle is not None

    @property
    def is_half(self) -> bool:
        """True for the floats of 16 bits, which are computed in 32."""
        return self.is_float and self.bits == 16

    @property
    def real(self) -> DType:
        """The type of a complex number's parts; of others, the type itself."""
        return self.fields[0].dtype if self.is_complex else self

    @property
    def minimum(self) -> int:
        """The least value of an integer dtype."""
        return -(1 << (self.bits - 1)) if self.is_signed else 0

    @property
    def maximum(self) -> int:
        """The greatest value of an integer dtype; of bool, 1."""
        if self.kind is DTypeKind.BOOL:
            return 1
        return (1 << (self.bits - 1 if self.is_signed else self.bits)) - 1


Access = Literal["texture", "surface"]


@dataclass(frozen=True, slots=True)
class Handle:
    """What a texture or surface is to a kernel: how many axes it has, what reading gives."""

    access: Access
    axes: int
    element: DType


@dataclass(frozen=True, slots=True)
class RecordField:
    """A named part of a record or vector; ``offset`` in bytes."""

    name: str
    dtype: DType
    offset: int


def packed_record(parts: Sequence[tuple[str, DType]]) -> DType:
    """The record that a C compiler makes of fields in this order."""
    fields: list[RecordField] = []
    end = 0
    for name, dtype in parts:
        start = -(-end // dtype.alignment) * dtype.alignment
        fields.append(RecordField(name, dtype, start))
        end = start + dtype.size
    most = max((dtype.alignment for _, dtype in parts), default=1)
    return record(tuple(fields), -(-end // most) * most)


@functools.cache
def record(fields: tuple[RecordField, ...], size: int) -> DType:
    """A record of ``size`` bytes with its fields at given places; one object for each."""
    shown = ", ".join(f"{f.name}: {f.dtype}" for f in fields)
    short = "_".join(f.dtype.short for f in fields)
    return DType(f"{{{shown}}}", DTypeKind.RECORD, 8 * size, short, short, short, fields=fields)


@functools.cache
def subarray_of(element: DType, count: int) -> DType:
    """The type of a field that has several elements; one object for each."""
    inner = element.innermost
    name = f"{inner}[{', '.join(map(str, (count, *element.extents)))}]"
    short = f"{element.short}x{count}"
    bits = 8 * count * element.size
    return DType(name, DTypeKind.ROW, bits, short, short, short, element=element)


@functools.cache
def handle(access: Access, axes: int, element: DType) -> DType:
    """The type of a texture or surface; one object for each."""
    name, short = f"{access}{axes}d[{element}]", f"{access}{axes}d_{element.short}"
    cuda = {"texture": "cudaTextureObject_t", "surface": "cudaSurfaceObject_t"}[access]
    of = Handle(access, axes, element)
    return DType(name, DTypeKind.HANDLE, 64, short, cuda, access, pack="P", handle=of)


S, U, F = DTypeKind.SIGNED, DTypeKind.UNSIGNED, DTypeKind.FLOAT

BOOL = DType("bool", DTypeKind.BOOL, 8, "b1", "bool", "bool", "", "?")
INT8 = DType("int8", S, 8, "i8", "signed char", "int8_t", "", "b")
INT16 = DType("int16", S, 16, "i16", "short", "int16_t", "", "h")
INT32 = DType("int32", S, 32, "i32", "int", "int32_t", "", "i")
INT64 = DType("int64", S, 64, "i64", "long long", "int64_t", "LL", "q")
UINT8 = DType("uint8", U, 8, "u8", "unsigned char", "uint8_t", "", "B")
UINT16 = DType("uint16", U, 16, "u16", "unsigned short", "uint16_t", "", "H")
UINT32 = DType("uint32", U, 32, "u32", "unsigned int", "uint32_t", "U", "I")
UINT64 = DType("uint64", U, 64, "u64", "unsigned long long", "uint64_t", "ULL", "Q")
FLOAT16 = DType("float16", F, 16, "f16", "__half", "float16", "", "e")
BFLOAT16 = DType("bfloat16", F, 16, "bf16", "__nv_bfloat16", "bfloat16", "", "H")
FLOAT32 = DType("float32", F, 32, "f32", "float", "float", "f", "f")
FLOAT64 = DType("float64", F, 64, "f64", "double", "double", "", "d")


def _complex(name: str, short: str, part: DType, cuda: str) -> DType:
    parts = (RecordField("x", part, 0), RecordField("y", part, part.size))
    return DType(
        name, DTypeKind.COMPLEX, 2 * part.bits, short, cuda, name, "", 2 * part.pack, parts
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
}  # CUDA's name first; to CUDA long and long long differ in name alone


@functools.cache
def _vector(part: DType, count: int) -> DType:
    name = f"{_VECTOR_NAMES[part][0]}{count}"
    parts = tuple(RecordField(c, part, i * part.size) for i, c in enumerate(COMPONENTS[:count]))
    bits = count * part.bits
    cuda = f"{name}_16a" if bits == 256 else name  # since CUDA 13 the name tells the alignment
    cuda = f"__nv_{name}" if part is BFLOAT16 else cuda
    return DType(name, DTypeKind.VECTOR, bits, name, cuda, name, "", count * part.pack, parts)


K = TypeVar("K")


class _LazyVectorTable(Mapping[K, DType]):
    """The vectors by some key. There are a hundred, and few programs use one: each is made when
    it is asked for."""

    __slots__ = ("_places",)

    def __init__(self, places: dict[K, tuple[DType, int]]) -> None:
        self._places = places

    def __getitem__(self, key: K) -> DType:
        return _vector(*self._places[key])

    def __iter__(self) -> Iterator[K]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


_VECTOR_SHAPES = [
    (part, count) for part in _VECTOR_NAMES for count in ((2,) if part.is_half else (1, 2, 3, 4))
]
VECTOR_OF: Mapping[tuple[DType, int], DType] = _LazyVectorTable(
    {place: place for place in _VECTOR_SHAPES}
)
# by every name that there is: float4 and float32x4
VECTORS: Mapping[str, DType] = _LazyVectorTable(
    {
        f"{name}{count}": (part, count)
        for part, count in _VECTOR_SHAPES
        for name in _VECTOR_NAMES[part]
    }
)
_NUMBERS = {d.name: d for d in DTYPES}
BY_NAME: Mapping[str, DType] = ChainMap(_NUMBERS, cast("dict[str, DType]", VECTORS))


def from_numpy(dtype: np.dtype[np.generic]) -> DType | None:
    """The row of a numpy dtype in native byte order, or None where there is none."""
    if dtype.names:
        return _record_from_numpy(dtype)
    return _NUMBERS.get(dtype.name) if dtype.isnative else None


def _subarray_from_numpy(element: np.dtype[Any], shape: tuple[int, ...]) -> DType | None:
    row = from_numpy(element)
    if row is None or 0 in shape:
        return None
    return functools.reduce(subarray_of, reversed(shape), row)


def _record_from_numpy(dtype: np.dtype[np.generic]) -> DType | None:
    """The row of a structured dtype, if all its fields have one and none lies over another."""
    places: Any = dtype.fields or {}
    fields: list[RecordField] = []
    for name in dtype.names or ():
        part, offset, *_ = places[name]  # and a title
        row = from_numpy(part) if part.subdtype is None else _subarray_from_numpy(*part.subdtype)
        if row is None:
            return None
        fields.append(RecordField(name, row, offset))
    by_place = sorted(fields, key=lambda field: field.offset)
    if any(a.offset + a.dtype.size > b.offset for a, b in itertools.pairwise(by_place)):
        return None
    made = record(tuple(fields), dtype.itemsize)
    vector, titles = vector_like(made), places[fields[0].name][2:]
    return vector if vector and titles == (vector.name,) else made


def vector_like(row: DType) -> DType | None:
    """The vector that has the layout of a record: fields x, y, z, w of one type, and nothing
    between."""
    found = VECTOR_OF.get((row.fields[0].dtype, len(row.fields))) if row.fields else None
    return found if found and found.fields == row.fields and found.size == row.size else None


# a name; a record's fields and size; "row", the type of a row's elements, how many
EncodedDType: TypeAlias = Any


def encode_dtype(row: DType) -> EncodedDType:
    """A type as text and numbers: its name, or of a record also where its fields lie."""
    if row.element is not None:
        return "row", encode_dtype(row.element), row.extents[0]
    if row.kind is not DTypeKind.RECORD:
        return row.name
    return tuple((f.name, encode_dtype(f.dtype), f.offset) for f in row.fields), row.size


def decode_dtype(told: EncodedDType) -> DType:
    """The type that ``encode_dtype`` has told."""
    if isinstance(told, str):
        return BY_NAME[told]
    if told[0] == "row":
        return subarray_of(decode_dtype(told[1]), told[2])
    fields, size = told
    return record(
        tuple(RecordField(name, decode_dtype(of), offset) for name, of, offset in fields), size
    )


TEXELS = (INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32)
ACCESSES: tuple[Access, ...] = ("texture", "surface")


def is_texel(row: DType) -> bool:
    """Whether reading a texture or surface gives values of a type: 1, 2 or 4 numbers."""
    if row.is_vector:
        return len(row.fields) in (1, 2, 4) and row.fields[0].dtype in TEXELS
    return row in TEXELS

"""Scalar dtypes, one row each: the only place that knows a width, a C spelling or a suffix."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np


class Kind(Enum):
    """What arithmetic a dtype has."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


@dataclass(frozen=True, slots=True)
class DType:
    """A fixed-width scalar type, as numpy, CUDA C and C name it."""

    name: str
    kind: Kind
    bits: int
    short: str  # the suffix of generated helper names: floordiv_i32
    cuda: str
    c: str
    suffix: str = ""  # of a literal
    pack: str = ""  # struct module's format character

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return np.dtype(self.name)

    @property
    def size(self) -> int:
        """Bytes an element takes."""
        return max(1, self.bits // 8)

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, not for bool."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @property
    def is_signed(self) -> bool:
        return self.kind is Kind.SIGNED

    @property
    def minimum(self) -> int:
        """The least value of an integer dtype."""
        return -(1 << (self.bits - 1)) if self.is_signed else 0

    @property
    def maximum(self) -> int:
        """The greatest value of an integer dtype; of bool, 1."""
        if self.kind is Kind.BOOL:
            return 1
        return (1 << (self.bits - 1 if self.is_signed else self.bits)) - 1


S, U, F = Kind.SIGNED, Kind.UNSIGNED, Kind.FLOAT

BOOL = DType("bool", Kind.BOOL, 8, "b1", "bool", "bool", "", "?")
INT8 = DType("int8", S, 8, "i8", "signed char", "int8_t", "", "b")
INT16 = DType("int16", S, 16, "i16", "short", "int16_t", "", "h")
INT32 = DType("int32", S, 32, "i32", "int", "int32_t", "", "i")
INT64 = DType("int64", S, 64, "i64", "long long", "int64_t", "LL", "q")
UINT8 = DType("uint8", U, 8, "u8", "unsigned char", "uint8_t", "", "B")
UINT16 = DType("uint16", U, 16, "u16", "unsigned short", "uint16_t", "", "H")
UINT32 = DType("uint32", U, 32, "u32", "unsigned int", "uint32_t", "U", "I")
UINT64 = DType("uint64", U, 64, "u64", "unsigned long long", "uint64_t", "ULL", "Q")
FLOAT32 = DType("float32", F, 32, "f32", "float", "float", "f", "f")
FLOAT64 = DType("float64", F, 64, "f64", "double", "double", "", "d")

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
    FLOAT32,
    FLOAT64,
)
BY_NAME: dict[str, DType] = {d.name: d for d in DTYPES}


def from_numpy(dtype: np.dtype[np.generic]) -> DType | None:
    """The row of a numpy dtype in native byte order, or None where there is none."""
    return BY_NAME.get(dtype.name) if dtype.isnative else None

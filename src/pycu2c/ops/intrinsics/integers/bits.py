"""Bit operations on integers, most of 32 and 64 bits. A Python int has 64 bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pycu2c.base.dtypes import INT32, INT64, UINT8, UINT16, UINT32, UINT64, DType
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert, scalar_of
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import T
from pycu2c.ops.intrinsics.registry import Intrinsic, Spelling, intrinsic
from pycu2c.ops.intrinsics.spelling import helper

WORDS = (INT32, UINT32, INT64, UINT64)


def _by_width(narrow: str, wide: str) -> Spelling:
    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.CallExpr(wide if dtype.bits == 64 else narrow, tuple(a.values()))

    return spell


def _declare_bit_count(
    body: Callable[..., Any], c_spelling: Spelling, dtypes: tuple[DType, ...] = WORDS
) -> Intrinsic:
    """Declare an intrinsic that returns a number of bits."""
    name = body.__name__
    cuda = _by_width(f"__{name}", f"__{name}ll")
    declare = intrinsic(
        f"cuda.{name}", dtypes=dtypes, cuda=cuda, c=c_spelling, bounds=(0, 64), c_result=INT32
    )
    return declare(body)


def _unsigned(value: Any) -> tuple[int, Scalar]:
    """Return the bits of a number as a nonnegative int, and its type."""
    scalar = scalar_of(value)
    assert scalar is not None
    return int(value) % (1 << scalar.dtype.bits), scalar


def popc(x: T) -> int:
    """Return the number of set bits of ``x``."""
    return _unsigned(x)[0].bit_count()


def clz(x: T) -> int:
    """Return the number of leading zero bits of ``x``; for 0, the number of all bits."""
    bits, scalar = _unsigned(x)
    return scalar.dtype.bits - bits.bit_length()


def ffs(x: T) -> int:
    """Return the position of the lowest set bit, counted from 1; 0 for 0."""
    bits, _ = _unsigned(x)
    return (bits & -bits).bit_length()


POPC = _declare_bit_count(
    popc, _by_width("__builtin_popcount", "__builtin_popcountll"), dtypes=(UINT8, UINT16, *WORDS)
)
CLZ = _declare_bit_count(clz, helper("clz"))
FFS = _declare_bit_count(ffs, _by_width("__builtin_ffs", "__builtin_ffsll"))


@intrinsic("cuda.brev", dtypes=WORDS, cuda=_by_width("__brev", "__brevll"), c=helper("brev"))
def brev(x: T) -> T:
    """Return the bits of ``x`` in reverse order."""
    bits, scalar = _unsigned(x)
    return convert(int(f"{bits:0{scalar.dtype.bits}b}"[::-1], 2), scalar)


def split_word(word: int, bits: int, signed: bool) -> list[int]:
    """Return the numbers of ``bits`` bits that a word consists of, the lowest first."""
    parts = [word >> shift & ((1 << bits) - 1) for shift in range(0, 32, bits)]
    return [p - (p >> (bits - 1) << bits) if signed else p for p in parts]

"""Types and layouts that the products of tensor cores share: ``cuda.mma``, ``wgmma`` and ``wmma``.

Four lanes have the elements of a row. The elements of a factor are grouped in words of 32 bits; a
lane has every fourth word.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar, bfloat16, float16, float32, int8, int32, uint8
from pycu2c.kernels.kernel import device

ALL_LANES = 0xFFFFFFFF
WORD = 4  # bytes
STEP_BYTES = 32  # of the depth of an instruction


@dataclass(frozen=True, slots=True)
class FactorType:
    """A type of the factors: its name in PTX, and the types of elements and of the accumulator."""

    name: str
    element: Scalar
    total: Scalar = float32

    @property
    def size(self) -> int:
        return self.element.dtype.size

    @property
    def total_name(self) -> str:
        return "s32" if self.total == int32 else "f32"


FACTOR_TYPES = (
    FactorType("f16", float16),
    FactorType("bf16", bfloat16),
    FactorType("tf32", float32),
    FactorType("e4m3", uint8),
    FactorType("e5m2", uint8),
    FactorType("s8", int8, int32),
    FactorType("u8", uint8, int32),
)


def factor_type(types: tuple[Scalar, ...], float8: str) -> FactorType:
    """Return the type of the factors of a product from the types of ``d``, ``a`` and ``b``."""
    for factor in FACTOR_TYPES:
        is_float8 = factor.name in ("e4m3", "e5m2")
        if types == (factor.total, factor.element, factor.element):
            if not is_float8 or factor.name == float8:
                return factor
    raise TypeError(
        "the factors are two of float16, bfloat16 or float32, or of uint8 with float8='e4m3' "
        "or 'e5m2', and the accumulator is float32; or they are int8 or uint8, and it is int32"
    )


def registers(name: str, count: int, total: Scalar) -> str:
    """Return the operands ``"+f"(d[0]), …`` of an accumulator, on lines of C."""
    constraint = "+r" if total == int32 else "+f"
    operands = [f'"{constraint}"({name}[{n}])' for n in range(count)]
    lines = [", ".join(operands[n : n + 6]) for n in range(0, count, 6)]
    return ",\n          ".join(lines)


# ---- layouts -------------------------------------------------------------------------------------


@device
def accumulator_position(n: Any) -> Any:
    """Return the row and the column of element ``n`` of an accumulator with 16 rows."""
    return cuda.laneid // 4 + 8 * (n // 2 % 2), 8 * (n // 4) + 2 * (cuda.laneid % 4) + n % 2


@device
def number(element: Any, kind: Any) -> Any:
    """Return an element of a factor in the type of the accumulator, on the CPU."""
    if kind == "e4m3":
        return cuda.e4m3_to_float(element)
    if kind == "e5m2":
        return cuda.e5m2_to_float(element)
    if kind == "s8" or kind == "u8":
        return int32(element)
    return float32(element)


@device
def left_number(a: Any, k: Any, half: Any, kind: Any) -> Any:
    """Return element ``k`` of row ``laneid // 4 + 8 * half`` of a left factor, on the CPU."""
    per_word = WORD // a.dtype.itemsize
    word = k // per_word
    own = number(a[per_word * (2 * (word // 4) + half) + k % per_word], kind)
    return cuda.shfl_sync(ALL_LANES, own, cuda.laneid // 4 * 4 + word % 4)

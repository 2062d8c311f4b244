"""Types and layouts of tensor cores: ``cuda.mma``, ``wgmma``, ``tcgen05`` and ``wmma`` share them.

Four lanes have the elements of a row. The elements of a factor are grouped in words of 32 bits; a
lane has every fourth word.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar, bfloat16, float16, float32, int8, int32, uint8
from pycu2c.device_library.swizzle import swizzled_column
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


# ---- tiles in shared memory ----------------------------------------------------------------------


@device
def element_of_tile(tile: Any, row: Any, column: Any) -> Any:
    """Return element ``[row, column]`` of a tile."""
    width = tile.shape[tile.ndim - 1]
    swizzled = swizzled_column(tile, row, column % width)
    if tile.ndim == 2:
        return tile[row, swizzled]
    return tile[column // width, row, swizzled]


@device
def number_of_tile(tile: Any, k: Any, line: Any, kind: Any, major: Any) -> Any:
    """Return element ``k`` of a row of the left factor, or of a column of the right factor."""
    return number(
        element_of_tile(tile, line, k) if major == "k" else element_of_tile(tile, k, line), kind
    )


TILE_DESCRIPTOR = """
#ifdef __CUDACC__
// the descriptor of a tile in shared memory; panel_bytes: from a panel to the next
__device__ __forceinline__ unsigned long long tile_descriptor(const void *tile, int row_bytes,
                                                              int panel_bytes) {
    const unsigned long long address = __cvta_generic_to_shared(tile);
    const unsigned long long swizzle = row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : 3;
    return (address & 0x3ffff) >> 4 | (unsigned long long)(panel_bytes >> 4) << 16
           | (unsigned long long)(8 * row_bytes >> 4) << 32 | swizzle << 62;
}
#endif
"""


@dataclass(frozen=True, slots=True)
class SharedFactor:
    """A factor in shared memory: its C name, axes, element type, and major dimension."""

    name: str
    ndim: int
    element: FactorType
    major: str

    @property
    def declaration(self) -> str:
        """Return C that declares the descriptor of the first step, and the bytes of its steps."""
        name, size = self.name, self.element.size
        row_bytes = f"{size} * {name}_shape{self.ndim - 1}"
        panel_bytes = f"{size} * {name}_stride0" if self.ndim == 3 else "0"
        return (
            f"const int {name}_row = {row_bytes}, {name}_panel = {panel_bytes};\n"
            f"const unsigned long long {name}_tile = tile_descriptor({name}, {name}_row, "
            f"{name}_panel);"
        )

    @property
    def step(self) -> str:
        """Return C for the descriptor of step ``k``, in units of 16 bytes."""
        name = self.name
        if self.major == "mn":  # the rows of the tile are along the depth
            rows = STEP_BYTES // self.element.size
            return f"{name}_tile + ({rows} * k * {name}_row >> 4)"
        steps = f"({name}_row / {STEP_BYTES})"
        return f"{name}_tile + (k / {steps} * {name}_panel + k % {steps} * {STEP_BYTES} >> 4)"

    @property
    def depth(self) -> str:
        """Return C for the number of steps."""
        if self.major == "mn":
            return f"{self.name}_shape{self.ndim - 2} / {STEP_BYTES // self.element.size}"
        panels = f"{self.name}_shape0 * " if self.ndim == 3 else ""
        return f"{panels}{self.name}_row / {STEP_BYTES}"

"""Implement ``pycu2c.cuda.wgmma``: products of tiles by the tensor cores of a warpgroup (sm_90a).

A warpgroup is four warps, from a multiple of four. It computes 64 rows: ``d += a @ b``. The factors
are tiles in shared memory as ``cuda.tma`` loads them, in rows of 32, 64 or 128 bytes with the
swizzle of that width. A tile with longer rows is an array of panels, ``tile[panel, row, column]``.
The accumulator ``d`` and, optionally, ``a`` are local arrays, in which each thread has the elements
of ``position``. On a GPU the products run asynchronously, on the CPU at once.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.base.records import dataclass
from pycu2c.base.types import bfloat16, float16, float32, int8, int32, uint8
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.device_library.swizzle import swizzled_column
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device

ALL_LANES = 0xFFFFFFFF


@device
def position(n: Any) -> Any:
    """Return the row and the column of element ``n`` of this thread's accumulator.

    Returns
    -------
    tuple of int
        The row from 0 to 63, and the column.
    """
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32 % 4
    return 16 * warp + lane // 4 + 8 * (n // 2 % 2), 8 * (n // 4) + 2 * (lane % 4) + n % 2


# ---- elements of the factors on the CPU ----------------------------------------------------------


@device
def _in_panels(tile: Any, row: Any, column: Any) -> Any:
    """Return element ``[row, column]`` of a tile."""
    width = tile.shape[tile.ndim - 1]
    swizzled = swizzled_column(tile, row, column % width)
    if tile.ndim == 2:
        return tile[row, swizzled]
    return tile[column // width, row, swizzled]


@device
def _number(element: Any, kind: Any) -> Any:
    """Return an element of a factor in the type of the accumulator."""
    if kind == "e4m3":
        return cuda.e4m3_to_float(element)
    if kind == "e5m2":
        return cuda.e5m2_to_float(element)
    if kind == "s8":
        return int32(element)
    return float32(element)


@device
def _factor_b(b: Any, k: Any, column: Any, kind: Any, major: Any) -> Any:
    """Return element ``[k, column]`` of the right factor."""
    return _number(_in_panels(b, column, k) if major == "k" else _in_panels(b, k, column), kind)


@device
def _add_product_of_tiles(d: Any, a: Any, b: Any, depth: Any, kind: Any, majors: Any) -> None:
    """Add the product of two tiles to this thread's elements."""
    for n in range(d.shape[0]):
        row, column = position(n)
        for k in range(depth):
            left = _in_panels(a, row, k) if majors[0] == "k" else _in_panels(a, k, row)
            d[n] += _number(left, kind) * _factor_b(b, k, column, kind, majors[1])


@device
def _add_product_of_registers(d: Any, a: Any, b: Any, major: Any) -> None:
    """Add the product of a fragment and a tile; four lanes hold the elements of a row."""
    for k in range(2 * a.shape[0]):
        for half in range(2):
            own = float32(a[8 * (k // 16) + 4 * (k % 16 // 8) + 2 * half + k % 2])
            left = cuda.shfl_sync(ALL_LANES, own, cuda.laneid // 4 * 4 + k % 8 // 2)
            for pair in range(2 * half, d.shape[0], 4):
                for n in range(pair, pair + 2):
                    d[n] += left * _factor_b(b, k, position(n)[1], "", major)


# ---- instructions --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FactorType:
    """A type of the factors: ``name`` in PTX, bytes, and the type of the accumulator."""

    name: str
    size: int
    total: str = "f32"


FACTOR_TYPES = {
    t.name: t
    for t in (
        FactorType("f16", 2),
        FactorType("bf16", 2),
        FactorType("tf32", 4),
        FactorType("e4m3", 1),
        FactorType("e5m2", 1),
        FactorType("s8", 1, "s32"),
    )
}
_STEP_BYTES = 32  # of the depth of an instruction

_HELPERS = """
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
            rows = _STEP_BYTES // self.element.size
            return f"{name}_tile + ({rows} * k * {name}_row >> 4)"
        steps = f"({name}_row / {_STEP_BYTES})"
        return f"{name}_tile + (k / {steps} * {name}_panel + k % {steps} * {_STEP_BYTES} >> 4)"

    @property
    def depth(self) -> str:
        """Return C for the number of steps."""
        if self.major == "mn":
            return f"{self.name}_shape{self.ndim - 2} / {_STEP_BYTES // self.element.size}"
        panels = f"{self.name}_shape0 * " if self.ndim == 3 else ""
        return f"{panels}{self.name}_row / {_STEP_BYTES}"


def _registers(name: str, count: int, constraint: str) -> str:
    """Return the operands ``"+f"(d[0]), …`` on lines of C."""
    operands = [f'"{constraint}"({name}[{n}])' for n in range(count)]
    lines = [", ".join(operands[n : n + 6]) for n in range(0, count, 6)]
    return ",\n          ".join(lines)


def _multiplier(
    width: int, a_ndim: int, b_ndim: int, kind: str, majors: tuple[str, str], accumulate: bool
) -> Any:
    """Return the function that computes a product of ``width`` columns in an accumulator."""
    if kind not in FACTOR_TYPES:
        raise TypeError(
            "the factors are two of float16, bfloat16 or float32, or of uint8 with float8='e4m3' "
            "or 'e5m2', and the accumulator is float32; or they are int8 and int32"
        )
    element = FACTOR_TYPES[kind]
    if width % 8 or not 8 <= width <= 256:
        raise ValueError(f"the columns are a multiple of 8 up to 256, not {width}")
    a_major, b_major = majors
    if "mn" in majors and element.size != 2:
        raise ValueError("a_major and b_major are 'k', but for elements of two bytes")
    count = width // 2
    totals = ", ".join(f"%{n}" for n in range(count))
    b = SharedFactor("b", b_ndim, element, b_major)
    declarations, steps = b.declaration, b.depth
    if a_ndim == 1:
        left = f"{{{', '.join(f'%{count + n}' for n in range(4))}}}"
        operands = ", ".join(f'"r"(a_words[4 * k + {n}])' for n in range(4))
        declarations = f"const unsigned *a_words = (const unsigned *)a;\n{declarations}"
        right = count + 4
    else:
        a = SharedFactor("a", a_ndim, element, a_major)
        declarations, steps = f"{a.declaration}\n{declarations}", a.depth
        left, operands = f"%{count}", f'"l"({a.step})'
        right = count + 1
    modifiers = "" if element.total == "s32" else ", 1, 1"  # the signs of the factors
    if element.size == 2:
        transposed = majors[1:] if a_ndim == 1 else majors  # factors in registers are not
        modifiers += "".join(f", {int(major == 'mn')}" for major in transposed)
    depth = _STEP_BYTES // element.size
    total_constraint = "+r" if element.total == "s32" else "+f"
    text = f"""
{declarations}
#pragma unroll
for (int k = 0; k < {steps}; ++k)
    asm volatile(
        "{{ .reg .pred p; setp.ne.b32 p, %{right + 1}, 0;"
        " wgmma.mma_async.sync.aligned.m64n{width}k{depth}.{element.total}.{kind}.{kind}"
        " {{{totals}}}, {left}, %{right}, p{modifiers}; }}"
        : {_registers("d", count, total_constraint)}
        : {operands}, "l"({b.step}), "r"({"1" if accumulate else "k"}));
"""

    @c_function(cuda=text, preamble=_HELPERS)
    def multiply(d: Any, a: Any, b: Any) -> None:
        if not accumulate:
            for n in range(d.shape[0]):
                d[n] = 0
        if a_ndim == 1:
            _add_product_of_registers(d, a, b, b_major)
        elif a_major == "mn":
            _add_product_of_tiles(d, a, b, a.shape[a_ndim - 2], kind, majors)
        else:
            depth = a.shape[a_ndim - 1] * (a.shape[0] if a_ndim == 3 else 1)
            _add_product_of_tiles(d, a, b, depth, kind, majors)

    return multiply


def _waiter(pending: int, count: int = 0, total: str = "f32") -> Any:
    """Return the function that waits for products; ``count``: the elements of the accumulator."""
    operands = f": {_registers('d', count, '+r' if total == 's32' else '+f')}" if count else ":"
    wait = f'asm volatile("wgmma.wait_group.sync.aligned {pending};" {operands} :: "memory");'

    @c_function(cuda=wait)
    def wait_for_accumulator(d: Any) -> None:
        cuda.syncwarp()

    @c_function(cuda=wait)
    def wait_for_tiles() -> None:
        cuda.syncwarp()

    return wait_for_accumulator if count else wait_for_tiles


def _register_setter(change: str, count: int) -> Any:
    """Return the function that changes the number of registers to ``count``."""

    @c_function(cuda=f'asm volatile("setmaxnreg.{change}.sync.aligned.u32 {count};");')
    def set_registers() -> None:
        return

    return set_registers


# ---- the functions -------------------------------------------------------------------------------


@device
def mma_async(
    d: Any, a: Any, b: Any, a_major: Any = "k", b_major: Any = "k", float8: Any = "e4m3",
    accumulate: Any = True,
) -> None:  # fmt: skip
    """Start ``d += a @ b`` of a warpgroup, or ``d = a @ b``; all its threads call it.

    The columns are ``2 * d.size``, a multiple of 8 up to 256. Before the first product, and after
    other accesses to ``d``, call ``fence``; afterwards ``commit_group``, and ``wait_group`` before
    ``d`` is read and the tiles are overwritten.
    """
    width, majors = 2 * d.shape[0], (a_major, b_major)
    if d.dtype == int32 and a.dtype == int8 and b.dtype == int8:
        _multiplier(width, a.ndim, b.ndim, "s8", majors, accumulate)(d, a, b)
    elif d.dtype != float32 or a.dtype != b.dtype:
        _multiplier(width, a.ndim, b.ndim, "", majors, accumulate)(d, a, b)  # an error
    elif a.dtype == bfloat16:
        _multiplier(width, a.ndim, b.ndim, "bf16", majors, accumulate)(d, a, b)
    elif a.dtype == float16:
        _multiplier(width, a.ndim, b.ndim, "f16", majors, accumulate)(d, a, b)
    elif a.dtype == float32:
        _multiplier(width, a.ndim, b.ndim, "tf32", majors, accumulate)(d, a, b)
    elif a.dtype == uint8:
        _multiplier(width, a.ndim, b.ndim, float8, majors, accumulate)(d, a, b)
    else:
        _multiplier(width, a.ndim, b.ndim, "", majors, accumulate)(d, a, b)


@c_function(cuda='asm volatile("wgmma.fence.sync.aligned;" ::: "memory");', signature="void()")
def fence() -> None:
    """Order accesses to accumulators before the products that follow."""
    return


@c_function(
    cuda='asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");', signature="void()"
)
def commit_group() -> None:
    """Make a group of the products that this warpgroup has started."""
    return


@device
def wait_group(pending: Any, d: Any = None) -> None:
    """Wait until at most ``pending`` groups of products are not complete.

    ``d`` is complete afterwards. Leave it out where no accumulator is, but tiles are free.
    """
    if d is None:
        _waiter(pending)()
    elif d.dtype == int32:
        _waiter(pending, d.shape[0], "s32")(d)
    else:
        _waiter(pending, d.shape[0])(d)


@device
def setmaxnreg_inc(count: Any) -> None:
    """Increase the registers of each thread of this warpgroup; wait until they are free.

    It has an effect in kernels with ``launch_bounds`` of two numbers, or ``max_registers``.
    """
    _register_setter("inc", count)()


@device
def setmaxnreg_dec(count: Any) -> None:
    """Decrease the registers of each thread of this warpgroup, so that others can have them."""
    _register_setter("dec", count)()


document_parameters(
    globals(),
    """
n : int | The position in the accumulator.
d : array | The accumulator: a local array of float32, or of int32 for factors of int8.
a : array | The left factor: a tile of 64 rows, or a local array of float16 or bfloat16 with the
  elements of ``position``.
b : array | The right factor, a tile.
a_major, b_major : {"k", "mn"} | The dimension along the rows of a tile: the depth of the product,
  or the rows of ``a`` and the columns of ``b``. The latter is for elements of two bytes.
float8 : {"e4m3", "e5m2"} | The format of factors of uint8.
accumulate : bool | Whether the product is added to ``d``; a compile-time constant.
pending : int | A compile-time constant.
count : int | A compile-time constant, a multiple of 8 from 24 to 256.
""",
)

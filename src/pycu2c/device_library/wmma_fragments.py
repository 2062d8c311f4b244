"""Define the fragments of 16 x 16 matrices in a warp, and products of fragments.

A fragment is a local array of 8 elements. The layout is that of the PTX instructions ``mma``; it
depends on the width of the elements.
"""

from __future__ import annotations

import pathlib
from typing import Any

from pycu2c import cuda
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, Scalar, bfloat16, float16, float32, int8, int32, uint8
from pycu2c.inline_c.functions import c_function
from pycu2c.kernels.kernel import device

FULL_MASK = 0xFFFFFFFF

# ---- layouts: the 16 elements of a row of the left matrix, or a column of the right one ----------


@dataclass(frozen=True, slots=True)
class FragmentLayout:
    """Four lanes have the elements of a row or column.

    ``holder`` maps position ``k`` to the lane. ``left`` and ``right`` map it, and the upper or
    lower half of the rows or columns, to the index in the fragment.
    """

    holder: Any
    left: Any
    right: Any


HALF_LAYOUT = FragmentLayout(
    device(lambda k: k % 8 // 2),
    device(lambda k, half: k % 2 + 2 * half + k // 8 * 4),
    device(lambda k, half: k % 2 + k // 8 * 2 + 4 * half),
)
BYTE_LAYOUT = FragmentLayout(
    device(lambda k: k // 4),
    device(lambda k, half: k % 4 + 4 * half),
    device(lambda k, half: k % 4 + 4 * half),
)

# ---- GPU code: one or two instructions per half of the columns -----------------------------------

_PREAMBLE = pathlib.Path(__file__).with_suffix(".cuh").read_text(encoding="utf-8")
_HALF_TEMPLATE = """
const unsigned a0 = word_of_elements(a), a1 = word_of_elements(a + 2);
const unsigned a2 = word_of_elements(a + 4), a3 = word_of_elements(a + 6);
for (int block = 0; block < 2; ++block, b += 4, c += 4, d += 4) {
    const unsigned b0 = word_of_elements(b), b1 = word_of_elements(b + 2);
    float d0, d1, d2, d3;
%s    d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3;
}
"""
_HALF_MMA = (
    _HALF_TEMPLATE
    % """\
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.$type.$type.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),
                   "f"(c[2]), "f"(c[3]));
"""
)
_HALF_MMA_BEFORE_SM80 = (
    _HALF_TEMPLATE
    % """\
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                 : "r"(a0), "r"(a1), "r"(b0), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a2), "r"(a3), "r"(b1));
"""
)
_BYTE_MMA = """
const unsigned a0 = word_of_elements(a), a1 = word_of_elements(a + 4);
for (int block = 0; block < 2; ++block, b += 4, c += 4, d += 4) {
    int d0, d1, d2, d3;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.$type.$type.s32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3)
                 : "r"(a0), "r"(a1), "r"(word_of_elements(b)), "r"(c[0]), "r"(c[1]), "r"(c[2]),
                   "r"(c[3]));
    d[0] = d0, d[1] = d1, d[2] = d2, d[3] = d3;
}
"""
_MMA_BY_SHUFFLES = "mma_by_shuffles(d, a, b, c);"


def _versioned_text(instructions: str, ptx_type: str, before_sm80: str) -> str:
    sm80 = instructions.replace("$type", ptx_type).strip()
    return f"#if __CUDA_ARCH__ >= 800\n{sm80}\n#else\n{before_sm80.strip()}\n#endif"


# ---- products ------------------------------------------------------------------------------------


def _product(factor: Scalar, text: str, *headers: str) -> Any:
    """Return ``d = a @ b + c`` on fragments for a factor type."""
    layout, total = (HALF_LAYOUT, float32) if factor.dtype.is_float else (BYTE_LAYOUT, int32)
    holder, of_left, of_right = layout.holder, layout.left, layout.right

    def _mma_on_fragments(d: Any, a: Any, b: Any, c: Any) -> None:
        """Compute ``d = a @ b + c`` from the elements of each thread."""
        group, pair = cuda.laneid // 4, cuda.laneid % 4
        for n in range(8):
            d[n] = c[n]
        for k in range(16):
            at = holder(k)
            for half in range(2):
                own = total(a[of_left(k, half)])
                left = cuda.shfl_sync(FULL_MASK, own, 4 * group + at)
                for n in range(4):
                    given = total(b[of_right(k, n // 2)])
                    right = cuda.shfl_sync(FULL_MASK, given, 4 * (2 * pair + n % 2) + at)
                    d[n % 2 + 2 * half + n // 2 * 4] += left * right

    types = (
        _contiguous_array(total),
        _contiguous_array(factor),
        _contiguous_array(factor),
        _contiguous_array(total),
    )
    decorate = c_function(cuda=text, preamble=_PREAMBLE, headers=headers, signature=types)
    return decorate(_mma_on_fragments)


def _contiguous_array(element: Scalar) -> Array:
    array_type: Array = element[::1]
    return array_type


MMA_FLOAT16 = _product(
    float16, _versioned_text(_HALF_MMA, "f16", _HALF_MMA_BEFORE_SM80), "cuda_fp16.h"
)
MMA_BFLOAT16 = _product(
    bfloat16, _versioned_text(_HALF_MMA, "bf16", _MMA_BY_SHUFFLES), "cuda_bf16.h"
)
MMA_INT8 = _product(int8, _versioned_text(_BYTE_MMA, "s8", _MMA_BY_SHUFFLES))
MMA_UINT8 = _product(uint8, _versioned_text(_BYTE_MMA, "u8", _MMA_BY_SHUFFLES))

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


def cuda_sections(file: str) -> dict[str, str]:
    """Return the sections of a file of this folder by name; a line ``// ==== name`` begins one."""
    text = (pathlib.Path(__file__).parent / file).read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("// ==== "))
    return {name: section.strip("\n") for name, _, section in parts}


_SECTIONS = cuda_sections("wmma_fragments.cuh")


def _versioned_text(kind: str, ptx_type: str, before_sm80: str) -> str:
    """Return the CUDA C of a product from sections; ``$type`` is the PTX type of the factors."""
    instructions = _SECTIONS[kind].replace("$type", ptx_type)
    return f"#if __CUDA_ARCH__ >= 800\n{instructions}\n#else\n{_SECTIONS[before_sm80]}\n#endif"


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
    decorate = c_function(
        cuda=text, preamble=_SECTIONS["helpers"], headers=headers, signature=types
    )
    return decorate(_mma_on_fragments)


def _contiguous_array(element: Scalar) -> Array:
    array_type: Array = element[::1]
    return array_type


MMA_FLOAT16 = _product(float16, _versioned_text("half", "f16", "half before sm_80"), "cuda_fp16.h")
MMA_BFLOAT16 = _product(bfloat16, _versioned_text("half", "bf16", "by shuffles"), "cuda_bf16.h")
MMA_INT8 = _product(int8, _versioned_text("byte", "s8", "by shuffles"))
MMA_UINT8 = _product(uint8, _versioned_text("byte", "u8", "by shuffles"))

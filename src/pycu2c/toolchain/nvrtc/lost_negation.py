"""Detect kernels in which ptxas of CUDA 12.6 to 13.3 may drop a minus sign.

It fuses ``min(min(x, -y), z)`` of signed 32-bit integers, and ``max`` alike, to one VIMNMX3, which
exists on compute capability 9.0 and 10.x, and loses the negation of an operand. Unsigned and 16-bit
forms are correct. Only ``-O0`` avoids the fusion; the order of the operands, the spelling of the
minimum or inline PTX do not.
"""

from __future__ import annotations

import re

import numpy as np

FLAG = "--ptxas-options=-O0"  # the only flag that avoids the fault
WARNING = (
    "NVRTC {}.{} drops minus signs in min(min(x, -y), z) of 32-bit integers on this GPU, so it "
    "compiles {} without optimization, to slow code. pip install 'pycu2c[gpu]' installs NVRTC 13.4 "
    "or later, which has no such fault"
)

# an instruction has 128 bits: the opcode is in the lowest 9, the type in bits 72 and 73
_VIMNMX3, _SIGNED_32 = 0x00F, 1
_NEGATION = re.compile(rb"\bneg\.s|\bsub\.s\d+\s+\S+ 0,|\bm(?:ul|ad)\.\S+\s.* -1\b")


def is_affected(version: tuple[int, int]) -> bool:
    """Return whether a version of NVRTC has the fault."""
    return (12, 6) <= version < (13, 4)


def may_lose_negation(cubin: bytes, ptx: bytes) -> bool:
    """Return whether a cubin of an affected version has the instruction, and its PTX negates."""
    words = np.frombuffer(cubin[: len(cubin) // 16 * 16], np.uint64).reshape(-1, 2)
    low, high = words[:, 0], words[:, 1]
    fused = (low & 0x1FF == _VIMNMX3) & (high >> 8 & 3 == _SIGNED_32)
    return bool(fused.any()) and _NEGATION.search(ptx) is not None

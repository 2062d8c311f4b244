"""Helpers for reductions of warps; CUDA has these for fewer types."""

from __future__ import annotations

from itertools import starmap

from pycu2c.codegen.helpers.templates import helpers_of


def _reduction(name: str, comment: str, combination: str) -> str:
    """Return the two helpers of a warp reduction.

    32-bit values use one instruction where the device has it. Otherwise a full warp takes five
    shuffle steps, and a partial warp one step per lane.
    """
    head = f"// {comment}\n$q $T reduce_{name}_$t(unsigned int mask, $T value) {{\n"
    steps = f"""\
    unsigned int rest = __ballot_sync(mask, 1);
    $T a = value, b;
    if (rest == 0xffffffff) {{
        for (int step = 16; step > 0; step /= 2) {{
            b = __shfl_xor_sync(mask, a, step);
            a = {combination};
        }}
        return a;
    }}
    a = __shfl_sync(mask, value, __ffs(rest) - 1);
    while (rest &= rest - 1) {{
        b = __shfl_sync(mask, value, __ffs(rest) - 1);
        a = {combination};
    }}
    return a;
"""
    native = f"#if __CUDA_ARCH__ >= 800\n    return ($T)__reduce_{name}_sync(mask, value);\n#else\n"
    wide = f"{head}{steps}}}".replace("_$t", "_wide_$t")
    return f"{head}{native}{steps}#endif\n}}\n\n{wide}\n\n"


_REDUCTIONS = (
    ("add", "The sum over the lanes of mask.", "($T)(($W)a + ($W)b)"),
    ("min", "The least over the lanes of mask.", "b < a ? b : a"),
    ("max", "The greatest over the lanes of mask.", "b > a ? b : a"),
    ("and", "The bits common to the lanes of mask.", "a & b"),
    ("or", "The bits of any lane of mask.", "a | b"),
    ("xor", "The exclusive or over the lanes of mask.", "a ^ b"),
)

REDUCTION_HELPERS = helpers_of("".join(starmap(_reduction, _REDUCTIONS)), "signed", "unsigned")

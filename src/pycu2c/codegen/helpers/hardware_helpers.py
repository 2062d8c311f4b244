"""Helpers for reductions of warps, special registers and clocks.

CUDA has these operations with other signatures, or not for all types. The CPU has only the clocks.
"""

from __future__ import annotations

from itertools import starmap

from pycu2c.codegen.helpers.templates import Helper, helpers_of


def _special_register(name: str, comment: str) -> str:
    return f"""
// {comment}
$q $T {name}_$t() {{
    unsigned int value;
    asm("mov.u32 %0, %%{name};" : "=r"(value));
    return ($T)value;
}}
"""


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


def _host_clock(name: str, result: str) -> str:
    return f"""
// Nanoseconds of a monotonic clock.
$q {result} {name}(void) {{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ({result})((long long)now.tv_sec * 1000000000 + now.tv_nsec);
}}
"""


_REGISTERS = {
    "laneid": "The thread's number in its warp.",
    "lanemask_lt": "The bits of the lanes below the thread's own.",
    "lanemask_eq": "The bit of the thread's own lane.",
    "lanemask_le": "The bits of the lanes up to the thread's own.",
    "lanemask_gt": "The bits of the lanes above the thread's own.",
    "lanemask_ge": "The bits of the thread's own lane and the lanes above.",
}
_REDUCTIONS = (
    ("add", "The sum over the lanes of mask.", "($T)(($W)a + ($W)b)"),
    ("min", "The least over the lanes of mask.", "b < a ? b : a"),
    ("max", "The greatest over the lanes of mask.", "b > a ? b : a"),
    ("and", "The bits common to the lanes of mask.", "a & b"),
    ("or", "The bits of any lane of mask.", "a | b"),
    ("xor", "The exclusive or over the lanes of mask.", "a ^ b"),
)

HARDWARE_HELPERS: dict[str, Helper] = {
    **helpers_of("".join(starmap(_special_register, _REGISTERS.items())), "signed", "unsigned"),
    **helpers_of("".join(starmap(_reduction, _REDUCTIONS)), "signed", "unsigned"),
    **helpers_of(_host_clock("nanoseconds_u32", "uint32_t"), "fixed"),
    **helpers_of(_host_clock("nanoseconds_i64", "int64_t"), "fixed"),
}

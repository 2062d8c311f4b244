"""Helpers for warp operations that CUDA has with other signatures, or not for all types."""

from __future__ import annotations

from pycu2c.codegen.helpers.templates import Helper


def _for_integers(text: str) -> Helper:
    return Helper(text, text)


def _special(register: str, comment: str) -> Helper:
    return _for_integers(
        f"""
// {comment}
$q $T {register}_$t() {{
    unsigned int value;
    asm("mov.u32 %0, %%{register};" : "=r"(value));
    return ($T)value;
}}
"""
    )


_MATCH_ALL = """
// mask if all its lanes have one value, else 0.
$q unsigned int match_all_$t(unsigned int mask, $T value) {
    int same;
    return __match_all_sync(mask, value, &same);
}
"""


def _reduction(name: str, comment: str, joined: str) -> dict[str, Helper]:
    """Return a warp reduction.

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
            a = {joined};
        }}
        return a;
    }}
    a = __shfl_sync(mask, value, __ffs(rest) - 1);
    while (rest &= rest - 1) {{
        b = __shfl_sync(mask, value, __ffs(rest) - 1);
        a = {joined};
    }}
    return a;
"""
    native = f"#if __CUDA_ARCH__ >= 800\n    return ($T)__reduce_{name}_sync(mask, value);\n#else\n"
    return {
        f"reduce_{name}": _for_integers(f"{head}{native}{steps}#endif\n}}"),
        f"reduce_{name}_wide": _for_integers(f"{head}{steps}}}".replace("_$t", "_wide_$t")),
    }


WARP_HELPERS: dict[str, Helper] = {
    "laneid": _special("laneid", "The thread's number in its warp."),
    "lanemask_lt": _special("lanemask_lt", "The bits of the lanes below the thread's own."),
    "lanemask_eq": _special("lanemask_eq", "The bit of the thread's own lane."),
    "lanemask_le": _special("lanemask_le", "The bits of the lanes up to the thread's own."),
    "lanemask_gt": _special("lanemask_gt", "The bits of the lanes above the thread's own."),
    "lanemask_ge": _special("lanemask_ge", "The bits of the lanes from the thread's own on."),
    "match_all": Helper(_MATCH_ALL, _MATCH_ALL, _MATCH_ALL),
    **_reduction("add", "The sum over the lanes of mask.", "($T)(($W)a + ($W)b)"),
    **_reduction("min", "The least over the lanes of mask.", "b < a ? b : a"),
    **_reduction("max", "The greatest over the lanes of mask.", "b > a ? b : a"),
    **_reduction("and", "The bits common to the lanes of mask.", "a & b"),
    **_reduction("or", "The bits of any lane of mask.", "a | b"),
    **_reduction("xor", "The exclusive or over the lanes of mask.", "a ^ b"),
}

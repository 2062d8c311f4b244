"""Helpers that read clocks."""

from __future__ import annotations

from pycu2c.base.dtypes import INT64, UINT32
from pycu2c.codegen.helpers.templates import Helper

CLOCK_HELPERS: dict[str, Helper] = {
    "globaltimer": Helper(
        fixed="""
// Nanoseconds of the GPU's clock.
$q long long globaltimer() {
    long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
"""
    ),
    "clock32": Helper(
        fixed="""
// The lower 32 bits of the multiprocessor's clock.
$q unsigned int clock32() {
    return (unsigned int)clock64();
}
"""
    ),
    **{
        f"nanoseconds_{dtype.short}": Helper(
            fixed=f"""
// Nanoseconds of a clock that only goes forward.
$q {dtype.c} nanoseconds_{dtype.short}(void) {{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ({dtype.c})((long long)now.tv_sec * 1000000000 + now.tv_nsec);
}}
"""
        )
        for dtype in (UINT32, INT64)
    },
}

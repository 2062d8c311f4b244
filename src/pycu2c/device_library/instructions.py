"""Define functions that execute one PTX instruction, which has no meaning on the CPU."""

from __future__ import annotations

from typing import Any

from pycu2c.inline_c.functions import c_function

# the address in shared memory that an instruction takes
ADDRESS_HELPER = """
#ifdef __CUDACC__
__device__ __forceinline__ unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
#endif
"""


def instruction(name: str, *operands: object) -> Any:
    """Return the function that executes an instruction with constant operands."""
    text = f"{name} {', '.join(map(str, operands))}".strip()

    @c_function(cuda=f'asm volatile("{text};" ::: "memory");', signature="void()")
    def execute() -> None:
        return

    return execute

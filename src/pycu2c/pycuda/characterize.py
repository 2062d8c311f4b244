"""``pycuda.characterize``: see ``pycu2c.compat.pycuda.characterize``."""

from pycu2c.compat.pycuda.characterize import (
    has_double_support,
    has_stack,
    platform_bits,
    sizeof,
)

__all__ = [
    "has_double_support",
    "has_stack",
    "platform_bits",
    "sizeof",
]

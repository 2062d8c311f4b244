"""``pycuda.elementwise``: see ``pycu2c.compat.pycuda.kernels.elementwise``."""

from pycu2c.compat.pycuda.kernels.elementwise import (
    ElementwiseKernel,
    elementwise_text,
)

__all__ = [
    "ElementwiseKernel",
    "elementwise_text",
]

"""``import pycu2c.pycuda.autoinit``: work on the first device, or on the one that the environment
variable CUDA_DEVICE names; the CPU is one where there is no GPU."""

import atexit

from pycu2c.compat.pycuda.tools import clear_context_caches, make_default_context

context = make_default_context()
device = context.get_device()


def _finish_up() -> None:
    """Be done with the context."""
    context.detach()
    clear_context_caches()


atexit.register(_finish_up)

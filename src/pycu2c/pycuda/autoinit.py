"""Create a context when this module is imported, and detach it at exit (``pycuda.autoinit``).

The device is the one that the environment variable CUDA_DEVICE selects, else the first one. Without
a GPU it is the CPU.
"""

import atexit

from pycu2c.compat.pycuda.tools import clear_context_caches, make_default_context

context = make_default_context()
device = context.get_device()


def _detach() -> None:
    """Detach the context."""
    context.detach()
    clear_context_caches()


atexit.register(_detach)

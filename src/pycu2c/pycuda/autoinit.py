"""Create a context when this module is imported (``pycuda.autoinit``).

The device is the one that the environment variable CUDA_DEVICE selects, else the first one. Without
a GPU it is the CPU.
"""

from pycu2c.compat.pycuda.contexts import make_default_context

context = make_default_context()
device = context.get_device()

"""Export ``pycuda.characterize``: features of the device, and sizes of C types."""

from pycu2c.compat.pycuda.characterize import has_double_support as has_double_support
from pycu2c.compat.pycuda.characterize import has_stack as has_stack
from pycu2c.compat.pycuda.characterize import platform_bits as platform_bits
from pycu2c.compat.pycuda.characterize import sizeof as sizeof

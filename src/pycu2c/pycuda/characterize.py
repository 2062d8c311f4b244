"""Export ``pycuda.characterize``: features of the device."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.characterize import has_double_support as has_double_support
from pycu2c.compat.pycuda.characterize import has_stack as has_stack
from pycu2c.compat.pycuda.characterize import platform_bits as platform_bits

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of

"""Export ``pycuda.scan``, whose kernels have replacements in pycu2c."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of

"""Export ``pycuda.curandom``: arrays of random numbers."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.array_functions import rand as rand

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of

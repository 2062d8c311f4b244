"""Export ``pycuda.curandom``: arrays of random numbers.

https://documen.tician.de/pycuda/array.html describes the parameters.
"""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.curandom import (
    MRG32k3aRandomNumberGenerator as MRG32k3aRandomNumberGenerator,
)
from pycu2c.compat.pycuda.curandom import PhiloxRandomNumberGenerator as PhiloxRandomNumberGenerator
from pycu2c.compat.pycuda.curandom import XORWOWRandomNumberGenerator as XORWOWRandomNumberGenerator
from pycu2c.compat.pycuda.curandom import rand as rand
from pycu2c.compat.pycuda.curandom import seed_getter_uniform as seed_getter_uniform

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of

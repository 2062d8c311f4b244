"""Export ``pycuda.curandom``: arrays of random numbers."""

from pycu2c.compat.pycuda.array_functions import rand as rand

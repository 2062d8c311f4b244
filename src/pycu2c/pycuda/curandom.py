"""Export ``pycuda.curandom``: arrays of random numbers."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda import parameter_docs as _parameter_docs
from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.curandom import (
    MRG32k3aRandomNumberGenerator as MRG32k3aRandomNumberGenerator,
)
from pycu2c.compat.pycuda.curandom import PhiloxRandomNumberGenerator as PhiloxRandomNumberGenerator
from pycu2c.compat.pycuda.curandom import XORWOWRandomNumberGenerator as XORWOWRandomNumberGenerator
from pycu2c.compat.pycuda.curandom import get_curand_version as get_curand_version
from pycu2c.compat.pycuda.curandom import rand as rand
from pycu2c.compat.pycuda.curandom import seed_getter_uniform as seed_getter_uniform
from pycu2c.compat.pycuda.curandom import seed_getter_unique as seed_getter_unique

_parameter_docs.document_parameters(globals())
del _parameter_docs

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of

"""Export ``pycuda.cumath``: elementwise functions of GPUArrays."""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.array_functions import acos as acos
from pycu2c.compat.pycuda.array_functions import arccos as arccos
from pycu2c.compat.pycuda.array_functions import arcsin as arcsin
from pycu2c.compat.pycuda.array_functions import arctan as arctan
from pycu2c.compat.pycuda.array_functions import asin as asin
from pycu2c.compat.pycuda.array_functions import atan as atan
from pycu2c.compat.pycuda.array_functions import atan2 as atan2
from pycu2c.compat.pycuda.array_functions import ceil as ceil
from pycu2c.compat.pycuda.array_functions import cos as cos
from pycu2c.compat.pycuda.array_functions import cosh as cosh
from pycu2c.compat.pycuda.array_functions import exp as exp
from pycu2c.compat.pycuda.array_functions import fabs as fabs
from pycu2c.compat.pycuda.array_functions import floor as floor
from pycu2c.compat.pycuda.array_functions import log as log
from pycu2c.compat.pycuda.array_functions import log10 as log10
from pycu2c.compat.pycuda.array_functions import sin as sin
from pycu2c.compat.pycuda.array_functions import sinh as sinh
from pycu2c.compat.pycuda.array_functions import sqrt as sqrt
from pycu2c.compat.pycuda.array_functions import tan as tan
from pycu2c.compat.pycuda.array_functions import tanh as tanh

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of

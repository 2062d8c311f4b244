"""Export ``pycuda.cumath``: elementwise functions of GPUArrays.

https://documen.tician.de/pycuda/array.html describes the parameters.
"""

from typing import TYPE_CHECKING

from pycu2c.compat.pycuda.absent_names import getattr_of
from pycu2c.compat.pycuda.cumath import acos as acos
from pycu2c.compat.pycuda.cumath import arccos as arccos
from pycu2c.compat.pycuda.cumath import arcsin as arcsin
from pycu2c.compat.pycuda.cumath import arctan as arctan
from pycu2c.compat.pycuda.cumath import asin as asin
from pycu2c.compat.pycuda.cumath import atan as atan
from pycu2c.compat.pycuda.cumath import atan2 as atan2
from pycu2c.compat.pycuda.cumath import ceil as ceil
from pycu2c.compat.pycuda.cumath import cos as cos
from pycu2c.compat.pycuda.cumath import cosh as cosh
from pycu2c.compat.pycuda.cumath import exp as exp
from pycu2c.compat.pycuda.cumath import fabs as fabs
from pycu2c.compat.pycuda.cumath import floor as floor
from pycu2c.compat.pycuda.cumath import log as log
from pycu2c.compat.pycuda.cumath import log10 as log10
from pycu2c.compat.pycuda.cumath import sin as sin
from pycu2c.compat.pycuda.cumath import sinh as sinh
from pycu2c.compat.pycuda.cumath import sqrt as sqrt
from pycu2c.compat.pycuda.cumath import tan as tan
from pycu2c.compat.pycuda.cumath import tanh as tanh

if not TYPE_CHECKING:
    __getattr__ = getattr_of(__name__)
    del getattr_of

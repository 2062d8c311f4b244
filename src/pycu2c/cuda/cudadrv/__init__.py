"""Export the names of ``numba.cuda.cudadrv``: classes for ``isinstance`` and ``except``."""

from pycu2c.cuda.cudadrv import devicearray as devicearray
from pycu2c.cuda.cudadrv import devices as devices
from pycu2c.cuda.cudadrv import driver as driver
from pycu2c.cuda.cudadrv import error as error
from pycu2c.cuda.cudadrv import runtime as runtime

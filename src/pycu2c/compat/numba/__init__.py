"""numba's doors: ``cuda.jit``, ``vectorize``, ``cuda.reduce`` and what they give. All of them stand
before the kernels and device functions of this package; nothing here types, compiles or launches.
"""

from pycu2c.compat.numba import config as config

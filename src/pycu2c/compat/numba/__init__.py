"""Implement numba's API: ``cuda.jit``, ``vectorize``, ``guvectorize``, ``cuda.reduce`` and others.

The modules translate numba's decorators and arguments to kernels and device functions of this
package. Typing, compilation and launches are implemented in ``kernels`` and below.

May import: everything below ``compat`` and ``pycu2c.cuda``; nothing else of ``compat``.
"""

from pycu2c.compat.numba import config as config

"""Export ``pycuda.autoprimaryctx``: ``autoinit`` with the primary context of the device.

All contexts of this package are primary contexts.
"""

from pycu2c.pycuda.autoinit import context as context
from pycu2c.pycuda.autoinit import device as device

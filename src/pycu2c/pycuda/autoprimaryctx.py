"""``import pycu2c.pycuda.autoprimaryctx``: as ``autoinit``, in the context that other packages
share. Here that is every context."""

from pycu2c.pycuda.autoinit import context, device

__all__ = ["context", "device"]

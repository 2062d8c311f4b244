"""Make functions for JAX programs from kernels: ``pycu2c.jax.ffi``. Requires JAX."""

from pycu2c.jax.foreign_functions import ffi as ffi

__all__ = ["ffi"]

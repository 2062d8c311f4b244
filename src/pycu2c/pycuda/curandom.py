"""``pycuda.curandom``: see ``pycu2c.compat.pycuda.curandom``."""

from pycu2c.compat.pycuda.curandom import (
    MRG32k3aRandomNumberGenerator,
    PhiloxRandomNumberGenerator,
    XORWOWRandomNumberGenerator,
    get_curand_version,
    rand,
    seed_getter_uniform,
    seed_getter_unique,
)

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "PhiloxRandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]

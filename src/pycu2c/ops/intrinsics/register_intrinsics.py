"""Fill the registry: import every module that declares intrinsics with the decorator.

``all`` also imports the modules that declare further names by combining these intrinsics.
"""

# ruff: noqa: F401
from pycu2c.ops.intrinsics import builtins
from pycu2c.ops.intrinsics.floats import (
    complex,
    conversions,
    directed_rounding,
    float8,
    half,
    math,
    special,
    ufuncs,
)
from pycu2c.ops.intrinsics.integers import bits, extended_arithmetic, integers
from pycu2c.ops.intrinsics.memory import (
    addresses,
    allocation,
    atomic,
    cache_hints,
    subscripts,
    textures,
    vector_access,
)
from pycu2c.ops.intrinsics.threads import (
    barriers,
    clusters,
    coalesced_groups,
    cooperative_groups,
    coordinates,
    cpu_block,
    warp,
)

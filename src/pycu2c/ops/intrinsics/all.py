"""The complete registry: importing this module imports all declarations of intrinsics."""

# ruff: noqa: F401
from pycu2c.ops.intrinsics import register_intrinsics
from pycu2c.ops.intrinsics.floats import half_names, libdevice, paired_results
from pycu2c.ops.intrinsics.registry import REGISTRY

__all__ = ["REGISTRY"]

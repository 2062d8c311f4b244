"""Imports the rooms of intrinsics that most kernels use; ``namespace`` has those of many rows that
few do, and imports them when a name is asked for that these have not."""

from pycu2c.intrinsics import (
    atomic,
    bits,
    block,
    builtins,
    caches,
    clusters,
    complex,
    groups,
    halves,
    integers,
    math,
    memory,
    subscripts,
    sync,
    textures,
    threads,
    ufuncs,
    warp,
)
from pycu2c.intrinsics.registry import REGISTRY

__all__ = [
    "REGISTRY",
    "atomic",
    "bits",
    "block",
    "builtins",
    "caches",
    "clusters",
    "complex",
    "groups",
    "halves",
    "integers",
    "math",
    "memory",
    "subscripts",
    "sync",
    "textures",
    "threads",
    "ufuncs",
    "warp",
]

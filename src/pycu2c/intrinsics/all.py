"""Imports every room of intrinsics, so that the registry is full."""

from pycu2c.intrinsics import (
    atomic,
    bits,
    block,
    builtins,
    clusters,
    complex,
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
    "clusters",
    "complex",
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

"""Export CuPy's names for custom kernels, which run on a GPU, or on the CPU for numpy arrays."""

from __future__ import annotations

from typing import NoReturn

from pycu2c.compat.cupy.elementwise.kernel import ElementwiseKernel
from pycu2c.compat.cupy.memoize import clear_memo, memoize
from pycu2c.compat.cupy.raw_kernel import RawKernel, RawModule, compile_with_cache
from pycu2c.compat.cupy.reduction.kernel import ReductionKernel
from pycu2c.cupy import jit

__all__ = [
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "clear_memo",
    "compile_with_cache",
    "jit",
    "memoize",
]


def __getattr__(name: str) -> NoReturn:
    hint = (
        ": it has CuPy's custom kernels; for arrays import cupy or numpy beside it, or use "
        "pycu2c.cuda.to_device; cupy.fuse fuses functions of CuPy's arrays"
    )
    hint = "" if name.startswith("_") else hint
    raise AttributeError(f"module {__name__} has no attribute {name}{hint}", name=name)


def __dir__() -> list[str]:
    return __all__

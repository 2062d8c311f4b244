"""CuPy's custom kernels, with its names: on the GPU, and on the CPU for numpy's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycu2c.base.lazy_imports import lazy_names

if TYPE_CHECKING:
    from pycu2c.compat.cupy import jit as jit
    from pycu2c.compat.cupy.elementwise.kernel import ElementwiseKernel as ElementwiseKernel
    from pycu2c.compat.cupy.fusion.fuse import fuse as fuse
    from pycu2c.compat.cupy.memoize import clear_memo as clear_memo
    from pycu2c.compat.cupy.memoize import memoize as memoize
    from pycu2c.compat.cupy.raw_kernel import RawKernel as RawKernel
    from pycu2c.compat.cupy.raw_kernel import RawModule as RawModule
    from pycu2c.compat.cupy.raw_kernel import compile_with_cache as compile_with_cache
    from pycu2c.compat.cupy.reduction.kernel import ReductionKernel as ReductionKernel

_ROOMS = {
    "jit": "pycu2c.cupy.jit",
    "ElementwiseKernel": "pycu2c.compat.cupy.elementwise.kernel",
    "ReductionKernel": "pycu2c.compat.cupy.reduction.kernel",
    "fuse": "pycu2c.compat.cupy.fusion.fuse",
    "RawKernel": "pycu2c.compat.cupy.raw_kernel",
    "RawModule": "pycu2c.compat.cupy.raw_kernel",
    "compile_with_cache": "pycu2c.compat.cupy.raw_kernel",
    "memoize": "pycu2c.compat.cupy.memoize",
    "clear_memo": "pycu2c.compat.cupy.memoize",
}
__all__ = sorted(_ROOMS)

if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        _ROOMS,
        "CuPy's custom kernels are here; for arrays import cupy or numpy beside it, or take "
        "pycu2c.cuda.to_device",
    )


def __dir__() -> list[str]:
    return __all__

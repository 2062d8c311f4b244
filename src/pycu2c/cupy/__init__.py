"""CuPy's custom kernels, with its names: on the GPU, and on the CPU for numpy's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycu2c.lazy import lazy_names

if TYPE_CHECKING:
    from pycu2c.cupy import jit as jit
    from pycu2c.cupy.elementwise import ElementwiseKernel as ElementwiseKernel
    from pycu2c.cupy.fusing import fuse as fuse
    from pycu2c.cupy.memo import clear_memo as clear_memo
    from pycu2c.cupy.memo import memoize as memoize
    from pycu2c.cupy.raw import RawKernel as RawKernel
    from pycu2c.cupy.raw import RawModule as RawModule
    from pycu2c.cupy.raw import compile_with_cache as compile_with_cache
    from pycu2c.cupy.reduction import ReductionKernel as ReductionKernel

_ROOMS = {
    "jit": "pycu2c.cupy.jit",
    "ElementwiseKernel": "pycu2c.cupy.elementwise",
    "ReductionKernel": "pycu2c.cupy.reduction",
    "fuse": "pycu2c.cupy.fusing",
    "RawKernel": "pycu2c.cupy.raw",
    "RawModule": "pycu2c.cupy.raw",
    "compile_with_cache": "pycu2c.cupy.raw",
    "memoize": "pycu2c.cupy.memo",
    "clear_memo": "pycu2c.cupy.memo",
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

"""Export ``numba.cuda.cudadrv.runtime``: the version of CUDA."""

from __future__ import annotations

from pycu2c.devices.contexts import Runtime, runtime

__all__ = ["Runtime", "get_version", "runtime"]

get_version = runtime.get_version

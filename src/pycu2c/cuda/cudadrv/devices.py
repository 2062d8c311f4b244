"""Export ``numba.cuda.cudadrv.devices``: the GPUs and the context of the thread."""

from __future__ import annotations

from pycu2c.devices.contexts import close, current_context, require_context
from pycu2c.devices.gpu_selection import gpus

get_context = current_context
reset = close

__all__ = ["get_context", "gpus", "require_context", "reset"]

"""Export ``cupyx.jit``: kernels in Python with CuPy's names, on a GPU and on the CPU.

``from pycu2c.cupy import jit`` replaces ``from cupyx import jit``. Most names are those of
``pycu2c.cuda``. Types follow the rules of this package; ``mode`` is ignored.
"""

from __future__ import annotations

import builtins
from typing import NoReturn

from pycu2c import cuda
from pycu2c.base.spelling_suggestions import UnknownNameError
from pycu2c.compat.cupy import jit_groups
from pycu2c.compat.cupy.jit import rawkernel as rawkernel
from pycu2c.kernels.kernel import device

_NOT_EXPORTED = frozenset(globals()) - {"rawkernel"}

# ---- thread indices ----------------------------------------------------------------------------

threadIdx, blockIdx = cuda.threadIdx, cuda.blockIdx  # CUDA's names
blockDim, gridDim = cuda.blockDim, cuda.gridDim
warpsize = cuda.warpsize
grid, gridsize = cuda.grid, cuda.gridsize
range = builtins.range  # ``rawkernel`` drops the argument ``unroll``


@device
def laneid() -> int:
    """Return the index of the thread in its warp."""
    return cuda.laneid


# ---- memory, barriers, warps -------------------------------------------------------------------

# ``shared_memory(dtype, size)``: shared memory of a block; the size None is all dynamic shared
# memory of the launch. ``rawkernel`` converts the arguments to those of ``cuda.shared.array``.
shared_memory = cuda.shared.array

cg = jit_groups
syncthreads, syncwarp = cuda.syncthreads, cuda.syncwarp
shfl_sync, shfl_xor_sync = cuda.shfl_sync, cuda.shfl_xor_sync
shfl_up_sync, shfl_down_sync = cuda.shfl_up_sync, cuda.shfl_down_sync
match_any_sync, match_all_sync = cuda.match_any_sync, cuda.match_all_sync
activemask = cuda.activemask
popc, ffs = cuda.popc, cuda.ffs

# each takes an array, an index and a value, and returns the previous value
atomic_add, atomic_sub = cuda.atomic.add, cuda.atomic.sub
atomic_min, atomic_max = cuda.atomic.min, cuda.atomic.max
atomic_inc, atomic_dec = cuda.atomic.inc, cuda.atomic.dec
atomic_and, atomic_or, atomic_xor = cuda.atomic.and_, cuda.atomic.or_, cuda.atomic.xor
atomic_exch, atomic_cas = cuda.atomic.exch, cuda.atomic.cas


_REPLACEMENTS = {
    "cub": "cuda.cg.reduce(group, x, op) reduces a warp; use shared memory for a block",
    "thrust": "the thread that would call an algorithm of thrust writes the loop",
}


def __getattr__(name: str) -> NoReturn:
    hint = _REPLACEMENTS.get(name, "dir(pycu2c.cupy.jit) lists all names")
    raise UnknownNameError("pycu2c.cupy.jit", name, hint)


def __dir__() -> list[str]:
    return sorted(n for n in globals() if n not in _NOT_EXPORTED and not n.startswith("_"))

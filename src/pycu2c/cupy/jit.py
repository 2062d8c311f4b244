"""``cupyx.jit``: kernels in Python by CuPy's names, on a GPU and on the CPU.

``from pycu2c.cupy import jit`` stands for ``from cupyx import jit``. The names are those of
``pycu2c.cuda`` in CuPy's shape; types follow this package's rules, whatever ``mode`` says.
"""

from __future__ import annotations

import builtins
from typing import NoReturn

from pycu2c import cuda
from pycu2c.base.spelling_suggestions import UnknownNameError
from pycu2c.compat.cupy.jit import rawkernel as rawkernel
from pycu2c.cuda import cg as cg
from pycu2c.kernels.kernel import device

# ---- where a thread is -------------------------------------------------------------------------

threadIdx, blockIdx = cuda.threadIdx, cuda.blockIdx  # CUDA's names
blockDim, gridDim = cuda.blockDim, cuda.gridDim
warpsize = cuda.warpsize
grid, gridsize = cuda.grid, cuda.gridsize
range = builtins.range  # takes ``unroll``, too, of which it makes nothing


@device
def laneid() -> int:
    """The place of the thread in its warp."""
    return cuda.laneid


# ---- memory, barriers, warps -------------------------------------------------------------------

# ``shared_memory(dtype, size)``: elements that the threads of a block share; with None for the
# size those that the launch gives
shared_memory = cuda.shared.array

syncthreads, syncwarp = cuda.syncthreads, cuda.syncwarp
shfl_sync, shfl_xor_sync = cuda.shfl_sync, cuda.shfl_xor_sync
shfl_up_sync, shfl_down_sync = cuda.shfl_up_sync, cuda.shfl_down_sync
match_any_sync, match_all_sync = cuda.match_any_sync, cuda.match_all_sync
activemask = cuda.activemask
popc, ffs = cuda.popc, cuda.ffs

# each takes an array, an index and a value, and gives what was there
atomic_add, atomic_sub = cuda.atomic.add, cuda.atomic.sub
atomic_min, atomic_max = cuda.atomic.min, cuda.atomic.max
atomic_inc, atomic_dec = cuda.atomic.inc, cuda.atomic.dec
atomic_and, atomic_or, atomic_xor = cuda.atomic.and_, cuda.atomic.or_, cuda.atomic.xor
atomic_exch, atomic_cas = cuda.atomic.exch, cuda.atomic.cas


def __getattr__(name: str) -> NoReturn:
    hint = _ELSEWHERE.get(name, "dir(pycu2c.cupy.jit) lists what it has")
    raise UnknownNameError("pycu2c.cupy.jit", name, hint)


_ELSEWHERE = {
    "cub": "cuda.cg.reduce(warp, x) and tiles do what its WarpReduce and BlockReduce are for",
    "thrust": "a loop of the thread's own does what its algorithms do for one thread",
}

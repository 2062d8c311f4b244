"""``cupyx.jit``: kernels in Python by CuPy's names, on a GPU and on the CPU.

``from pycu2c.cupy import jit`` stands for ``from cupyx import jit``. The names are those of
``pycu2c.cuda`` in CuPy's shape; types follow this package's rules, whatever ``mode`` says.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Literal, NoReturn, ParamSpec, TypeVar, overload

from pycu2c import cuda
from pycu2c.base.source import Source
from pycu2c.base.spelling_suggestions import NoSuchName
from pycu2c.compat.cupy.jit_source_adaptation import as_cupy_reads
from pycu2c.cuda import cg as cg
from pycu2c.kernels.kernel import Device, Dims, Kernel, device, made_kernel

P = ParamSpec("P")
R = TypeVar("R")
Mode = Literal["cuda", "numpy", "python"]

# ---- decorators --------------------------------------------------------------------------------


class JitRawKernel(Kernel[P]):
    """A kernel that is launched as ``k(grid, block, (a, b))`` or as ``k[grid, block](a, b)``."""

    __slots__ = ()

    @staticmethod
    def _read(function: FunctionType) -> Source:
        return as_cupy_reads(Kernel._read(function))

    def __call__(  # type: ignore[override]  # CuPy's parameters
        self,
        grid: Dims,
        block: Dims,
        args: Sequence[Any],
        shared_mem: int = 0,
        stream: object = None,
    ) -> None:
        """Launch it.

        grid, block: ints, or tuples of one to three.
        args: arrays and numbers, in the order of the parameters.
        shared_mem: bytes of dynamic shared memory of a block.
        stream: None is the default one.
        """
        configured: Any = self[grid, block, stream, shared_mem]
        configured(*args)

    @property
    def cached_codes(self) -> dict[Any, str]:
        """The CUDA C for each signature of its launches until now."""
        shown = self.launcher.text
        return {s.parameters: shown("cuda", s) for s in self.launcher.signatures}

    @property
    def cached_code(self) -> str:
        """The CUDA C for the signature of its first launch."""
        codes = self.cached_codes
        if not codes:
            raise RuntimeError(
                f"{self.name} has not been launched: {self.name}.inspect('cuda', signature) shows "
                "what is made for a signature"
            )
        return next(iter(codes.values()))


class JitDevice(Device[P, R]):
    """A function that kernels call."""

    @staticmethod
    def _read(function: object) -> Source:
        return as_cupy_reads(Device._read(function))


@overload
def rawkernel(
    *, mode: Mode = "cuda", device: Literal[False] = False
) -> Callable[[Callable[P, None]], JitRawKernel[P]]: ...
@overload
def rawkernel(
    *, mode: Mode = "cuda", device: Literal[True]
) -> Callable[[Callable[P, R]], JitDevice[P, R]]: ...
def rawkernel(*, mode: Mode = "cuda", device: bool = False) -> Any:
    """Make a kernel of a function, or a function that kernels call.

    mode: read, and without effect: types follow the rules of this package.
    device: whether the function is for kernels to call.
    """
    if callable(mode):
        raise TypeError("rawkernel takes options: write @jit.rawkernel()")
    if mode not in ("cuda", "numpy", "python"):
        raise ValueError(f"mode is 'cuda', 'numpy' or 'python', not {mode!r}")
    return JitDevice if device else _kernel


def _kernel(function: Any) -> Any:
    return made_kernel(JitRawKernel, function, {"signature": []})  # annotations say nothing


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
    cure = _ELSEWHERE.get(name, "dir(pycu2c.cupy.jit) lists what it has")
    raise NoSuchName("pycu2c.cupy.jit", name, cure)


_ELSEWHERE = {
    "cub": "cuda.cg.reduce(warp, x) and tiles do what its WarpReduce and BlockReduce are for",
    "thrust": "a loop of the thread's own does what its algorithms do for one thread",
}

"""Kernels and device functions of ``cupyx.jit``, with CuPy's call signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, overload

from pycu2c.compat.cupy.jit_source_adaptation import adapted_source
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.kernels.kernel import DeviceFunction, Dims, Kernel, make_kernel

P = ParamSpec("P")
R = TypeVar("R")
Mode = Literal["cuda", "numpy", "python"]

# ---- decorators --------------------------------------------------------------------------------


class JitRawKernel(Kernel[P]):
    """A kernel that is launched as ``k(grid, block, (a, b))`` or as ``k[grid, block](a, b)``."""

    __slots__ = ()
    _may_return_value = True

    _read = staticmethod(adapted_source)

    def __call__(  # type: ignore[override]  # CuPy's parameters
        self,
        grid: Dims,
        block: Dims,
        args: Sequence[Any],
        shared_mem: int = 0,
        stream: object = None,
    ) -> None:
        """Launch the kernel."""
        configured: Any = self[grid, block, stream, shared_mem]
        configured(*args)

    @property
    def cached_codes(self) -> dict[Any, str]:
        """Return the CUDA C of each signature that was launched."""
        text = self.launcher.compiler.text
        return {s.parameters: text("cuda", s) for s in self.launcher.signatures}

    @property
    def cached_code(self) -> str:
        """Return the CUDA C of the first signature that was launched."""
        codes = self.cached_codes
        if not codes:
            raise RuntimeError(
                f"{self.name} has not been launched: {self.name}.inspect('cuda', signature) is "
                "the text for a signature"
            )
        return next(iter(codes.values()))


class JitDevice(DeviceFunction[P, R]):
    """A device function."""

    _read = staticmethod(adapted_source)


@overload
def rawkernel(
    *, mode: Mode = "cuda", device: Literal[False] = False
) -> Callable[[Callable[P, None]], JitRawKernel[P]]: ...
@overload
def rawkernel(
    *, mode: Mode = "cuda", device: Literal[True]
) -> Callable[[Callable[P, R]], JitDevice[P, R]]: ...
def rawkernel(*, mode: Mode = "cuda", device: bool = False) -> Any:
    """Compile a function as a kernel or device function, as ``cupyx.jit.rawkernel``.

    Parameters
    ----------
    mode : {"cuda", "numpy"}, optional
        Ignored: types follow the rules of this package.
    device : bool, optional
        Whether the function is a device function.

    Returns
    -------
    callable
        A decorator, which returns a ``JitRawKernel`` or a ``JitDevice``.
    """
    if callable(mode):
        raise TypeError("rawkernel takes options: write @jit.rawkernel()")
    if mode not in ("cuda", "numpy", "python"):
        raise ValueError(f"mode is 'cuda', 'numpy' or 'python', not {mode!r}")
    return JitDevice if device else _kernel


def _kernel(function: Any) -> Any:
    return make_kernel(JitRawKernel, function, {"signature": []})  # annotations are ignored


document_parameters(
    globals(),
    """
function : callable | The Python function.
grid, block : int or tuple of int | Blocks of the grid and threads of a block.
args : tuple | The arguments of the kernel.
shared_mem, shared_memory : int | Bytes of dynamic shared memory.
stream : Stream or int | The stream; by default the current one.
signature : str or type | The types of the parameters.
backend : str | The back end, as for ``pycu2c.kernel``.
cache : bool | Whether to store compiled code on disk.
options : Options | The other options of the kernel.
""",
)

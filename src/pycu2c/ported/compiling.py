"""``cuda.compile`` and ``cuda.compile_ptx``: the PTX of a function, without a launch or a GPU."""

from __future__ import annotations

from typing import Any

from pycu2c.kernel import Kernel
from pycu2c.options import options_from
from pycu2c.ported.jitted import python_of
from pycu2c.runtime import driver
from pycu2c.signatures import parse_signature
from pycu2c.types import VOID, Void

Capability = tuple[int, int]


def compile(
    pyfunc: Any,
    sig: object,
    debug: bool = False,
    lineinfo: bool = False,
    device: bool = True,
    fastmath: bool = False,
    cc: Capability | None = None,
    opt: object = None,
    abi: str = "c",
    abi_info: object = None,
    output: str = "ptx",
) -> tuple[str, Void]:
    """The PTX of a function for a signature, and what it returns.

    device: False for a kernel. A device function is compiled with the kernels that call it.
    cc: the GPU's compute capability, (9, 0); without one that of the GPU here, or 9.0.
    """
    if device:
        raise NotImplementedError(
            "device functions are compiled with the kernels that call them: pass device=False for "
            "the PTX of a kernel, or k.inspect('cuda') for the text of both"
        )
    if output != "ptx":
        raise NotImplementedError(f"kernels are compiled to PTX and cubins, not to {output!r}")
    options = options_from({"fastmath": bool(fastmath), "lineinfo": bool(lineinfo or debug)})
    kernel: Kernel[Any] = Kernel(python_of(pyfunc), signature=[sig], options=options)
    arch = None if cc is None else "sm_{}{}".format(*cc)
    return kernel.inspect("ptx", parse_signature(sig), arch=arch), VOID


def compile_for_current_device(pyfunc: Any, sig: object, **options: Any) -> tuple[str, Void]:
    """The same for the GPU that the thread works on. Raises CudaError where there is none."""
    return compile(pyfunc, sig, cc=_here(), **options)


def compile_ptx(
    pyfunc: Any,
    sig: object,
    debug: bool = False,
    lineinfo: bool = False,
    device: bool = False,
    fastmath: bool = False,
    cc: Capability | None = None,
    opt: object = None,
    abi: str = "numba",
    abi_info: object = None,
) -> tuple[str, Void]:
    """As ``compile``, and of a kernel if nothing else is said."""
    return compile(pyfunc, sig, debug, lineinfo, device, fastmath, cc)


def compile_ptx_for_current_device(pyfunc: Any, sig: object, **options: Any) -> tuple[str, Void]:
    """The same for the GPU that the thread works on. Raises CudaError where there is none."""
    return compile_ptx(pyfunc, sig, cc=_here(), **options)


def _here() -> Capability:
    number = int(driver.arch().removeprefix("sm_"))
    return number // 10, number % 10

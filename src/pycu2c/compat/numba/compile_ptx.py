"""``cuda.compile`` and ``cuda.compile_ptx``: the PTX of a function, without a launch or a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pycu2c.base.types import NONE, VOID, Scalar, Signature, Void, by_itself
from pycu2c.compat.numba.dispatcher import python_of
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import Options, options_from
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels import specialization
from pycu2c.kernels.kernel import Device, Kernel
from pycu2c.toolchain.link import relocatable
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.nvrtc.program import Kind

Capability = tuple[int, int]
_USUAL = (9, 0)


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
    abi_info: Mapping[str, str] | None = None,
    output: str = "ptx",
) -> tuple[Any, Scalar | Void]:
    """The PTX of a function for a signature, and the type of what it returns.

    device: False for a kernel. A device function can be linked, and called by C: a number is a
    parameter, an array its pointer and the lengths and strides that the function uses.
    cc: the GPU's compute capability, (9, 0); without one that of the GPU here, or 9.0.
    abi_info: ``{"abi_name": name}`` is what a device function is called; else as in Python.
    output: "ltoir" gives, of a device function, the bytes that linkers optimise and link.
    """
    if output not in (("ptx", "ltoir") if device else ("ptx",)):
        what = "functions are compiled to PTX and LTO-IR" if device else "kernels to PTX"
        raise NotImplementedError(f"{what}, not to {output!r}")
    signature, options = parse_signature(sig), _options(fastmath, lineinfo or debug)
    arch = "sm_{}{}".format(*(cc or (_here() if driver.available() else _USUAL)))
    if device:
        name = (abi_info or {}).get("abi_name", "")
        made, name, returned = _of_device(pyfunc, signature, options, name)
        kind: Kind = "ltoir" if output == "ltoir" else "ptx"
        more = relocatable.OF_KIND[kind]
        binary = nvrtc.compile(made, name, arch, kind=kind, options=options, more=more)
        return binary.data if kind == "ltoir" else binary.data.decode(), returned
    kernel: Kernel[Any] = Kernel(python_of(pyfunc), signature=[signature], options=options)
    return kernel.inspect("ptx", signature, arch=arch), VOID


def _of_device(
    pyfunc: Any, signature: Signature, options: Options, name: str
) -> tuple[str, str, Scalar | Void]:
    """A function as CUDA C, its name there, and what it returns."""
    function: Device[..., Any] = Device(python_of(pyfunc), signature=[signature])
    source = function.__pycu2c_device__
    name = name or source.name
    made, result = specialization.generate_device(source, signature, options, name)
    returned = VOID if result == NONE else by_itself(result)
    if made.prints or not isinstance(returned, (Scalar, Void)):
        what = "prints" if made.prints else f"returns {returned}"
        raise NotImplementedError(f"{name} {what}: a function for C returns one number or nothing")
    return made.text, name, returned


def _options(fastmath: bool, lineinfo: bool) -> Options:
    return options_from({"fastmath": bool(fastmath), "lineinfo": bool(lineinfo)})


def compile_for_current_device(pyfunc: Any, sig: object, **options: Any) -> tuple[str, Any]:
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
    abi_info: Mapping[str, str] | None = None,
) -> tuple[str, Scalar | Void]:
    """As ``compile``, and of a kernel if nothing else is said."""
    return compile(pyfunc, sig, debug, lineinfo, device, fastmath, cc, abi_info=abi_info)


def compile_ptx_for_current_device(pyfunc: Any, sig: object, **options: Any) -> tuple[str, Any]:
    """The same for the GPU that the thread works on. Raises CudaError where there is none."""
    return compile_ptx(pyfunc, sig, cc=_here(), **options)


def _here() -> Capability:
    number = int(driver.arch().removeprefix("sm_"))
    return number // 10, number % 10

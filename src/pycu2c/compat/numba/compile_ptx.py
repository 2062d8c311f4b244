"""Implement ``cuda.compile`` and ``cuda.compile_ptx``: PTX without a launch or a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pycu2c.base.types import NONE, VOID, Scalar, Signature, Void, default_type
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import Options, parse_options
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels import specialization
from pycu2c.kernels.kernel import DeviceFunction, Kernel
from pycu2c.toolchain.link import relocatable
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.nvrtc.program import BinaryKind

Capability = tuple[int, int]
_DEFAULT_CAPABILITY = (9, 0)


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
    forceinline: bool = False,
    launch_bounds: int | tuple[int, ...] | None = None,
) -> tuple[Any, Scalar | Void]:
    """Compile a function for a signature to PTX or LTO-IR.

    Parameters
    ----------
    pyfunc : function
        The function.
    sig : str, type or sequence
        The types of its parameters.
    debug, lineinfo : bool, optional
        Emit line information.
    device : bool, optional
        False for a kernel. A device function can be linked and called from C. A number is one C
        parameter. An array is its pointer, and the lengths and strides that the function uses.
    fastmath : bool, optional
        Use fast-math functions.
    cc : tuple of int, optional
        The compute capability, such as (9, 0); by default that of the current GPU, or 9.0.
    opt : object, optional
        Ignored.
    abi : str, optional
        Ignored.
    abi_info : dict, optional
        ``{"abi_name": name}`` sets the name of a device function.
    output : {"ptx", "ltoir"}, optional
        The kind of code; "ltoir" is for device functions.
    forceinline : bool, optional
        Ignored.
    launch_bounds : int or tuple of int, optional
        As for ``pycu2c.kernel``.

    Returns
    -------
    tuple
        The PTX text or LTO-IR bytes, and the result type.

    Raises
    ------
    NotImplementedError
        If the output, the result type or ``print`` is unsupported.
    """
    if output not in (("ptx", "ltoir") if device else ("ptx",)):
        supported = (
            "functions are compiled to PTX and LTO-IR" if device else "kernels are compiled to PTX"
        )
        raise NotImplementedError(f"{supported}, not to {output!r}")
    signature = parse_signature(sig)
    settings: dict[str, object] = {"fastmath": bool(fastmath), "lineinfo": bool(lineinfo or debug)}
    if launch_bounds is not None:
        settings["launch_bounds"] = launch_bounds
    options = parse_options(settings)
    arch = "sm_{}{}".format(
        *(cc or (_current_capability() if driver.available() else _DEFAULT_CAPABILITY))
    )
    if device:
        name = (abi_info or {}).get("abi_name", "")
        text, name, result_type = _device_source(pyfunc, signature, options, name)
        kind: BinaryKind = "ltoir" if output == "ltoir" else "ptx"
        flags = relocatable.FLAGS_BY_KIND[kind]
        binary = nvrtc.compile(text, name, arch, kind=kind, options=options, extra_flags=flags)
        return binary.data if kind == "ltoir" else binary.data.decode(), result_type
    kernel: Kernel[Any] = Kernel(python_function(pyfunc), signature=[signature], options=options)
    return kernel.inspect("ptx", signature, arch=arch), VOID


def _device_source(
    pyfunc: Any, signature: Signature, options: Options, name: str
) -> tuple[str, str, Scalar | Void]:
    """Return the CUDA C of a device function, its name there, and its result type."""
    function: DeviceFunction[..., Any] = DeviceFunction(
        python_function(pyfunc), signature=[signature]
    )
    source = function.__pycu2c_device__
    name = name or source.name
    generated, result = specialization.generate_device(source, signature, options, name)
    result_type = VOID if result == NONE else default_type(result)
    if generated.prints or not isinstance(result_type, (Scalar, Void)):
        problem = "prints" if generated.prints else f"returns {result_type}"
        raise NotImplementedError(
            f"{name} {problem}: a function for C must return one number or nothing"
        )
    return generated.text, name, result_type


def compile_for_current_device(pyfunc: Any, sig: object, **options: Any) -> tuple[str, Any]:
    """Compile for the GPU of the calling thread, as ``compile`` does.

    Returns
    -------
    tuple
        The PTX text or LTO-IR bytes, and the result type.
    """
    return compile(pyfunc, sig, cc=_current_capability(), **options)


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
    """Compile a function to PTX, as ``compile`` does; by default a kernel.

    Returns
    -------
    tuple
        The PTX text, and the result type.
    """
    return compile(pyfunc, sig, debug, lineinfo, device, fastmath, cc, abi_info=abi_info)


def compile_ptx_for_current_device(pyfunc: Any, sig: object, **options: Any) -> tuple[str, Any]:
    """Compile to PTX for the GPU of the calling thread, as ``compile_ptx`` does.

    Returns
    -------
    tuple
        The PTX text, and the result type.
    """
    return compile_ptx(pyfunc, sig, cc=_current_capability(), **options)


def _current_capability() -> Capability:
    arch_number = int(driver.arch().removeprefix("sm_"))
    return arch_number // 10, arch_number % 10


document_parameters(
    globals(),
    """
pyfunc : callable | The Python function.
sig : str, tuple or signature | The types of its parameters.
**options : object | The other arguments of the function that it calls.
debug, lineinfo, fastmath : bool | As in ``compile``.
device : bool | Whether it is a device function; by default it is a kernel.
cc : tuple of int | The compute capability.
opt : object | Ignored.
abi : {"numba", "c"} | The calling convention of a device function.
abi_info : dict | The name of the function in C, by the key "abi_name".
""",
)

"""Implement the decorator ``cuda.jit``: signatures, options, and hints for unsupported options."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, overload

from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import NONE, Signature
from pycu2c.compat.numba.dispatcher import JitDeviceFunction, JitKernel, python_function
from pycu2c.declarations.options import OPTION_NAMES, OptionError
from pycu2c.declarations.overloads import with_options_of
from pycu2c.declarations.signatures import SignatureError, is_signature, parse_signatures
from pycu2c.kernels.kernel import (
    KERNEL_PARAMETERS,
    TUNING_PARAMETERS,
    SignatureLike,
    kernel,
    make_kernel,
)

# accepted and ignored: the C compilers inline and optimize, and `inspect` shows the code
_IGNORED_OPTIONS = (
    *("inline", "forceinline", "opt", "nopython", "lto"),
    "shared_memory_carveout",  # a hint
    # of numba-cuda-mlir
    *("chip", "features", "opt_level", "ptxas_options", "dump", "dump_cubin", "dump_llvmir"),
    *("dump_mlir", "dump_numba_ir", "dump_ptx"),
)
_ACCEPTED_OPTIONS = (
    "device",
    "debug",
    *_IGNORED_OPTIONS,
    *KERNEL_PARAMETERS,
    *OPTION_NAMES,
)
_UNSUPPORTED_OPTIONS = {
    "argtypes": "the types come first: @cuda.jit('void(float32[:], int32)')",
    "restype": "the types come first: @cuda.jit('float32(float32)', device=True)",
    "bind": "leave it out: kernels are loaded when they are launched",
    "boundscheck": "run the program with PYCU2C_CHECK=memory, which checks every index",
    "extensions": "convert the arguments before the launch",
    "forceobj": "leave it out: there is no object mode",
    "experimental_ast_transforms": "leave it out: loops over constant ranges are unrolled",
}


P = ParamSpec("P")
R = TypeVar("R")


class KernelDecorator(Protocol):
    """The result of ``jit(…)``: a decorator that makes a kernel."""

    def __call__(self, function: Callable[P, None], /) -> JitKernel[P]: ...


class DeviceDecorator(Protocol):
    """The result of ``jit(…, device=True)``: a decorator that makes a device function."""

    def __call__(self, function: Callable[P, R], /) -> JitDeviceFunction[P, R]: ...


@overload
def jit(func_or_sig: Callable[P, None], /) -> JitKernel[P]: ...
@overload
def jit(
    func_or_sig: SignatureLike | None = None, *, device: Literal[True], **options: Any
) -> DeviceDecorator: ...
@overload
def jit(
    func_or_sig: SignatureLike | None = None, *, device: Literal[False] = False, **options: Any
) -> KernelDecorator: ...
@with_options_of(kernel, without=TUNING_PARAMETERS)
def jit(
    func_or_sig: Any = None,
    device: bool = False,
    inline: Any = None,
    link: Any = None,
    debug: bool | None = None,
    opt: Any = None,
    lineinfo: bool | None = None,
    cache: bool | None = None,
    **options: Any,
) -> Any:
    """Compile a function to a kernel, or with ``device=True`` to a device function, as numba does.

    Other kernels may call a kernel, too.

    Parameters
    ----------
    func_or_sig : callable, str, type or sequence, optional
        The function, a signature, or a list of signatures. With signatures, the kernel is typed at
        definition and accepts no other argument types.
    device : bool, optional
        Whether to define a device function.
    inline : object, optional
        Ignored, as ``opt``, ``forceinline``, ``lto`` and ``nopython``: the C compilers optimize.
    link : path or sequence of path, optional
        Files with functions that ``cuda.declare_device`` declares.
    debug : bool, optional
        Emit line information; launches raise the exceptions of the kernel, and ``assert`` is
        evaluated.
    opt : object, optional
        Ignored.
    lineinfo : bool, optional
        Emit line information for debuggers and profilers.
    cache : bool, optional
        False disables the disk cache.
    grid, block, shared_memory, signature, backend, weak_float, wraparound : object, optional
        As for ``pycu2c.kernel``.
    fmad, fastmath, strict, check, max_registers, launch_bounds, cluster : object, optional
        As for ``pycu2c.kernel``.
    programmatic_stream_serialization : bool, optional
        As for ``pycu2c.kernel``.
    **options : object
        Ignored, or rejected with a replacement.

    Returns
    -------
    JitKernel, JitDeviceFunction or callable
        The kernel or device function, or with options the decorator that returns it.

    Raises
    ------
    OptionError
        If an option is unknown or unsupported.
    SignatureError
        If the signature of a kernel has a result.
    CompileError
        If the function cannot be typed for a signature.

    See Also
    --------
    kernel
        The decorator of this package.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import cuda
    >>> @cuda.jit("void(float64[:])")
    ... def double(x):
    ...     x[cuda.grid(1)] *= 2
    >>> x = np.arange(4.0)
    >>> double[1, 4](x)
    >>> x
    array([0., 2., 4., 6.])
    """
    line_info = {"lineinfo": lineinfo or debug or None, "check": debug or None}
    all_options = {**line_info, "cache": cache, "link": link, **options}
    passed_options = {name: value for name, value in all_options.items() if value is not None}
    _check_options(passed_options)
    decorate = functools.partial(_decorate, device=device, passed_options=passed_options)
    if func_or_sig is None:
        return decorate
    if is_signature(func_or_sig):
        passed_options["signature"] = _signatures(func_or_sig, device)
        return decorate
    __tracebackhide__ = True
    return decorate(func_or_sig)


def _check_options(passed_options: Mapping[str, Any]) -> None:
    """Raise OptionError for unknown and unsupported options."""
    for name, value in passed_options.items():
        if name in _UNSUPPORTED_OPTIONS and value:
            raise OptionError(f"cuda.jit has no option {name!r} here: {_UNSUPPORTED_OPTIONS[name]}")
        if name not in (*_ACCEPTED_OPTIONS, *_UNSUPPORTED_OPTIONS):
            hint = did_you_mean(name, _ACCEPTED_OPTIONS, f"it has {', '.join(_ACCEPTED_OPTIONS)}")
            raise OptionError(f"cuda.jit has no option {name!r}: {hint}")


def _signatures(declared: Any, device: bool) -> list[Signature]:
    signatures = list(parse_signatures(declared))
    for signature in signatures:
        if not device and signature.result not in (None, NONE):
            raise SignatureError(
                f"a kernel returns nothing, and the signature {declared!r} has the result "
                f"{signature.result}: write void(…), or device=True"
            )
    return signatures


def _decorate(function: Any, device: bool, passed_options: Mapping[str, Any]) -> Any:
    __tracebackhide__ = True
    python = python_function(function)
    if device:
        if passed_options.get("link"):
            raise OptionError("link is an option of kernels: a device function is linked with them")
        return JitDeviceFunction(python, signature=passed_options.get("signature"))
    without_annotations: dict[str, Any] = {"signature": []}  # numba ignores annotations
    return make_kernel(
        JitKernel, python, {**without_annotations, **_kernel_options(passed_options)}
    )


def _kernel_options(passed_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that ``@kernel`` has."""
    dropped = (*_IGNORED_OPTIONS, *_UNSUPPORTED_OPTIONS)
    kernel_options = {name: value for name, value in passed_options.items() if name not in dropped}
    if "fastmath" in kernel_options:
        # numba also accepts a set of flags
        kernel_options["fastmath"] = bool(kernel_options["fastmath"])
    return kernel_options

"""Define the decorators ``@kernel`` and ``@device``, and export the classes of what they make."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, overload

from pycu2c.base.backends import default_backend
from pycu2c.base.diagnostics import CompileError
from pycu2c.base.lazy_imports import import_module
from pycu2c.base.types import Array, Scalar, Signature, Tuple
from pycu2c.declarations.options import (
    OPTION_NAMES,
    OptionError,
    check_option_names,
    parse_options,
)
from pycu2c.declarations.overloads import with_last_overload_signature
from pycu2c.declarations.signatures import SignatureError, is_signature
from pycu2c.kernels.configured_kernel import Configured as Configured
from pycu2c.kernels.device_function import DeviceFunction as DeviceFunction
from pycu2c.kernels.device_function import P, R
from pycu2c.kernels.kernel_inspection import Restrictions
from pycu2c.kernels.kernel_object import Backend as Backend
from pycu2c.kernels.kernel_object import Kernel as Kernel
from pycu2c.runtime.launch_configuration import Dims as Dims

SignatureLike: TypeAlias = "str | Sequence[Any] | Signature | Scalar | Array | Tuple"
LinkLike: TypeAlias = (
    "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | dict[str, Sequence[str]]"
)

KERNEL_PARAMETERS = ("grid", "block", "shared_memory", "signature", "backend", "cache")
TUNING_PARAMETERS = ("tune", "tune_for", "restrictions", "tune_file")


@overload
def kernel(function: Callable[P, None], /) -> Kernel[P]: ...
@overload
def kernel(
    types: SignatureLike | None = None,
    /,
    *,
    grid: Dims | Callable[[Any], Dims] | None = None,
    block: Dims | Callable[[Any], Dims] | None = None,
    shared_memory: int | Callable[[Any], int] = 0,
    signature: object = None,
    backend: Backend = "auto",
    cache: bool = True,
    weak_float: object = None,
    wraparound: bool = True,
    fmad: bool = True,
    fastmath: bool = False,
    strict: bool = False,
    check: bool | str | tuple[str, ...] = False,
    lineinfo: bool = False,
    max_registers: int | None = None,
    launch_bounds: int | tuple[int, ...] | None = None,
    cluster: int | tuple[int, ...] | None = None,
    programmatic_stream_serialization: bool = False,
    link: LinkLike | None = None,
    tune: Mapping[str, Sequence[Any]] | None = None,
    tune_for: Sequence[str] = (),
    restrictions: Restrictions = (),
    tune_file: str | os.PathLike[str] | None = None,
) -> Callable[[Callable[P, None]], Kernel[P]]: ...
@with_last_overload_signature
def kernel(function: Any = None, /, **arguments: Any) -> Any:
    """Mark a function as a kernel, which runs on a grid of threads.

    The decorator works with and without options: ``@kernel`` or ``@kernel(fastmath=True)``. The
    syntax is checked when the function is decorated; a kernel with a signature is then typed, too.

    Parameters
    ----------
    types : callable, str, type or sequence, optional
        The function, without options; or the types of its parameters, as ``signature``.
    grid, block : int or tuple of int, optional
        Blocks of the grid and threads of a block, along up to three axes. With both, the kernel is
        called directly: ``k(arguments)``. A missing grid is inferred.
    shared_memory : int, optional
        Bytes of dynamic shared memory of each block.
    signature : str, type or sequence, optional
        The types of the parameters, such as ``"void(float32[:], int32)"``, or a list of signatures.
        By default those of annotations, or of the arguments of each launch.
    backend : {"auto", "cuda", "cpu", "cpu-resumable", "python"}, optional
        "auto" is CUDA if there is a GPU, else the CPU. "cpu-resumable" compiles threads to
        coroutines. "python" is the reference interpreter: slow, for checking. The environment
        variable PYCU2C_BACKEND sets the default.
    cache : bool, optional
        Whether to store compiled code on disk.
    weak_float : {"float32", "float64"}, optional
        The type of Python floats in operations without NumPy numbers; float64 by default.
    wraparound : bool, optional
        False promises that no index is negative, except constants.
    fmad : bool, optional
        False rounds after each operation, as Python does: no multiply-adds are fused.
    fastmath : bool, optional
        True allows faster floating-point operations that are less precise.
    strict : bool, optional
        True rejects reads of variables that some path has not assigned.
    check : bool, str or tuple of str, optional
        True checks accesses, arithmetic and synchronization in each launch, and raises the
        exceptions and failed assertions of threads. Text or a tuple selects some of the groups
        "memory", "race", "init", "sync", "arithmetic", "wrap" and "lossy"; True omits the last two.
        PYCU2C_CHECK sets the default.
    lineinfo : bool, optional
        True gives profilers and debuggers the lines of Python. PYCU2C_LINEINFO=1 makes it the
        default.
    max_registers : int, optional
        The maximum of registers of a thread on a GPU, from 16 to 255.
    launch_bounds : int or tuple of int, optional
        The maximum of threads of a block, or a tuple of that and the minimum of resident blocks of
        a multiprocessor. Launches of larger blocks raise LaunchError.
    cluster : int or tuple of int, optional
        The blocks of a cluster, along up to three axes. They run at the same time and access each
        other's shared memory (``cuda.cg.this_cluster``).
    programmatic_stream_serialization : bool, optional
        True lets a launch begin before the previous kernel of its stream has ended
        (``cuda.griddepcontrol``).
    link : path, sequence of path or dict, optional
        Files with functions in C that the kernel calls. The suffix selects the target: .cu, .ptx,
        .cubin, … for a GPU, .c, .so, … for the CPU. Or ``{"cuda": […], "cpu": […]}``.
    tune : dict, optional
        Values of constants, options and "block" among which ``Kernel.tune`` chooses. With it,
        grid, block and shared_memory may be functions: ``grid=lambda c: -(-c.n // c.TILE)``.
    tune_for : sequence of str, optional
        Parameters whose size selects a tuning record; by default all arrays.
    restrictions : callable or sequence of callable, optional
        Conditions that candidates fulfil.
    tune_file : path, optional
        The file of tuning records; by default MODULE.tuning.json beside the module.

    Returns
    -------
    Kernel or callable
        The kernel, or with options the decorator that returns it.

    Raises
    ------
    CompileError
        If the function is outside the supported language.
    SignatureError
        If the signature is invalid.
    OptionError
        If an option is unknown or has an invalid value.

    See Also
    --------
    Kernel.tune
        Measure candidates of a kernel with ``tune``.
    device
        A function that kernels call.
    cuda.jit
        The decorator of numba.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import cuda, kernel
    >>> @kernel
    ... def scale(x, factor):
    ...     i = cuda.grid(1)
    ...     if i < len(x):
    ...         x[i] *= factor
    >>> x = np.ones(1000, np.float32)
    >>> scale[4, 256](x, 3.0)
    >>> float(x.sum())
    3000.0
    """
    __tracebackhide__ = True
    check_option_names(arguments, (*KERNEL_PARAMETERS, *TUNING_PARAMETERS))
    if function is not None and not is_signature(function):
        return make_kernel(Kernel, function, arguments)
    cls = Kernel
    if arguments.get("tune") is not None:
        cls = import_module("pycu2c.tuning.tuned_kernel").TunedKernel
    elif names := [name for name in TUNING_PARAMETERS if name in arguments]:
        raise OptionError(f"@kernel has {names[0]}, and no values to tune: add tune={{…}}")
    if function is not None:
        if "signature" in arguments:
            raise OptionError("@kernel was given two signatures")
        arguments["signature"] = function
    return functools.partial(make_kernel, cls, arguments=arguments)


K = TypeVar("K", bound=Kernel[Any])


def make_kernel(cls: type[K], function: Any, arguments: Mapping[str, Any]) -> K:
    """Return a kernel of a class for a function and the arguments of its decorator."""
    options = {n: value for n, value in arguments.items() if n in OPTION_NAMES}
    parameters = {n: value for n, value in arguments.items() if n not in OPTION_NAMES}
    parameters.setdefault("backend", default_backend())
    try:
        return cls(function, options=parse_options(options), **parameters)
    except (CompileError, SignatureError) as error:
        __tracebackhide__ = True  # pytest and IPython show the caller's line only
        raise error.with_traceback(None) from error.__cause__


@overload
def device(function: Callable[P, R], /) -> DeviceFunction[P, R]: ...
@overload
def device(
    types: str | Sequence[Any] | Signature | None = None, /, *, signature: object = None
) -> Callable[[Callable[P, R]], DeviceFunction[P, R]]: ...
def device(function: Any = None, /, *, signature: object = None) -> Any:
    """Mark a function that kernels may call; it is typed for each call.

    Parameters
    ----------
    function : callable, str, type or sequence, optional
        The function, without options; or its types, as ``signature``.
    signature : str, type or sequence, optional
        The types of the result and the parameters, such as ``"float32(float32, int32)"``. A call
        converts its arguments to them. A function that calls itself requires a signature or
        annotations.

    Returns
    -------
    DeviceFunction or callable
        The device function, or with options the decorator that returns it.

    Raises
    ------
    CompileError
        If the function is outside the supported language.
    SignatureError
        If the signature is invalid.

    See Also
    --------
    kernel
        A function that is launched on a grid.

    Examples
    --------
    >>> from pycu2c import device
    >>> @device
    ... def clamp(value, low, high):
    ...     return min(max(value, low), high)
    >>> clamp(7, 0, 5)  # in Python, too
    5
    """
    __tracebackhide__ = True
    if function is not None and not is_signature(function):
        return DeviceFunction(function, signature=signature)
    if function is not None and signature is not None:
        raise OptionError("@device was given two signatures")
    declared = signature if function is None else function
    return functools.partial(DeviceFunction, signature=declared)

"""Define ``@kernel`` and ``@device``, and the classes of the functions that they decorate."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NoReturn,
    Protocol,
    TypeAlias,
    TypeVar,
    overload,
)

from pycu2c.base.backends import BACKENDS, default_backend
from pycu2c.base.diagnostics import CompileError, Diagnostic, LaunchError
from pycu2c.base.lazy_imports import import_module
from pycu2c.base.numba_typing import reject_kernel, type_of_function
from pycu2c.base.records import replace
from pycu2c.base.source import Source, SourceUnavailable, source_of
from pycu2c.base.types import NONE, Array, Scalar, Signature, Tuple
from pycu2c.declarations.options import (
    DEFAULT_OPTIONS,
    OPTION_NAMES,
    OptionError,
    Options,
    check_option_names,
    parse_options,
)
from pycu2c.declarations.overloads import with_last_overload_signature
from pycu2c.declarations.signatures import (
    SignatureError,
    annotated_signature,
    is_signature,
    parse_signature,
    parse_signatures,
)
from pycu2c.frontend.subset.subset_check import early_diagnostics
from pycu2c.kernels import forall
from pycu2c.kernels.configured_kernel import Configured, Launches, P, checked_request, key_of
from pycu2c.kernels.kernel_pickling import Pickled
from pycu2c.kernels.launcher import Launcher
from pycu2c.kernels.tuning_report import TuningReport
from pycu2c.native.extension import KernelBase
from pycu2c.runtime.arguments import record_references
from pycu2c.runtime.launch_configuration import (
    Language,
    LaunchRequest,
    extent,
    shared_size,
)
from pycu2c.toolchain.nvrtc import occupancy as occupancies
from pycu2c.toolchain.nvrtc.occupancy import Occupancy
from pycu2c.toolchain.nvrtc.resource_usage import KernelAttributes

Backend: TypeAlias = 'Literal["auto", "cuda", "cpu", "cpu-resumable", "python"]'
Dims: TypeAlias = "int | Sequence[int]"
SignatureLike: TypeAlias = "str | Sequence[Any] | Signature | Scalar | Array | Tuple"

LinkLike: TypeAlias = (
    "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | dict[str, Sequence[str]]"
)

Restrictions: TypeAlias = "Callable[[Any], object] | Sequence[Callable[[Any], object]]"

R = TypeVar("R")

KERNEL_PARAMETERS = ("grid", "block", "shared_memory", "signature", "backend", "cache")
TUNING_PARAMETERS = ("tune", "tune_for", "restrictions", "tune_file")
_MAX_CONFIGURED = 256  # configurations that a kernel caches


class Kernel(KernelBase[P], Pickled):
    """A kernel: ``k[grid, block](arguments)`` launches it on a grid of threads.

    ``k[grid, block, stream, bytes]`` selects a stream, and the bytes of dynamic shared memory of a
    block. The kernel is compiled at the first launch with each combination of argument types, or
    earlier by ``prepare``. ``k(arguments)`` launches with the grid and block of the decorator.
    Without a grid there, it is inferred from the lengths that ``cuda.grid`` is compared with.
    ``kernel`` creates kernels.

    Attributes
    ----------
    name : str
        The name of the function.
    python : function
        The Python function.
    grid, block : tuple of int or None
        The declared launch configuration, along x, y and z.
    backend : str
        The back end of launches.

    Raises
    ------
    LaunchError
        By launches with an invalid configuration or invalid arguments.
    CompileError
        By the first launch with argument types that the kernel does not support.
    """

    __slots__ = ("__dict__", "__weakref__")
    __pycu2c_kernel__ = True  # for the error about a call in another kernel
    _may_return_value = False  # whether kernels may call it as a device function
    _numba_type_ = property(reject_kernel)

    def __init__(
        self,
        function: FunctionType,
        *,
        grid: Dims | None = None,
        block: Dims | None = None,
        shared_memory: int = 0,
        signature: object = None,
        backend: Backend = "auto",
        cache: bool = True,
        options: Options = DEFAULT_OPTIONS,
    ) -> None:
        self.source = self._read(function)
        functools.update_wrapper(self, function)
        self.name = function.__name__
        self.python = function
        if backend not in BACKENDS:
            raise ValueError(f"backend is one of {', '.join(BACKENDS)}, not {backend!r}")
        self.backend = backend
        self.shared_memory = shared_size(shared_memory, self.name)
        self.options = options
        request = self._launch_request(grid, block, None, self.shared_memory)
        self.grid, self.block = request.grid, request.block
        _check_subset(self.source, may_return_value=self._may_return_value)
        self.declared = tuple(
            record_references.with_references(declared)
            for declared in _parse_declared(self.source, signature, is_kernel=True)
        )
        self._launches = Launches(Launcher(self.source, self.declared, backend, cache, options))
        self._configured = {}
        self._own = self._without_configuration(request)
        for declared in self.declared:
            self.launcher.typed_kernel(declared)

    def _launch_request(
        self, grid: object, block: object, stream: object, shared: int
    ) -> LaunchRequest:
        """Return a checked launch configuration; None for a grid or block to infer."""
        return checked_request(self.name, self.options, grid, block, stream, shared)

    def _without_configuration(self, request: LaunchRequest) -> Configured[P]:
        """Return the launch of a call without ``[grid, block]``."""
        return Configured(self._launches, request)

    @staticmethod
    def _read(function: FunctionType) -> Source:
        return _source_of(function)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def _pickled_state(self) -> dict[str, Any]:
        """Return the arguments of ``__init__``."""
        return {
            "function": self.python,
            "grid": self.grid,
            "block": self.block,
            "shared_memory": self.shared_memory,
            "signature": list(self.declared),
            "backend": self.backend,
            "cache": self.launcher.cache,
            "options": self.options,
        }

    def _unpickled_from(self, state: dict[str, Any]) -> None:
        type(self).__init__(self, **state)

    # ---- inspection ----

    @property
    def signature(self) -> Signature | None:
        """The declared signature; None if there is none, or more than one."""
        return self.declared[0] if len(self.declared) == 1 else None

    @property
    def launcher(self) -> Launcher:
        """The compiled specializations."""
        return self._launches.launcher

    def inspect(
        self,
        what: Language = "cuda",
        signature: object = None,
        block: Dims | None = None,
        arch: str | None = None,
    ) -> str:
        """Return the generated code of the kernel.

        Parameters
        ----------
        what : {"cuda", "c", "c-resumable", "ir", "ptx", "sass"}, optional
            The language. "c-resumable" is C in which each thread is a coroutine. "sass" is machine
            instructions with the lines of Python; it requires nvdisasm.
        signature : str, type or sequence, optional
            The types of the arguments; by default those of the last launch, or the declared ones.
        block : int or tuple of int, optional
            The shape of blocks for which C is generated; by default the declared one, or any.
        arch : str, optional
            The architecture of PTX and SASS, such as "sm_80"; by default that of the current GPU,
            or "sm_90" without one.

        Raises
        ------
        ValueError
            If the kernel has no types yet: it was not launched and has no signature.
        ToolchainError
            If NVRTC or nvdisasm is missing.
        """
        shape = self.block if block is None else extent(block, "block", self.name)
        return self.launcher.compiler.text(what, self._signature_or_latest(signature), shape, arch)

    def attributes(self, signature: object = None, arch: str | None = None) -> KernelAttributes:
        """Return what the kernel uses of a GPU: registers, memory, spills, threads per block.

        Parameters
        ----------
        signature : str, type or sequence, optional
            The types of the arguments, as for ``inspect``.
        arch : str, optional
            The architecture, as for ``inspect``; no GPU is required.

        Returns
        -------
        KernelAttributes
            Counts per thread, and sizes in bytes.

        Raises
        ------
        ToolchainError
            If NVRTC is missing.
        """
        return self.launcher.compiler.attributes(self._signature_or_latest(signature), arch)

    def occupancy(
        self,
        block: Dims,
        shared: int | None = None,
        signature: object = None,
        arch: str | None = None,
    ) -> Occupancy:
        """Return how many blocks of a shape a multiprocessor holds, and what limits them.

        Parameters
        ----------
        block : int or tuple of int
            Threads of a block, along up to three axes.
        shared : int, optional
            Bytes of dynamic shared memory; by default those of the decorator.
        signature : str, type or sequence, optional
            The types of the arguments, as for ``inspect``.
        arch : str, optional
            The architecture, as for ``inspect``; no GPU is required.

        Returns
        -------
        Occupancy
            Resident blocks and warps, and the resource that limits them.

        Raises
        ------
        ToolchainError
            If NVRTC is missing, or the limits of the architecture are not known.
        """
        threads = math.prod(extent(block, "block", self.name))
        size = shared_size(self.shared_memory if shared is None else shared, self.name)
        return occupancies.occupancy(self.attributes(signature, arch), threads, size)

    def _signature_or_latest(self, signature: object) -> Signature:
        """Return a signature; by default that of the last launch, or the declared one."""
        if signature is not None:
            return parse_signature(signature)
        default = self.launcher.latest or next(iter(self.declared), None)
        if default is None:
            raise ValueError(f"{self.name} has no types yet: launch it, or give a signature")
        return default

    def _repr_html_(self) -> str | None:
        """Return the page of ``pycu2c annotate``, which notebooks show; None without types."""
        try:
            signature = self._signature_or_latest(None)
        except ValueError:
            return None
        annotation = import_module("pycu2c.annotate.annotation")
        request = annotation.Request(signature, self.block, annotation.DEFAULT_ARCH)
        text: str = import_module("pycu2c.annotate.page").frame(annotation.annotate(self, request))
        return text

    def explain(self, signature: object = None) -> str:
        """Return the cost of each line on a GPU, and the change that removes it.

        Parameters
        ----------
        signature : str, type or sequence, optional
            The types of the arguments, as for ``inspect``.
        """
        return self.launcher.compiler.explanation(self._signature_or_latest(signature))

    def tune(
        self,
        arguments: Sequence[object],
        space: Mapping[str, Sequence[Any]] | None = None,
        restrictions: Restrictions = (),
        **options: Any,
    ) -> TuningReport:
        """Measure the kernel with other constants, options and blocks; record the fastest.

        The arguments are copied; they do not change. Candidates run in a process of their own.

        Parameters
        ----------
        arguments : sequence
            The arguments of a launch.
        space : dict, optional
            The values of each constant, option, and of "block", "grid" and "shared_memory"; by
            default those of ``@kernel(tune=…)``.
        restrictions : callable or sequence of callable, optional
            Conditions that a candidate ``c`` fulfils, such as ``lambda c: c.TILE <= c.n``.
        **options : object
            seconds: the time limit, 60. timeout: seconds after which a launch is stopped, 5.
            tolerance: of results relative to the largest one, by default the square root of the
            type's precision. cold_cache: whether caches are flushed before each run, True.
            resume: whether to continue an interrupted search, True.
            strategy: "local", "exhaustive", "optuna", or an object with ``start``, ``ask`` and
            ``tell``. For kernels without ``tune=``: grid, block, shared_memory, tune_for and
            tune_file.

        Returns
        -------
        TuningReport
            The fastest configuration, and all measured candidates.

        Raises
        ------
        OptionError
            If a name of the space or an option is unknown.
        LaunchError
            If no candidate runs.
        """
        tune = import_module("pycu2c.tuning.tuned_kernel").tune
        report: TuningReport = tune(self, arguments, space, restrictions, **options)
        return report

    def recompile(self) -> None:
        """Read globals and closures again: compiled code contains their values as constants."""
        self._launches.reset()
        for declared in self.declared:
            self.launcher.compiler.build(declared)

    # ---- launches ----

    if TYPE_CHECKING:  # methods of the base class

        def __getitem__(self, configuration: object) -> Configured[P]: ...

        def __call__(self, *arguments: P.args, **named: P.kwargs) -> None: ...

    def _configured_as(self, configuration: object) -> Configured[P]:
        """Return ``k[grid, block]``; a stream and the bytes of shared memory may follow.

        ``k[grid]`` is possible if the block is declared.
        """
        try:
            configured: Configured[P] = self._configured[key_of(configuration)]
            return configured
        except (KeyError, TypeError, ValueError):  # not cached, or not valid
            pass
        return self._configure(configuration)

    def _with_declared_block(self, configuration: object) -> tuple[object, ...]:
        """Return grid, block, stream and bytes; add the declared block to a grid alone."""
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if self.block is None:
            return parts
        if len(parts) == 2 and self.block[1:] != (1, 1) and not any(map(_has_axes, parts)):
            x, y = parts
            raise LaunchError(
                f"{self.name}[{x}, {y}] is a grid of {x} and a block of {y}, and the block of "
                f"{self.name} is declared as {self.block}: for a grid of {x} by {y} write "
                f"{self.name}[({x}, {y}),], for another block {self.name}[{x}, ({y},)]"
            )
        return (*parts, self.block) if len(parts) == 1 else parts

    def _configure(self, configuration: object) -> Configured[P]:
        parts = self._with_declared_block(configuration)
        if not 2 <= len(parts) <= 4:
            raise LaunchError(
                f"{self.name}: write {self.name}[grid, block] or "
                f"{self.name}[grid, block, stream, shared_bytes]"
            )
        if len(parts) == 2:
            request = self._launch_request(parts[0], parts[1], None, self.shared_memory)
        else:
            extents = self._configured_as(parts[:2])._request
            shared = shared_size(parts[3], self.name) if len(parts) > 3 else self.shared_memory
            request = LaunchRequest(extents.grid, extents.block, parts[2], shared)
        configured: Configured[P] = Configured(self._launches, request)
        self._cache_configured(configuration, configured)
        return configured

    def _cache_configured(self, configuration: object, configured: Configured[P]) -> None:
        try:
            key = key_of(configuration)
            hash(key)
        except (TypeError, ValueError):  # lists as extents; streams of other packages
            return
        if len(self._configured) >= _MAX_CONFIGURED:
            self._configured = {}
        self._configured[key] = configured

    def prepare(
        self,
        signature: object,
        grid: Dims,
        block: Dims,
        stream: object = None,
        shared: int | None = None,
    ) -> Configured[P]:
        """Compile for a signature and a block shape; return a launch with fewer checks.

        The returned object is called with the arguments. It checks numbers, and of arrays the
        class, dtype, number of axes and whether they are contiguous. It does not check that arrays
        are aligned, that those which the kernel writes are writable, and that they have from 1 to
        2**30 - 1 elements.

        Parameters
        ----------
        signature : str, type or sequence
            The types of the arguments.
        grid, block : int or tuple of int
            Blocks of the grid, and threads of a block.
        stream : Stream or object, optional
            The stream of launches; by default the default stream.
        shared : int, optional
            Bytes of dynamic shared memory; by default those of the decorator.

        Returns
        -------
        Configured
            The launch.

        Raises
        ------
        CompileError
            If the kernel does not support the types.
        """
        size = shared_size(self.shared_memory if shared is None else shared, self.name)
        request, types = self._launch_request(grid, block, stream, size), parse_signature(signature)
        launcher = self.launcher.trusting_launcher(types)
        launcher.compile(types, extent(block, "block", self.name))
        return Configured(Launches(launcher), request)

    def forall(
        self, n: int, threads: int = 0, stream: object = None, shared: int | None = None
    ) -> forall.ForAll[P]:
        """Return a launch with a thread for each of n elements: ``k.forall(n)(…)``.

        Parameters
        ----------
        n : int
            The number of elements; for 0 nothing is launched.
        threads : int, optional
            Threads of a block, which has one axis. 0 is the size of the declared block, or else the
            size with the best occupancy of the GPU.
        stream : Stream or object, optional
            The stream of the launch.
        shared : int, optional
            Bytes of dynamic shared memory; by default those of the decorator.

        Returns
        -------
        ForAll
            The launch; call it with the arguments.

        Raises
        ------
        LaunchError
            If a number is negative or not an integer.
        """
        return forall.ForAll(self, n, threads, stream, shared)


class DeviceFunction(Pickled, Generic[P, R]):
    """A function that kernels call. Outside of kernels, a call runs the Python function.

    Attributes
    ----------
    python : function
        The Python function.
    """

    _numba_type_ = property(type_of_function)

    def __init__(self, function: Callable[P, R], *, signature: object = None) -> None:
        __tracebackhide__ = True
        functools.update_wrapper(self, function)
        self.python = function
        source = self._read(function)
        declared = () if signature is None else _parse_declared(source, signature)
        self.__pycu2c_device__ = replace(  # the front end reads it
            source, signature=declared[0] if len(declared) == 1 else None
        )
        _check_subset(source, may_return_value=True)

    @staticmethod
    def _read(function: object) -> Source:
        return _source_of(function)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run the Python function.

        Parameters
        ----------
        *arguments, **named : object
            The arguments of the function.

        Returns
        -------
        object
            Its result.
        """
        return self.python(*arguments, **named)

    def __getitem__(self, configuration: object) -> NoReturn:
        name = self.__pycu2c_device__.name
        raise TypeError(
            f"{name} is a device function, which kernels call: decorate it with @kernel to launch "
            f"it, or call {name}(…) in Python"
        )

    def __repr__(self) -> str:
        return f"<device function {self.__pycu2c_device__.name}>"


if TYPE_CHECKING:

    class Decorator(Protocol):
        """The result of ``kernel(grid=…)``."""

        def __call__(self, function: Callable[P, None], /) -> Kernel[P]: ...


def _has_axes(extents: object) -> bool:
    return isinstance(extents, (tuple, list))


def _parse_declared(
    source: Source, declared: object, *, is_kernel: bool = False
) -> tuple[Signature, ...]:
    """Return the declared signatures of a function, or else that of its annotations."""
    try:
        if declared is not None:
            signatures = parse_signatures(declared)
        else:
            annotated = annotated_signature(source.python)
            signatures = () if annotated is None else (annotated,)
        for signature in signatures:
            if is_kernel and signature.result not in (None, NONE):
                raise SignatureError(
                    f"a kernel returns nothing: write void{signature}, "
                    f"and give the results in an array"
                )
        return signatures
    except SignatureError as error:
        label = source.span(source.tree)
        raise SignatureError(f"{label}: {source.name}: {error}") from None


def _check_subset(source: Source, *, may_return_value: bool) -> None:
    """Raise CompileError for syntax that kernels do not support."""
    diagnostics = early_diagnostics(source, may_return_value=may_return_value)
    if diagnostics:
        __tracebackhide__ = True
        raise CompileError(diagnostics)


def _source_of(function: object) -> Source:
    if not isinstance(function, FunctionType):
        raise TypeError(f"a kernel is a Python function, not {function!r}{_hint(function)}")
    try:
        return source_of(function)
    except SourceUnavailable as error:
        raise CompileError([Diagnostic("no-source", (), str(error))]) from None


def _hint(function: object) -> str:
    if isinstance(function, staticmethod | classmethod):
        return ": write @staticmethod above"
    is_decorated = hasattr(function, "__wrapped__")
    return ": remove the other decorator, or pass its __wrapped__" if is_decorated else ""


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
) -> Decorator: ...
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

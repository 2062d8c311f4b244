"""``@kernel`` and ``@device``: what users decorate, configure and call.

Kept light: the compiler is imported when the first kernel is typed or launched.
"""

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
from pycu2c.base.records import replace
from pycu2c.base.source import Source, SourceUnavailable, source_of
from pycu2c.base.types import Array, Scalar, Signature, Tuple
from pycu2c.declarations.options import (
    DEFAULT_OPTIONS,
    BadOption,
    Options,
    check_option_names,
    parse_options,
)
from pycu2c.declarations.signatures import (
    BadSignature,
    annotated_signature,
    is_signature,
    parse_signature,
    parse_signatures,
)
from pycu2c.frontend.subset.subset_check import early_diagnostics
from pycu2c.kernels import forall
from pycu2c.kernels import launcher as launching
from pycu2c.kernels.configured_kernel import Configured, Launches, P, key_of
from pycu2c.kernels.deferred_compiler import kernel_compiler
from pycu2c.native.extension import KernelBase
from pycu2c.runtime.launch_configuration import (
    Language,
    LaunchRequest,
    check_bounds,
    check_clusters,
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

R = TypeVar("R")

OWN = ("grid", "block", "shared_memory", "signature", "backend", "cache")


class Kernel(KernelBase[P]):
    """A function that runs on a grid of threads: ``k[grid, block](arguments)``.

    Made by ``@kernel``. It is compiled at the first launch with each combination of argument
    types, or earlier by ``compile``. ``k(arguments)`` launches with the grid and block of the
    decorator; a grid that it leaves out follows from the size of the data, where the kernel
    compares its place with that.
    """

    __slots__ = ("__dict__", "__weakref__")
    __pycu2c_kernel__ = True  # what an error about a call in a kernel looks for

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
        self.grid = None if grid is None else extent(grid, "grid", self.name)
        self.block = None if block is None else extent(block, "block", self.name)
        self.shared_memory = shared_size(shared_memory, self.name)
        _check_subset(self.source)
        if self.block is not None:
            check_bounds(self.block, options.launch_bounds, self.name)
        if self.grid is not None:
            check_clusters(self.grid, options.cluster, self.name)
        self.options, self.declared = options, _parsed(self.source, signature)
        self._launches = Launches(self.source, self.declared, backend, cache, options)
        self._configured = {}
        own = LaunchRequest(self.grid, self.block, None, self.shared_memory)
        self._own = Configured(self._launches, own)
        for declared in self.declared:
            self.launcher.typed(declared)

    @staticmethod
    def _read(function: FunctionType) -> Source:
        return _source(function)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def __reduce__(self) -> str:
        """Pickled and copied as functions are, by name: another process imports its module."""
        return self.python.__qualname__

    # ---- looking inside ----

    @property
    def signature(self) -> Signature | None:
        """The one that it is declared for; None if there is none, or more than one."""
        return self.declared[0] if len(self.declared) == 1 else None

    @property
    def launcher(self) -> launching.Launcher:
        """What has been compiled so far."""
        return self._launches.launcher

    def inspect(
        self,
        what: Language = "cuda",
        signature: object = None,
        block: Dims | None = None,
        arch: str | None = None,
    ) -> str:
        """The kernel in a language, for a signature: the one given, declared, or launched last.

        what: "ir", "cuda", "c", "c-resumable" (C that runs thread by thread), "ptx" or "sass"
        (a GPU's own instructions, each with its line of Python; needs nvdisasm).
        block: C is for blocks of this shape, or of the declared one, or of any.
        arch: PTX and SASS are for this architecture ("sm_80"), or the GPU's here, or sm_90.
        """
        shape = self.block if block is None else extent(block, "block", self.name)
        return self.launcher.text(what, self._typed_as(signature), shape, arch)

    def attributes(self, signature: object = None, arch: str | None = None) -> KernelAttributes:
        """What the kernel takes of a GPU: registers, shared, local and constant bytes, spills,
        the most threads of a block. For a signature and architecture as ``inspect``; needs NVRTC,
        but no GPU."""
        return self.launcher.attributes(self._typed_as(signature), arch)

    def occupancy(
        self,
        block: Dims,
        shared: int | None = None,
        signature: object = None,
        arch: str | None = None,
    ) -> Occupancy:
        """How many blocks of this shape, with ``shared`` bytes of dynamic shared memory, a
        multiprocessor holds at a time, and what limits them. For a signature and architecture as
        ``inspect``; needs NVRTC, but no GPU."""
        threads = math.prod(extent(block, "block", self.name))
        size = shared_size(self.shared_memory if shared is None else shared, self.name)
        return occupancies.occupancy(self.attributes(signature, arch), threads, size)

    def _typed_as(self, signature: object) -> Signature:
        """The signature given, launched last, or declared."""
        given = parse_signature(signature) if signature is not None else None
        chosen = given or self.launcher.latest or next(iter(self.declared), None)
        if chosen is None:
            raise ValueError(f"{self.name} has no types yet: launch it, or give a signature")
        return chosen

    def explain(self, signature: object = None) -> str:
        """What each line costs on a GPU, and the change that removes it, for a signature: the one
        given, declared, or launched last."""
        return kernel_compiler.explanation(self.launcher.notes(self._typed_as(signature)))

    def recompile(self) -> None:
        """Read globals and closures anew: they are frozen when a signature is compiled."""
        self._launches.forget()
        for declared in self.declared:
            self.launcher.built(declared)

    # ---- launching ----

    if TYPE_CHECKING:  # of the base class

        def __getitem__(self, configuration: object) -> Configured[P]: ...

        def __call__(self, *arguments: P.args, **named: P.kwargs) -> None: ...

    def _configured_as(self, configuration: object) -> Configured[P]:
        """``k[grid, block]``, ``k[grid, block, stream]``, ``k[grid, block, stream, shared]``; and
        ``k[grid]``, a number, or ``k[(4, 4),]``, if the block is declared."""
        try:
            kept: Configured[P] = self._configured[key_of(configuration)]
            return kept
        except (KeyError, TypeError, ValueError):
            pass  # errors from here on are told by themselves
        return self._configure(configuration)

    def _parts(self, configuration: object) -> tuple[object, ...]:
        """Grid and block, and what is said beyond."""
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
        parts = self._parts(configuration)
        if not 2 <= len(parts) <= 4:
            raise LaunchError(
                f"{self.name}: write {self.name}[grid, block] or "
                f"{self.name}[grid, block, stream, shared_bytes]"
            )
        if len(parts) == 2:
            grid = extent(parts[0], "grid", self.name)
            block = extent(parts[1], "block", self.name)
            check_bounds(block, self.options.launch_bounds, self.name)
            check_clusters(grid, self.options.cluster, self.name)
            wanted = LaunchRequest(grid, block, None, self.shared_memory)
        else:
            usual = self._configured_as(parts[:2])._wanted
            shared = shared_size(parts[3], self.name) if len(parts) > 3 else self.shared_memory
            wanted = LaunchRequest(usual.grid, usual.block, parts[2], shared)
        made: Configured[P] = Configured(self._launches, wanted)
        self._keep(configuration, made)
        return made

    def _keep(self, configuration: object, made: Configured[P]) -> None:
        try:
            key = key_of(configuration)
            hash(key)
        except (TypeError, ValueError):  # lists as extents; streams of others
            return
        if len(self._configured) >= _MOST_CONFIGURED:
            self._configured = {}
        self._configured[key] = made

    def prepare(
        self,
        signature: object,
        grid: Dims,
        block: Dims,
        stream: object = None,
        shared: int | None = None,
    ) -> Configured[P]:
        """Compile for a signature, and for these blocks; what comes back is called with the
        arguments and launches with fewer checks.

        Numbers are checked as ever; of arrays their class, dtype, number of axes, and whether they
        are contiguous. You see to it that they are aligned, may be written where the kernel
        writes, and have elements, but fewer than 2**30.
        """
        given = extent(grid, "grid", self.name), extent(block, "block", self.name)
        check_bounds(given[1], self.options.launch_bounds, self.name)
        check_clusters(given[0], self.options.cluster, self.name)
        size = shared_size(self.shared_memory if shared is None else shared, self.name)
        chosen = parse_signature(signature)
        launches = self._launches.prepared(chosen)
        launches.launcher.compile(chosen, given[1])
        return Configured(launches, LaunchRequest(*given, stream, size))

    def forall(
        self, n: int, threads: int = 0, stream: object = None, shared: int | None = None
    ) -> forall.ForAll[P]:
        """``k.forall(n)(…)`` launches a thread for each of n elements, and nothing for none.

        threads: of a block, which has one axis; 0 chooses: as many as a block that the kernel
        declares has, or on a GPU such that a multiprocessor holds as many threads as it can.
        """
        return forall.ForAll(self, n, threads, stream, shared)


_MOST_CONFIGURED = 256


class DeviceFunction(Generic[P, R]):
    """A function that kernels call. Outside kernels it is the Python function that it was."""

    def __init__(self, function: Callable[P, R], *, signature: object = None) -> None:
        functools.update_wrapper(self, function)
        self.python = function
        source = self._read(function)
        declared = () if signature is None else _parsed(source, signature)
        self.__pycu2c_device__ = replace(  # what kernels look for
            source, signature=declared[0] if len(declared) == 1 else None
        )
        _check_subset(source)

    @staticmethod
    def _read(function: object) -> Source:
        return _source(function)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        return self.python(*arguments, **named)

    def __getitem__(self, configuration: object) -> NoReturn:
        name = self.__pycu2c_device__.name
        raise TypeError(
            f"{name} is a device function, which kernels call: decorate it with @kernel to launch "
            f"it, or call {name}(…) in Python"
        )

    def __repr__(self) -> str:
        return f"<device function {self.__pycu2c_device__.name}>"

    def __reduce__(self) -> str:
        return self.python.__qualname__


if TYPE_CHECKING:

    class Decorator(Protocol):
        """What ``kernel(grid=…)`` gives: it makes a kernel of any function."""

        def __call__(self, function: Callable[P, None], /) -> Kernel[P]: ...


def _has_axes(extents: object) -> bool:
    return isinstance(extents, (tuple, list))


def _parsed(source: Source, given: object) -> tuple[Signature, ...]:
    """The signatures of a function: those given, or the one that its annotations are."""
    try:
        if given is not None:
            return parse_signatures(given)
        annotated = annotated_signature(source.python)
        return () if annotated is None else (annotated,)
    except BadSignature as error:
        label = source.span(source.tree)
        raise BadSignature(f"{label}: {source.name}: {error}") from None


def _check_subset(source: Source) -> None:
    """Raise CompileError for syntax that kernels do not support."""
    diagnostics = early_diagnostics(source)
    if diagnostics:
        raise CompileError(diagnostics)


def _source(function: object) -> Source:
    if not isinstance(function, FunctionType):
        hint = ": write @staticmethod above" if isinstance(function, staticmethod) else ""
        raise TypeError(f"a kernel is a Python function, not {function!r}{hint}")
    try:
        return source_of(function)
    except SourceUnavailable as error:
        raise CompileError([Diagnostic("no-source", (), str(error))]) from None


@overload
def kernel(function: Callable[P, None], /) -> Kernel[P]: ...
@overload
def kernel(
    types: SignatureLike | None = None,
    /,
    *,
    grid: Dims | None = None,
    block: Dims | None = None,
    shared_memory: int = 0,
    signature: object = None,
    backend: Backend = "auto",
    cache: bool = True,
    weak_float: object = None,
    wraparound: bool = True,
    fmad: bool = True,
    fastmath: bool = False,
    strict: bool = False,
    checked: bool = False,
    lineinfo: bool = False,
    max_registers: int | None = None,
    launch_bounds: int | tuple[int, ...] | None = None,
    cluster: int | tuple[int, ...] | None = None,
    link: LinkLike | None = None,
) -> Decorator: ...
def kernel(function: Any = None, /, **given: Any) -> Any:
    """Mark a function as a kernel.

    grid, block: the launch's extents, ints or tuples of up to three; blocks per grid, threads
    per block. With both fixed, call the kernel directly.
    shared_memory: bytes of dynamic shared memory for each block.
    signature: the parameters' types, or a list of several such; without one they follow from the
    arguments of each launch. It may come first: ``@kernel("void(float32[:], int32)")``.
    backend: "auto" (CUDA where there is a GPU, else the CPU), "cuda", "cpu", "python" (the
    reference interpreter: slow, for checking) or "cpu-resumable" (the CPU, thread by thread). The
    environment variable PYCU2C_BACKEND says it for kernels that do not.
    cache: whether to keep compiled code on disk.
    weak_float: "float32" makes a Python float that meets no numpy number a float32.
    wraparound: False says that no index is negative, but for constants.
    fmad: False rounds after each operation, as Python does.
    fastmath: True puts speed before the last bits of floating-point results.
    strict: True makes a read of a variable that some path has not assigned an error.
    checked: True lets the launch raise what a thread raises, and evaluates ``assert``.
    lineinfo: True tells profilers and debuggers (ncu, compute-sanitizer, perf) the lines of
    Python; with the environment variable PYCU2C_LINEINFO=1 it is the default.
    max_registers: the most registers of a thread on a GPU, from 16 to 255.
    launch_bounds: the most threads of a block that launches ask for, or a tuple of that and the
    least number of blocks that a multiprocessor is to hold; larger blocks are a LaunchError.
    cluster: how many blocks, along one axis or up to three, are a cluster: they run at the same
    time and see each other's shared memory (``cuda.cg.this_cluster``).
    link: files with functions in C that it calls, by their suffixes for a GPU (.cu, .ptx, .cubin,
    …) or the CPU (.c, .so, …); or {"cuda": […], "cpu": […]}.

    Raises CompileError, at once, for what kernels cannot do.
    """
    check_option_names(given, OWN)
    if function is not None and not is_signature(function):
        return made_kernel(Kernel, function, given)
    if function is not None:
        if "signature" in given:
            raise BadOption("@kernel was given two signatures")
        given["signature"] = function
    return lambda f: made_kernel(Kernel, f, given)


K = TypeVar("K", bound=Kernel[Any])


def made_kernel(cls: type[K], function: Any, given: Mapping[str, Any]) -> K:
    """A kernel of a class, with the options that a decorator was given."""
    own = {name: value for name, value in given.items() if name in OWN}
    if "backend" not in own:
        own["backend"] = default_backend()
    others = {name: value for name, value in given.items() if name not in OWN}
    try:
        return cls(function, options=parse_options(others), **own)
    except (CompileError, BadSignature) as error:
        raise error.with_traceback(None) from error.__cause__


@overload
def device(function: Callable[P, R], /) -> DeviceFunction[P, R]: ...
@overload
def device(
    types: str | Sequence[Any] | Signature | None = None, /, *, signature: object = None
) -> Callable[[Callable[P, R]], DeviceFunction[P, R]]: ...
def device(function: Any = None, /, *, signature: object = None) -> Any:
    """Mark a function that kernels may call; it is typed for each call.

    signature: the types of its parameters, and of what it returns:
    ``@device("float32(float32, int32)")``. A call converts its arguments to them. A function that
    calls itself needs it, or annotations that say the same.
    """
    if function is not None and not is_signature(function):
        return DeviceFunction(function, signature=signature)
    if function is not None and signature is not None:
        raise BadOption("@device was given two signatures")
    return lambda f: DeviceFunction(f, signature=signature if function is None else function)

"""``@kernel`` and ``@device``: what users decorate, configure and call."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Literal, TypeAlias, overload

from pycu2c.diagnostics import CompileError, CompileWarning, Diagnostic, LaunchError, render
from pycu2c.frontend.build import Built, undefined_names
from pycu2c.frontend.subset import check
from pycu2c.ir.effects import written_arguments
from pycu2c.ir.nodes import Apply
from pycu2c.ir.printer import print_module
from pycu2c.ir.walk import all_expressions
from pycu2c.passes.evaluation import INDEX32_LIMIT
from pycu2c.passes.grid_index import data_extent
from pycu2c.passes.ranges import Facts
from pycu2c.runtime import driver
from pycu2c.runtime.arguments import Argument, ArrayArgument, describe
from pycu2c.runtime.configuration import Extent, extent, shared_size
from pycu2c.signatures import BadSignature, annotated_signature, parse_signature
from pycu2c.source import NoSource, Source, source_of
from pycu2c.specialization import Launch, Runner, Specializer, generate_text
from pycu2c.types import Array, Scalar, Signature
from pycu2c.values import scalar_of

Backend: TypeAlias = Literal["auto", "cuda", "cpu", "python"]
Dims: TypeAlias = "int | Sequence[int]"

_BACKENDS = ("auto", "cuda", "cpu", "python")


class Kernel:
    """A function that runs on a grid of threads: ``k[grid, block](arguments)``.

    Made by ``@kernel``. It is compiled at the first launch with each combination of argument
    types, or earlier by ``compile``.
    """

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
    ) -> None:
        functools.update_wrapper(self, function)
        self.name = function.__name__
        self.python = function
        if backend not in _BACKENDS:
            raise ValueError(f"backend is one of {', '.join(_BACKENDS)}, not {backend!r}")
        self.backend = backend
        self.grid = None if grid is None else extent(grid, "grid", self.name)
        self.block = None if block is None else extent(block, "block", self.name)
        self.shared_memory = shared_size(shared_memory, self.name)
        self.source = _source(function)
        problems = [*check(self.source), *undefined_names(self.source)]
        if problems:
            raise CompileError(problems)
        self._specializer = Specializer(self.source, cache)
        self._built: dict[Signature, Built] = {}
        self._runners: dict[tuple[str, Signature, Facts], Runner] = {}
        self._latest: Signature | None = None
        self.signature = self._declared(signature)
        if self.signature is not None:
            self.built(self.signature)

    def _declared(self, given: object) -> Signature | None:
        try:
            if given is None:
                return annotated_signature(self.python)
            return parse_signature(given)
        except BadSignature as error:
            label = self.source.span(self.source.tree)
            raise BadSignature(f"{label}: {self.name}: {error}") from None

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    # ---- looking inside ----

    def built(self, signature: Signature) -> Built:
        """The typed IR for a signature. Raises CompileError with every mistake."""
        if signature not in self._built:
            built = self._specializer.build(signature)
            for found in built.warnings:
                warnings.warn(render(found), CompileWarning, stacklevel=3)
            self._built[signature] = built
        return self._built[signature]

    def inspect(self, what: Literal["ir", "cuda", "c"] = "cuda", signature: object = None) -> str:
        """The IR, or the generated source, for a signature: the one given, declared, or
        launched last."""
        chosen = parse_signature(signature) if signature is not None else None
        chosen = chosen or self._latest or self.signature
        if chosen is None:
            raise ValueError(f"{self.name} has no types yet: launch it, or give a signature")
        built = self.built(chosen)
        if what == "ir":
            text: str = print_module(built.module)
            return text
        target = {"cuda": "cuda", "c": "cpu"}[what]
        return generate_text(built, target).text

    def recompile(self) -> None:
        """Read globals and closures anew: they are frozen when a signature is compiled."""
        self._built.clear()
        self._runners.clear()
        if self.signature is not None:
            self.built(self.signature)

    # ---- launching ----

    def __getitem__(self, configuration: object) -> Configured:
        """``k[grid, block]``, ``k[grid, block, stream]``, ``k[grid, block, stream, shared]``."""
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise LaunchError(
                f"{self.name}: write {self.name}[grid, block] or "
                f"{self.name}[grid, block, stream, shared_bytes]"
            )
        grid = extent(parts[0], "grid", self.name)
        block = extent(parts[1], "block", self.name)
        stream = parts[2] if len(parts) > 2 else None
        shared = shared_size(parts[3], self.name) if len(parts) > 3 else self.shared_memory
        return Configured(self, Launch(grid, block, stream, shared))

    def __call__(self, *arguments: object) -> None:
        """Launch with the grid and block of the decorator; a grid that it leaves out follows
        from the size of the data, where the kernel compares its place with that."""
        given = self._arguments(arguments)
        signature = self._signature(given)
        block = self.block or self._without_block(signature)
        grid = self.grid or self._grid_for(signature, given, block)
        self._launch(Launch(grid, block, None, self.shared_memory), given, signature)

    def launch(self, configuration: Launch, arguments: Sequence[object]) -> None:
        """Check the arguments, compile if these types are new, and run."""
        given = self._arguments(arguments)
        self._launch(configuration, given, self._signature(given))

    def _launch(self, launch: Launch, given: tuple[Argument, ...], signature: Signature) -> None:
        built = self.built(signature)
        for position in written_arguments(built.module):
            argument = given[position]
            if isinstance(argument, ArrayArgument) and argument.readonly:
                raise LaunchError(f"{self._parameter(position)} is written, and it is read-only")
        self._latest = signature
        key = (self._chosen_backend(), signature, _facts(launch, given))
        runner = self._runners.get(key)
        if runner is None:
            backend, _, facts = key
            runner = self._specializer.runner(built, signature, backend, facts)
            self._runners[key] = runner
        runner.run(launch, given)

    def _chosen_backend(self) -> str:
        if self.backend == "auto":
            return "cuda" if driver.available() else "cpu"
        if self.backend == "cuda" and not driver.available():
            raise LaunchError(
                f"{self.name} has backend='cuda', and there is no GPU to use: "
                f"{driver.why_not()}. Use backend='auto' to run on the CPU then"
            )
        return self.backend

    def _parameter(self, position: int) -> str:
        name = self.source.tree.args.args[position].arg
        return f"{self.name}: argument {position + 1} ({name})"

    def _arguments(self, arguments: Sequence[object]) -> tuple[Argument, ...]:
        names = [a.arg for a in self.source.tree.args.args]
        if len(arguments) != len(names):
            raise LaunchError(
                f"{self.name} takes {len(names)} arguments ({', '.join(names)}), "
                f"{len(arguments)} given"
            )
        return tuple(self._argument(i, a) for i, a in enumerate(arguments))

    def _argument(self, position: int, value: Any) -> Argument:
        if scalar_of(value) is not None:
            number: Argument = value
            return number
        array = describe(value, self._parameter(position))
        if array is None:
            raise LaunchError(
                f"{self._parameter(position)} is a {type(value).__name__}; kernels take numpy "
                "arrays, arrays with __cuda_array_interface__, and numbers"
            )
        return array

    def _signature(self, given: tuple[Argument, ...]) -> Signature:
        """The types of a launch: the arguments' own, or the declared ones that they fit."""
        types = tuple(_type_of(a) for a in given)
        if self.signature is None:
            return Signature(types)
        declared = self.signature.parameters
        return Signature(
            tuple(
                self._fitted(i, a, own, wanted)
                for i, (a, own, wanted) in enumerate(zip(given, types, declared))
            )
        )

    def _fitted(
        self, position: int, argument: Argument, own: Scalar | Array, wanted: Scalar | Array
    ) -> Scalar | Array:
        if isinstance(wanted, Array) and isinstance(own, Array):
            same = (own.dtype, own.ndim) == (wanted.dtype, wanted.ndim)
            if same and (own.layout == "C" or wanted.layout == "A"):
                return own
        elif isinstance(wanted, Scalar) and isinstance(own, Scalar):
            if _holds(wanted, argument):
                return wanted
        shown = f"`{own}`" if isinstance(own, Array) else f"{argument!r}"
        raise LaunchError(f"{self._parameter(position)} is declared `{wanted}`, given {shown}")

    def _without_block(self, signature: Signature) -> Extent:
        module = self.built(signature).module
        functions = (module.kernel, *module.devices)
        threads = any(
            isinstance(e, Apply) and e.intrinsic.name.startswith("cuda.")
            for f in functions
            for e in all_expressions(f.body)
        )
        if not threads and self.backend in ("cpu", "python"):
            return (1, 1, 1)  # plain loops: it runs once
        raise LaunchError(
            f"{self.name} has no block: call {self.name}[grid, block](…), "
            "or decorate it with @kernel(block=…)"
        )

    def _grid_for(self, signature: Signature, given: tuple[Argument, ...], block: Extent) -> Extent:
        if self.block is None:
            return (1, 1, 1)
        lengths = data_extent(self.built(signature).module.kernel)
        if lengths is None:
            raise LaunchError(
                f"{self.name} has no grid, and does not compare cuda.grid(…) with one length "
                f"per axis, from which it would follow: call {self.name}[grid, block](…)"
            )
        counts = []
        for length, threads in zip(lengths, block):
            argument = given[length.argument]
            if isinstance(argument, ArrayArgument):
                assert length.axis is not None
                wanted = argument.shape[length.axis]
            else:
                wanted = int(argument)
            counts.append(max(1, -(-wanted // threads)))
        return extent(tuple(counts), "grid", self.name)


class Configured:
    """A kernel with its grid and block; call it with the arguments."""

    __slots__ = ("_kernel", "_launch")

    def __init__(self, kernel: Kernel, launch: Launch) -> None:
        self._kernel, self._launch = kernel, launch

    def __call__(self, *arguments: object) -> None:
        self._kernel.launch(self._launch, arguments)


class Device:
    """A function that kernels call. Outside kernels it is the Python function that it was."""

    def __init__(self, function: FunctionType) -> None:
        functools.update_wrapper(self, function)
        self.__pycu2c_device__ = function
        source = _source(function)
        problems = [*check(source), *undefined_names(source)]
        if problems:
            raise CompileError(problems)

    def __call__(self, *arguments: Any) -> Any:
        return self.__pycu2c_device__(*arguments)

    def __repr__(self) -> str:
        return f"<device function {self.__pycu2c_device__.__name__}>"


def _source(function: object) -> Source:
    if not isinstance(function, FunctionType):
        raise TypeError(f"a kernel is a Python function, not {function!r}")
    try:
        return source_of(function)
    except NoSource as error:
        raise CompileError([Diagnostic("no-source", (), str(error))]) from None


def _type_of(argument: Argument) -> Scalar | Array:
    if isinstance(argument, ArrayArgument):
        return argument.type
    scalar = scalar_of(argument)
    assert scalar is not None
    return scalar


def _holds(wanted: Scalar, argument: Argument) -> bool:
    """Whether a number arrives in a declared type with nothing lost; a Python float may be
    rounded to a narrower one, as anywhere in numpy."""
    assert not isinstance(argument, ArrayArgument)
    own = scalar_of(argument)
    assert own is not None
    if wanted.dtype.is_float:
        return own.weak or not own.dtype.is_float or float(wanted(argument)) == float(argument)
    if float(argument) != float(argument) or argument != int(argument):
        return False
    return wanted.dtype.minimum <= int(argument) <= wanted.dtype.maximum


def _facts(launch: Launch, given: tuple[Argument, ...]) -> Facts:
    """What is known of a launch for free, and lets the compiler count in 32 bits."""
    threads = max(g * b for g, b in zip(launch.grid, launch.block))
    shapes = [a.shape for a in given if isinstance(a, ArrayArgument)]
    largest = max((math.prod(n or 1 for n in shape) for shape in shapes), default=0)
    numbers = max((abs(a) for a in given if type(a) is int), default=0)
    return Facts(index32=max(threads, largest, numbers) < INDEX32_LIMIT)


@overload
def kernel(function: FunctionType | Callable[..., None], /) -> Kernel: ...
@overload
def kernel(
    *,
    grid: Dims | None = None,
    block: Dims | None = None,
    shared_memory: int = 0,
    signature: object = None,
    backend: Backend = "auto",
    cache: bool = True,
) -> Callable[[Callable[..., None]], Kernel]: ...
def kernel(function: Any = None, /, **options: Any) -> Any:
    """Mark a function as a kernel.

    grid, block: the launch's extents, ints or tuples of up to three; blocks per grid, threads
    per block. With both fixed, call the kernel directly.
    shared_memory: bytes of dynamic shared memory for each block.
    signature: the parameters' types; without one they follow from the arguments of each launch.
    backend: "auto" (CUDA where there is a GPU, else the CPU), "cuda", "cpu" or "python" (the
    reference interpreter: slow, for checking).
    cache: whether to keep compiled code on disk.

    Raises CompileError, at once, for what kernels cannot do.
    """
    if function is not None:
        return Kernel(function)
    return lambda f: Kernel(f, **options)


def device(function: Any = None, /) -> Any:
    """Mark a function that kernels may call; it is typed for each call."""
    return Device(function) if function is not None else Device

"""A kernel's launches: arguments to types, types to compiled code, and the run.

Everything that compiling needs is imported here; ``kernel.py`` opens this room at the first
launch, so that importing pycu2c stays cheap.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pycu2c.compiler import build_module
from pycu2c.diagnostics import CompileWarning, LaunchError, render
from pycu2c.frontend.build import Built
from pycu2c.ir.effects import written_arguments
from pycu2c.ir.nodes import Apply
from pycu2c.ir.printer import print_module
from pycu2c.ir.walk import all_expressions
from pycu2c.passes.evaluation import BLOCKS32_LIMIT, INDEX32_LIMIT
from pycu2c.passes.grid_index import data_extent
from pycu2c.passes.ranges import Facts
from pycu2c.runtime import driver
from pycu2c.runtime.arguments import Argument, ArrayArgument, describe
from pycu2c.runtime.configuration import Extent, Launch, extent
from pycu2c.source import Source
from pycu2c.specialization import Runner, generate_text, runner_for
from pycu2c.types import Array, Scalar, Signature
from pycu2c.values import scalar_of


@dataclass(frozen=True, slots=True)
class Typed:
    """A kernel for one signature: its IR, and what it was compiled to."""

    built: Built
    written: frozenset[int]  # arguments, by position
    runners: dict[tuple[str, bool], Runner] = field(default_factory=dict)


class Launcher:
    """What has been built and compiled of one kernel."""

    def __init__(
        self, source: Source, declared: Signature | None, backend: str, cache: bool
    ) -> None:
        self.source, self.name = source, source.name
        self.declared, self.backend, self.cache = declared, backend, cache
        self.latest: Signature | None = None
        self._typed: dict[Signature, Typed] = {}

    def built(self, signature: Signature) -> Built:
        """The typed IR for a signature. Raises CompileError with every mistake."""
        return self._typed_for(signature).built

    def _typed_for(self, signature: Signature) -> Typed:
        typed = self._typed.get(signature)
        if typed is None:
            built = build_module(self.source, signature)
            for found in built.warnings:
                warnings.warn(render(found), CompileWarning, stacklevel=5)
            typed = Typed(built, written_arguments(built.module))
            self._typed[signature] = typed
        return typed

    def text(self, what: Literal["ir", "cuda", "c"], signature: Signature) -> str:
        """The IR or the generated source for a signature."""
        built = self.built(signature)
        if what == "ir":
            return print_module(built.module)
        return generate_text(built, {"cuda": "cuda", "c": "cpu"}[what]).text

    # ---- launching ----

    def launch_on_data(
        self, grid: Extent | None, block: Extent | None, shared: int, arguments: Sequence[object]
    ) -> None:
        """Launch where the grid, or all, follows from the data and the kernel."""
        given = self.arguments(arguments)
        signature = self.signature(given)
        threads = block or self._without_block(signature)
        blocks = grid or self._grid_for(signature, given, block)
        self._launch(Launch(blocks, threads, None, shared), given, signature)

    def launch(self, configuration: Launch, arguments: Sequence[object]) -> None:
        """Check the arguments, compile if these types are new, and run."""
        given = self.arguments(arguments)
        self._launch(configuration, given, self.signature(given))

    def _launch(self, launch: Launch, given: tuple[Argument, ...], signature: Signature) -> None:
        typed = self._typed_for(signature)
        for position in typed.written:
            argument = given[position]
            if isinstance(argument, ArrayArgument) and argument.readonly:
                raise LaunchError(f"{self._parameter(position)} is written, and it is read-only")
        self.latest = signature
        backend, facts = self._chosen_backend(), _facts(launch, given)
        runner = typed.runners.get((backend, facts.index32))
        if runner is None:
            runner = runner_for(self.source, typed.built, signature, backend, facts, self.cache)
            typed.runners[backend, facts.index32] = runner
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

    def arguments(self, arguments: Sequence[object]) -> tuple[Argument, ...]:
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

    def signature(self, given: tuple[Argument, ...]) -> Signature:
        """The types of a launch: the arguments' own, or the declared ones that they fit."""
        types = tuple(_type_of(a) for a in given)
        if self.declared is None:
            return Signature(types)
        declared = self.declared.parameters
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
        cure = ""
        if isinstance(wanted, Array) and isinstance(own, Array) and own.dtype != wanted.dtype:
            cure = f": pass .astype(numpy.{wanted.dtype}), or leave the type out of the signature"
        raise LaunchError(
            f"{self._parameter(position)} is declared `{wanted}`, given {shown}{cure}"
        )

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

    def _grid_for(
        self, signature: Signature, given: tuple[Argument, ...], block: Extent | None
    ) -> Extent:
        if block is None:
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


def _reach(array: ArrayArgument) -> int:
    """The greatest number that indexing an array counts to: of its elements, or of those that
    its strides pass over."""
    elements = math.prod(n or 1 for n in array.shape)
    if array.contiguous:
        return elements
    passed = sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides) if n > 1)
    return max(elements, passed // array.dtype.size)


def _facts(launch: Launch, given: tuple[Argument, ...]) -> Facts:
    """What is known of a launch for free, and lets the compiler count in 32 bits."""
    threads = max(g * b for g, b in zip(launch.grid, launch.block))
    largest = max((_reach(a) for a in given if isinstance(a, ArrayArgument)), default=0)
    numbers = max((abs(a) for a in given if type(a) is int), default=0)
    few_blocks = max(launch.grid) <= BLOCKS32_LIMIT
    return Facts(index32=few_blocks and max(threads, largest, numbers) < INDEX32_LIMIT)

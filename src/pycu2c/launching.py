"""A kernel's launches: arguments to types, types to compiled code, and the run.

Everything that compiling needs is imported here; ``kernel.py`` opens this room at the first
launch, so that importing pycu2c stays cheap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pycu2c.compiler import Generated, build_module
from pycu2c.diagnostics import CompileWarning, LaunchError, render, warn
from pycu2c.emit.statements import Comments
from pycu2c.explain.notes import Note
from pycu2c.explaining import explained
from pycu2c.frontend.build import Built
from pycu2c.ir.effects import written_arguments
from pycu2c.ir.nodes import Apply
from pycu2c.ir.printer import print_module
from pycu2c.ir.walk import all_expressions
from pycu2c.options import DEFAULT, Options
from pycu2c.passes.facts import BLOCKS32_LIMIT, INDEX32_LIMIT
from pycu2c.passes.grid_index import data_extent
from pycu2c.runtime import driver
from pycu2c.runtime.arguments import Argument, ArrayArgument
from pycu2c.runtime.calling import parameters_of
from pycu2c.runtime.configuration import Extent, Launch, Wanted, extent
from pycu2c.runtime.fitting import fitted
from pycu2c.runtime.given import Given, leaf_names, taken_apart
from pycu2c.runtime.runner import Runner
from pycu2c.runtime.shortcut import NUMBER, Axis, Place, Run, Seen, Shortcuts
from pycu2c.runtime.shortcut_library import shortcuts
from pycu2c.runtime.vector_views import seen_as_declared, vectors_declared
from pycu2c.source import Source
from pycu2c.specialization import ON_CPU, Specialized, facts_for, generate_text, runner_for
from pycu2c.types import WEAK_INT, Signature

_TARGETS = {"cuda": "cuda", "c": "cpu"}
_MOST_BLOCKS = 16  # shapes of blocks that C is made for; later ones share one for any shape

_Variant: TypeAlias = tuple[str, bool, Extent | None]  # backend, ordinary, block


@dataclass(frozen=True, slots=True)
class Typed:
    """A kernel for one signature: its IR, and what it was compiled to."""

    built: Built
    written: frozenset[int]  # arrays, by their place among the arguments' leaves
    ints: tuple[int, ...]  # Python's, likewise, whatever is given for them
    runners: dict[_Variant, Runner] = field(default_factory=dict)


def _never(head: bytes, arguments: tuple[object, ...]) -> Signature | None:
    """Before there are plans."""
    return None


class Launcher:
    """What has been built and compiled of one kernel.

    ``quick(head, arguments)`` runs a launch like one before; it gives the signature, or None
    where it did nothing, and ``launch`` is to be asked.
    """

    def __init__(
        self,
        source: Source,
        declared: Signature | None,
        backend: str,
        cache: bool,
        options: Options = DEFAULT,
    ) -> None:
        self.source, self.name = source, source.name
        self.declared, self.backend, self.cache = declared, backend, cache
        self.options = options
        self._parameters = parameters_of(source.python)
        self._names = tuple(
            f"{self.name}: argument {i} ({name})"
            for i, name in enumerate(self._parameters.names, start=1)
        )
        self._vectors = vectors_declared(declared.parameters if declared else ())
        self.latest: Signature | None = None
        self._typed: dict[Signature, Typed] = {}
        self.quick: Run = _never
        self._shortcuts: Shortcuts | None = None

    def built(self, signature: Signature) -> Built:
        """The typed IR for a signature. Raises CompileError with every mistake."""
        return self._typed_for(signature).built

    def _typed_for(self, signature: Signature) -> Typed:
        typed = self._typed.get(signature)
        if typed is None:
            built = build_module(self.source, signature, self.options)
            for found in built.warnings:
                warn(render(found), CompileWarning)
            parameters = built.module.kernel.parameters
            ints = tuple(p.argument for p in parameters if p.type == WEAK_INT)
            typed = Typed(built, written_arguments(built.module), ints)
            self._typed[signature] = typed
        return typed

    def text(
        self, what: Literal["ir", "cuda", "c"], signature: Signature, block: Extent | None = None
    ) -> str:
        """The IR or the generated source for a signature; C also for a shape of blocks."""
        if what == "ir":
            return print_module(self.built(signature).module)
        if what not in _TARGETS:
            raise ValueError(f"there is 'ir', 'cuda' or 'c' to look at, not {what!r}")
        return self.generated(_TARGETS[what], signature, block=block).text

    def generated(
        self,
        target: str,
        signature: Signature,
        comments: Comments = "none",
        block: Extent | None = None,
    ) -> Generated:
        """The text for a target, and what a launch needs to know of it."""
        fixed = block if target == "cpu" else None
        return generate_text(self.built(signature), target, self.options, comments, fixed)

    def notes(self, signature: Signature) -> list[Note]:
        """What the lines cost on a GPU, for a signature."""
        facts = facts_for(self.options, ordinary=True)
        return explained(self.built(signature).module, facts)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the kernel's parameters, in the order of signatures."""
        return self._parameters.names

    # ---- launching ----

    def values(self, given: tuple[object, ...], named: Mapping[str, object]) -> tuple[object, ...]:
        """What each parameter gets in a call. Raises LaunchError."""
        return self._parameters.values(given, named)

    def given(self, values: Sequence[object]) -> Given:
        """The types, numbers and arrays of a launch's arguments. Raises LaunchError."""
        if self._vectors:
            values = seen_as_declared(values, self._vectors)
        return taken_apart(values, self._names)

    def launch(self, head: bytes, wanted: Wanted, values: tuple[object, ...]) -> None:
        """Check the arguments, compile if these types are new, and run. ``head`` is that of what
        is wanted."""
        if self._ran(head, values):
            return
        given = self.given(values)
        signature = self.signature(given)
        block = wanted.block or self._without_block(signature)
        grid = wanted.grid or self._grid_for(signature, given.leaves, wanted.block)
        lengths = () if wanted.grid or not wanted.block else self._lengths(signature)
        launch = Launch(grid, block, wanted.stream, wanted.shared_bytes)
        self._launch(launch, _Taken(values, given.leaves, signature, lengths))

    def _ran(self, head: bytes, values: tuple[object, ...]) -> bool:
        """Whether a launch was like one before, and has run."""
        signature = self._shortcuts.run(head, values) if self._shortcuts else None
        if signature is None:
            return False
        self.latest = signature
        return True

    def _launch(self, launch: Launch, taken: _Taken) -> None:
        signature, leaves = taken.signature, taken.leaves
        typed = self._typed_for(signature)
        for position in typed.written:
            argument = leaves[position]
            if isinstance(argument, ArrayArgument) and argument.readonly:
                name = leaf_names(self._names, signature)[position]
                raise LaunchError(f"{name} is written, and it is read-only: pass a copy")
        self.latest = signature
        backend, ordinary = self._chosen_backend(), _is_ordinary(launch, leaves, typed.ints)
        variant: _Variant = backend, ordinary, launch.block if backend in ON_CPU else None
        if variant not in typed.runners and len(typed.runners) >= _MOST_BLOCKS:
            variant = backend, ordinary, None
        runner = typed.runners.get(variant)
        if runner is not None:
            runner.run(launch, leaves)
            return self._learn(launch, taken, typed, variant)
        runner = self._runner(typed.built, signature, variant)
        typed.runners[variant] = runner
        runner.run(launch, leaves)

    def _learn(self, launch: Launch, taken: _Taken, typed: Typed, variant: _Variant) -> None:
        """Let launches like this one, which is the second at least, take the short way."""
        direct = typed.runners[variant].direct
        _, ordinary, block = variant
        if direct is None or not ordinary or launch.stream is not None or self._vectors:
            return
        table = self._shortcuts or shortcuts()
        if table is None:
            return
        types = taken.signature.parameters
        seen = Seen(taken.values, types, taken.leaves, typed.written, typed.ints)
        place = Place(block, launch.shared_bytes, taken.lengths)
        table.learn(seen, place, direct, taken.signature)
        self._shortcuts = table
        if self._parameters.plain:
            self.quick = table.run

    def _runner(self, built: Built, signature: Signature, variant: _Variant) -> Runner:
        names = leaf_names(self._names, signature)
        wanted = Specialized(self.source, built, signature, names, self.options)
        backend, ordinary, block = variant
        facts = facts_for(self.options, ordinary=ordinary, block=block)
        return runner_for(wanted, backend, facts, self.cache)

    def _chosen_backend(self) -> str:
        if self.backend == "auto":
            return "cuda" if driver.available() else "cpu"
        if self.backend == "cuda" and not driver.available():
            raise LaunchError(
                f"{self.name} has backend='cuda', and there is no GPU to use: "
                f"{driver.why_not()}. Use backend='auto' to run on the CPU then"
            )
        return self.backend

    def signature(self, given: Given) -> Signature:
        """The types of a launch: the arguments' own, or the declared ones that they fit."""
        if self.declared is None:
            return Signature(given.types)
        return fitted(given, self.declared, self._names)

    def _without_block(self, signature: Signature) -> Extent:
        module = self.built(signature).module
        functions = (module.kernel, *module.devices)
        threads = any(
            isinstance(e, Apply) and e.intrinsic.name.startswith("cuda.")
            for f in functions
            for e in all_expressions(f.body)
        )
        if not threads and self.backend in (*ON_CPU, "python"):
            return (1, 1, 1)  # plain loops: it runs once
        raise LaunchError(
            f"{self.name} has no block: call {self.name}[grid, block](…), "
            "or decorate it with @kernel(block=…)"
        )

    def _grid_for(
        self, signature: Signature, leaves: tuple[Argument, ...], block: Extent | None
    ) -> Extent:
        if block is None:
            return (1, 1, 1)
        lengths = self._lengths(signature)
        if not lengths:
            raise LaunchError(
                f"{self.name} has no grid, and does not compare cuda.grid(…) with one length "
                f"per axis, from which it would follow: call {self.name}[grid, block](…)"
            )
        counts = []
        for (leaf, axis), threads in zip(lengths, block):
            argument = leaves[leaf]
            array = argument if isinstance(argument, ArrayArgument) else None
            wanted = _whole(argument) if array is None else array.shape[axis]
            counts.append(max(1, -(-wanted // threads)))
        return extent(tuple(counts), "grid", self.name)

    def _lengths(self, signature: Signature) -> tuple[Axis, ...]:
        """What the grid follows from; nothing if the kernel does not make that plain."""
        found = data_extent(self.built(signature).module.kernel) or ()
        return tuple((n.argument, NUMBER if n.axis is None else n.axis) for n in found)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A launch's arguments, the numbers and arrays in them, and their types. ``lengths``: what
    the grid followed from, where the launch left it open."""

    values: tuple[object, ...]
    leaves: tuple[Argument, ...]
    signature: Signature
    lengths: tuple[Axis, ...] = ()


def _reach(array: ArrayArgument) -> int:
    """The greatest number that indexing an array counts to: of its elements, or of those that
    its strides pass over."""
    elements = math.prod(n or 1 for n in array.shape)
    if array.contiguous:
        return elements
    passed = sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides) if n > 1)
    return max(elements, passed // array.dtype.size)


def _is_ordinary(launch: Launch, leaves: tuple[Argument, ...], ints: tuple[int, ...]) -> bool:
    """Whether the compiler may count in 32 bits and take each array to have elements: what can
    be told of a launch for free. ``ints``: the leaves that are Python ints to the kernel."""
    arrays = [a for a in leaves if isinstance(a, ArrayArgument)]
    threads = max(g * b for g, b in zip(launch.grid, launch.block))
    largest = max(map(_reach, arrays), default=0)
    numbers = max((abs(_whole(leaves[i])) for i in ints), default=0)
    few_blocks = max(launch.grid) <= BLOCKS32_LIMIT
    filled = all(0 not in a.shape for a in arrays)
    return filled and few_blocks and max(threads, largest, numbers) < INDEX32_LIMIT


def _whole(number: Argument) -> int:
    assert not isinstance(number, ArrayArgument)
    return int(number)  # of numpy's numbers, too: the absolute value of the least is none of them

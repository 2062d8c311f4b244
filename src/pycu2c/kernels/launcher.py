"""A kernel's launches: arguments to types, types to compiled code, and the run.

Opened by ``kernel.py`` at the first launch, so that importing pycu2c stays cheap. What compiling
needs is in ``building.py``, which this opens when there is something to compile.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pycu2c.base import graph_capture
from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.diagnostics import CompileError, LaunchError
from pycu2c.base.gc_pause import gc_paused
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import DEFAULT_BLOCK_THREADS
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Source
from pycu2c.base.types import Signature, assumed_magnitude_limit, leaf_types
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.kernels import assumption_checks, grid_inference, kernel_cache
from pycu2c.kernels.deferred_compiler import kernel_compiler
from pycu2c.native.extension import LaunchConfiguration
from pycu2c.runtime import nvtx_ranges
from pycu2c.runtime.arguments import signature_conversion, vector_views
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.arguments.call_binding import call_signature
from pycu2c.runtime.arguments.flattened_arguments import (
    FlattenedArguments,
    flatten_arguments,
    leaf_names,
)
from pycu2c.runtime.cuda import startup
from pycu2c.runtime.dispatch import guards, table
from pycu2c.runtime.launch_configuration import Extent, Language, Launch, LaunchRequest
from pycu2c.runtime.runner import Axis, KernelMetadata, Runner, SpecializationKey
from pycu2c.toolchain.nvrtc import occupancy
from pycu2c.toolchain.nvrtc.resource_usage import KernelAttributes

if TYPE_CHECKING:
    from pycu2c.codegen.statements import Comments
    from pycu2c.compiler import Generated, Piece
    from pycu2c.explain.notes import Note
    from pycu2c.frontend.function_builder import BuiltModule

_MOST_BLOCKS = 16  # shapes of blocks that C is made for; later ones share one for any shape


@dataclass(frozen=True, slots=True)
class Typed:
    """A kernel for one signature, and what it was compiled to."""

    metadata: KernelMetadata
    limits: Mapping[int, int]  # of whole numbers, by their leaves: what an ordinary launch gives
    memory: kernel_cache.KernelCacheEntry | None
    runners: dict[SpecializationKey, Runner] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Taken:
    """A launch's arguments, the numbers and arrays in them, and their types. ``lengths``: what
    the grid followed from, where the launch left it open."""

    values: tuple[object, ...]
    leaves: tuple[Argument, ...]
    signature: Signature
    lengths: tuple[Axis, ...] = ()


@dataclass(frozen=True, slots=True)
class Ready:
    """A launch whose arguments are checked and whose kernel is compiled; ``is_first``: for it."""

    launch: Launch
    taken: Taken
    typed: Typed
    key: SpecializationKey
    runner: Runner
    is_first: bool


class Launcher:
    """What has been built and compiled of one kernel, and its dispatch table."""

    def __init__(
        self,
        source: Source,
        declared: tuple[Signature, ...],
        backend: str,
        cache: bool,
        options: Options = DEFAULT_OPTIONS,
    ) -> None:
        self.source, self.name = source, source.name
        self.declared, self.backend, self.cache = declared, backend, cache
        self.options = options
        self._parameters = call_signature(source.python)
        self._names = tuple(
            f"{self.name}: argument {i} ({name})"
            for i, name in enumerate(self._parameters.names, start=1)
        )
        only = declared[0].parameters if len(declared) == 1 else ()
        self._vectors = vector_views.vector_parameters(only) if only else {}
        self._latest: Signature | None = None
        self._trusting = False
        self._typed: dict[Signature, Typed] = {}
        self._best: dict[tuple[Signature, int], int] = {}
        self._memories: dict[Signature, kernel_cache.KernelCacheEntry] = {}
        self.dispatch_table: table.DispatchTable | None = None

    # ---- looking inside ----

    @cached_property
    def builder(self) -> kernel_compiler.Builder:
        """What compiles the kernel."""
        return kernel_compiler.Builder(self.source, self.cache, self.options)

    def built(self, signature: Signature) -> BuiltModule:
        """The typed IR for a signature. Raises CompileError with every mistake."""
        return self.builder.built(signature)

    def text(
        self,
        what: Language,
        signature: Signature,
        block: Extent | None = None,
        arch: str | None = None,
    ) -> str:
        """The IR, the generated source or what a GPU runs; C also for a shape of blocks."""
        return self.builder.text(what, signature, kernel_compiler.Form(block, arch))

    def attributes(self, signature: Signature, arch: str | None) -> KernelAttributes:
        """What the kernel takes of a GPU."""
        return self.builder.attributes(signature, arch)

    def generated(
        self,
        target: str,
        signature: Signature,
        comments: Comments = "none",
        block: Extent | None = None,
    ) -> Generated:
        """The text for a target, and what a launch needs to know of it."""
        return self.builder.generated(target, signature, comments, block)

    def piece(self, signature: Signature) -> Piece:
        """The kernel as a part of a file with several."""
        return self.builder.piece(signature)

    def notes(self, signature: Signature) -> list[Note]:
        """What the lines cost on a GPU, for a signature."""
        return self.builder.notes(signature)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the kernel's parameters, in the order of signatures."""
        return self._parameters.names

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """Those that the kernel has been typed for, in order."""
        return tuple(self._typed)

    @property
    def latest(self) -> Signature | None:
        """The types of the last launch."""
        dispatched = self.dispatch_table.take_latest() if self.dispatch_table else None
        if dispatched is not None:
            self._latest = dispatched
        return self._latest

    @property
    def table_for_calls(self) -> table.DispatchTable | None:
        """The dispatch table for calls of the kernel: None with ``*rest``, which C cannot bind."""
        return self.dispatch_table if self._parameters.rest is None else None

    # ---- launching ----

    def values(self, given: tuple[object, ...], named: Mapping[str, object]) -> tuple[object, ...]:
        """What each parameter gets in a call. Raises LaunchError."""
        return self._parameters.bind(given, named)

    def given(self, values: Sequence[object]) -> FlattenedArguments:
        """The types, numbers and arrays of a launch's arguments. Raises LaunchError."""
        if self._vectors:
            values = vector_views.view_as_vectors(values, self._vectors)
        return flatten_arguments(values, self._names)

    def launch(
        self, configuration: LaunchConfiguration, wanted: LaunchRequest, values: tuple[object, ...]
    ) -> None:
        """Check the arguments, compile if these types are new, and run. ``configuration`` is what
        is wanted, for the dispatch table."""
        if self.dispatch_table and self.dispatch_table.launch(configuration, values):
            return
        capture = graph_capture.current()
        if capture is not None:
            capture.launch(self, wanted, values)
            return
        ready = self.ready(wanted, values)
        ready.runner.run(ready.launch, ready.taken.leaves)
        if not ready.is_first:
            self._record(ready)

    def ready(self, wanted: LaunchRequest, values: tuple[object, ...]) -> Ready:
        """A launch up to its start. Raises LaunchError, CompileError."""
        given = self.given(values)
        signature = self.signature(given)
        if signature in self._typed:
            return self._ready_as(wanted, values, given, signature)
        if self.backend in ("auto", "cuda"):
            startup.begin()
        with gc_paused():
            return self._ready_as(wanted, values, given, signature)

    def _ready_as(
        self,
        wanted: LaunchRequest,
        values: tuple[object, ...],
        given: FlattenedArguments,
        signature: Signature,
    ) -> Ready:
        typed = self.typed(signature)
        block, grid = wanted.block, wanted.grid
        if block is None:
            block = grid_inference.without_block(self.name, typed.metadata, self.backend)
        if grid is None:
            extents = given.leaves, wanted.block, self.options.cluster
            grid = grid_inference.grid_for(self.name, typed.metadata, *extents)
        lengths = () if wanted.grid or not wanted.block else typed.metadata.lengths
        launch = Launch(grid, block, wanted.stream, wanted.shared_bytes)
        return self._ready(launch, Taken(values, given.leaves, signature, lengths), typed)

    def typed(self, signature: Signature) -> Typed:
        """The kernel for a signature. Raises CompileError."""
        typed = self._typed.get(signature)
        if typed is None:
            with gc_paused():
                typed = self._typed[signature] = self._newly_typed(signature)
        return typed

    def _newly_typed(self, signature: Signature) -> Typed:
        leaves = [leaf for kind in signature.parameters for leaf in leaf_types(kind)]
        limited = ((i, assumed_magnitude_limit(kind)) for i, kind in enumerate(leaves))
        limits = {i: limit for i, limit in limited if limit is not None}
        memory = self._memory(signature)
        return Typed(self._metadata(signature, memory), limits, memory)

    def _memory(self, signature: Signature) -> kernel_cache.KernelCacheEntry | None:
        """What earlier processes have left of the kernel."""
        memory = self._memories.get(signature)
        if memory is None and self.cache:
            memory = kernel_cache.KernelCacheEntry(self.source, signature, self.options)
            self._memories[signature] = memory
        return memory

    def _metadata(
        self, signature: Signature, memory: kernel_cache.KernelCacheEntry | None
    ) -> KernelMetadata:
        metadata = memory.metadata if memory else None
        if metadata is None:
            try:
                metadata = self.builder.metadata(signature)
            except CompileError as error:
                if not self.declared:
                    error.add_note(self._launched_with(signature))
                raise
            if memory and not self.builder.built(signature).warnings:
                memory.store_metadata(metadata)
        return metadata

    def _launched_with(self, signature: Signature) -> str:
        """Where the types of an error are from, if the kernel does not say them."""
        types = zip(self._parameters.names, signature.parameters)
        return f"launched with {', '.join(f'{name}: {kind}' for name, kind in types)}"

    def _runner(self, typed: Typed, signature: Signature, key: SpecializationKey) -> Runner:
        """A kernel for a kind of launch, compiled or found."""
        names = self.leaf_names(signature)
        memory = typed.memory
        runner = memory.load_runner(key, names) if memory else None
        if runner is None:
            runner = self.builder.runner(signature, names, key)
            if memory:
                memory.store_runner(key, runner)
        return (
            nvtx_ranges.with_nvtx_ranges(runner, self.name)
            if os.environ.get("PYCU2C_NVTX") == "1"
            else runner
        )

    def _ready(self, launch: Launch, taken: Taken, typed: Typed) -> Ready:
        signature, leaves = taken.signature, taken.leaves
        for position in typed.metadata.written:
            argument = leaves[position]
            if isinstance(argument, ArrayArgument) and argument.readonly:
                name = self.leaf_names(signature)[position]
                raise LaunchError(f"{name} is written, and it is read-only: pass a copy")
        if typed.metadata.needs_dynamic_shared and not launch.shared_bytes:
            raise LaunchError(
                f"{self.name} uses dynamic shared memory, and the launch gives it none: call "
                f"{self.name}[grid, block, stream, bytes](…), or write @kernel(shared_memory=…)"
            )
        self._note(signature)
        key = self._key(launch, leaves, typed)
        runner = typed.runners.get(key)
        if runner is not None:
            return Ready(launch, taken, typed, key, runner, is_first=False)
        with gc_paused():
            runner = typed.runners[key] = self._runner(typed, signature, key)
        return Ready(launch, taken, typed, key, runner, is_first=True)

    def compile(self, signature: Signature, block: Extent) -> None:
        """What launches of blocks of this shape will need, for arrays of ordinary sizes."""
        typed, backend = self.typed(signature), self._chosen_backend()
        fixed = block if backend in CPU_BACKENDS else None
        assumptions = LaunchAssumptions(index32_safe=True, block=fixed)
        key = SpecializationKey(backend, assumptions, _device(backend))
        if key not in typed.runners:
            typed.runners[key] = self._runner(typed, signature, key)

    def prepared(self, signature: Signature) -> Launcher:
        """What launches with arguments of these types alone, and trusts its user more."""
        made = Launcher(self.source, (signature,), self.backend, self.cache, self.options)
        made.builder, made._typed, made._memories = self.builder, self._typed, self._memories
        made._trusting = True
        return made

    def _note(self, signature: Signature) -> None:
        if self.dispatch_table:
            self.dispatch_table.take_latest()  # is not the latest any more
        self._latest = signature

    def _key(self, launch: Launch, leaves: tuple[Argument, ...], typed: Typed) -> SpecializationKey:
        backend = self._chosen_backend()
        checked = assumption_checks.CheckedLaunch(
            backend, launch, leaves, typed.metadata, typed.limits
        )
        assumptions = assumption_checks.check_assumptions(checked)
        key = SpecializationKey(backend, assumptions, _device(backend))
        if key not in typed.runners and len(typed.runners) >= _MOST_BLOCKS:
            general = LaunchAssumptions(index32_safe=assumptions.index32_safe)
            return replace(key, assumptions=general)
        return key

    def _record(self, ready: Ready) -> None:
        """Record a launch, the second at least, in the dispatch table."""
        taken, typed, key, runner = ready.taken, ready.typed, ready.key, ready.runner
        blocks = assumption_checks.dispatchable_blocks(key, typed.metadata)
        if blocks is None or self._vectors:
            return
        if self.dispatch_table and not self.dispatch_table.should_record():
            return
        direct = runner.direct
        if direct is None:
            return
        entries = self.dispatch_table or table.DispatchTable(self._parameters)
        types = taken.signature.parameters
        checks = typed.metadata.written, typed.limits, self._trusting
        launch = guards.RecordedLaunch(taken.values, types, taken.leaves, *checks)
        shape = key.assumptions.block, ready.launch.shared_bytes, taken.lengths
        guard = table.LaunchGuard(*shape, self.options.cluster, blocks)
        entries.record(launch, guard, direct, taken.signature)
        self.dispatch_table = entries

    def leaf_names(self, signature: Signature) -> tuple[str, ...]:
        """What errors call each number and array of the arguments."""
        return leaf_names(self._names, signature)

    def _chosen_backend(self) -> str:
        if self.backend == "auto":
            return "cuda" if driver.available() else "cpu"
        if self.backend == "cuda" and not driver.available():
            raise LaunchError(
                f"{self.name} has backend='cuda', and there is no GPU to use: "
                f"{driver.unavailable_reason()}. Use backend='auto' to run on the CPU then"
            )
        return self.backend

    def signature(self, given: FlattenedArguments) -> Signature:
        """The types of a launch: the arguments' own, or the declared ones that they fit."""
        if not self.declared:
            return Signature(given.types)
        return signature_conversion.select_signature(given, self.declared, self._names)

    def signature_of(self, values: tuple[object, ...]) -> Signature:
        """The types of a launch with these values. Raises LaunchError."""
        return self.signature(self.given(values))

    def best_block(self, signature: Signature, shared_bytes: int) -> int:
        """How many threads a block has where nobody says it."""
        chosen = self._best.get((signature, shared_bytes))
        if chosen is None:
            chosen = DEFAULT_BLOCK_THREADS
            if self._chosen_backend() == "cuda":
                takes = self.attributes(signature, None)
                chosen = occupancy.best_block(takes, shared_bytes)
            self._best[signature, shared_bytes] = chosen
        return chosen


def _device(backend: str) -> int:
    return driver.current_ordinal() if backend == "cuda" else 0

"""Launch a kernel from Python: bind and check the arguments, derive their types, compile, run.

This is the slow path, which raises all errors of a launch. It records launches in the dispatch
table, which starts later launches of the same form from C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pycu2c.base import graph_capture
from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.cached_properties import cached_property
from pycu2c.base.diagnostics import CompileError, LaunchError, LaunchWarning, warn
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.lazy_imports import import_module
from pycu2c.base.limits import DEFAULT_BLOCK_THREADS
from pycu2c.base.output import tracing
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Source
from pycu2c.base.types import Array, Signature, assumed_magnitude_limit, leaf_types
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.kernels import assumption_checks, grid_inference, kernel_cache
from pycu2c.kernels.captured_names import CapturedNames, captured_names
from pycu2c.native.extension import LaunchConfiguration
from pycu2c.runtime import launch_observers, launch_ranges
from pycu2c.runtime.arguments import (
    array_overlap,
    record_references,
    signature_conversion,
    vector_views,
)
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.arguments.call_binding import call_signature, times_as_integers
from pycu2c.runtime.arguments.flattened_arguments import (
    FlattenedArguments,
    flatten_arguments,
    leaf_names,
)
from pycu2c.runtime.cuda import memory, startup
from pycu2c.runtime.dispatch import guards, table
from pycu2c.runtime.launch_configuration import Extent, Launch, LaunchRequest
from pycu2c.runtime.runner import (
    ExtentSource,
    FastPathLaunch,
    KernelMetadata,
    Runner,
    SpecializationKey,
)
from pycu2c.toolchain.nvrtc import occupancy

if TYPE_CHECKING:
    from pycu2c.kernels.kernel_compiler import KernelCompiler

_MAX_SPECIALIZATIONS = 16  # of a signature; later launches share a kernel for any block shape


@dataclass(frozen=True, slots=True)
class TypedKernel:
    """A kernel for one signature, with the runners of its specializations.

    limits: of integer arguments, by leaf: the magnitude below which ``index32_safe`` holds.
    """

    metadata: KernelMetadata
    limits: Mapping[int, int]
    cache_entry: kernel_cache.KernelCacheEntry | None
    captured: CapturedNames | None = None
    runners: dict[SpecializationKey, Runner] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResolvedLaunch:
    """A launch whose arguments are checked and whose kernel is compiled.

    values: the arguments, one for each parameter. leaves: the numbers and arrays in them.
    is_first: whether it is the first launch of this specialization.
    grid_sources: the lengths from which the grid was inferred, if the launch has none.
    """

    launch: Launch
    values: tuple[object, ...]
    leaves: tuple[Argument, ...]
    signature: Signature
    typed: TypedKernel
    key: SpecializationKey
    runner: Runner
    is_first: bool
    grid_sources: tuple[ExtentSource, ...] = ()


class Launcher:
    """The compiled specializations of one kernel, and its dispatch table."""

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
        types = declared[0].parameters if len(declared) == 1 else ()
        self._vector_parameters = vector_views.vector_parameters(types)
        self._latest: Signature | None = None
        self._typed: dict[Signature, TypedKernel] = {}
        self._best_blocks: dict[tuple[Signature, int], int] = {}
        self.dispatch_table: table.DispatchTable | None = None

    @cached_property
    def compiler(self) -> KernelCompiler:
        module = import_module("pycu2c.kernels.kernel_compiler")  # cached kernels do not need it
        compiler: KernelCompiler = module.KernelCompiler(self.source, self.cache, self.options)
        return compiler

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the kernel's parameters, in the order of signatures."""
        return self._parameters.names

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """The signatures that the kernel has been typed for, in order."""
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
        """The dispatch table for calls; None for kernels with ``*rest``, which C cannot bind."""
        return self.dispatch_table if self._parameters.rest is None else None

    # ---- arguments ----

    def bind(
        self, arguments: tuple[object, ...], keywords: Mapping[str, object]
    ) -> tuple[object, ...]:
        """Return the value of each parameter in a call. Raises LaunchError."""
        return times_as_integers(self._parameters.bind(arguments, keywords), self._names)

    def flatten(self, values: Sequence[object]) -> FlattenedArguments:
        """Return the types, numbers and arrays of a launch's arguments. Raises LaunchError."""
        if self._vector_parameters:
            values = vector_views.view_as_vectors(values, self._vector_parameters, self._names)
        if any(isinstance(value, np.void) for value in values):
            values = record_references.refer_to_records(values, self._record_parameters)
        return flatten_arguments(values, self._names)

    @cached_property
    def _record_parameters(self) -> frozenset[int]:
        """The positions of the parameters whose records are passed by reference."""
        written = record_references.written_names(self.source.tree)
        declared = {
            i
            for signature in self.declared
            for i, kind in enumerate(signature.parameters)
            if isinstance(kind, Array)
        }
        return frozenset(
            i for i, name in enumerate(self.parameters) if name in written or i in declared
        )

    def signature(self, flattened: FlattenedArguments) -> Signature:
        """Return the types of the arguments, or the declared signature that they match."""
        if not self.declared:
            return Signature(flattened.types)
        return signature_conversion.select_signature(flattened, self.declared, self._names)

    def signature_of(self, values: tuple[object, ...]) -> Signature:
        """Return the signature for a launch with these values. Raises LaunchError."""
        return self.signature(self.flatten(values))

    def leaf_names(self, signature: Signature) -> tuple[str, ...]:
        """Return the names of the leaves of the arguments, for error messages."""
        return leaf_names(self._names, signature)

    # ---- launches ----

    def launch(
        self, configuration: LaunchConfiguration, request: LaunchRequest, values: tuple[object, ...]
    ) -> None:
        """Check the arguments, compile the kernel if their types are new, and run it.

        ``configuration`` is the request as the dispatch table stores it.
        """
        if self.dispatch_table and self.dispatch_table.launch(configuration, values):
            return
        capture = graph_capture.current()
        if capture is not None:
            capture.launch(self, request, values)
            return
        tracing.log("launch", "%s: slow path", self.name, level=tracing.DEBUG)
        resolved = self.resolve(request, values)
        with launch_ranges.launch_range(self.name):
            resolved.runner.run(resolved.launch, resolved.leaves)
        if not resolved.is_first and not launch_ranges.are_enabled():
            self._record(resolved)

    def resolve(self, request: LaunchRequest, values: tuple[object, ...]) -> ResolvedLaunch:
        """Check the arguments of a launch and compile its kernel. Raises LaunchError, CompileError.

        The grid and the block that the request leaves open are inferred.
        """
        flattened = self.flatten(values)
        signature = self.signature(flattened)
        if self.backend in ("auto", "cuda"):
            startup.start_driver()  # the driver starts in a thread while the kernel is compiled
        typed = self.typed_kernel(signature)
        self._warn_of_changed_names(typed)
        block, grid = request.block, request.grid
        if block is None:
            block = grid_inference.inferred_block(self.name, typed.metadata, self.backend)
        if grid is None:
            grid = grid_inference.inferred_grid(
                self.name,
                typed.metadata,
                flattened.leaves,
                request.block,
                self.options.cluster,
            )
        sources = () if request.grid or not request.block else typed.metadata.lengths
        launch, leaves = Launch(grid, block, request.stream, request.shared_bytes), flattened.leaves
        self._check(launch, leaves, signature, typed)
        if self.dispatch_table:
            self.dispatch_table.take_latest()  # this launch is later
        self._latest = signature
        key = self._key(launch, leaves, typed)
        is_first = key not in typed.runners
        runner = self._runner(typed, signature, key)
        return ResolvedLaunch(
            launch, values, leaves, signature, typed, key, runner, is_first, sources
        )

    def _check(
        self,
        launch: Launch,
        leaves: tuple[Argument, ...],
        signature: Signature,
        typed: TypedKernel,
    ) -> None:
        for position in typed.metadata.written:
            argument = leaves[position]
            if isinstance(argument, ArrayArgument) and argument.readonly:
                name = self.leaf_names(signature)[position]
                raise LaunchError(f"{name} is written, and it is read-only: pass a copy")
        overlap = array_overlap.violated_rule(typed.metadata.overlap_rules, leaves)
        if overlap is not None:
            names = self.leaf_names(signature)
            written = names[overlap.written].removeprefix(f"{self.name}: ")
            reason = "and is not the same array" if overlap.may_be_same else "in another order"
            raise LaunchError(
                f"{names[overlap.read]} shares memory with {written}, {reason}: a slice operation "
                "reads elements of one and writes elements of the other. Pass a copy"
            )
        if typed.metadata.needs_dynamic_shared and not launch.shared_bytes:
            raise LaunchError(
                f"{self.name} uses dynamic shared memory, and the launch gives it none: call "
                f"{self.name}[grid, block, stream, bytes](…), or write @kernel(shared_memory=…)"
            )

    def _record(self, resolved: ResolvedLaunch) -> None:
        """Record a launch in the dispatch table, unless it is the first of its specialization."""
        leaves, typed, key = resolved.leaves, resolved.typed, resolved.key
        is_large = assumption_checks.has_large_integer(leaves, typed.limits)
        blocks = assumption_checks.dispatchable_blocks(key, typed.metadata, is_large)
        if blocks is None or vector_views.has_views(resolved.values, self._vector_parameters):
            return
        if self.dispatch_table and not self.dispatch_table.should_record():
            return
        fast_path = resolved.runner.fast_path_for(resolved.launch, leaves)
        if fast_path is None:
            return
        entries = self.dispatch_table or table.DispatchTable(self._parameters)
        entries.compared = typed.captured.compared if typed.captured else ()
        launch = guards.RecordedLaunch(
            resolved.values,
            resolved.signature.parameters,
            leaves,
            typed.metadata.written,
            _integer_ranges(resolved, fast_path),
            assumption_checks.last_axis_lengths(key, leaves, typed.metadata),
            fast_path.is_exact,
            memory.in_order_with_default(resolved.launch.stream),
        )
        guard = table.LaunchGuard(
            resolved.launch.block if fast_path.is_exact else key.assumptions.block,
            resolved.launch.shared_bytes,
            resolved.grid_sources,
            self.options.cluster,
            blocks,
            _overlap_guard(resolved, is_exact=fast_path.is_exact),
            resolved.launch.grid if fast_path.is_exact else None,
        )
        entries.record(launch, guard, fast_path, resolved.signature)
        self.dispatch_table = entries

    # ---- compilation ----

    def typed_kernel(self, signature: Signature) -> TypedKernel:
        """Return the kernel for a signature. Raises CompileError."""
        typed = self._typed.get(signature)
        if typed is None:
            typed = self._typed[signature] = self._new_typed_kernel(signature)
        return typed

    def _new_typed_kernel(self, signature: Signature) -> TypedKernel:
        leaves = [leaf for kind in signature.parameters for leaf in leaf_types(kind)]
        limits = {i: assumed_magnitude_limit(kind) for i, kind in enumerate(leaves)}
        entry = (
            kernel_cache.KernelCacheEntry(self.source, signature, self.options)
            if self.cache
            else None
        )
        known_limits = {i: limit for i, limit in limits.items() if limit is not None}
        captured = captured_names(self.source)
        return TypedKernel(self._metadata(signature, entry), known_limits, entry, captured)

    def _warn_of_changed_names(self, typed: TypedKernel) -> None:
        """Warn of names that were assigned since the kernel was compiled."""
        if typed.captured is None:
            return
        names = typed.captured.take_changed()
        if self.dispatch_table:
            self.dispatch_table.compared = typed.captured.compared
        if names:
            shown = " and ".join(f"`{name}`" for name in names)
            value = "its earlier value" if len(names) == 1 else "their earlier values"
            warn(
                f"{shown} changed after {self.name} was compiled, and {self.name} still uses "
                f"{value}: call {self.name}.recompile() after a change, or pass numbers and arrays "
                "as arguments",
                LaunchWarning,
            )

    def _metadata(
        self, signature: Signature, entry: kernel_cache.KernelCacheEntry | None
    ) -> KernelMetadata:
        if entry is None:
            return self._new_metadata(signature)
        metadata = entry.load_metadata()
        if metadata is None:
            with entry.process_lock("metadata"):
                metadata = entry.load_metadata()
                if metadata is None:
                    metadata = self._new_metadata(signature)
                    if not self.compiler.build(signature).warnings:
                        entry.store_metadata(metadata)
        return metadata

    def _new_metadata(self, signature: Signature) -> KernelMetadata:
        try:
            return self.compiler.metadata(signature)
        except CompileError as error:
            if not self.declared:
                types = zip(self._parameters.names, signature.parameters)
                shown = ", ".join(f"{name}: {kind}" for name, kind in types)
                error.add_note(f"launched with {shown}")
            raise

    def _key(
        self, launch: Launch, leaves: tuple[Argument, ...], typed: TypedKernel
    ) -> SpecializationKey:
        backend = driver.available_backend(self.backend, self.name)
        checked = assumption_checks.CheckedLaunch(
            backend, launch, leaves, typed.metadata, typed.limits
        )
        assumptions = assumption_checks.check_assumptions(checked)
        key = SpecializationKey(backend, assumptions, _device(backend))
        if key not in typed.runners and len(typed.runners) >= _MAX_SPECIALIZATIONS:
            tracing.log("compile", "%s: one variant for all further launches", self.name)
            general = LaunchAssumptions(index32_safe=assumptions.index32_safe)
            return replace(key, assumptions=general)
        return key

    def _runner(self, typed: TypedKernel, signature: Signature, key: SpecializationKey) -> Runner:
        """Return the compiled kernel of a specialization; compile it or load it from the cache."""
        runner = typed.runners.get(key)
        if runner is None:
            runner = typed.runners[key] = self._new_runner(typed, signature, key)
        return runner

    def _new_runner(
        self, typed: TypedKernel, signature: Signature, key: SpecializationKey
    ) -> Runner:
        names = self.leaf_names(signature)
        entry = None if launch_observers.OBSERVERS else typed.cache_entry
        runner = entry.load_runner(key, names) if entry else None
        if runner is None and entry:
            with entry.process_lock(key):
                runner = entry.load_runner(key, names)
                if runner is None:
                    runner = self.compiler.runner(signature, names, key)
                    entry.store_runner(key, runner)
        elif runner is None:
            runner = self.compiler.runner(signature, names, key)
        return runner

    def compile(self, signature: Signature, block: Extent) -> None:
        """Compile for blocks of this shape and for arrays of at most 2**30 elements."""
        backend = driver.available_backend(self.backend, self.name)
        typed = self.typed_kernel(signature)
        assumptions = LaunchAssumptions(
            index32_safe=True,
            block=block if backend in CPU_BACKENDS else None,
            small_products=typed.metadata.integer_products,
        )
        key = SpecializationKey(backend, assumptions, _device(backend))
        self._runner(typed, signature, key)

    def without_code(self) -> Launcher:
        """Return a new launcher of the same kernel, for which nothing is compiled yet."""
        return Launcher(self.source, self.declared, self.backend, self.cache, self.options)

    def best_block(self, signature: Signature, shared_bytes: int) -> int:
        """Return the threads per block with which a multiprocessor holds the most threads."""
        key = signature, shared_bytes
        if key not in self._best_blocks:
            threads = DEFAULT_BLOCK_THREADS
            if driver.available_backend(self.backend, self.name) == "cuda":
                attributes = self.compiler.attributes(signature, None)
                threads = occupancy.best_block(attributes, shared_bytes)
            self._best_blocks[key] = threads
        return self._best_blocks[key]


def _integer_ranges(
    resolved: ResolvedLaunch, fast_path: FastPathLaunch
) -> dict[int, tuple[int, int]]:
    """Return the ranges of the integers of later launches of the same specialization."""
    ranges = assumption_checks.integer_ranges(
        resolved.key, resolved.leaves, resolved.typed.metadata, resolved.typed.limits
    )
    for i, (low, high) in fast_path.integers.items():
        least, largest = ranges.get(i, (low, high))
        ranges[i] = max(low, least), min(high, largest)
    return ranges


def _overlap_guard(resolved: ResolvedLaunch, *, is_exact: bool) -> table.OverlapGuard:
    """Return which arrays must not overlap in later launches of the same specialization."""
    metadata = resolved.typed.metadata
    if is_exact or resolved.key.assumptions.distinct_arrays:
        leaves = enumerate(resolved.leaves)
        arrays = tuple(i for i, leaf in leaves if isinstance(leaf, ArrayArgument))
        written = arrays if is_exact else tuple(sorted(metadata.written))
        return table.OverlapGuard(arrays, written, may_be_same=False)
    rules = metadata.overlap_rules
    return table.OverlapGuard(
        tuple(sorted({rule.read for rule in rules})),
        tuple(sorted({rule.written for rule in rules})),
        all(rule.may_be_same for rule in rules),
    )


def _device(backend: str) -> int:
    return driver.current_ordinal() if backend == "cuda" else 0

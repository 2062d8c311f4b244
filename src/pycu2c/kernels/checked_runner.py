"""Run an instrumented kernel, and raise what its checks have found."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from pycu2c.analysis.ranges.interval_arithmetic import Interval, is_integral
from pycu2c.analysis.ranges.range_analysis import ParameterRanges
from pycu2c.base.diagnostics import LaunchWarning, warn
from pycu2c.base.dtypes import UINT8
from pycu2c.base.records import dataclass, field, replace
from pycu2c.checks import decoding, instrumentation
from pycu2c.checks.check_sites import CheckSite
from pycu2c.checks.coverage_flags import CoverageFlags, with_coverage_flags
from pycu2c.checks.instrumentation import InstrumentedKernel, LaunchFacts
from pycu2c.checks.memory_regions import MemoryRegion, memory_regions
from pycu2c.declarations.options import CheckGroup
from pycu2c.frontend.function_builder import BuiltModule
from pycu2c.ir.printer import print_module
from pycu2c.kernels import specialization
from pycu2c.kernels.checked_memory import (
    CheckArrays,
    DeviceFindings,
    HostArrays,
    PersistentArrays,
    Shapes,
    has_clocks,
    host_argument,
    memory_limit,
    persistent_arrays,
    shadow_shapes,
    wait_limit,
)
from pycu2c.runtime import launch_observers
from pycu2c.runtime.arguments.arguments import pack
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, as_int
from pycu2c.runtime.findings import CheckError, check_error
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import (
    HAS_FINDINGS,
    FastPathLaunch,
    Runner,
    SpecializationKey,
)
from pycu2c.transforms.common.select_inline_c import select_python_bodies


@dataclass(frozen=True, slots=True)
class _Binary:
    """A compiled kernel. text: its instrumented IR. lines: the flags for coverage."""

    text: str
    sites: tuple[CheckSite, ...]
    lines: CoverageFlags
    runner: Runner
    device_findings: DeviceFindings


@dataclass(slots=True)
class _Variant:
    """The binary of launches with the same facts, and with integers in these ranges.

    groups: of its checks. shapes: of its shadows. wait_limit: how many seconds a thread may wait on
    a GPU. has_overlap: whether arrays share memory.
    """

    binary: _Binary
    integers: tuple[Interval, ...]
    groups: frozenset[CheckGroup]
    shapes: Shapes
    wait_limit: float
    has_overlap: bool
    launch_count: int = 0


@dataclass(slots=True)
class _Variants:
    """The variants of launches that differ only in their integers.

    general: the variant for ranges of integers, if there is one.
    """

    by_integers: dict[tuple[int, ...], _Variant] = field(default_factory=dict)
    general: _Variant | None = None


class CheckedRunner(Runner):
    """Instruments a kernel for the facts of its launches, and runs it.

    The values of integers and the lengths of arrays prove that most accesses are in bounds. Only
    the others are checked. Launches that need the same checks share a binary.
    """

    def __init__(
        self, kernel: specialization.Specialization, key: SpecializationKey, cache: bool
    ) -> None:
        self._kernel, self._key, self._cache = kernel, key, cache
        self._is_on_gpu = key.backend == "cuda"
        module = kernel.built.module
        self._module = module if self._is_on_gpu else select_python_bodies(module)
        self._integers = [p.argument for p in module.kernel.parameters if is_integral(p.type)]
        self._binaries: dict[object, _Binary] = {}
        self._variants: defaultdict[object, _Variants] = defaultdict(_Variants)

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        variant = self._variant(launch, arguments)
        variant.launch_count += 1
        binary = variant.binary
        if not binary.sites and not binary.lines.count:
            binary.runner.run(launch, arguments)
            return
        lines = np.zeros(binary.lines.count, np.uint8)
        flags = [host_argument(lines, UINT8)] if len(lines) else []
        raised = None
        with self._arrays(variant, launch) as arrays:
            hidden = arrays.arguments if binary.sites else ()
            try:
                binary.runner.run(launch, (*arguments, *hidden, *flags))
            except CheckError as error:  # an exception of a thread, or a deadlock
                raised = error
        if len(lines):
            arcs = binary.lines.arcs(lines)
            for record in launch_observers.line_recorders():
                record(arcs)
        self._raise_findings(arrays.rows, binary.sites, launch, raised)

    def _arrays(self, variant: _Variant, launch: Launch) -> AbstractContextManager[CheckArrays]:
        if self._is_on_gpu and variant.binary.sites:
            findings = variant.binary.device_findings
            return findings.arrays(variant.shapes, variant.wait_limit, launch)
        return nullcontext(HostArrays(len(variant.binary.sites), variant.shapes))

    def _raise_findings(
        self,
        rows: decoding.FindingRows,
        sites: Sequence[CheckSite],
        launch: Launch,
        raised: CheckError | None,
    ) -> None:
        """Raise the findings of a launch, with the error that it has raised."""
        found = decoding.decode(rows, sites, launch.grid, launch.block)
        if raised is None and not found:
            return
        if raised is None:
            raise check_error(self._kernel.source.name, found)
        raised.findings = (*found, *raised.findings)
        raise raised

    # ---- launches by the dispatch table ----

    def fast_path_for(self, launch: Launch, arguments: Sequence[Argument]) -> FastPathLaunch | None:
        """Return the fast path of launches with the same facts, from the third one on."""
        variant = self._variant(launch, arguments)
        binary, arrays = variant.binary, [a for a in arguments if isinstance(a, ArrayArgument)]
        fast_path = binary.runner.fast_path
        is_compared = all(a.contiguous and not a.is_unwritten for a in arrays)
        is_compared = is_compared and not variant.has_overlap
        if fast_path is None or not is_compared or binary.lines.count or variant.launch_count < 2:
            return None
        integers = {n: (i.low, i.high) for n, i in zip(self._integers, variant.integers)}
        fast_path = replace(fast_path, is_exact=True, integers=integers)
        if not binary.sites:
            return fast_path
        limit, on_gpu = variant.wait_limit, self._is_on_gpu
        persistent = persistent_arrays(len(binary.sites), variant.shapes, limit, on_gpu=on_gpu)
        if persistent is None:
            return None
        passed = (*arguments, *persistent.arguments)
        addresses = [a.address if isinstance(a, ArrayArgument) else 0 for a in passed]
        hidden = persistent.hidden(pack(fast_path.layout, passed, addresses))
        finish = self._finish(persistent, binary.sites, launch, fast_path.raise_for_code)
        return replace(fast_path, raise_for_code=finish, hidden=hidden)

    def _finish(
        self,
        arrays: PersistentArrays,
        sites: Sequence[CheckSite],
        launch: Launch,
        raise_for_code: Callable[[int, bytes], None],
    ) -> Callable[[int, bytes], None]:
        """Return what C calls with the code of a launch that has failed or has findings."""

        def finish(code: int, header: bytes) -> None:
            if self._is_on_gpu and code != HAS_FINDINGS:
                raise_for_code(code, header)  # the context can no longer be used
            rows = arrays.take_findings()
            if code != HAS_FINDINGS:
                raise_for_code(code, header)
            self._raise_findings(rows, sites, launch, None)

        return finish

    # ---- variants ----

    def _variant(self, launch: Launch, arguments: Sequence[Argument]) -> _Variant:
        arrays = {n: a for n, a in enumerate(arguments) if isinstance(a, ArrayArgument)}
        regions = tuple(memory_regions(arrays))
        integers = tuple(as_int(arguments[n]) for n in self._integers)
        shapes = tuple(a.shape for a in arrays.values())
        variants = self._variants[launch.grid, launch.block, launch.shared_bytes, shapes, regions]
        general, variant = variants.general, variants.by_integers.get(integers)
        if general and all(n in ranges for n, ranges in zip(integers, general.integers)):
            return general
        if variant is None:
            facts = self._facts(launch, arguments, regions)
            variant = self._compile(launch, facts, tuple(Interval(n, n) for n in integers))
            variants.by_integers[integers] = variant
            count = len(variants.by_integers)
            if count >= 4 and not count & (count - 1):
                variants.general = self._general(variants, variant, facts) or general
        return variant

    def _facts(
        self, launch: Launch, arguments: Sequence[Argument], regions: tuple[MemoryRegion, ...]
    ) -> LaunchFacts:
        """Return what is known of a launch, without its integers."""
        assumptions = replace(self._key.assumptions, block=launch.block, grid=launch.grid)
        lengths = {
            (p.name, axis): Interval(length, length)
            for p in self._module.kernel.parameters
            if isinstance(array := arguments[p.argument], ArrayArgument)
            for axis, length in enumerate(array.shape)
        }
        ranges, on_gpu = ParameterRanges({}, lengths), self._is_on_gpu
        return LaunchFacts(assumptions, ranges, regions, on_gpu, launch.shared_bytes)

    def _instrument(
        self,
        facts: LaunchFacts,
        integers: Sequence[Interval],
        groups: frozenset[CheckGroup],
    ) -> InstrumentedKernel:
        module, by_argument = self._module, dict(zip(self._integers, integers))
        parameters = module.kernel.parameters
        numbers = {p.name: by_argument[p.argument] for p in parameters if is_integral(p.type)}
        assert facts.parameters is not None
        facts = replace(facts, parameters=replace(facts.parameters, numbers=numbers))
        return instrumentation.instrument(module, groups, facts, self._kernel.options.wraparound)

    def _general(
        self, variants: _Variants, variant: _Variant, facts: LaunchFacts
    ) -> _Variant | None:
        """Return a variant for ranges of integers; None if they need more checks than ``variant``.

        Otherwise, a kernel with a counter would be instrumented for each value.
        """
        integers = tuple(map(_widened, zip(*variants.by_integers)))
        instrumented = self._instrument(facts, integers, variant.groups)
        code = instrumented.sites, self._text(instrumented)
        is_equal = code == (variant.binary.sites, variant.binary.text)
        return replace(variant, integers=integers, launch_count=0) if is_equal else None

    def _compile(
        self, launch: Launch, facts: LaunchFacts, integers: tuple[Interval, ...]
    ) -> _Variant:
        """Instrument the kernel for a launch, and compile it unless an earlier launch has."""
        groups = frozenset(self._kernel.options.check)
        instrumented = self._instrument(facts, integers, groups)
        size = 8 * sum(map(math.prod, shadow_shapes(instrumented, launch)))
        if size > memory_limit():
            warn(
                f"{self._kernel.source.name}: races and initialization are not checked, as this "
                f"would take {size >> 20} MiB: launch fewer blocks or smaller arrays, or set "
                "PYCU2C_CHECK_MEMORY to more bytes",
                LaunchWarning,
            )
            groups -= {"race", "init"}
            instrumented = self._instrument(facts, integers, groups)
        elif not has_clocks(instrumented, launch):
            warn(
                f"{self._kernel.source.name}: races between blocks are not found: "
                "launch fewer blocks, or set PYCU2C_CHECK_MEMORY to more bytes",
                LaunchWarning,
            )
        binary = self._binary(instrumented)
        shapes = tuple(shadow_shapes(instrumented, launch))
        has_overlap = any(len(region.offsets) > 1 for region in facts.regions)
        return _Variant(binary, integers, groups, shapes, wait_limit(), has_overlap)

    def _text(self, kernel: InstrumentedKernel) -> str:
        return print_module(kernel.module) if kernel.sites else ""

    def _binary(self, kernel: InstrumentedKernel) -> _Binary:
        sites, text = kernel.sites, self._text(kernel)
        binary = self._binaries.get((sites, text))
        if binary is None:
            module, lines = with_coverage_flags(kernel.module if sites else self._module)
            compiled = replace(self._kernel, built=BuiltModule(module))
            runner = specialization.compile_runner(compiled, self._key, self._cache)
            binary = _Binary(text, sites, lines, runner, DeviceFindings(len(sites)))
            self._binaries[sites, text] = binary
        return binary


def _widened(values: Sequence[int]) -> Interval:
    """Return a range that later values are likely to be in: numbers of four more bits."""
    low, high = min(values), max(values)
    if low == high:
        return Interval(low, high)
    limit = 1 << max(low.bit_length(), high.bit_length()) + 4
    return Interval(min(low, 1) if low >= 0 else -limit, max(high, 0) if high <= 0 else limit)

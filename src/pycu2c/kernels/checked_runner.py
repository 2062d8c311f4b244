"""Run an instrumented kernel, and raise what its checks have found."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from pycu2c.analysis.ranges.interval_arithmetic import Interval, is_integral
from pycu2c.analysis.ranges.range_analysis import ParameterRanges
from pycu2c.base.diagnostics import LaunchError, LaunchWarning, warn
from pycu2c.base.dtypes import INT64, UINT8, UINT64, DType
from pycu2c.base.records import dataclass, field, replace
from pycu2c.checks import decoding, instrumentation
from pycu2c.checks.device_functions import happens_before
from pycu2c.checks.device_functions.rendezvous import EXTRA_ENTRIES
from pycu2c.checks.device_functions.shadow_words import MAX_BLOCKS, ORDERED_WORDS, WORDS
from pycu2c.checks.line_flags import LineFlags, with_line_flags
from pycu2c.checks.memory_regions import MemoryRegion, memory_regions
from pycu2c.checks.shadow_arrays import ORDER
from pycu2c.checks.waiting import ARRIVALS
from pycu2c.cuda_driver import driver
from pycu2c.frontend.function_builder import BuiltModule
from pycu2c.ir.nodes import Module
from pycu2c.kernels import specialization
from pycu2c.runtime import line_coverage
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, as_int
from pycu2c.runtime.findings import CheckError, check_error
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import FastPathLaunch, Runner, SpecializationKey


@dataclass(frozen=True, slots=True)
class _Variant:
    kernel: instrumentation.InstrumentedKernel
    lines: LineFlags
    runner: Runner
    is_on_gpu: bool
    # arrays of findings on the GPU that no launch uses, by the ordinal of the device
    unused_findings: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


class CheckedRunner:
    """A kernel that is instrumented for each launch with the checks that it needs.

    The values of integers and the lengths of arrays prove that most accesses are in bounds; the
    other ones are checked. Launches that need the same checks share a binary.
    """

    def __init__(
        self, kernel: specialization.Specialization, key: SpecializationKey, cache: bool
    ) -> None:
        self._kernel, self._key, self._cache = kernel, key, cache
        parameters = kernel.built.module.kernel.parameters
        self._integers = [p.argument for p in parameters if is_integral(p.type)]
        self._variants: dict[object, _Variant] = {}
        self._variants_by_facts: dict[object, _Variant] = {}

    @property
    def fast_path(self) -> FastPathLaunch | None:
        return None

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        variant = self._variant(launch, arguments)
        sites = variant.kernel.sites
        rows = decoding.new_rows(len(sites), _wait_limit())
        lines = np.zeros(variant.lines.count, np.uint8)
        raised = None
        with ExitStack() as stack:
            hidden = _hidden_arguments(variant, launch, rows, stack)
            if len(lines):
                hidden.append(_host_argument(lines, UINT8))
            try:
                variant.runner.run(launch, (*arguments, *hidden))
            except CheckError as error:  # of threads, or of threads that wait for each other
                raised = error
        line_coverage.record(variant.lines.arcs(lines))
        found = decoding.decode(rows, sites, launch.grid, launch.block)
        if raised is None and found:
            raised = check_error(self._kernel.source.name, found)
        elif raised is not None:
            raised.findings = (*found, *raised.findings)
        if raised is not None:
            raise raised

    def _variant(self, launch: Launch, arguments: Sequence[Argument]) -> _Variant:
        arrays = {n: a for n, a in enumerate(arguments) if isinstance(a, ArrayArgument)}
        regions = tuple(memory_regions(arrays))
        integers = tuple(as_int(arguments[n]) for n in self._integers)
        shapes = tuple(a.shape for a in arrays.values())
        facts = launch.grid, launch.block, launch.shared_bytes, integers, shapes, regions
        variant = self._variants_by_facts.get(facts)
        if variant is None:
            variant = self._compile(launch, arguments, regions)
            self._variants_by_facts[facts] = variant
        return variant

    def _compile(
        self, launch: Launch, arguments: Sequence[Argument], regions: tuple[MemoryRegion, ...]
    ) -> _Variant:
        """Instrument the kernel for a launch, and compile it unless a launch before has."""
        options, module = self._kernel.options, self._kernel.built.module
        assumptions = replace(self._key.assumptions, block=launch.block, grid=launch.grid)
        ranges, is_on_gpu = _parameter_ranges(module, arguments), self._key.backend == "cuda"
        facts = instrumentation.LaunchFacts(
            assumptions, ranges, regions, is_on_gpu, launch.shared_bytes
        )
        groups = frozenset(options.check)
        instrumented = instrumentation.instrument(module, groups, facts, options.wraparound)
        size = sum(8 * math.prod(s) for s in _shadow_shapes(instrumented, launch))
        if size > _memory_limit():
            warn(
                f"{self._kernel.source.name}: races and initialization are not checked, as this "
                f"would take {size >> 20} MiB: launch fewer blocks or smaller arrays, or set "
                "PYCU2C_CHECK_MEMORY to more bytes",
                LaunchWarning,
            )
            groups -= {"race", "init"}
            instrumented = instrumentation.instrument(module, groups, facts, options.wraparound)
        elif not _has_clocks(instrumented, launch):
            warn(
                f"{self._kernel.source.name}: accesses of different blocks are taken as ordered: "
                "launch fewer blocks, or set PYCU2C_CHECK_MEMORY to more bytes",
                LaunchWarning,
            )
        sites = instrumented.sites
        key = sites, tuple(shadow.layout for shadow in instrumented.shadows)
        if key not in self._variants:
            module, lines = with_line_flags(instrumented.module if sites else module)
            kernel = replace(self._kernel, built=BuiltModule(module, ()))
            runner = specialization.compile_runner(kernel, self._key, self._cache)
            self._variants[key] = _Variant(instrumented, lines, runner, is_on_gpu)
        return replace(self._variants[key], kernel=instrumented)


def _parameter_ranges(module: Module, arguments: Sequence[Argument]) -> ParameterRanges:
    """Return the values of the integers of a launch, and the lengths of its arrays."""
    numbers: dict[str, Interval] = {}
    lengths: dict[tuple[str, int], Interval] = {}
    for p in module.kernel.parameters:
        argument = arguments[p.argument]
        if isinstance(argument, ArrayArgument):
            for axis, length in enumerate(argument.shape):
                lengths[p.name, axis] = Interval(length, length)
        elif is_integral(p.type):
            numbers[p.name] = Interval(as_int(argument), as_int(argument))
    return ParameterRanges(numbers, lengths)


# ---- hidden arguments --------------------------------------------------------------------------


def _hidden_arguments(
    variant: _Variant,
    launch: Launch,
    rows: decoding.FindingRows,
    stack: ExitStack,
) -> list[ArrayArgument]:
    """Return the array of findings and the shadows, which last until the stack is closed."""
    if not variant.kernel.sites:
        return []
    if variant.is_on_gpu:
        hidden = [stack.enter_context(_findings_on_gpu(variant, rows, launch))]
    else:
        hidden = [_host_argument(rows, INT64)]
    for shape in _shadow_shapes(variant.kernel, launch):
        if variant.is_on_gpu:
            hidden.append(_zeros_on_gpu(shape, launch, stack))
        else:
            hidden.append(_host_argument(np.zeros(shape, np.uint64), UINT64))
    return hidden


def _shadow_shapes(
    kernel: instrumentation.InstrumentedKernel, launch: Launch
) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of the shadows of a launch."""
    blocks, size = math.prod(launch.grid), 0
    words = ORDERED_WORDS if ORDER in kernel.shadows else WORDS
    for shadow in kernel.shadows if kernel.sites else ():
        if shadow == ORDER:  # the last one
            columns = happens_before.ENTRIES + 2 * blocks
            is_small = blocks <= MAX_BLOCKS and size + 8 * blocks * columns <= _memory_limit()
            shape: tuple[int, ...] = (blocks, columns if is_small else happens_before.ENTRIES + 2)
        elif shadow == ARRIVALS:
            threads = math.prod(launch.block)
            shape = (blocks, threads + (threads + 31) // 32 + EXTRA_ENTRIES, WORDS)
        else:
            shape = shadow.shape(blocks, launch.shared_bytes, words)
        size += 8 * math.prod(shape)
        yield shape


def _has_clocks(kernel: instrumentation.InstrumentedKernel, launch: Launch) -> bool:
    """Return whether the shadows of a launch have an entry for each pair of blocks, if needed."""
    if not kernel.sites or ORDER not in kernel.shadows:
        return True
    *_, (blocks, columns) = _shadow_shapes(kernel, launch)
    return columns == happens_before.ENTRIES + 2 * blocks


def _memory_limit() -> int:
    """Return how many bytes the shadows of a launch may take. Raises LaunchError."""
    setting = os.environ.get("PYCU2C_CHECK_MEMORY", str(1 << 30))
    if not setting.isdecimal():
        raise LaunchError(f"PYCU2C_CHECK_MEMORY is a number of bytes, not {setting!r}")
    return int(setting)


def _wait_limit() -> float:
    """Return how many seconds a thread may wait for others on a GPU. Raises LaunchError."""
    setting = os.environ.get("PYCU2C_CHECK_TIMEOUT", "10")
    try:
        seconds = float(setting)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < 1e6:
        raise LaunchError(f"PYCU2C_CHECK_TIMEOUT is a number of seconds, not {setting!r}")
    return seconds


@contextmanager
def _findings_on_gpu(
    variant: _Variant, rows: decoding.FindingRows, launch: Launch
) -> Iterator[ArrayArgument]:
    """Yield the array of findings on the GPU, which is then copied to ``rows``."""
    stream = driver.stream_of(launch.stream)
    copies = variant.unused_findings[driver.current_ordinal()]
    address = copies.pop() if copies else driver.allocate(rows.nbytes)
    driver.copy_in(address, rows.ctypes.data, rows.nbytes, stream)
    yield ArrayArgument(INT64, rows.shape, rows.strides, address, False, True, "device", None)
    driver.copy_out(rows.ctypes.data, address, rows.nbytes, stream)
    driver.synchronize(stream)
    copies.append(address)


def _host_argument(array: npt.NDArray[Any], dtype: DType) -> ArrayArgument:
    address = array.ctypes.data
    return ArrayArgument(dtype, array.shape, array.strides, address, False, True, "host", array)


def _zeros_on_gpu(shape: tuple[int, ...], launch: Launch, stack: ExitStack) -> ArrayArgument:
    """Return an array of zeros on the device, which is freed after the launch."""
    count = math.prod(shape)
    address = driver.allocate(8 * count)
    stack.callback(driver.free, address)
    driver.fill(address, bytes(4), 2 * count, driver.stream_of(launch.stream))
    strides = tuple(8 * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    return ArrayArgument(UINT64, shape, strides, address, False, True, "device", None)

"""Run an instrumented kernel, and raise what its checks have found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt

from pycu2c.analysis.ranges.interval_arithmetic import Interval, is_integral
from pycu2c.analysis.ranges.range_analysis import ParameterRanges
from pycu2c.base.dtypes import INT64, UINT64, DType
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, replace
from pycu2c.checks import decoding, instrumentation
from pycu2c.checks.check_sites import CheckSite
from pycu2c.checks.shadow_arrays import WORDS, ShadowParameter
from pycu2c.cuda_driver import driver
from pycu2c.frontend.function_builder import BuiltModule
from pycu2c.ir.nodes import Module
from pycu2c.kernels import specialization
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, as_int
from pycu2c.runtime.findings import CheckError, check_error
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import FastPathLaunch, Runner, SpecializationKey


@dataclass(frozen=True, slots=True)
class _Variant:
    """An instrumented kernel, its check sites, and its hidden parameters after the findings."""

    sites: tuple[CheckSite, ...]
    shadows: tuple[ShadowParameter, ...]
    runner: Runner
    is_on_gpu: bool


class CheckedRunner:
    """A kernel that is instrumented for each launch with the checks that it needs.

    The values of integers and the lengths of arrays prove that most accesses are in bounds; the
    other ones are checked. Launches that need the same checks share a binary.
    """

    def __init__(
        self, kernel: specialization.Specialization, key: SpecializationKey, cache: bool
    ) -> None:
        self._kernel, self._cache = kernel, cache
        assumptions = LaunchAssumptions(
            index32_safe=key.assumptions.index32_safe, block=key.assumptions.block
        )
        self._key = replace(key, assumptions=assumptions)
        self._variants: dict[tuple[CheckSite, ...], _Variant] = {}
        self._variants_by_facts: dict[object, _Variant] = {}

    @property
    def fast_path(self) -> FastPathLaunch | None:
        return None

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        variant = self._variant(launch, arguments)
        rows = decoding.new_rows(len(variant.sites))
        raised = None
        with ExitStack() as stack:
            hidden = _hidden_arguments(variant, launch, arguments, rows, stack)
            try:
                variant.runner.run(launch, (*arguments, *hidden))
            except CheckError as error:  # of threads, or of threads that wait for each other
                raised = error
        found = decoding.decode(rows, variant.sites, launch.grid, launch.block)
        if raised is None and found:
            raised = check_error(self._kernel.source.name, found)
        elif raised is not None:
            raised.findings = (*found, *raised.findings)
        if raised is not None:
            raise raised

    def _variant(self, launch: Launch, arguments: Sequence[Argument]) -> _Variant:
        values = tuple(a.shape if isinstance(a, ArrayArgument) else a for a in arguments)
        facts = launch.grid, launch.block, tuple(v for v in values if isinstance(v, int | tuple))
        variant = self._variants_by_facts.get(facts)
        if variant is None:
            variant = self._variants_by_facts[facts] = self._compile(launch, arguments)
        return variant

    def _compile(self, launch: Launch, arguments: Sequence[Argument]) -> _Variant:
        """Instrument the kernel for a launch, and compile it unless a launch before has."""
        options, module = self._kernel.options, self._kernel.built.module
        assumptions = replace(self._key.assumptions, block=launch.block, grid=launch.grid)
        facts = instrumentation.LaunchFacts(assumptions, _parameter_ranges(module, arguments))
        instrumented = instrumentation.instrument(
            module, frozenset(options.check), facts, options.wraparound
        )
        sites = instrumented.sites
        if sites not in self._variants:
            kernel = self._kernel
            if sites:
                kernel = replace(kernel, built=BuiltModule(instrumented.module, ()))
            runner = specialization.compile_runner(kernel, self._key, self._cache)
            self._variants[sites] = _Variant(
                sites, instrumented.shadows if sites else (), runner, self._key.backend == "cuda"
            )
        return self._variants[sites]


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
    arguments: Sequence[Argument],
    rows: decoding.FindingRows,
    stack: ExitStack,
) -> list[ArrayArgument]:
    """Return the array of findings and the shadows, which last until the stack is closed."""
    if not variant.sites:
        return []
    hidden = [_host_argument(rows, INT64)]
    blocks = math.prod(launch.grid)
    for shadow in variant.shadows:
        shape: tuple[int, ...] = (blocks, *shadow.shape, WORDS)
        if shadow.argument is not None:
            array = arguments[shadow.argument]
            assert isinstance(array, ArrayArgument)
            shape = (*array.shape, WORDS)
        if variant.is_on_gpu:
            hidden.append(_zeros_on_gpu(shape, launch, stack))
        else:
            hidden.append(_host_argument(np.zeros(shape, np.uint64), UINT64))
    return hidden


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

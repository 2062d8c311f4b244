"""Run an instrumented kernel, and raise what its checks have found."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.analysis.ranges.interval_arithmetic import Interval, is_integral
from pycu2c.analysis.ranges.range_analysis import ParameterRanges
from pycu2c.base.dtypes import INT64
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import replace
from pycu2c.checks import decoding, instrumentation
from pycu2c.checks.check_sites import CheckSite
from pycu2c.frontend.function_builder import BuiltModule
from pycu2c.ir.nodes import Module
from pycu2c.kernels import specialization
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, as_int
from pycu2c.runtime.findings import CheckError, check_error
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import FastPathLaunch, Runner, SpecializationKey


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
        self._sites: dict[object, tuple[CheckSite, ...]] = {}
        self._runners: dict[tuple[CheckSite, ...], Runner] = {}

    @property
    def fast_path(self) -> FastPathLaunch | None:
        return None

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        sites, runner = self._instrumented(launch, arguments)
        rows = decoding.new_rows(len(sites))
        findings = ArrayArgument(
            INT64, rows.shape, rows.strides, rows.ctypes.data, False, True, "host", rows
        )
        raised = None
        try:
            runner.run(launch, (*arguments, findings) if sites else arguments)
        except CheckError as error:  # of threads
            raised = error
        found = decoding.decode(rows, sites, launch.grid, launch.block)
        if found:
            others = raised.findings if raised else ()
            raise check_error(self._kernel.source.name, (*found, *others)) from raised
        if raised is not None:
            raise raised

    def _instrumented(
        self, launch: Launch, arguments: Sequence[Argument]
    ) -> tuple[tuple[CheckSite, ...], Runner]:
        values = tuple(a.shape if isinstance(a, ArrayArgument) else a for a in arguments)
        facts = launch.grid, launch.block, tuple(v for v in values if isinstance(v, int | tuple))
        sites = self._sites.get(facts)
        if sites is None or sites not in self._runners:
            sites = self._sites[facts] = self._compile(launch, arguments)
        return sites, self._runners[sites]

    def _compile(self, launch: Launch, arguments: Sequence[Argument]) -> tuple[CheckSite, ...]:
        """Instrument the kernel for a launch, and compile it unless a launch before has."""
        options, module = self._kernel.options, self._kernel.built.module
        assumptions = replace(self._key.assumptions, block=launch.block, grid=launch.grid)
        facts = instrumentation.LaunchFacts(assumptions, _parameter_ranges(module, arguments))
        instrumented = instrumentation.instrument(
            module, frozenset(options.check), facts, options.wraparound
        )
        if instrumented.sites not in self._runners:
            kernel = self._kernel
            if instrumented.sites:
                kernel = replace(kernel, built=BuiltModule(instrumented.module, ()))
            runner = specialization.compile_runner(kernel, self._key, self._cache)
            self._runners[instrumented.sites] = runner
        return instrumented.sites


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

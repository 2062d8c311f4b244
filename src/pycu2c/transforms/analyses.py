"""The analyses that passes use, and the manager that caches their results.

``pipeline.py`` names the analyses in the contracts of the passes. A result is cached until a pass
replaces a part of the module that the analysis reads. A pass may declare that it preserves an
analysis; its result then stays valid. Source: LLVM's and MLIR's analysis managers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, Generic, TypeAlias, TypeVar, cast

from pycu2c.analysis.effects import effectful_functions
from pycu2c.analysis.launch_ranges import IndexRules
from pycu2c.analysis.liveness import live_after_loops
from pycu2c.analysis.ranges.range_analysis import Ranges, analyse_module
from pycu2c.analysis.uniformity import Uniformity, uniformity, warp_uniformity
from pycu2c.base.dtypes import DType
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.ir import nodes as ir
from pycu2c.ir.forms import ModuleSummary, summarize_module
from pycu2c.transforms.cpu.fission.work_item_loops import StripLoops
from pycu2c.transforms.cpu.select_cpu_lowering import needs_coroutines
from pycu2c.transforms.cpu.simd.divergent_loops import divergent_loops

Result = TypeVar("Result")
LoopSelector: TypeAlias = Callable[[ir.Body, Uniformity], Set[ir.Stmt]]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of a compilation besides the IR.

    ``narrow_ints``: the target computes integers in 32 bits where range analysis proves that these
    suffice. ``strip_mine`` selects the loops that the CPU runs for several threads at once, in SIMD
    lanes.
    """

    assumptions: LaunchAssumptions
    options: Options = DEFAULT_OPTIONS
    narrow_ints: bool = True
    strip_mine: LoopSelector = divergent_loops


@dataclass(frozen=True, slots=True, eq=False)
class Analysis(Generic[Result]):
    """A function of a module, and the parts of the module that it reads."""

    name: str
    run: Callable[[Analyses], Result]
    reads: Callable[[ir.Module], tuple[object, ...]]

    def __repr__(self) -> str:
        return self.name


AnyAnalysis: TypeAlias = Analysis[Any]


class Analyses:
    """The results of analyses for one module."""

    def __init__(self, module: ir.Module, inputs: Inputs) -> None:
        self.module, self.inputs = module, inputs
        self._results: dict[AnyAnalysis, tuple[tuple[object, ...], Any]] = {}

    def get(self, analysis: Analysis[Result]) -> Result:
        """Return the result for the module, computed if it is not cached."""
        if not self._is_cached(analysis):
            result = analysis.run(self)
            self._results[analysis] = (analysis.reads(self.module), result)
        return cast(Result, self._results[analysis][1])

    def replace_module(self, module: ir.Module, preserved: Iterable[AnyAnalysis] = ()) -> None:
        """Replace the module by the result of a pass; ``preserved`` analyses keep their results."""
        for analysis in preserved:
            if self._is_cached(analysis):
                self._results[analysis] = (analysis.reads(module), self._results[analysis][1])
        self.module = module

    def _is_cached(self, analysis: AnyAnalysis) -> bool:
        """Return whether there is a result for the same parts of the module."""
        parts = analysis.reads(self.module)
        cached, _ = self._results.get(analysis, (None, None))
        return cached is not None and [*map(id, cached)] == [*map(id, parts)]


# ---- the parts of a module that analyses read ----


def no_part(_: ir.Module) -> tuple[object, ...]:
    """Return nothing: launch assumptions and options do not depend on the IR."""
    return ()


def kernel_body(module: ir.Module) -> tuple[object, ...]:
    return (module.kernel.body,)


def device_functions(module: ir.Module) -> tuple[object, ...]:
    return module.device_functions


def whole_module(module: ir.Module) -> tuple[object, ...]:
    return (module,)


# ---- the analyses ----

_MIN_LANES = 8  # blocks of fewer threads run faster without strip-mining


def _strip_loops(analyses: Analyses) -> StripLoops:
    """Choose the loops to strip-mine, each with the variables that are live after it."""
    body = analyses.module.kernel.body
    if analyses.inputs.assumptions.max_threads < _MIN_LANES:
        return {}
    if not analyses.get(SUMMARY).any_of(ir.For, ir.While):
        return {}
    return live_after_loops(body, analyses.inputs.strip_mine(body, analyses.get(UNIFORMITY)))


def _index_rules(analyses: Analyses) -> IndexRules:
    inputs = analyses.inputs
    return IndexRules(inputs.assumptions, inputs.options.wraparound, inputs.narrow_ints)


def _needs_coroutines(analyses: Analyses) -> bool:
    body, block = analyses.module.kernel.body, analyses.inputs.assumptions.block
    return needs_coroutines(
        body, lambda: analyses.get(BLOCK_UNIFORMITY), lambda: warp_uniformity(body, block)
    )


ASSUMPTIONS: Analysis[LaunchAssumptions] = Analysis(
    "assumptions", lambda a: a.inputs.assumptions, no_part
)
INDEX_RULES: Analysis[IndexRules] = Analysis("index_rules", _index_rules, no_part)
WEAK_FLOAT: Analysis[DType | None] = Analysis(
    "weak_float", lambda a: a.inputs.options.weak_float, no_part
)
SUMMARY: Analysis[ModuleSummary] = Analysis(
    "summary", lambda a: summarize_module(a.module), whole_module
)
EFFECTFUL: Analysis[frozenset[str]] = Analysis(
    "effectful_functions", lambda a: effectful_functions(a.module), device_functions
)
RANGES: Analysis[Mapping[str, Ranges]] = Analysis(
    "ranges", lambda a: analyse_module(a.module, a.inputs.assumptions), whole_module
)
UNIFORMITY: Analysis[Uniformity] = Analysis(  # in blocks of any shape
    "uniformity", lambda a: uniformity(a.module.kernel.body), kernel_body
)
BLOCK_UNIFORMITY: Analysis[Uniformity] = Analysis(  # in blocks of the launch's shape
    "block_uniformity",
    lambda a: uniformity(a.module.kernel.body, a.inputs.assumptions.block),
    kernel_body,
)
STRIP_LOOPS: Analysis[StripLoops] = Analysis("strip_loops", _strip_loops, kernel_body)
NEEDS_COROUTINES: Analysis[bool] = Analysis("needs_coroutines", _needs_coroutines, kernel_body)

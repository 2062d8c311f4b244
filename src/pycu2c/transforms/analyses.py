"""The analyses that passes use, and what they read of a module.

``pipeline.py`` names them in the contracts of the passes; the analysis manager caches them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any, TypeAlias

from pycu2c.analysis.analysis_manager import (
    Analysis,
    AnalysisManager,
    device_functions,
    kernel_body,
    no_part,
)
from pycu2c.analysis.effects import effectful
from pycu2c.analysis.index_rules import IndexRules
from pycu2c.analysis.liveness import live_after_loops
from pycu2c.analysis.ranges.range_analysis import Ranges, analyse_module
from pycu2c.analysis.uniformity import Uniformity, uniformity, warp_uniformity
from pycu2c.base.dtypes import DType
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.ir import nodes as ir
from pycu2c.ir.module_summary import ModuleSummary, summarize_module
from pycu2c.transforms.cpu.fission.work_item_loops import StripLoops
from pycu2c.transforms.cpu.select_cpu_lowering import needs_coroutines
from pycu2c.transforms.cpu.simd.divergent_loops import divergent_loops

LoopSelector: TypeAlias = Callable[[ir.Body, Uniformity], Set[ir.Stmt]]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a compilation is given besides the IR. ``narrow_ints``: the target computes in 32 bits
    where they suffice. ``strip_mine`` chooses the loops of which the CPU runs several threads at
    once, in SIMD lanes."""

    assumptions: LaunchAssumptions
    options: Options = DEFAULT_OPTIONS
    narrow_ints: bool = True
    strip_mine: LoopSelector = divergent_loops


Analyses: TypeAlias = AnalysisManager[Inputs]
AnyAnalysis: TypeAlias = Analysis[Inputs, Any]

_LEAST_LANES = 8  # blocks of fewer threads run faster thread by thread


def _strip_loops(analyses: Analyses) -> StripLoops:
    """Choose the loops to strip-mine, each with the variables that are live after it."""
    body = analyses.module.kernel.body
    if analyses.inputs.assumptions.threads < _LEAST_LANES:
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


ASSUMPTIONS: Analysis[Inputs, LaunchAssumptions] = Analysis(
    "assumptions", lambda a: a.inputs.assumptions, no_part
)
INDEX_RULES: Analysis[Inputs, IndexRules] = Analysis("index_rules", _index_rules, no_part)
WEAK_FLOAT: Analysis[Inputs, DType | None] = Analysis(
    "weak_float", lambda a: a.inputs.options.weak_float, no_part
)
SUMMARY: Analysis[Inputs, ModuleSummary] = Analysis("summary", lambda a: summarize_module(a.module))
EFFECTFUL: Analysis[Inputs, frozenset[str]] = Analysis(
    "effectful_functions", lambda a: effectful(a.module), device_functions
)
RANGES: Analysis[Inputs, Mapping[str, Ranges]] = Analysis(
    "ranges", lambda a: analyse_module(a.module, a.inputs.assumptions)
)
UNIFORMITY: Analysis[Inputs, Uniformity] = Analysis(  # in blocks of any shape
    "uniformity", lambda a: uniformity(a.module.kernel.body), kernel_body
)
BLOCK_UNIFORMITY: Analysis[Inputs, Uniformity] = Analysis(  # in blocks of the launch's shape
    "block_uniformity",
    lambda a: uniformity(a.module.kernel.body, a.inputs.assumptions.block),
    kernel_body,
)
STRIP_LOOPS: Analysis[Inputs, StripLoops] = Analysis("strip_loops", _strip_loops, kernel_body)
NEEDS_COROUTINES: Analysis[Inputs, bool] = Analysis(
    "needs_coroutines", _needs_coroutines, kernel_body
)

"""Collect the cost notes of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from pycu2c.analysis.ranges.range_analysis import analyse_module
from pycu2c.analysis.register_arrays import register_arrays
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import replace
from pycu2c.compiler import lower
from pycu2c.declarations.options import Options
from pycu2c.explain.double_precision import find_float64
from pycu2c.explain.float_division import find_float_divisions
from pycu2c.explain.memory_access import find_bank_conflicts, find_local_arrays, find_strided_access
from pycu2c.explain.notes import Note, merge_notes
from pycu2c.explain.semantic_overhead import (
    find_floor_operations,
    find_wide_indices,
    find_wraparound,
)
from pycu2c.explain.value_origins import ExplainedFunction
from pycu2c.ir.nodes import Module
from pycu2c.pipeline import TARGETS

_Rule: TypeAlias = Callable[[ExplainedFunction], Iterator[Note]]

_RULES_ON_TYPED_IR: tuple[_Rule, ...] = (
    find_float64,
    find_strided_access,
    find_bank_conflicts,
)
_RULES_ON_LOWERED_IR: tuple[_Rule, ...] = (
    find_floor_operations,
    find_wraparound,
    find_wide_indices,
)


def explain_module(module: Module, assumptions: LaunchAssumptions, options: Options) -> list[Note]:
    """Return all notes on a typed module in source order, without duplicates."""
    cuda = TARGETS["cuda"]
    typed_target = replace(cuda, passes=cuda.through("select_inline_c"))
    typed, lowered = (
        lower(module, target, assumptions, options) for target in (typed_target, cuda)
    )
    arrays = register_arrays(typed, analyse_module(typed, assumptions))
    typed_rules: list[_Rule] = [*_RULES_ON_TYPED_IR, partial(find_local_arrays, arrays=arrays)]
    if not options.fastmath:
        typed_rules.append(find_float_divisions)
    return merge_notes(
        [
            note
            for rules, rule_module in ((typed_rules, typed), (_RULES_ON_LOWERED_IR, lowered))
            for function in (rule_module.kernel, *rule_module.device_functions)
            for rule in rules
            for note in rule(ExplainedFunction(function, function is rule_module.kernel))
        ]
    )

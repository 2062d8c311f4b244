"""A kernel and its types -> notes on what its lines cost on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pycu2c.analysis.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import replace
from pycu2c.compiler import lower
from pycu2c.declarations.options import Options
from pycu2c.explain.double_precision import doubles
from pycu2c.explain.memory_access import banks, local_arrays, strides
from pycu2c.explain.notes import Note, gathered
from pycu2c.explain.semantic_overhead import floors, wide_indices, wraps
from pycu2c.explain.value_origins import Subject
from pycu2c.ir.nodes import Module
from pycu2c.pipeline import TARGETS

_TYPED: tuple[Callable[[Subject], Iterator[Note]], ...] = (doubles, strides, banks, local_arrays)
_LOWERED: tuple[Callable[[Subject], Iterator[Note]], ...] = (floors, wraps, wide_indices)


def explained(module: Module, assumptions: LaunchAssumptions, options: Options) -> list[Note]:
    """All notes on a typed module, in the order of the text, each once."""
    cuda = TARGETS["cuda"]
    selected = replace(cuda, passes=cuda.through("select_inline_c"))
    typed, lowered = (lower(module, target, assumptions, options) for target in (selected, cuda))
    return gathered(
        [
            note
            for rules, source in ((_TYPED, typed), (_LOWERED, lowered))
            for function in (source.kernel, *source.devices)
            for rule in rules
            for note in rule(Subject(function, function is source.kernel))
        ]
    )

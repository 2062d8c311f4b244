"""A kernel and its types -> notes on what its lines cost on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pycu2c.compiler import lower
from pycu2c.explain.doubles import doubles
from pycu2c.explain.leftovers import floors, wide_indices, wraps
from pycu2c.explain.memory import local_arrays, strides
from pycu2c.explain.notes import Note
from pycu2c.ir.nodes import Function, Module
from pycu2c.passes.ranges import Facts
from pycu2c.targets import TARGETS

_TYPED: tuple[Callable[[Function], Iterator[Note]], ...] = (doubles, strides, local_arrays)
_LOWERED: tuple[Callable[[Function], Iterator[Note]], ...] = (floors, wraps, wide_indices)


def explained(module: Module, facts: Facts) -> list[Note]:
    """All notes on a typed module, in the order of the text, each once."""
    lowered = lower(module, TARGETS["cuda"], facts)
    found: dict[tuple[str, int, int], Note] = {}
    for rules, source in ((_TYPED, module), (_LOWERED, lowered)):
        for function in (source.kernel, *source.devices):
            for rule in rules:
                for note in rule(function):
                    span = note.labels[-1].span
                    found.setdefault((note.kind, span.line, span.column), note)
    return sorted(found.values(), key=lambda n: (n.line, n.labels[0].span.column))

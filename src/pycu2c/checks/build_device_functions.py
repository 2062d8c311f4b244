"""Build the functions of ``device_functions`` that instrumented functions call.

A name such as ``shadow_read.ordered.of_block.check`` has a function and the types of its arguments:
``ordered`` in kernels with the clocks of blocks, ``of_block`` for a shadow that only the threads of
one block access, and for ``record`` the number of values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from inspect import isfunction, signature
from types import FunctionType

from pycu2c.base.records import replace
from pycu2c.base.source import source_of
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, ParameterType, Tuple, uint64
from pycu2c.checks.device_functions import (
    barrier_divergence,
    lane_clocks,
    recording,
    release_acquire,
    shadow_memory,
    shadow_words,
    thread_indices,
    timed_barriers,
    warp_lanes,
)
from pycu2c.checks.hidden_arrays import (
    FINDINGS,
    OWN_COUNT,
    ROWS_OF_BLOCK,
    WORDS,
    WORDS_OF_BLOCK,
)
from pycu2c.checks.shadow_arrays import FLAGS
from pycu2c.frontend.function_builder import build_device
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, map_expr

_MODULES = (
    barrier_divergence,
    lane_clocks,
    recording,
    release_acquire,
    shadow_memory,
    shadow_words,
    thread_indices,
    timed_barriers,
    warp_lanes,
)
_FUNCTIONS: Mapping[str, FunctionType] = {
    name: f for module in _MODULES for name, f in vars(module).items() if isfunction(f)
}
_MATRIX = replace(WORDS, ndim=2)
# the types of parameters, by their names
_TYPES: Mapping[str, ParameterType] = {
    "state": WORDS,
    "shadow": WORDS,
    "row": WORDS,
    "rows": ROWS_OF_BLOCK,
    "clocks": _MATRIX,
    "own": WORDS_OF_BLOCK,
    "block_clocks": Tuple(()),
    "arrivals": replace(WORDS, ndim=3),
    "flags": FLAGS,
    "findings": FINDINGS.type,
    "own_count": OWN_COUNT.type,
    "extents": Tuple((WEAK_INT,) * 3),
    "is_sum": WEAK_BOOL,
    **dict.fromkeys(("site", "access", "needs_all", "releases", "is_of_device"), uint64),
    **dict.fromkeys(("bit", "bits", "outer"), uint64),
    **dict.fromkeys(("cell", "site_index", "rank", "start"), WEAK_INT),
    **dict.fromkeys(("mask", "present", "shuffle", "operand", "width"), WEAK_INT),
}
_VARIANTS: Mapping[str, Mapping[str, ParameterType]] = {
    "check": {},
    "ordered": {"block_clocks": Tuple((_MATRIX, WORDS_OF_BLOCK))},
    "of_block": {"shadow": WORDS_OF_BLOCK},
    **{str(n): {"values": Tuple((WEAK_INT,) * n)} for n in range(recording.MAX_VALUES + 1)},
}


def called_device_functions(functions: Sequence[ir.Function]) -> Iterator[ir.Function]:
    """Yield the device functions that instrumented functions call, callees first."""
    expressions = (e for f in functions for e in all_expressions(f.body))
    called = {e.function for e in expressions if isinstance(e, ir.Call)}
    built = (f for name in sorted(called) if name.endswith(".check") for f in _build(name))
    yield from {f.name: f for f in built}.values()


@cache
def _build(name: str) -> tuple[ir.Function, ...]:
    """Return a function and its callees, whose names get the same suffixes."""
    stem, *variants = name.split(".")
    types = dict(_TYPES)
    for variant in variants:
        types |= _VARIANTS[variant]
    function, suffix = _FUNCTIONS[stem], name.removeprefix(stem)
    parameters = tuple(types[parameter] for parameter in signature(function).parameters)
    module, _ = build_device(source_of(function), parameters)

    def with_suffix(e: ir.Expr) -> ir.Expr:
        return replace(e, function=e.function + suffix) if isinstance(e, ir.Call) else e

    return tuple(
        replace(f, name=f.name + suffix, body=map_expr(f.body, with_suffix))
        for f in module.functions
    )

"""Find int32 sums of terms that range analysis does not bound to 16 bits.

NumPy's ``sum`` adds int32 in int64; a loop or an atomic addition wraps. The front end warns of
sums of 8 and 16 bits (``frontend/narrow_accumulators.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycu2c.analysis.ranges.interval_arithmetic import Interval
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.analysis.variables import names_in
from pycu2c.base.diagnostics import Label
from pycu2c.base.dtypes import INT32
from pycu2c.base.types import Array, MemorySpace, Scalar
from pycu2c.explain.notes import Note
from pycu2c.explain.value_origins import ExplainedFunction, source_name
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, bodies, statements
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD

_ATOMIC_ADD = REGISTRY["cuda.atomic.add"]
_SMALL_TERMS = Interval(-(2**16), 2**16)  # a sum of fewer than 2**15 of these fits in int32


def find_overflowing_sums(
    ranges_by_function: Mapping[str, Ranges], subject: ExplainedFunction
) -> Iterator[Note]:
    """Yield sums over loops and atomic sums that may exceed int32."""
    ranges = ranges_by_function[subject.function.name]
    for s in _statements_of_long_loops(subject.function.body):
        if isinstance(s, ir.Assign) and _adds_large_term(s, ranges):
            name = source_name(s.var.name)
            label = Label(s.span, f"`{name}` is int32 and wraps")
            yield Note("overflow", (label,), "start with np.int64(0)", s.var.name)
    for e in all_expressions(subject.function.body):
        if isinstance(e, ir.Apply) and e.intrinsic is _ATOMIC_ADD:
            target, term = e.arguments
            if isinstance(target, ir.ElementOf) and _is_large(term, ranges):
                name = source_name(target.array.name)
                label = Label(e.span, f"the elements of `{name}` are int32 and wrap")
                hint = f"make `{name}` an array of int64"
                yield Note("overflow", (label,), hint, target.array.name)


def _statements_of_long_loops(body: ir.Body) -> Iterator[ir.Stmt]:
    """Yield the statements inside loops whose number of iterations is not a constant."""
    for s in body:
        if isinstance(s, ir.While) or (isinstance(s, ir.For) and not _has_constant_bounds(s)):
            yield from statements(s.body)
        else:
            for block in bodies(s):
                yield from _statements_of_long_loops(block)


def _has_constant_bounds(loop: ir.For) -> bool:
    return all(isinstance(bound, ir.Const) for bound in (loop.start, loop.stop, loop.step))


def _adds_large_term(s: ir.Assign, ranges: Ranges) -> bool:
    """Return whether a statement adds to a variable a term that does not depend on it."""
    if not isinstance(s.value, ir.Binary) or s.value.op is not ADD:
        return False
    operands = (s.value.left, s.value.right)
    terms = [e for e in operands if not (isinstance(e, ir.Var) and e.name == s.var.name)]
    return len(terms) == 1 and s.var.name not in names_in(*terms) and _is_large(terms[0], ranges)


def _is_large(term: ir.Expr, ranges: Ranges) -> bool:
    """Return whether a term is an int32 of more than 16 bits, and not a partial sum of a block."""
    if isinstance(term, ir.Load) and not _is_global(term.array):
        return False
    is_int32 = isinstance(term.type, Scalar) and term.type.dtype is INT32 and not term.type.weak
    return is_int32 and not _SMALL_TERMS.contains(ranges.of(term))


def _is_global(array: ir.Var) -> bool:
    return isinstance(array.type, Array) and array.type.space is MemorySpace.GLOBAL

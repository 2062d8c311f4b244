"""Narrow Python ints to 32 bits in loops that may be strip-mined, where ranges prove that they fit.

``while count < limit: …; count = count + 1`` with ``count: int`` -> ``count: small``, and
``int(count)`` where it is read outside the loop. Beside float32 values, vectors then have twice as
many lanes, and masks have the same width. Variables that the loop only reads are converted at each
read. Other code keeps 64-bit ints: loops over threads with 64-bit indices vectorize better. Uses
the range analysis. Requires the form TYPED (``ir/forms.py``). Guarantees that values outside these
loops keep their types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from pycu2c.analysis.launch_ranges import IndexRules
from pycu2c.analysis.ranges.index_constraints import IndexConstraints
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, WEAK_INT32
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.transforms.cuda.narrow_integers import (
    INT32_RANGE,
    Narrower,
    NarrowSignature,
    defined_ints,
    narrow_signature,
    to_type,
    wide_counters,
)


def has_candidate_loops(module: ir.Module) -> bool:
    """Return whether a module has loops to narrow."""
    functions = module.functions
    return any(True for f in functions for _ in _candidate_loops(f.body))


def narrow_integers_in_loops(
    module: ir.Module, rules: IndexRules, ranges: Mapping[str, Ranges]
) -> ir.Module:
    """Narrow the candidate loops; ``ranges`` are the results of the range analysis, by function."""
    loops = {f.name: frozenset(_candidate_loops(f.body)) for f in module.functions}
    variables = {
        f.name: _variables_changed_in_loops(loops[f.name], ranges[f.name]) for f in module.functions
    }
    signatures = {
        f.name: _signature(f, variables[f.name], loops[f.name], ranges[f.name])
        for f in module.functions
    }

    def narrow_function(f: ir.Function) -> ir.Function:
        signature, changed = signatures[f.name], variables[f.name]
        constraints = IndexConstraints(f, ranges[f.name], rules)
        only_read = _narrow_variables(f, ranges[f.name]) - changed
        narrower = Narrower(constraints, changed, signature.result, signatures, only_read)
        return signature.with_body(f, _LoopNarrowing(narrower, loops[f.name]).body(f.body))

    return walk.map_functions(module, narrow_function)


def _candidate_loops(body: ir.Body) -> Iterator[ir.Stmt]:
    """Yield the outermost loops that only compute and may exit early."""
    for s in body:
        if isinstance(s, ir.While | ir.For) and only_computes(s) and _may_exit_early(s):
            yield s
        else:
            for inner in walk.bodies(s):
                yield from _candidate_loops(inner)


def _may_exit_early(s: ir.While | ir.For) -> bool:
    inner_statements = walk.statements(s.body)
    return isinstance(s, ir.While) or any(
        isinstance(x, ir.Break | ir.Return | ir.While) for x in inner_statements
    )


def only_computes(loop: ir.Stmt) -> bool:
    """Return whether a loop neither accesses memory nor makes calls that might."""
    computing_statements = (
        ir.While | ir.For | ir.If | ir.Assign | ir.Declare | ir.Break | ir.Continue | ir.Return
    )
    if not all(isinstance(s, computing_statements) for s in walk.statements((loop,))):
        return False
    return not any(
        isinstance(e, ir.Load | ir.ElementOf | ir.Call)
        or (isinstance(e, ir.Apply) and not e.intrinsic.is_pure)
        for e in walk.all_expressions((loop,))
    )


def _variables_changed_in_loops(loops: Set[ir.Stmt], ranges: Ranges) -> frozenset[str]:
    """Return the ints that the loops assign, if all their values fit 32 bits."""
    names = defined_ints(tuple(loops)) - wide_counters(ranges)
    return frozenset(n for n in names if INT32_RANGE.contains(ranges.variable(n)))


def _narrow_variables(function: ir.Function, ranges: Ranges) -> frozenset[str]:
    """Return all variables and parameters that fit 32 bits."""
    reads = (e for e in walk.all_expressions(function.body) if isinstance(e, ir.Var))
    names = {e.name for e in reads if e.type == WEAK_INT}
    return frozenset(n for n in names if INT32_RANGE.contains(ranges.variable(n)))


def _signature(
    function: ir.Function, narrow_variables: Set[str], loops: Set[ir.Stmt], ranges: Ranges
) -> NarrowSignature:
    """Return the types of a function; its result is narrowed if one of the loops returns it."""
    signature = narrow_signature(function, narrow_variables, ranges)
    has_return = walk.contains(tuple(loops), ir.Return)
    return signature if has_return else replace(signature, result=function.result)


@dataclass(slots=True)
class _LoopNarrowing:
    """Narrows all ints in the loops, and outside only the variables that the loops assign."""

    narrower: Narrower
    loops: Set[ir.Stmt]
    _widened: dict[int, ir.Expr] = field(default_factory=dict)  # shared nodes stay shared

    def body(self, body: ir.Body) -> ir.Body:
        return tuple(self._statement(s) for s in body)

    def _statement(self, s: ir.Stmt) -> ir.Stmt:
        if s in self.loops:
            return self.narrower.statement(s)
        expected_type = self.narrower.expected_type(s)
        s = walk.map_operands(s, lambda e: to_type(self._widen(e), expected_type))
        s = walk.map_bodies(s, self.body)
        if (
            isinstance(s, ir.Assign | ir.Declare | ir.For)
            and s.var.name in self.narrower.narrow_variables
        ):
            return replace(s, var=replace(s.var, type=WEAK_INT32))
        return s

    def _widen(self, e: ir.Expr) -> ir.Expr:
        if id(e) not in self._widened:
            self._widened[id(e)] = self._widen_node(e)
        return self._widened[id(e)]

    def _widen_node(self, e: ir.Expr) -> ir.Expr:
        operands = tuple(self._widen(child) for child in walk.children(e))
        match e:
            case ir.Var(name) if name in self.narrower.narrow_variables:
                return cast(replace(e, type=WEAK_INT32), WEAK_INT)
            case ir.Call():
                new_call = self.narrower.call(e, operands)
                return new_call if new_call.type == e.type else cast(new_call, scalar_type(e))
            case ir.Cast(operand) if operands[0] is not operand:
                return cast(operands[0], e.type)
            case _:
                return walk.with_children(e, operands)

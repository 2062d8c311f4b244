"""CPU: Python's ints in 32 bits in loops that threads may run in strips, where ``ranges`` proves
that they fit. Beside float32, twice as many lanes go into a vector, and masks keep their width.

``while count < limit: …; count = count + 1`` with ``count: int`` -> ``count: small``, and
``int(count)`` where it is read elsewhere. What such a loop only reads is converted where it is
read. All else stays as it is: loops over threads with 64-bit indices make better vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.analysis.ranges.index_constraints import IndexConstraints
from pycu2c.analysis.ranges.range_analysis import Ranges, analyse_module
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, WEAK_INT32
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Body,
    Break,
    Call,
    Cast,
    Continue,
    Declare,
    ElementOf,
    Expr,
    For,
    Function,
    If,
    Let,
    Load,
    Module,
    Return,
    Stmt,
    Var,
    While,
)
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    children,
    map_functions,
    operands,
    statements,
    with_bodies,
    with_children,
    with_operands,
)
from pycu2c.transforms.cuda.narrow_integers import (
    IN_32_BITS,
    Narrower,
    NarrowSignature,
    counts_in_32_bits,
    to_type,
)


def narrow_integers_in_loops(module: Module, facts: Facts) -> Module:
    """Only where there may be such loops; else nothing is analysed."""
    functions = (module.kernel, *module.devices)
    loops = {f.name: frozenset(_loops(f.body)) for f in functions}
    if not any(loops.values()):
        return module
    found = analyse_module(module, facts)
    small = {f.name: _set_in(loops[f.name], found[f.name]) for f in functions}
    signatures = {f.name: _signature(f, small[f.name], loops[f.name], found) for f in functions}

    def narrowed(f: Function) -> Function:
        own = signatures[f.name]
        use = IndexConstraints(f, found[f.name], facts)
        inside = Narrower(
            use, small[f.name], own.result, signatures, _read_in(f, found[f.name]) - small[f.name]
        )
        pairs = zip(f.parameters, own.parameters)
        parameters = tuple(replace(p, type=kind) for p, kind in pairs)
        body = _Around(inside, loops[f.name]).body(f.body)
        return replace(f, parameters=parameters, body=body, result=own.result)

    return map_functions(module, narrowed)


def _loops(body: Body) -> Iterator[Stmt]:
    """The outermost loops that compute on numbers alone, and may be left early."""
    for s in body:
        if isinstance(s, While | For) and computes(s) and _is_left_early(s):
            yield s
        else:
            for inner in bodies(s):
                yield from _loops(inner)


def _is_left_early(s: While | For) -> bool:
    inside = statements(s.body)
    return isinstance(s, While) or any(isinstance(x, Break | Return | While) for x in inside)


def computes(loop: Stmt) -> bool:
    """Whether a loop neither uses memory nor calls anything that might."""
    kinds = While | For | If | Assign | Declare | Break | Continue | Return
    if not all(isinstance(s, kinds) for s in statements((loop,))):
        return False
    return not any(
        isinstance(e, Load | ElementOf | Call) or (isinstance(e, Apply) and not e.intrinsic.is_pure)
        for e in all_expressions((loop,))
    )


def _set_in(loops: Set[Stmt], ranges: Ranges) -> frozenset[str]:
    """The ints that such loops change, if all that they are ever given fits 32 bits."""
    found: set[str] = set()
    wide: set[str] = set()
    for s in statements(tuple(loops)):
        if isinstance(s, Assign | Declare | For) and s.var.type == WEAK_INT:
            found.add(s.var.name)
    for e in all_expressions(tuple(loops)):
        if isinstance(e, Let) and e.value.type == WEAK_INT:
            found.add(e.name)
    for s in statements(ranges.function.body):
        if isinstance(s, For) and not counts_in_32_bits(s, ranges):
            wide.add(s.var.name)
    return frozenset(n for n in found - wide if IN_32_BITS.contains(ranges.variable(n)))


def _read_in(function: Function, ranges: Ranges) -> frozenset[str]:
    """All variables and parameters that fit 32 bits."""
    read = (e for e in all_expressions(function.body) if isinstance(e, Var))
    names = {e.name for e in read if e.type == WEAK_INT}
    return frozenset(n for n in names if IN_32_BITS.contains(ranges.variable(n)))


def _signature(
    function: Function, small: Set[str], loops: Set[Stmt], found: Mapping[str, Ranges]
) -> NarrowSignature:
    parameters = tuple(WEAK_INT32 if p.name in small else p.type for p in function.parameters)
    fits = function.result == WEAK_INT and IN_32_BITS.contains(found[function.name].result)
    returns = any(isinstance(s, Return) for s in statements(tuple(loops)))
    return NarrowSignature(parameters, WEAK_INT32 if fits and returns else function.result)


@dataclass(slots=True)
class _Around:
    """A function's body: inside of the loops all is narrow, outside only what they change."""

    inside: Narrower
    loops: Set[Stmt]
    _done: dict[int, Expr] = field(default_factory=dict)  # one node stays one node

    def body(self, body: Body) -> Body:
        return tuple(self._statement(s) for s in body)

    def _statement(self, s: Stmt) -> Stmt:
        if s in self.loops:
            return self.inside.statement(s)
        wanted = self.inside.wanted(s)
        s = with_operands(s, tuple(to_type(self._wide(e), wanted) for e in operands(s)))
        s = with_bodies(s, tuple(self.body(b) for b in bodies(s)))
        if isinstance(s, Assign | Declare | For) and s.var.name in self.inside.small:
            return replace(s, var=replace(s.var, type=WEAK_INT32))
        return s

    def _wide(self, e: Expr) -> Expr:
        if id(e) not in self._done:
            self._done[id(e)] = self._widened(e)
        return self._done[id(e)]

    def _widened(self, e: Expr) -> Expr:
        inside = tuple(self._wide(child) for child in children(e))
        match e:
            case Var(name) if name in self.inside.small:
                return cast(replace(e, type=WEAK_INT32), WEAK_INT)
            case Call():
                called = self.inside.call(e, inside)
                return called if called.type == e.type else cast(called, scalar_type(e))
            case Cast(operand) if inside[0] is not operand:
                return cast(inside[0], e.type)
            case _:
                return with_children(e, inside)

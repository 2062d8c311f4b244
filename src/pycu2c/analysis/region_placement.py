"""Choose which statements of a kernel are outside the work-item loops (pocl's parallel regions).

A statement is outside if it contains a barrier or a strip-mined loop. It is also outside if it is
uniform and jumps out of such a statement, or computes a value that is needed outside. This module
decides; ``transforms.cpu.fission`` moves the code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from pycu2c.analysis import uniformity
from pycu2c.analysis.variables import names_in
from pycu2c.base.records import dataclass, field
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import bodies, contains, operands, statements


@dataclass(frozen=True, slots=True)
class Placement:
    """Statements outside the work-item loops.

    ``hoisted``: constructs outside the work-item loops, whose nested statements are placed
    recursively. ``masked``: hoisted constructs that are divergent; a per-thread state selects the
    active threads. ``block_jumps``: jumps that all running threads take at once. ``scalars``:
    variables computed once per block. ``strips``: outermost strip-mined loops, with the variables
    that are live after them.
    """

    hoisted: Set[ir.Stmt]
    masked: Set[ir.Stmt]
    block_jumps: Set[ir.Stmt]
    scalars: Set[str]
    strips: Mapping[ir.Stmt, frozenset[str]]

    def leaves_body(self, body: ir.Body) -> bool:
        """Return whether single threads may jump out of a body."""
        return any(self._statement_leaves(s) for s in body)

    def _statement_leaves(self, s: ir.Stmt) -> bool:
        match s:
            case ir.Return() | ir.Break() | ir.Continue():
                return s not in self.block_jumps
            case ir.For() | ir.While():
                return self.returns_early(s.body)
            case _:
                return any(self._statement_leaves(inner) for b in bodies(s) for inner in b)

    def returns_early(self, body: ir.Body) -> bool:
        """Return whether single threads may return."""
        return any(isinstance(s, ir.Return) and s not in self.block_jumps for s in statements(body))


def place_regions(
    body: ir.Body,
    uniform: uniformity.Uniformity,
    required_scalars: Set[str],
    strips: Mapping[ir.Stmt, frozenset[str]],
    interchanged: Set[ir.Stmt],
) -> Placement:
    """Place statements so that ``required_scalars``, all uniform, are computed once per block.

    ``interchanged``: loops kept outside the work-item loops for better memory access.
    """
    scalars = set(required_scalars)
    forced = _forced_outside(body, set(strips)) | {
        s for s in statements(body) if _contains_loop_of(s, interchanged)
    }
    while True:
        placer = _Placer(uniform, scalars, forced)
        placer.place(body, None, False)
        closed = _closure(set(_conditions(placer.hoisted, uniform)) | scalars, uniform)
        if closed == scalars:
            return Placement(placer.hoisted, placer.masked, placer.block_jumps, scalars, strips)
        scalars = closed


def _forced_outside(body: ir.Body, strips: Set[ir.Stmt]) -> set[ir.Stmt]:
    """Return the constructs around barriers and strips, and all nested loops of strips.

    C compilers do not vectorize a loop that contains loops.
    """
    result = {
        s
        for s in statements(body)
        if contains((s,), ir.BarrierWait) or _contains_loop_of(s, strips)
    }
    for loop in strips:
        for s in statements((loop,)):
            if contains((s,), ir.While | ir.For):
                result.add(s)
    return result


def _contains_loop_of(s: ir.Stmt, loops: Set[ir.Stmt]) -> bool:
    return any(inner in loops for inner in statements((s,)))


def _conditions(hoisted: Set[ir.Stmt], uniform: uniformity.Uniformity) -> Iterator[str]:
    """Yield the variables that control flow outside the work-item loops reads."""
    for s in hoisted:
        if uniform.agrees(*operands(s)):
            yield from (name for name in names_in(*operands(s)) if name in uniform.values)


def _closure(names: set[str], uniform: uniformity.Uniformity) -> set[str]:
    """Return the names and all variables that their values depend on."""
    result: set[str] = set()
    while names:
        name = names.pop()
        result.add(name)
        operand_names = names_in(*uniform.values[name])
        names |= {n for n in operand_names if n in uniform.values and n not in result}
    return result


@dataclass(slots=True)
class _Placer:
    uniform: uniformity.Uniformity
    scalars: Set[str]
    forced: Set[ir.Stmt]
    hoisted: set[ir.Stmt] = field(default_factory=set)
    masked: set[ir.Stmt] = field(default_factory=set)
    block_jumps: set[ir.Stmt] = field(default_factory=set)

    def place(self, body: ir.Body, loop: ir.Stmt | None, masked: bool) -> None:
        """Place a body outside the work-item loops; ``loop`` is the hoisted loop around it."""
        for s in body:
            match s:
                case ir.Return() if not masked:
                    self.block_jumps.add(s)
                case ir.Break() | ir.Continue() if loop not in self.masked:
                    self.block_jumps.add(s)
                case ir.If() | ir.While() | ir.For() if self._is_hoisted(s, loop, masked):
                    self._hoist(s, loop, masked)

    def _hoist(self, s: uniformity.Construct, loop: ir.Stmt | None, masked: bool) -> None:
        self.hoisted.add(s)
        returning = contains((s,), ir.Return)
        if s in self.uniform.divergent or (masked and returning and not isinstance(s, ir.If)):
            self.masked.add(s)
        for inner in bodies(s):
            self.place(inner, loop if isinstance(s, ir.If) else s, masked or s in self.masked)

    def _is_hoisted(self, s: uniformity.Construct, loop: ir.Stmt | None, masked: bool) -> bool:
        if s in self.forced:
            return True
        if s in self.uniform.divergent:
            return False
        if self._computes_scalars(s):
            return True
        in_lockstep = loop is not None and loop not in self.masked
        return isinstance(s, ir.If) and self._contains_uniform_jump(s, not masked, in_lockstep)

    def _computes_scalars(self, s: ir.Stmt) -> bool:
        return any(
            isinstance(inner, ir.Assign | ir.Declare) and inner.var.name in self.scalars
            for inner in statements((s,))
        )

    def _contains_uniform_jump(self, s: ir.If, may_return: bool, in_lockstep: bool) -> bool:
        """Return whether all running threads may reach a jump in an ``if`` at once."""
        for inner in (*s.then, *s.orelse):
            match inner:
                case ir.Return():
                    may_jump = may_return
                case ir.Break() | ir.Continue():
                    may_jump = in_lockstep
                case ir.If() if inner not in self.uniform.divergent:
                    may_jump = self._contains_uniform_jump(inner, may_return, in_lockstep)
                case _:
                    may_jump = False
            if may_jump:
                return True
        return False

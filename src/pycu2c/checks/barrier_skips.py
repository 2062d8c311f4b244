"""Find where threads may skip barriers, or warp operations, that others reach.

Each barrier and warp operation has a bit. ``if c: barrier`` skips it in the other branch, and a
loop after its end. ``continue`` skips those in the rest of the loop, and ``return`` in the rest of
a device function. ``c and barrier`` skips it if c is false. Uniform conditions skip nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import reduce

from pycu2c.analysis.uniformity import Shape, uniformity
from pycu2c.base.records import dataclass, field
from pycu2c.checks.device_functions.barrier_divergence import MAX_BARRIERS
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ops.intrinsics.registry import Effect

BARRIER_EFFECTS = (Effect.BARRIER, Effect.CLUSTER, Effect.GRID)


@dataclass(slots=True)
class Skips:
    """The bits of the barriers that a thread skips at a statement.

    before: at a jump. then, orelse: at the ends of the branches. after: after a loop. outer: at a
    return of the kernel, those outside of the loops around it.
    """

    before: int = 0
    then: int = 0
    orelse: int = 0
    after: int = 0
    outer: int | None = None


_NONE = Skips()


@dataclass(slots=True)
class BarrierBits:
    """The bits of barriers and warp operations.

    functions: the bits in functions, by name. skips: by the identity of the statement. of_warp: the
    bits of warp operations. in_expressions: the bits in operands of ``and``, ``or`` and conditional
    expressions.
    """

    functions: dict[str, int] = field(default_factory=dict)
    skips: dict[int, Skips] = field(default_factory=dict)
    of_warp: int = 0
    in_expressions: int = 0
    _operations: dict[int, int] = field(default_factory=dict)  # by their identity

    @property
    def skipped(self) -> int:
        """Return the bits of the operations that threads may skip."""
        skips = (s.before | s.then | s.orelse | s.after for s in self.skips.values())
        return reduce(int.__or__, skips, self.in_expressions)

    def at(self, s: ir.Stmt) -> Skips:
        return self.skips.get(id(s), _NONE)

    def add(self, operations: Iterable[ir.Apply]) -> None:
        """Give bits to operations; those after the last bit get none."""
        for e in operations:
            count = len(self._operations)
            bit = 1 << count if count < MAX_BARRIERS else 0
            self._operations.setdefault(id(e), bit)
            if e.intrinsic.effect is Effect.WARP:
                self.of_warp |= bit

    def of_operation(self, e: ir.Apply) -> int:
        """Return the bit of an operation; 0 if it has none."""
        return self._operations.get(id(e), 0)

    def of(self, body: ir.Body) -> int:
        """Return the bits of the barriers of statements and of the functions that they call."""
        return reduce(int.__or__, map(self._of_expression, walk.all_expressions(body)), 0)

    def of_operand(self, e: ir.Expr) -> int:
        """Return the bits of the barriers of an expression."""
        return reduce(int.__or__, map(self._of_expression, walk.expressions(e)), 0)

    def _of_expression(self, e: ir.Expr) -> int:
        if isinstance(e, ir.Apply):
            return self.of_operation(e)
        return self.functions.get(e.function, 0) if isinstance(e, ir.Call) else 0


def find_skips(
    module: ir.Module,
    clones: Set[str],
    block: Shape | None,
    operations: Iterable[ir.Apply],
) -> BarrierBits:
    """Return the bits of operations of a kernel, and where threads may skip them."""
    bits = BarrierBits()
    bits.add(operations)
    for function in module.device_functions:
        if function.name in clones:
            bits.functions[function.name] = bits.of(function.body)
            if bits.functions[function.name]:
                _Visitor(bits, is_kernel=False).visit(function.body, _Following())
    body = module.kernel.body
    if bits.of(body):
        _Visitor(bits, True, _divergent(body, block)).visit(body, _Following())
    return bits


def _divergent(body: ir.Body, block: Shape | None) -> Set[ir.Stmt] | None:
    if any(isinstance(e, ir.Let) for e in walk.all_expressions(body)):
        return None
    found = uniformity(body, block, _is_vote)

    def has_uniform_count(s: ir.Stmt) -> bool:
        """Return whether all threads execute as many iterations, though some may continue."""
        if not isinstance(s, ir.For) or not found.agrees(*walk.operands(s)):
            return False
        leaves = walk.has_jump(s.body, ir.Break)
        return not leaves and not walk.contains(s.body, ir.Return)

    return {s for s in found.divergent if not has_uniform_count(s)}


def _is_vote(e: ir.Expr) -> bool:
    return isinstance(e, ir.Apply) and e.intrinsic.effect is Effect.BARRIER


@dataclass(frozen=True, slots=True)
class _Following:
    """The bits after a statement in its loop and function, and those of the loops around it."""

    of_loop: int = 0
    of_function: int = 0
    loops: int = 0


@dataclass(frozen=True, slots=True)
class _Visitor:
    """Find the skips of a function. divergent: None if no uniformity analysis was made."""

    bits: BarrierBits
    is_kernel: bool
    divergent: Set[ir.Stmt] | None = None

    def visit(self, body: ir.Body, rest: _Following) -> None:
        for s in reversed(body):
            own = self.bits.of((s,))
            self._statement(s, rest, own)
            rest = _Following(rest.of_loop | own, rest.of_function | own, rest.loops)

    def _statement(self, s: ir.Stmt, rest: _Following, own: int) -> None:
        skips = Skips()
        for e in (e for o in walk.operands(s) for e in walk.expressions(o)) if own else ():
            if isinstance(e, ir.Logical | ir.Select):
                self.bits.in_expressions |= self.bits.of_operand(e)
        match s:
            case ir.If():
                if own and self._may_diverge(s):
                    skips.then, skips.orelse = self.bits.of(s.orelse), self.bits.of(s.then)
            case ir.While() | ir.For():
                if own and self._may_diverge(s):
                    skips.after = own
                rest = _Following(0, rest.of_function | own, rest.loops | own)
            case ir.Continue():
                skips.before = rest.of_loop
            case ir.Return() if self.is_kernel:
                skips.outer = ~rest.loops
            case ir.Return():
                skips.before = rest.of_function
            case _:
                return
        self.bits.skips[id(s)] = skips
        for inner in walk.bodies(s):
            self.visit(inner, rest)

    def _may_diverge(self, s: ir.Stmt) -> bool:
        if self.divergent is not None:
            return s in self.divergent
        is_constant = all(isinstance(e, ir.Const) for e in walk.operands(s))
        return not is_constant or any(walk.loop_jumps(b) for b in walk.bodies(s))

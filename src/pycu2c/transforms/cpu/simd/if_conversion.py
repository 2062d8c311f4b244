"""A strip's loop without branches: each lane does some rounds, in which those that have left the
loop change nothing that is read after it.

``if state == 0: if count < n and z < 4: z = f(z); count = count + 1 else: state = 2`` ->
``runs = state == 0``, then four times ``runs = runs & (count < n) & (z < 4); z = f(z);
count = count + runs``, and ``state |= 2 & -(began ^ runs)``.

Measured: two to three times as fast as with branches. Compilers make more of the masks of one
that leaves under conditions than of such a number, and jumps of repeated ones on the same
condition. Values stay in registers for the rounds, and one test of "does any lane run" serves all.
"""

from __future__ import annotations

from collections.abc import Set

from pycu2c.analysis.effects import names_in
from pycu2c.base.dtypes import BOOL, INT32
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar
from pycu2c.ir.builders import binary, cast, const, integer, scalar_type, unary, zero
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Binary,
    Body,
    Break,
    Call,
    Cast,
    Const,
    Declare,
    ElementOf,
    Expr,
    For,
    If,
    Load,
    Logical,
    LogicalOp,
    Stmt,
    StripLoop,
    Unary,
    Var,
    While,
    WorkItemLoop,
)
from pycu2c.ir.walk import all_expressions, expressions, operands, statements
from pycu2c.ops.intrinsics.threads.cpu_block import pick
from pycu2c.ops.operators import (
    ADD,
    AND,
    C_SHL,
    C_SHR,
    EQ,
    NE,
    NEG,
    NOT,
    OR,
    QUOTIENT,
    REMAINDER,
    SUB,
    XOR,
)
from pycu2c.transforms.cpu.simd.active_masks import RUNNING

_MASK = Scalar(INT32)
# how many rounds are written out, by the operations of one: compilers unroll small loops only
_ROUNDS = ((40, 4), (80, 2))


def is_if_convertible_loop(strips: StripLoop, loop: WorkItemLoop) -> bool:
    """Whether a thread loop is all that a strip does until none of its lanes is left."""
    match strips.body:
        case (While(_, (Assign(), WorkItemLoop() as only, If(_, (Break(),), ()))),):
            return only is loop
        case _:
            return False


def selects_wide_floats(work: Body, kept: Set[str]) -> bool:
    """Whether lanes that have left must keep 64-bit floats: vectors of them are chosen from
    under masks of 32 bits too slowly."""
    changed = (s.var for s in statements(work) if isinstance(s, Assign) and s.var.name in kept)
    return any(v.type.dtype.is_float and v.type.dtype.bits > 32 for v in changed)


def if_convert(body: Body, state: Var, live: str, kept: Set[str]) -> Body | None:
    """What a lane does in such a loop; None if it is nothing that goes without branches.
    ``kept``: the variables that are read after the loop."""
    match body:
        case (If(Binary(op, Var(name), Const(code)), work, ()),):
            if op is not EQ or name != state.name or code != RUNNING:
                return None
        case _:
            return None
    rounds = _Rounds(state, live, kept)
    if not rounds.may_be_made_of(work):
        return None
    return rounds.made(work, body[0].span)


@dataclass(slots=True)
class _Rounds:
    state: Var
    live: str
    kept: Set[str]
    declared: set[str] = field(default_factory=set)
    masks: int = 0

    @property
    def runs(self) -> Var:
        return replace(self.state, name="running.strip", type=_MASK)

    # ---- which loops -------------------------------------------------------------------------

    def may_be_made_of(self, work: Body) -> bool:
        """Whether a lane that has left may compute on, and there is one way to leave."""
        parts = tuple(statements(work))
        if not all(isinstance(s, Assign | Declare | If) for s in parts):
            return False
        if not all(map(_is_harmless, all_expressions(work))) or len(self._codes(work)) != 1:
            return False
        if any(self._is_about_state(s) for s in parts if not self._asks_who_runs(s)):
            return False
        if not all(_is_chosen_by_mask(s.var) for s in parts if isinstance(s, Assign)):
            return False
        return not selects_wide_floats(work, self.kept)

    def _codes(self, work: Body) -> set[int]:
        """What lanes that leave put into their states."""
        return {
            int(s.value.value)
            for s in statements(work)
            if isinstance(s, Assign) and s.var.name == self.state.name
            if isinstance(s.value, Const)
        }

    def _is_about_state(self, s: Stmt) -> bool:
        return self.state.name in names_in(*(e for x in operands(s) for e in expressions(x)))

    def _asks_who_runs(self, s: Stmt) -> bool:
        match s:
            case If(Binary(op, Var(name), Const(code))):
                return op is EQ and name == self.state.name and code == RUNNING
            case _:
                return False

    # ---- what becomes of them ----------------------------------------------------------------

    def made(self, work: Body, span: Span) -> Body:
        began = replace(self.runs, name="began.strip")
        at_first = Binary(EQ, self.state, const(RUNNING, span, _MASK), WEAK_BOOL, span)
        (code,) = self._codes(work)
        one = self.block(work, self.runs)
        left = unary(NEG, binary(XOR, began, self.runs, span), span)
        waits = binary(AND, const(code, span, _MASK), left, span)
        some = Var(self.live, _MASK, span)
        return (
            Declare(began, cast(at_first, _MASK), span),
            Declare(self.runs, began, span),
            *_repeated(one, span),
            Assign(self.state, binary(OR, self.state, waits, span), span),
            Assign(some, binary(OR, some, self.runs, span), span),
        )

    def block(self, body: Body, mask: Var) -> Body:
        """A block that the lanes of a mask come to."""
        out: list[Stmt] = []
        for s in body:
            match s:
                case Assign(Var(name), _, span) if name == self.state.name:
                    value = binary(XOR, self.runs, mask, span)
                    out.append(Assign(self.runs, value, span))
                case Assign(Var(name)) if name == self.live:
                    pass
                case Assign():
                    out.append(self._assigned(s, mask))
                case Declare():
                    out.append(self._begun(s))
                case If():
                    out += self._branches(s, mask)
                case _:
                    raise AssertionError(f"{s} is nothing that a lane does")
        return tuple(out)

    def _branches(self, s: If, mask: Var) -> Body:
        everyone = mask.name == self.runs.name
        if self._asks_who_runs(s):
            if everyone:
                return self.block(s.then, mask)
            inside = self._mask(s.span)
            return (
                Declare(inside, binary(AND, mask, self.runs, s.span), s.span),
                *self.block(s.then, inside),
            )
        if everyone and self._only_leaves(s.orelse):
            stay = Assign(mask, binary(AND, mask, _bit(s.condition), s.span), s.span)
            return (stay, *self.block(s.then, mask))
        if everyone and self._only_leaves(s.then):
            stay = Assign(mask, binary(AND, mask, _not(_bit(s.condition)), s.span), s.span)
            return (stay, *self.block(s.orelse, mask))
        inside = self._mask(s.span)
        opening = Declare(inside, binary(AND, mask, _bit(s.condition), s.span), s.span)
        if not s.orelse:
            return (opening, *self.block(s.then, inside))
        if everyone and self._leaves(s.then):  # and who is left goes on
            return (opening, *self.block(s.then, inside), *self.block(s.orelse, mask))
        outside = self._mask(s.span)
        others = Declare(outside, binary(XOR, mask, inside, s.span), s.span)
        if everyone and self._leaves(s.orelse):
            return (opening, others, *self.block(s.orelse, outside), *self.block(s.then, mask))
        then = self.block(s.then, inside)
        return (opening, others, *then, *self.block(s.orelse, outside))

    def _leaves(self, body: Body) -> bool:
        """Whether all that come into a block leave the loop at its end."""
        last = body[-1] if body else None
        return isinstance(last, Assign) and last.var.name == self.state.name

    def _only_leaves(self, body: Body) -> bool:
        names = [s.var.name for s in body if isinstance(s, Assign)]
        return len(names) == len(body) == 1 and names[0] == self.state.name

    def _mask(self, span: Span) -> Var:
        self.masks += 1
        return replace(self.runs, name=f"inside.strip.{self.masks}", span=span)

    def _begun(self, s: Declare) -> Stmt:
        """One block, where there were several: a name is declared in it once."""
        init = s.init or zero(scalar_type(s.var), s.span)
        if s.var.name in self.declared:
            return Assign(s.var, init, s.span)
        self.declared.add(s.var.name)
        return Declare(s.var, init, s.span)

    def _assigned(self, s: Assign, mask: Var) -> Stmt:
        if mask.name == self.runs.name and s.var.name not in self.kept:
            return s
        return replace(s, value=_chosen(s, replace(mask, span=s.span)))


def _chosen(s: Assign, mask: Var) -> Expr:
    """The value where the mask is 1, what the variable has where it is 0."""
    kind = scalar_type(s.var)
    if kind.dtype is BOOL:
        given = binary(AND, _bit(s.value), mask, s.span)
        kept = binary(AND, _bit(s.var), _not(mask), s.span)
        return cast(binary(OR, given, kept, s.span), kind)
    match s.value:
        case Binary(op, Var(name), added) if op in (ADD, SUB) and name == s.var.name:
            if kind.dtype.is_integer:
                one = cast(mask, kind)
                if isinstance(added, Const) and added.value == 1:
                    return replace(s.value, right=one)
                left = binary(AND, added, unary(NEG, one, s.span), s.span)
                return replace(s.value, right=left)
        case _:
            pass
    return Apply(pick, (s.value, s.var, mask), kind, s.span)


def _repeated(one: Body, span: Span) -> Body:
    work = sum(isinstance(e, Binary | Unary | Apply) for e in all_expressions(one))
    for most, rounds in _ROUNDS:
        if work <= most:
            counter = Var("round.strip", WEAK_INT, span)
            first, last, step = (integer(n, span) for n in (0, rounds, 1))
            return (For(counter, first, last, step, one, span),)
    return one


def _is_chosen_by_mask(var: Var) -> bool:
    """Whether there is a choice without branches between two values of a variable."""
    return var.type != WEAK_BOOL and not var.type.dtype.fields


def _is_harmless(e: Expr) -> bool:
    """Whether C gives it a meaning for numbers that the program never has there."""
    match e:
        case Load() | ElementOf() | Call():  # of what is only there where the lane comes to it
            return False
        case Binary(op, _, right) if op in (QUOTIENT, REMAINDER):
            return isinstance(right, Const) and right.value not in (0, -1)
        case Cast(operand):
            return not (scalar_type(operand).dtype.is_float and scalar_type(e).dtype.is_integer)
        case Binary(op, _, right) if op in (C_SHL, C_SHR):
            return isinstance(right, Const)
        case _:
            return True


def _bit(condition: Expr) -> Expr:
    """A condition as 0 or 1: ``and`` becomes ``&``, which has no branch."""
    match condition:
        case Logical(op, left, right, span):
            joined = AND if op is LogicalOp.AND else OR
            return binary(joined, _bit(left), _bit(right), span)
        case Unary(op, Logical() as operand) if op is NOT:
            return _not(_bit(operand))
        case _:
            return cast(condition, _MASK)


def _not(bit: Expr) -> Expr:
    match bit:
        case Cast(Binary(op, left, right, kind, span)) if op in (EQ, NE):
            return cast(Binary(NE if op is EQ else EQ, left, right, kind, span), _MASK)
        case _:
            return binary(XOR, bit, const(1, bit.span, _MASK), bit.span)

"""The state of each thread of a block while threads go separate ways: nodes that read and write
it. Knows nothing of where they are put.

``state[thread]`` is 0 while a thread runs, 1 when it has returned, another code while it waits
for the others at the end of one construct. ``live`` says whether any thread runs: 1 or 0, as a
loop that sets a bool is none that compilers make vectors of.
"""

from __future__ import annotations

from pycu2c.base.dtypes import INT32
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    Binary,
    Body,
    Const,
    Declare,
    Expr,
    If,
    Load,
    NextWorkItem,
    Stmt,
    Store,
    Var,
    WorkItemLoop,
)
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread
from pycu2c.ops.operators import EQ, NE, OR, Operator

RUNNING, RETURNED = 0, 1


def context_array(like: Var, threads: int) -> Var:
    """An array with one slot, for a number or an array, for each thread of a block."""
    shape: tuple[int, ...] = ()
    if isinstance(like.type, Array):
        assert like.type.shape is not None
        shape = like.type.shape
    dtype = INT32 if like.type == WEAK_BOOL else like.type.dtype  # as masks: vectors of one width
    array = Array(dtype, 1 + len(shape), "C", MemorySpace.BLOCK, (threads, *shape))
    return replace(like, type=array)


def thread_index(span: Span) -> Expr:
    """The number of the running thread, the first index of every per-thread array."""
    return Apply(block_thread, (), WEAK_INT, span)


@dataclass(slots=True)
class ActiveMasks:
    """Makes the nodes for one kernel; remembers whether there were any."""

    state: Var
    live: Var
    last_code: int = RETURNED
    used: bool = False

    @property
    def threads(self) -> int:
        """How many threads a block has at most."""
        assert isinstance(self.state.type, Array)
        assert self.state.type.shape is not None
        return self.state.type.shape[0]

    def new_code(self) -> int:
        """A code for one more way to wait."""
        self.last_code += 1
        return self.last_code

    def set_state(self, code: int, span: Span) -> Stmt:
        self.used = True
        value = Const(code, Scalar(INT32), span)
        return Store(self.state, (thread_index(span),), value, span)

    def _compare(self, op: Operator, code: int, span: Span) -> Expr:
        self.used = True
        own = Load(self.state, (thread_index(span),), span)
        return Binary(op, own, Const(code, Scalar(INT32), span), WEAK_BOOL, span)

    def deactivate(self, code: int, span: Span) -> Body:
        """The running thread waits, or has returned."""
        return (self.set_state(code, span), NextWorkItem(span))

    def is_running(self, span: Span) -> Expr:
        return self._compare(EQ, RUNNING, span)

    def is_skip_inactive(self, s: Stmt) -> bool:
        match s:
            case If(Binary(op, Load(array), Const(0)), (NextWorkItem(),), ()):
                return op is NE and array.name == self.state.name
            case _:
                return False

    def skip_inactive(self, span: Span) -> Stmt:
        """Lets only running threads go on."""
        return If(self._compare(NE, RUNNING, span), (NextWorkItem(span),), (), span)

    def reactivate(self, code: int, span: Span) -> Stmt:
        """Who waited with this code runs again."""
        return If(self._compare(EQ, code, span), (self.set_state(RUNNING, span),), (), span)

    def swap_active(self, code: int, span: Span) -> Stmt:
        """Who waited with this code runs, who ran waits with it."""
        other = If(self._compare(EQ, RUNNING, span), (self.set_state(code, span),), (), span)
        return If(self._compare(EQ, code, span), (self.set_state(RUNNING, span),), (other,), span)

    def set_live(self, value: bool, span: Span) -> Stmt:
        return Assign(self.live, self._live_value(value, span), span)

    def mark_live(self, span: Span) -> Stmt:
        """Set by some threads of many."""
        value = Binary(OR, self.live, self._live_value(True, span), Scalar(INT32), span)
        return Assign(self.live, value, span)

    def if_any_live(self, body: Body, span: Span) -> Stmt:
        return If(self._is_live(NE, span), body, (), span)

    def if_none_live(self, body: Body, span: Span) -> Stmt:
        return If(self._is_live(EQ, span), body, (), span)

    def _live_value(self, value: bool, span: Span) -> Const:
        return Const(int(value), Scalar(INT32), span)

    def _is_live(self, op: Operator, span: Span) -> Expr:
        return Binary(op, self.live, self._live_value(False, span), WEAK_BOOL, span)

    def with_initial_state(self, body: Body, span: Span) -> Body:
        """A kernel's body with the state set up before, in its first thread loop if it can be."""
        if not self.used:
            return body
        start = self.set_state(RUNNING, span)
        alive = Declare(self.live, self._live_value(True, span), span)
        match body:
            case (Assign() as counting, WorkItemLoop(first, place), *rest):
                body = (counting, WorkItemLoop((start, *first), place), *rest)
            case (WorkItemLoop(first, place), *rest):
                body = (WorkItemLoop((start, *first), place), *rest)
            case _:
                body = (WorkItemLoop((start,), span), *body)
        return (Allocate(self.state, span), alive, *body)

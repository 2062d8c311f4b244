"""Active masks: per-thread states while threads diverge, and the nodes that read and write them.

``state[thread]`` is 0 while a thread runs, 1 after it has returned, and another code while it waits
for other threads at the end of a loop or an ``if``. ``any_active`` is 1 if any thread runs, else 0.
It is an int, because C compilers do not vectorize loops that set a bool.
"""

from __future__ import annotations

from pycu2c.analysis.variables import referenced_names
from pycu2c.base.dtypes import INT32
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index
from pycu2c.ops.operators import EQ, NE, OR, Operator

RUNNING, RETURNED = 0, 1


def context_array(element: ir.Var, threads: int) -> ir.Var:
    """Return an array with one element, a number or an array, for each thread of a block."""
    shape: tuple[int, ...] = ()
    if isinstance(element.type, Array):
        assert element.type.shape is not None
        shape = element.type.shape
    dtype = INT32 if element.type == WEAK_BOOL else element.type.dtype  # masks have the same width
    array = Array(dtype, 1 + len(shape), "C", MemorySpace.BLOCK, (threads, *shape))
    return replace(element, type=array)


def thread_index(span: Span) -> ir.Expr:
    """Return the linear index of the running thread, the first index of context arrays."""
    return ir.Apply(linear_thread_index, (), WEAK_INT, span)


@dataclass(slots=True)
class ActiveMasks:
    """Builds the nodes that access the states of the threads; ``is_used`` records any access."""

    state: ir.Var
    any_active: ir.Var
    last_code: int = RETURNED
    is_used: bool = False

    @property
    def threads(self) -> int:
        """Return the maximum number of threads of a block."""
        assert isinstance(self.state.type, Array)
        assert self.state.type.shape is not None
        return self.state.type.shape[0]

    def new_code(self) -> int:
        """Return an unused state code."""
        self.last_code += 1
        return self.last_code

    def set_state(self, code: int, span: Span) -> ir.Stmt:
        self.is_used = True
        value = ir.Const(code, Scalar(INT32), span)
        return ir.Store(self.state, (thread_index(span),), value, span)

    def _compare(self, op: Operator, code: int, span: Span) -> ir.Expr:
        self.is_used = True
        thread_state = ir.Load(self.state, (thread_index(span),), span)
        return ir.Binary(op, thread_state, ir.Const(code, Scalar(INT32), span), WEAK_BOOL, span)

    def deactivate(self, code: int, span: Span) -> ir.Body:
        """Set a new state, and end the thread's iteration of the work-item loop."""
        return (self.set_state(code, span), ir.NextWorkItem(span))

    def running_condition(self, span: Span) -> ir.Expr:
        return self._compare(EQ, RUNNING, span)

    def is_inactive_guard(self, s: ir.Stmt) -> bool:
        """Return whether a statement is one that ``inactive_guard`` returns."""
        match s:
            case ir.If(ir.Binary(op, ir.Load(array), ir.Const(0)), (ir.NextWorkItem(),), ()):
                return op is NE and array.name == self.state.name
            case _:
                return False

    def inactive_guard(self, span: Span) -> ir.Stmt:
        """End the iteration of threads that are not running."""
        return ir.If(self._compare(NE, RUNNING, span), (ir.NextWorkItem(span),), (), span)

    def reactivate(self, code: int, span: Span) -> ir.Stmt:
        """Let the threads with a code run again."""
        return ir.If(self._compare(EQ, code, span), (self.set_state(RUNNING, span),), (), span)

    def swap_active(self, code: int, span: Span) -> ir.Stmt:
        """Activate the threads with the state ``code``, and give running threads this state."""
        deactivate = ir.If(
            self._compare(EQ, RUNNING, span), (self.set_state(code, span),), (), span
        )
        return ir.If(
            self._compare(EQ, code, span), (self.set_state(RUNNING, span),), (deactivate,), span
        )

    # ``any_active`` is set to 0 before a loop over threads, and to 1 by the active threads in it

    def set_any_active(self, value: bool, span: Span) -> ir.Stmt:
        return ir.Assign(self.any_active, self._flag_value(value, span), span)

    def mark_active(self, span: Span) -> ir.Stmt:
        """Set ``any_active`` in a loop over threads, without a branch."""
        value = ir.Binary(OR, self.any_active, self._flag_value(True, span), Scalar(INT32), span)
        return ir.Assign(self.any_active, value, span)

    def if_any_active(self, body: ir.Body, span: Span) -> ir.Stmt:
        return ir.If(self._compare_any_active(NE, span), body, (), span)

    def if_none_active(self, body: ir.Body, span: Span) -> ir.Stmt:
        return ir.If(self._compare_any_active(EQ, span), body, (), span)

    def _flag_value(self, value: bool, span: Span) -> ir.Const:
        return ir.Const(int(value), Scalar(INT32), span)

    def _compare_any_active(self, op: Operator, span: Span) -> ir.Expr:
        return ir.Binary(op, self.any_active, self._flag_value(False, span), WEAK_BOOL, span)

    def with_initial_state(self, body: ir.Body, span: Span) -> ir.Body:
        """Initialize the state, in the first work-item loop if possible."""
        if not self.is_used:
            return body
        initialize = self.set_state(RUNNING, span)
        match body:
            case (ir.Assign() as set_any_active, ir.WorkItemLoop(first, loop_span), *rest):
                body = (set_any_active, ir.WorkItemLoop((initialize, *first), loop_span), *rest)
            case (ir.WorkItemLoop(first, loop_span), *rest):
                body = (ir.WorkItemLoop((initialize, *first), loop_span), *rest)
            case _:
                body = (ir.WorkItemLoop((initialize,), span), *body)
        return (ir.Allocate(self.state, span), *self._with_declared_flag(body, span))

    def _with_declared_flag(self, body: ir.Body, span: Span) -> ir.Body:
        """Declare ``any_active``: where it is assigned first, or else as 1 at the start."""
        for position, s in enumerate(body):
            if isinstance(s, ir.Assign) and s.var.name == self.any_active.name:
                declaration = ir.Declare(s.var, s.value, s.span)
                return (*body[:position], declaration, *body[position + 1 :])
            if self.any_active.name in referenced_names((s,)):
                break
        return (ir.Declare(self.any_active, self._flag_value(True, span), span), *body)

"""A thread loop in a strip keeps the values of its lane in variables while it runs.

``if state[thread] == 0: x[thread] = f(x[thread])`` ->
``state = state_of[thread]; x = x_of[thread]; if state == 0: x = f(x); …; x_of[thread] = x``.
Loads and stores that all lanes do are what compilers make vectors of on every processor.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.analysis.live_across_barriers import referenced_names
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, Array, Scalar
from pycu2c.ir.builders import cast, scalar_type, truth
from pycu2c.ir.nodes import Assign, Body, Declare, Expr, Load, Stmt, Store, Var
from pycu2c.ir.walk import map_expr, map_stmt, statements
from pycu2c.transforms.cpu.simd.active_masks import ActiveMasks, thread_index


def context_array_name(variable: str) -> str:
    """The array of what each thread has in a variable."""
    return f"{variable}.of"


@dataclass(frozen=True, slots=True)
class LaneVariable:
    """A variable and the array in which each thread has its own."""

    var: Var
    slots: Var

    @property
    def element(self) -> Scalar:
        assert isinstance(self.slots.type, Array)
        return self.slots.type.element

    @property
    def own(self) -> Var:
        """What a lane has it in: the variable; of a bool, which vectors have none of, an int."""
        if self.var.type != WEAK_BOOL:
            return self.var
        return replace(self.var, name=f"{self.var.name}.lane", type=self.element)

    def read(self, span: Span) -> Expr:
        own = replace(self.own, span=span)
        return truth(own) if self.var.type == WEAK_BOOL else own

    def set(self, value: Expr, span: Span) -> Stmt:
        return Assign(self.own, cast(value, scalar_type(self.own)), span)

    def opening(self) -> Stmt:
        span = self.var.span
        mine = cast(Load(self.slots, (thread_index(span),), span), scalar_type(self.own))
        return Declare(self.own, mine, span)

    def closing(self) -> Stmt:
        span = self.var.span
        return Store(self.slots, (thread_index(span),), cast(self.own, self.element), span)


def lane_state(masks: ActiveMasks) -> LaneVariable:
    """The state of a lane, as one more of its variables."""
    state = masks.state
    assert isinstance(state.type, Array)
    own = replace(state, name=state.name.removesuffix(".of"), type=state.type.element)
    return LaneVariable(own, state)


def use_lane_variables(body: Body, lane_variables: Sequence[LaneVariable]) -> Body:
    """The body of a thread loop in a strip, of variables alone."""
    arrays = {s.slots.name: s for s in lane_variables}
    kept = {s.var.name: s for s in lane_variables}

    def loaded(e: Expr) -> Expr:
        match e:
            case Load(array) if array.name in arrays:
                return arrays[array.name].read(e.span)
            case Var(name) if name in kept:
                return kept[name].read(e.span)
            case _:
                return e

    def stored(s: Stmt) -> Body:
        match s:
            case Store(array, _, value, span) if array.name in arrays:
                return (arrays[array.name].set(value, span),)
            case Declare(var, init, span) if var.name in kept:
                return () if init is None else (kept[var.name].set(init, span),)
            case Assign(var, value, span) if var.name in kept:
                return (kept[var.name].set(value, span),)
            case _:
                return (s,)

    return map_stmt(map_expr(body, loaded), stored)


def load_and_store_lanes(body: Body, lane_variables: Sequence[LaneVariable]) -> Body:
    """The body with what a lane has to load before it, and to store after it."""
    used = referenced_names(body)
    changed = {s.var.name for s in statements(body) if isinstance(s, Assign)}
    return (
        *(s.opening() for s in lane_variables if s.own.name in used),
        *body,
        *(s.closing() for s in lane_variables if s.own.name in changed),
    )

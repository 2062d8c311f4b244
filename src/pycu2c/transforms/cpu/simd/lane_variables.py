"""Keep the context-array elements of a lane in variables during a work-item loop of a strip.

``if state[thread] == 0: x[thread] = f(x[thread])`` -> ``state = state_of[thread]; x = x_of[thread];
if state == 0: x = f(x); …; x_of[thread] = x``. C compilers vectorize unconditional loads and stores
on every processor.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.analysis.variables import assigned_names, referenced_names
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, Array, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, scalar_type, truth
from pycu2c.ir.name_suffixes import CONTEXT
from pycu2c.ir.walk import map_expr, map_stmt
from pycu2c.transforms.cpu.simd.active_masks import ActiveMasks, thread_index


def context_array_name(variable: str) -> str:
    """Return the name of the context array of a variable."""
    return f"{variable}.{CONTEXT}"


@dataclass(frozen=True, slots=True)
class LaneVariable:
    """A variable and its context array."""

    var: ir.Var
    array: ir.Var

    @property
    def element_type(self) -> Scalar:
        assert isinstance(self.array.type, Array)
        return self.array.type.element

    @property
    def lane_value(self) -> ir.Var:
        """Return the variable of the lane; for a bool an int, since vectors have no bools."""
        if self.var.type != WEAK_BOOL:
            return self.var
        return replace(self.var, name=f"{self.var.name}.lane", type=self.element_type)

    def read(self, span: Span) -> ir.Expr:
        lane_value = replace(self.lane_value, span=span)
        return truth(lane_value) if self.var.type == WEAK_BOOL else lane_value

    def assign(self, value: ir.Expr, span: Span) -> ir.Stmt:
        return ir.Assign(self.lane_value, cast(value, scalar_type(self.lane_value)), span)

    def load_lane(self) -> ir.Stmt:
        span = self.var.span
        initial = cast(
            ir.Load(self.array, (thread_index(span),), span), scalar_type(self.lane_value)
        )
        return ir.Declare(self.lane_value, initial, span)

    def store_lane(self) -> ir.Stmt:
        span = self.var.span
        return ir.Store(
            self.array, (thread_index(span),), cast(self.lane_value, self.element_type), span
        )


def lane_state(masks: ActiveMasks) -> LaneVariable:
    """Return the state of a lane as a lane variable."""
    state = masks.state
    assert isinstance(state.type, Array)
    name = state.name.removesuffix(f".{CONTEXT}")
    var = replace(state, name=name, type=state.type.element)
    return LaneVariable(var, state)


def use_lane_variables(body: ir.Body, lane_variables: Sequence[LaneVariable]) -> ir.Body:
    """Replace context-array accesses of a strip's work-item loop by variables."""
    by_array_name = {v.array.name: v for v in lane_variables}
    by_variable_name = {v.var.name: v for v in lane_variables}

    def replace_load(e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Load(array) if array.name in by_array_name:
                return by_array_name[array.name].read(e.span)
            case ir.Var(name) if name in by_variable_name:
                return by_variable_name[name].read(e.span)
            case _:
                return e

    def replace_store(s: ir.Stmt) -> ir.Body:
        match s:
            case ir.Store(array, _, value, span) if array.name in by_array_name:
                return (by_array_name[array.name].assign(value, span),)
            case ir.Declare(var, init, span) if var.name in by_variable_name:
                return () if init is None else (by_variable_name[var.name].assign(init, span),)
            case ir.Assign(var, value, span) if var.name in by_variable_name:
                return (by_variable_name[var.name].assign(value, span),)
            case _:
                return (s,)

    return map_stmt(map_expr(body, replace_load), replace_store)


def load_and_store_lanes(body: ir.Body, lane_variables: Sequence[LaneVariable]) -> ir.Body:
    """Load lane variables before a body, and store them after it."""
    used_names = referenced_names(body)
    changed = assigned_names(body)
    return (
        *(v.load_lane() for v in lane_variables if v.lane_value.name in used_names),
        *body,
        *(v.store_lane() for v in lane_variables if v.lane_value.name in changed),
    )

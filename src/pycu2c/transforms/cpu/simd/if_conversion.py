"""If-conversion: turn a strip's loop into straight-line code under a mask.

``if state == 0: if count < n and z < 4: z = f(z); count = count + 1 else: state = 2`` -> ``running
= state == 0``, then four times ``running = running & (count < n) & (z < 4); z = f(z); count = count
+ running``, and ``state |= 2 & -(began ^ running)``, where ``began`` is the first ``running``.

Each lane executes several iterations; lanes that have left the loop change no live variable.
Measured: two to three times as fast as branches. Values stay in registers during the iterations,
and one test for active lanes serves all of them. Reference: Allen et al., "Conversion of control
dependence to data dependence" (1983).
"""

from __future__ import annotations

from collections.abc import Set

from pycu2c.analysis.variables import names_in
from pycu2c.base.dtypes import BOOL, INT32
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, integer, scalar_type, unary, zero
from pycu2c.ir.walk import all_expressions, expressions, operands, statements
from pycu2c.ops import operators as ops
from pycu2c.ops.intrinsics.threads.cpu_block import pick
from pycu2c.transforms.cpu.simd.active_masks import RUNNING

_MASK_TYPE = Scalar(INT32)
# (operations of one iteration, unroll factor): compilers unroll small loops only
_UNROLL_FACTORS = ((40, 4), (80, 2))


def is_if_convertible_loop(strip: ir.StripLoop, loop: ir.WorkItemLoop) -> bool:
    """Return whether a work-item loop is the whole body of a strip's loop."""
    match strip.body:
        case (
            ir.While(_, (ir.Assign(), ir.WorkItemLoop() as lane_loop, ir.If(_, (ir.Break(),), ()))),
        ):
            return lane_loop is loop
        case _:
            return False


def selects_wide_floats(work: ir.Body, live_out: Set[str]) -> bool:
    """Return whether inactive lanes must preserve 64-bit floats.

    Selecting these under 32-bit masks is too slow.
    """
    changed = (
        s.var for s in statements(work) if isinstance(s, ir.Assign) and s.var.name in live_out
    )
    return any(v.type.dtype.is_float and v.type.dtype.bits > 32 for v in changed)


def if_convert(body: ir.Body, state: ir.Var, any_active: str, live_out: Set[str]) -> ir.Body | None:
    """Return the if-converted body of a lane, or None if it is not convertible.

    ``live_out``: the variables that are live after the loop.
    """
    match body:
        case (ir.If(ir.Binary(op, ir.Var(name), ir.Const(code)), work, ()),):
            if op is not ops.EQ or name != state.name or code != RUNNING:
                return None
        case _:
            return None
    conversion = _IfConversion(state, any_active, live_out)
    if not conversion.is_legal(work):
        return None
    return conversion.convert(work, body[0].span)


@dataclass(slots=True)
class _IfConversion:
    state: ir.Var
    any_active: str
    live_out: Set[str]
    declared: set[str] = field(default_factory=set)
    mask_count: int = 0

    @property
    def running(self) -> ir.Var:
        return replace(self.state, name="running.strip", type=_MASK_TYPE)

    # ---- legality ---------------------------------------------------------------------------

    def is_legal(self, work: ir.Body) -> bool:
        """Return whether inactive lanes may keep computing, and there is one exit."""
        inner_statements = tuple(statements(work))
        if not all(isinstance(s, ir.Assign | ir.Declare | ir.If) for s in inner_statements):
            return False
        if (
            not all(map(_is_speculatable, all_expressions(work)))
            or len(self._exit_codes(work)) != 1
        ):
            return False
        if any(self._uses_state(s) for s in inner_statements if not self._tests_running(s)):
            return False
        if not all(_is_selectable(s.var) for s in inner_statements if isinstance(s, ir.Assign)):
            return False
        return not selects_wide_floats(work, self.live_out)

    def _exit_codes(self, work: ir.Body) -> set[int]:
        """Return the state codes of lanes that leave the loop."""
        return {
            int(s.value.value)
            for s in statements(work)
            if isinstance(s, ir.Assign) and s.var.name == self.state.name
            if isinstance(s.value, ir.Const)
        }

    def _uses_state(self, s: ir.Stmt) -> bool:
        return self.state.name in names_in(*(e for x in operands(s) for e in expressions(x)))

    def _tests_running(self, s: ir.Stmt) -> bool:
        match s:
            case ir.If(ir.Binary(op, ir.Var(name), ir.Const(code))):
                return op is ops.EQ and name == self.state.name and code == RUNNING
            case _:
                return False

    # ---- conversion -----------------------------------------------------------------------

    def convert(self, work: ir.Body, span: Span) -> ir.Body:
        was_running = replace(self.running, name="began.strip")
        is_running = ir.Binary(
            ops.EQ, self.state, const(RUNNING, span, _MASK_TYPE), WEAK_BOOL, span
        )
        (code,) = self._exit_codes(work)
        iteration = self.block(work, self.running)
        exited_mask = unary(ops.NEG, binary(ops.XOR, was_running, self.running, span), span)
        wait_state = binary(ops.AND, const(code, span, _MASK_TYPE), exited_mask, span)
        any_active = ir.Var(self.any_active, _MASK_TYPE, span)
        return (
            ir.Declare(was_running, cast(is_running, _MASK_TYPE), span),
            ir.Declare(self.running, was_running, span),
            *_unroll(iteration, span),
            ir.Assign(self.state, binary(ops.OR, self.state, wait_state, span), span),
            ir.Assign(any_active, binary(ops.OR, any_active, self.running, span), span),
        )

    def block(self, body: ir.Body, mask: ir.Var) -> ir.Body:
        """Convert a block that the lanes of a mask execute."""
        out: list[ir.Stmt] = []
        for s in body:
            match s:
                case ir.Assign(ir.Var(name), _, span) if name == self.state.name:
                    value = binary(ops.XOR, self.running, mask, span)
                    out.append(ir.Assign(self.running, value, span))
                case ir.Assign(ir.Var(name)) if name == self.any_active:
                    pass
                case ir.Assign():
                    out.append(self._assign_masked(s, mask))
                case ir.Declare():
                    out.append(self._declare(s))
                case ir.If():
                    out += self._branches(s, mask)
                case _:
                    raise AssertionError(f"{s} is not legal in a lane")
        return tuple(out)

    def _branches(self, s: ir.If, mask: ir.Var) -> ir.Body:
        is_full_mask = mask.name == self.running.name
        if self._tests_running(s):
            if is_full_mask:
                return self.block(s.then, mask)
            inside_mask, declaration = self._declare_mask(
                binary(ops.AND, mask, self.running, s.span)
            )
            return (declaration, *self.block(s.then, inside_mask))
        if is_full_mask and self._only_exits(s.orelse):
            stay_active = ir.Assign(mask, binary(ops.AND, mask, _bit(s.condition), s.span), s.span)
            return (stay_active, *self.block(s.then, mask))
        if is_full_mask and self._only_exits(s.then):
            stay_active = ir.Assign(
                mask, binary(ops.AND, mask, _not(_bit(s.condition)), s.span), s.span
            )
            return (stay_active, *self.block(s.orelse, mask))
        then_mask, declare_then = self._declare_mask(
            binary(ops.AND, mask, _bit(s.condition), s.span)
        )
        if not s.orelse:
            return (declare_then, *self.block(s.then, then_mask))
        if is_full_mask and self._always_exits(s.then):  # the remaining lanes continue
            return (declare_then, *self.block(s.then, then_mask), *self.block(s.orelse, mask))
        else_mask, declare_else = self._declare_mask(binary(ops.XOR, mask, then_mask, s.span))
        if is_full_mask and self._always_exits(s.orelse):
            exits = self.block(s.orelse, else_mask)
            return (declare_then, declare_else, *exits, *self.block(s.then, mask))
        then, orelse = self.block(s.then, then_mask), self.block(s.orelse, else_mask)
        return (declare_then, declare_else, *then, *orelse)

    def _always_exits(self, body: ir.Body) -> bool:
        """Return whether all lanes that enter a block leave the loop at its end."""
        last = body[-1] if body else None
        return isinstance(last, ir.Assign) and last.var.name == self.state.name

    def _only_exits(self, body: ir.Body) -> bool:
        names = [s.var.name for s in body if isinstance(s, ir.Assign)]
        return len(names) == len(body) == 1 and names[0] == self.state.name

    def _declare_mask(self, value: ir.Expr) -> tuple[ir.Var, ir.Stmt]:
        self.mask_count += 1
        name = f"inside.strip.{self.mask_count}"
        mask = replace(self.running, name=name, span=value.span)
        return mask, ir.Declare(mask, value, value.span)

    def _declare(self, s: ir.Declare) -> ir.Stmt:
        """Declare a variable once: several blocks are merged into one."""
        init = s.init or zero(scalar_type(s.var), s.span)
        if s.var.name in self.declared:
            return ir.Assign(s.var, init, s.span)
        self.declared.add(s.var.name)
        return ir.Declare(s.var, init, s.span)

    def _assign_masked(self, s: ir.Assign, mask: ir.Var) -> ir.Stmt:
        if mask.name == self.running.name and s.var.name not in self.live_out:
            return s
        return replace(s, value=_select(s, replace(mask, span=s.span)))


def _select(s: ir.Assign, mask: ir.Var) -> ir.Expr:
    """Return the new value where the mask is 1, and the old one where it is 0."""
    t = scalar_type(s.var)
    if t.dtype is BOOL:
        new_bits = binary(ops.AND, _bit(s.value), mask, s.span)
        old_bits = binary(ops.AND, _bit(s.var), _not(mask), s.span)
        return cast(binary(ops.OR, new_bits, old_bits, s.span), t)
    match s.value:
        case ir.Binary(op, ir.Var(name), added) if op in (ops.ADD, ops.SUB) and name == s.var.name:
            if t.dtype.is_integer:
                count = cast(mask, t)
                if isinstance(added, ir.Const) and added.value == 1:
                    return replace(s.value, right=count)
                masked_addend = binary(ops.AND, added, unary(ops.NEG, count, s.span), s.span)
                return replace(s.value, right=masked_addend)
    return ir.Apply(pick, (s.value, s.var, mask), t, s.span)


def _unroll(iteration: ir.Body, span: Span) -> ir.Body:
    operations = sum(
        isinstance(e, ir.Binary | ir.Unary | ir.Apply) for e in all_expressions(iteration)
    )
    for max_operations, factor in _UNROLL_FACTORS:
        if operations <= max_operations:
            counter = ir.Var("round.strip", WEAK_INT, span)
            start, stop, step = (integer(n, span) for n in (0, factor, 1))
            return (ir.For(counter, start, stop, step, iteration, span),)
    return iteration


def _is_selectable(var: ir.Var) -> bool:
    """Return whether two values of a variable can be selected without branches."""
    return var.type != WEAK_BOOL and not var.type.dtype.fields


def _is_speculatable(e: ir.Expr) -> bool:
    """Return whether C defines a node for all operands, also of inactive lanes."""
    match e:
        case ir.Load() | ir.ElementOf() | ir.Call():  # may be invalid in inactive lanes
            return False
        case ir.Binary(op, _, right) if op in (ops.C_DIV, ops.C_REM):
            return isinstance(right, ir.Const) and right.value not in (0, -1)
        case ir.Cast(operand):
            return not (scalar_type(operand).dtype.is_float and scalar_type(e).dtype.is_integer)
        case ir.Binary(op, _, right) if op in (ops.C_SHL, ops.C_SHR):
            return isinstance(right, ir.Const)
        case _:
            return True


def _bit(condition: ir.Expr) -> ir.Expr:
    """Return a condition as 0 or 1; ``and`` becomes ``&``, which has no branch."""
    match condition:
        case ir.Logical(op, left, right, span):
            bit_operator = ops.AND if op is ir.LogicalOp.AND else ops.OR
            return binary(bit_operator, _bit(left), _bit(right), span)
        case ir.Unary(op, ir.Logical() as operand) if op is ops.NOT:
            return _not(_bit(operand))
        case _:
            return cast(condition, _MASK_TYPE)


def _not(bit: ir.Expr) -> ir.Expr:
    match bit:
        case ir.Cast(ir.Binary(op, left, right, t, span)) if op in (ops.EQ, ops.NE):
            return cast(
                ir.Binary(ops.NE if op is ops.EQ else ops.EQ, left, right, t, span), _MASK_TYPE
            )
        case _:
            return binary(ops.XOR, bit, const(1, bit.span, _MASK_TYPE), bit.span)

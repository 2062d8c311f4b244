"""Narrow Python ints to 32 bits wherever ranges prove that they fit (CUDA).

GPUs compute 32-bit integers twice as fast, and the generated C is simpler. A narrow int stays weak:
it has Python's semantics and a known range. Uses the range analysis and
``analysis.ranges.index_constraints``. Requires the form TYPED (``ir/forms.py``). Guarantees that
narrow values fit in 32 bits in every defined execution.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from pycu2c.analysis.launch_ranges import IndexRules
from pycu2c.analysis.ranges.index_constraints import IndexConstraints, is_linear, linear_operands
from pycu2c.analysis.ranges.interval_arithmetic import Interval, all_values
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.base import dtypes
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, WEAK_INT32, Array, Scalar, Type
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import binary, cast
from pycu2c.ops.intrinsics.memory.subscripts import from_start
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.operators import ADD, POW, SHL, SHR, SUB, bool_result

_MODULAR_INT32 = Scalar(dtypes.INT32)  # a NumPy int32, which wraps
INT32_RANGE = all_values(WEAK_INT32)


def narrow(module: ir.Module, rules: IndexRules, ranges: Mapping[str, Ranges]) -> ir.Module:
    """Narrow all functions: ``i: int = cuda.grid.x()`` -> ``i: small = cuda.grid.x.small()``."""
    constraints = {f.name: IndexConstraints(f, ranges[f.name], rules) for f in module.functions}
    variables = {f.name: _narrow_variables(f, constraints[f.name]) for f in module.functions}
    signatures = {
        f.name: narrow_signature(f, variables[f.name], ranges[f.name]) for f in module.functions
    }

    def narrow_function(f: ir.Function) -> ir.Function:
        signature = signatures[f.name]
        narrower = Narrower(constraints[f.name], variables[f.name], signature.result, signatures)
        return signature.with_body(f, narrower.body(f.body))

    return walk.map_functions(module, narrow_function)


@dataclass(frozen=True, slots=True)
class NarrowSignature:
    """Types of a function after narrowing."""

    parameters: tuple[Scalar | Array, ...]
    result: Type

    def with_body(self, function: ir.Function, body: ir.Body) -> ir.Function:
        """Return the function with these types and a narrowed body."""
        pairs = zip(function.parameters, self.parameters)
        parameters = tuple(replace(p, type=new_type) for p, new_type in pairs)
        return replace(function, parameters=parameters, body=body, result=self.result)


def narrow_signature(
    function: ir.Function, narrow_variables: Set[str], ranges: Ranges
) -> NarrowSignature:
    """Return the types of a function whose ``narrow_variables`` have 32 bits."""
    parameters = tuple(
        WEAK_INT32 if p.name in narrow_variables else p.type for p in function.parameters
    )
    fits = function.result == WEAK_INT and INT32_RANGE.contains(ranges.result.interval)
    return NarrowSignature(parameters, WEAK_INT32 if fits else function.result)


def _narrow_variables(function: ir.Function, constraints: IndexConstraints) -> frozenset[str]:
    """Return the ints whose every value fits 32 bits."""
    names = {p.name for p in function.parameters if p.type == WEAK_INT}
    names |= defined_ints(function.body) - wide_counters(constraints.ranges)
    return frozenset(n for n in names if INT32_RANGE.contains(constraints.variable(n)))


def defined_ints(body: ir.Body) -> set[str]:
    """Return the ints that a body declares, assigns or binds in a Let."""
    targets = (
        s.var for s in walk.statements(body) if isinstance(s, ir.Assign | ir.Declare | ir.For)
    )
    lets = (e for e in walk.all_expressions(body) if isinstance(e, ir.Let))
    return {v.name for v in targets if v.type == WEAK_INT} | {
        e.name for e in lets if e.value.type == WEAK_INT
    }


def wide_counters(ranges: Ranges) -> set[str]:
    """Return the loop variables that exceed 32 bits, also in the step after the last value."""

    def is_wide(loop: ir.For) -> bool:
        start, stop, step = (ranges.of(e) for e in walk.operands(loop))
        final_counter = Interval(stop.low + min(step.low, 0), stop.high + max(step.high, 1) - 1)
        return not all(INT32_RANGE.contains(i) for i in (start, stop, step, final_counter))

    loops = (s for s in walk.statements(ranges.function.body) if isinstance(s, ir.For))
    return {loop.var.name for loop in loops if is_wide(loop)}


@dataclass(slots=True)
class Narrower:
    constraints: IndexConstraints
    narrow_variables: frozenset[str]  # variables that fit 32 bits
    result: Type
    signatures: Mapping[str, NarrowSignature]
    converted: frozenset[str] = frozenset()  # wide variables that are narrowed where they are read
    _narrowed: dict[int, ir.Expr] = field(default_factory=dict)  # shared nodes stay shared

    def body(self, body: ir.Body) -> ir.Body:
        return tuple(self.statement(s) for s in body)

    def statement(self, s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Assign) and self._is_modular(s.var):
            return replace(s, var=self._variable(s.var), value=self._modular(s.value))
        expected_type = self.expected_type(s)
        new = tuple(to_type(self._value(e), expected_type) for e in walk.operands(s))
        if isinstance(s, ir.Store):
            new = (new[0], *(self._index(e) for e in walk.operands(s)[1:]))
        s = walk.with_operands(s, new)
        s = walk.map_bodies(s, self.body)
        if isinstance(s, (ir.Assign, ir.Declare, ir.For)):
            return replace(s, var=self._variable(s.var))
        return s

    def expected_type(self, s: ir.Stmt) -> Type | None:
        """Return the type that a statement's operands must have, or None."""
        match s:
            case ir.Assign() | ir.Declare() | ir.For():
                return self._variable(s.var).type
            case ir.Return():
                return self.result
            case _:
                return None

    def _variable(self, var: ir.Var) -> ir.Var:
        if self._is_modular(var):
            return replace(var, type=_MODULAR_INT32)
        return replace(var, type=WEAK_INT32) if var.name in self.narrow_variables else var

    # ---- indices ----

    def _index(self, e: ir.Expr) -> ir.Expr:
        """Narrow an index; a sum of products that needs 64 bits is computed modulo 2**32.

        A sum with a variable of 64 bits remains wide, since C compilers add constants to addresses
        only without conversions.
        """
        has_modular = any(self._is_modular(x) for x in linear_operands(e))
        if not has_modular and self._adds_wide_variable(e):
            return self._wide_sum(e)
        new = self._value(e)
        is_wide_sum = new.type == WEAK_INT and is_linear(e) and self.constraints.rules.index32
        if not is_wide_sum and not has_modular:
            return new
        new = self._modular(e)
        if self.constraints.ranges.of(e).low >= 0:
            return ir.Apply(from_start, (new,), _MODULAR_INT32, e.span)
        return new

    def _adds_wide_variable(self, e: ir.Expr) -> bool:
        if isinstance(e, ir.Binary) and e.op in (ADD, SUB) and e.type == WEAK_INT:
            return any(map(self._adds_wide_variable, (e.left, e.right)))
        if not isinstance(e, ir.Var) or e.name in self.converted:
            return False
        return self._variable(e).type == WEAK_INT

    def _wide_sum(self, e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Binary) and self._adds_wide_variable(e):
            return _keep_types(e, (self._wide_sum(e.left), self._wide_sum(e.right)))
        return self._value(e)

    def _value(self, e: ir.Expr) -> ir.Expr:
        """Narrow an expression; a sum of products that fits 32 bits is computed modulo 2**32."""
        new = self.expression(e)
        if new.type == WEAK_INT and is_linear(e) and self._fits(e):
            return cast(self._modular(e), WEAK_INT32)
        return new

    def _modular(self, e: ir.Expr) -> ir.Expr:
        """Return the expression computed modulo 2**32."""
        if isinstance(e, ir.Binary) and is_linear(e):
            return binary(e.op, self._modular(e.left), self._modular(e.right), e.span)
        return cast(self.expression(e), _MODULAR_INT32)

    def _is_modular(self, var: ir.Var) -> bool:
        return var.name in self.constraints.modular and var.name not in self.narrow_variables

    # ---- expressions ----

    def expression(self, e: ir.Expr) -> ir.Expr:
        if id(e) not in self._narrowed:
            self._narrowed[id(e)] = self._expression(e)
        return self._narrowed[id(e)]

    def _expression(self, e: ir.Expr) -> ir.Expr:
        narrowed = tuple(self.expression(child) for child in walk.children(e))
        match e:
            case ir.Const():
                return replace(e, type=WEAK_INT32) if self._fits(e) else e
            case ir.Var(name) if name in self.converted:
                return cast(e, WEAK_INT32)
            case ir.Var():
                return self._variable(e)
            case ir.Load() | ir.ElementOf():
                return walk.with_children(e, (e.array, *map(self._index, walk.children(e)[1:])))
            # every length, since callers and callees pass it in one type
            case ir.Dim() if e.type == WEAK_INT and self.constraints.rules.index32:
                return replace(e, type=WEAK_INT32)
            case ir.Cast() if self._fits(e) and e.operand.type != WEAK_INT:
                return ir.Cast(narrowed[0], WEAK_INT32, e.span)
            case ir.Binary() if e.op.result is bool_result and e.left.type == WEAK_INT:
                return walk.with_children(e, _common_type(narrowed))
            case ir.Unary() | ir.Binary() if self._computes_in_32_bits(e, walk.children(e)):
                return _with_type(e, narrowed, WEAK_INT32)
            case ir.Select() if self._fits(e):
                return _with_type(e, narrowed, WEAK_INT32)
            case ir.Apply():
                return self._apply(e, narrowed)
            case ir.Let():
                new_type = WEAK_INT32 if e.name in self.narrow_variables else e.value.type
                return walk.with_children(e, (to_type(narrowed[0], new_type), narrowed[1]))
            case ir.Cast():
                return walk.with_children(e, narrowed)
            case ir.Call():
                return self.call(e, narrowed)
            case _:
                return _keep_types(e, narrowed)

    def _apply(self, e: ir.Apply, narrowed: tuple[ir.Expr, ...]) -> ir.Expr:
        kinds = [kind for _, kind in e.intrinsic.parameters if kind != "index"]
        has_int_result = e.intrinsic.result == "T" and e.type == WEAK_INT
        if not kinds and self._fits(e):
            return replace(e, type=WEAK_INT32)
        if (
            has_int_result
            and _supports_int32(e.intrinsic)
            and self._computes_in_32_bits(e, e.arguments)
        ):
            return _with_type(e, narrowed, WEAK_INT32)
        accepts_any_int = [kind == "int" for kind in kinds]
        pairs = zip(narrowed, e.arguments, accepts_any_int)
        new_call = walk.with_children(
            e, tuple(n if any_int else to_type(n, old.type) for n, old, any_int in pairs)
        )
        assert isinstance(new_call, ir.Apply)
        result_fits = e.intrinsic.bounds is not None and self._fits(e)
        return replace(new_call, type=WEAK_INT32) if result_fits else new_call

    def call(self, e: ir.Call, narrowed: tuple[ir.Expr, ...]) -> ir.Expr:
        callee = self.signatures[e.function]
        pairs = zip(narrowed, callee.parameters)
        arguments = tuple(to_type(argument, new_type) for argument, new_type in pairs)
        return replace(e, arguments=arguments, type=callee.result)

    def _fits(self, e: ir.Expr) -> bool:
        return e.type == WEAK_INT and INT32_RANGE.contains(self.constraints.of(e))

    def _computes_in_32_bits(self, e: ir.Expr, arguments: tuple[ir.Expr, ...]) -> bool:
        """Return whether operands and result fit, and the operator is the same in 32 bits."""
        if not (self._fits(e) and all(self._fits(x) for x in arguments)):
            return False
        if isinstance(e, ir.Binary) and e.op in (SHL, SHR):
            return Interval(0, 31).contains(self.constraints.of(e.right))
        return not (isinstance(e, ir.Binary) and e.op is POW) or isinstance(e.right, ir.Const)


def _supports_int32(intrinsic: Intrinsic) -> bool:
    return not intrinsic.dtypes or dtypes.INT32 in intrinsic.dtypes


def to_type(e: ir.Expr, expected_type: Type | None) -> ir.Expr:
    """Convert an int of 32 or 64 bits to the expected type; return other values unchanged."""
    ints = (WEAK_INT, WEAK_INT32)
    return (
        cast(e, expected_type) if isinstance(expected_type, Scalar) and expected_type in ints else e
    )


def _with_type(
    e: ir.Unary | ir.Binary | ir.Select | ir.Apply, narrowed: tuple[ir.Expr, ...], new_type: Scalar
) -> ir.Expr:
    values = narrowed[1:] if isinstance(e, ir.Select) else narrowed
    condition = narrowed[: len(narrowed) - len(values)]
    new = walk.with_children(e, (*condition, *(to_type(x, new_type) for x in values)))
    assert isinstance(new, (ir.Unary, ir.Binary, ir.Select, ir.Apply))
    return replace(new, type=new_type)


def _common_type(pair: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """Convert both sides of a comparison to one type, the wider one."""
    has_wide = any(e.type == WEAK_INT for e in pair)
    return tuple(to_type(e, WEAK_INT if has_wide else WEAK_INT32) for e in pair)


def _keep_types(e: ir.Expr, narrowed: tuple[ir.Expr, ...]) -> ir.Expr:
    """Convert operands to their old types, except indices, which may have any type."""
    pairs = zip(narrowed, walk.children(e))
    keeps_types = isinstance(e, (ir.Unary, ir.Binary, ir.Select, ir.Pack))
    return walk.with_children(e, tuple(to_type(n, o.type) if keeps_types else n for n, o in pairs))

"""Scalar replacement of aggregates: split complex numbers and vectors into scalar variables (CPU).

``z = z * z + c`` -> ``x = z.x * z.x - z.y * z.y + c.x; z.y = 2 …; z.x = x``, all of floats. Applies
to functions where it makes a loop profitable to strip-mine. Elsewhere the C compiler does the same.
Requires the form C_SEMANTICS (``ir/forms.py``). Guarantees the same operations on the components.
Uses the heuristics of ``divergent_loops``.
"""

from __future__ import annotations

from collections.abc import Iterable

from pycu2c.analysis.variables import assigned_names, names_in
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import Scalar, Type
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import cast, is_atom, scalar_type
from pycu2c.transforms.cpu.simd import divergent_loops
from pycu2c.transforms.cpu.simd.complex_components import COMPONENT_RULES, SCALAR_RESULT_RULES, Bind

Components = tuple[ir.Expr, ...]
_Bindings = list[tuple[ir.Var, ir.Expr]]  # evaluated first, in order


def replace_aggregates(module: ir.Module) -> ir.Module:
    """Replace the aggregates of each function whose loops profit."""
    return walk.map_functions(module, _replace_in_function)


def _replace_in_function(function: ir.Function) -> ir.Function:
    replaced = replace_in_body(function, tuple(divergent_loops.early_exit_loops(function.body)))
    is_profitable = len(divergent_loops.profitable_loops(replaced)) > len(
        divergent_loops.profitable_loops(function)
    )
    return replaced if is_profitable else function


def replace_in_body(function: ir.Function, body: ir.Body) -> ir.Function:
    """Replace all complex numbers and vectors that a body mentions, in the whole function."""
    aggregate_nodes = [e for e in walk.all_expressions(body) if _is_aggregate(e.type)]
    if not aggregate_nodes:
        return function
    names = {e.name for e in aggregate_nodes if isinstance(e, ir.Var)}
    return _ScalarReplacement(frozenset(names | assigned_names(body))).function(function)


def _is_aggregate(t: Type) -> bool:
    """Return whether values of a type consist of numbers."""
    if not isinstance(t, Scalar) or not t.dtype.fields:
        return False
    return not any(f.dtype.fields for f in t.dtype.fields)


def _component_variables(var: ir.Var) -> tuple[ir.Var, ...]:
    """Return the variables that replace an aggregate variable."""
    t = scalar_type(var)
    names = ("real", "imag") if t.dtype.is_complex else (f.name for f in t.dtype.fields)
    return tuple(
        ir.Var(f"{var.name}.{name}.item", scalar_type(component), var.span)
        for name, component in zip(names, _members(var))
    )


def _members(e: ir.Expr) -> Components:
    t = scalar_type(e)
    weak = t.weak and t.dtype.is_complex
    return tuple(ir.Member(e, f.name, Scalar(f.dtype, weak), e.span) for f in t.dtype.fields)


@dataclass(slots=True)
class _ScalarReplacement:
    candidate_names: frozenset[str]  # those of aggregate types are replaced
    _fresh: int = 0
    _replaced_lets: set[str] = field(default_factory=set)  # names of replaced Lets

    def function(self, f: ir.Function) -> ir.Function:
        parameters = [
            ir.Var(p.name, p.type, f.span) for p in f.parameters if p.name in self.candidate_names
        ]
        initial_assignments: list[ir.Stmt] = []
        for var in (v for v in parameters if _is_aggregate(v.type)):
            initial_assignments += (
                ir.Assign(p, m, f.span) for p, m in zip(_component_variables(var), _members(var))
            )
        return replace(f, body=(*initial_assignments, *self.body(f.body)))

    def body(self, body: ir.Body) -> ir.Body:
        return tuple(new for s in body for new in self.statement(s))

    def statement(self, s: ir.Stmt) -> ir.Body:
        if isinstance(s, ir.Assign) and self._is_replaced(s.var):
            bindings, components = self.components(s.value)
            binding_assignments = tuple(ir.Assign(var, e, s.span) for var, e in bindings)
            return (
                *binding_assignments,
                *self._assign_components(_component_variables(s.var), components, s),
            )
        s = walk.map_operands(s, self.expression)
        return (walk.map_bodies(s, self.body),)

    def _is_replaced(self, var: ir.Var) -> bool:
        return _is_aggregate(var.type) and (
            var.name in self.candidate_names or var.name in self._replaced_lets
        )

    def _assign_components(
        self, targets: tuple[ir.Var, ...], components: Components, s: ir.Stmt
    ) -> ir.Body:
        """Assign all components at once; targets that are still read are assigned last."""
        first: list[ir.Stmt] = []
        last: list[ir.Stmt] = []
        for i, (target, component) in enumerate(zip(targets, components)):
            value = cast(component, scalar_type(target))
            if any(target.name in names_in(later) for later in components[i + 1 :]):
                temporary = self._variable(scalar_type(target), value)
                first.append(ir.Assign(temporary, value, s.span))
                last.append(ir.Assign(target, temporary, s.span))
            else:
                first.append(ir.Assign(target, value, s.span))
        return (*first, *last)

    # ---- expressions -------------------------------------------------------------------------

    def expression(self, e: ir.Expr) -> ir.Expr:
        """Return an expression of the same value without replaced variables."""
        match e:
            case ir.Var() if self._is_replaced(e):
                return ir.Pack(_component_variables(e), scalar_type(e), e.span)
            case ir.Member(operand, name) if _is_aggregate(operand.type):
                bindings, components = self.components(operand)
                fields = [f.name for f in scalar_type(operand).dtype.fields]
                return _with_bindings(bindings, cast(components[fields.index(name)], e.type))
            case ir.Let(_, value) if _is_aggregate(value.type):
                return _with_bindings(self._let_components(e), self.expression(e.body))
            case ir.Apply(intrinsic, arguments) if intrinsic in SCALAR_RESULT_RULES:
                bindings = []
                operand_components = [self._atomic_components(a, bindings) for a in arguments]
                return _with_bindings(
                    bindings, SCALAR_RESULT_RULES[intrinsic](e, *operand_components)
                )
            case _:
                return walk.map_children(e, self.expression)

    def components(self, e: ir.Expr) -> tuple[_Bindings, Components]:
        """Return bindings to evaluate first, and the components, in any order."""
        bindings: _Bindings = []
        return bindings, self._components(e, bindings)

    def _components(self, e: ir.Expr, bindings: _Bindings) -> Components:
        match e:
            case ir.Var() if self._is_replaced(e):
                return _component_variables(e)
            case ir.Var():
                return _members(e)
            case ir.Pack():
                return tuple(self._stable(self.expression(p), bindings) for p in e.parts)
            case ir.Let():
                value = e.value
                bindings += (
                    self._let_components(e)
                    if _is_aggregate(value.type)
                    else [(ir.Var(e.name, scalar_type(value), e.span), self.expression(value))]
                )
                return self._components(e.body, bindings)
            case ir.Apply(intrinsic, arguments) if intrinsic in COMPONENT_RULES:
                operand_components = [self._atomic_components(a, bindings) for a in arguments]
                return COMPONENT_RULES[intrinsic](e, self._binder(bindings), *operand_components)
            case ir.Select():
                return self._select_components(e, bindings)
            case _:
                return _members(self._bind(self.expression(e), bindings))

    def _let_components(self, e: ir.Let) -> _Bindings:
        var = ir.Var(e.name, scalar_type(e.value), e.span)
        self._replaced_lets.add(e.name)
        bindings, components = self.components(e.value)
        return [
            *bindings,
            *((v, cast(p, scalar_type(v))) for v, p in zip(_component_variables(var), components)),
        ]

    def _select_components(self, e: ir.Select, bindings: _Bindings) -> Components:
        """Select by component if both sides may be speculated."""
        if not all(map(_is_stable, (e.then, e.orelse))):
            return _members(self._bind(self.expression(e), bindings))
        condition = self._atom(self.expression(e.condition), bindings)
        then, orelse = (
            [_with_bindings(branch_bindings, component) for component in components]
            for branch_bindings, components in (self.components(e.then), self.components(e.orelse))
        )
        return tuple(
            ir.Select(condition, a, cast(b, scalar_type(a)), scalar_type(a), e.span)
            for a, b in zip(then, orelse)
        )

    def _atomic_components(self, e: ir.Expr, bindings: _Bindings) -> Components:
        """Return the components as expressions that may occur twice."""
        if not _is_aggregate(e.type):
            return (self._atom(self.expression(e), bindings),)
        return tuple(self._atom(p, bindings) for p in self._components(e, bindings))

    def _atom(self, e: ir.Expr, bindings: _Bindings) -> ir.Expr:
        is_simple = is_atom(e) or (isinstance(e, ir.Member) and isinstance(e.operand, ir.Var))
        return e if is_simple else self._bind(e, bindings)

    def _stable(self, e: ir.Expr, bindings: _Bindings) -> ir.Expr:
        return e if _is_stable(e) else self._bind(e, bindings)

    def _bind(self, e: ir.Expr, bindings: _Bindings) -> ir.Var:
        var = self._variable(scalar_type(e), e)
        bindings.append((var, e))
        return var

    def _binder(self, bindings: _Bindings) -> Bind:
        return lambda e: self._bind(e, bindings)

    def _variable(self, t: Scalar, origin: ir.Expr) -> ir.Var:
        self._fresh += 1
        return ir.Var(f"component.c{self._fresh}", t, origin.span)


def _with_bindings(bindings: Iterable[tuple[ir.Var, ir.Expr]], e: ir.Expr) -> ir.Expr:
    for var, value in reversed(tuple(bindings)):
        e = ir.Let(var.name, value, e, value.span)
    return e


def _is_stable(e: ir.Expr) -> bool:
    """Return whether an expression has the same value anywhere in a statement."""
    return not any(
        isinstance(x, ir.Load | ir.ElementOf | ir.Call)
        or (isinstance(x, ir.Apply) and not x.intrinsic.is_pure)
        for x in walk.expressions(e)
    )

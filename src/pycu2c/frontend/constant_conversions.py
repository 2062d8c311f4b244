"""Check that weak constants fit the strong types that they reach, directly or through names.

``arithmetic.coerce`` checks a literal at its conversion. A constant also reaches a conversion
through variables, arguments, results of functions, conditional expressions and items of tuples.
This check follows the definitions of each converted value backwards, across functions, once all of
the module is typed. A value is constant if all its definitions are, except that each argument of a
parameter and each arm of a conditional expression counts by itself. Other values are computed at
run time and wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Scalar, uint64
from pycu2c.base.values import fits
from pycu2c.frontend.expressions.arithmetic import constant_fits, range_diagnostic
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, scalar_type, unary
from pycu2c.ir.walk import all_expressions, statements

_Constants: TypeAlias = "list[ir.Const] | None"  # None: computed at run time
_Place: TypeAlias = (
    "tuple[ir.Expr, _FunctionValues]"  # an expression, and the function that it is in
)


def check_constant_conversions(module: ir.Module) -> None:
    """Check the conversions of weak constants to strong types. Raises CompileError."""
    finder = _ConstantFinder(module)
    problems: dict[tuple[Label, ...], Diagnostic] = {}
    for function in module.functions:
        for e in all_expressions(function.body):
            for operand, to_type in _conversions(e):
                for constant in finder.constants_in(operand, function.name):
                    problem = _problem(constant, to_type, operand.span)
                    if problem is not None:
                        problems.setdefault(problem.labels, problem)
    if problems:
        raise CompileError([*problems.values()])


def _conversions(e: ir.Expr) -> list[tuple[ir.Expr, Scalar]]:
    """Return the operands that an expression uses as a type, which constants must fit."""
    match e:
        case ir.Cast(operand=operand, type=to_type) if e.must_fit:
            return [(operand, to_type)]
        case ir.Binary(left=left, right=right):
            operands = [o.operand if isinstance(o, ir.Cast) else o for o in (left, right)]
            return [(o, WEAK_INT) for o in operands if o.type == WEAK_INT and left.type != uint64]
        case _:
            return []


def _problem(constant: ir.Const, to_type: Scalar, span: Span) -> Diagnostic | None:
    """Return the error of a constant that does not reach a type unchanged, or None."""
    use = "it is used here" if to_type.weak else f"here it becomes `{to_type}`"
    uses = [Label(span, use)] if span != constant.span else []
    # a variable holds a weak int in 64 bits, which may also be read as uint64
    if constant.type == WEAK_INT and to_type != uint64 and not fits(int(constant.value), WEAK_INT):
        label = Label(
            constant.span, f"a Python int is computed in int64, which {constant.value} exceeds"
        )
        return Diagnostic("constant-range", (label, *uses), "make it a uint64: np.uint64(…)")
    if constant_fits(constant.value, to_type):
        return None
    return range_diagnostic(constant, to_type, uses)


@dataclass(slots=True, eq=False)
class _FunctionValues:
    """The definitions and results of one function; None for a value without an expression."""

    function: ir.Function
    definitions: dict[str, list[ir.Expr | None]] = field(default_factory=dict)
    results: list[ir.Expr] = field(default_factory=list)
    calls: list[ir.Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        for s in statements(self.function.body):
            match s:
                case ir.Assign(var=var, value=value):
                    self.definitions.setdefault(var.name, []).append(value)
                case ir.For(var=var):
                    self.definitions.setdefault(var.name, []).append(None)
                case ir.Return(value=value) if value is not None:
                    self.results.append(value)
        for e in all_expressions(self.function.body):
            match e:
                case ir.Let(name=name, value=value):
                    self.definitions.setdefault(name, []).append(value)
                case ir.Call():
                    self.calls.append(e)

    def parameter_position(self, name: str) -> int | None:
        positions = (i for i, p in enumerate(self.function.parameters) if p.name == name)
        return next(positions, None)


class _ConstantFinder:
    """Finds the constants that an expression may have as its value."""

    def __init__(self, module: ir.Module) -> None:
        self._values = {f.name: _FunctionValues(f) for f in module.functions}
        self._tables: Mapping[str, ir.ConstantArray] = {
            c.var.name: c for c in module.constants if c.weak
        }
        self._callers: dict[str, list[tuple[ir.Call, _FunctionValues]]] = {}
        for values in self._values.values():
            for call in values.calls:
                self._callers.setdefault(call.function, []).append((call, values))
        self._arguments: dict[tuple[str, int], list[_Place]] = {}  # constants, by parameter
        self._computed_constants: dict[int, _Constants] = {}  # by the id of an operator's node

    def constants_in(self, e: ir.Expr, function: str) -> Iterator[ir.Const]:
        """Yield the constants of a converted value."""
        self._arguments.clear()  # in recursive functions they depend on where the search starts
        for arm in _arms(e):
            yield from self._constants(arm, self._values[function]) or ()

    def _constants(self, e: ir.Expr, values: _FunctionValues) -> _Constants:
        """Return the constants that are all values of an expression, or None."""
        found: list[ir.Const] = []
        visited: set[object] = set()  # variables and nodes
        pending: list[_Place] = [(e, values)]
        while pending:
            e, values = pending.pop()
            key = (values.function.name, e.name) if isinstance(e, ir.Var) else id(e)
            if key in visited:
                continue
            visited.add(key)
            is_variable = isinstance(e, ir.Var) and scalar_type(e).weak
            constants = None if is_variable else self._own_constants(e, values)
            if constants is not None:
                found += constants
                continue
            sources = self._sources(e, values)
            if sources is None:
                return None
            pending += sources
        return found

    def _own_constants(self, e: ir.Expr, values: _FunctionValues) -> _Constants:
        """Return the constants of an expression that copies no other; None if it has none."""
        match e:
            case ir.Const() if e.type.weak:
                return [e]
            case ir.Load(array=array) | ir.Cast(operand=ir.Load(array=array)) if (
                array.name in self._tables
            ):
                return [v for v in self._tables[array.name].values if isinstance(v, ir.Const)]
            case ir.Cast(operand=operand) if e.type.weak:
                return self._computed(e, [operand], values, lambda a: cast(a, e.type))
            case ir.Unary() if e.type.weak:
                return self._computed(e, [e.operand], values, lambda a: unary(e.op, a, e.span))
            case ir.Binary() if e.type.weak:
                operands = [e.left, e.right]
                return self._computed(e, operands, values, lambda a, b: binary(e.op, a, b, e.span))
            case _:
                return None

    def _computed(
        self,
        e: ir.Expr,
        operands: list[ir.Expr],
        values: _FunctionValues,
        fold: Callable[..., ir.Expr],
    ) -> _Constants:
        """Return the result of an operator on operands with one constant value each, or None."""
        if id(e) not in self._computed_constants:
            self._computed_constants[id(e)] = None  # if it depends on itself, a loop changes it
            found = [self._constants(operand, values) or [] for operand in operands]
            if all(len(constants) == 1 for constants in found):
                result = _as_const(fold(*(constant for (constant,) in found)))
                if result.type != WEAK_INT or fits(int(result.value), WEAK_INT):
                    self._computed_constants[id(e)] = [result]
        return self._computed_constants[id(e)]

    def _sources(self, e: ir.Expr, values: _FunctionValues) -> list[_Place] | None:
        """Return the expressions whose values an expression copies; None if it computes one."""
        match e:
            case ir.Select(then=then, orelse=orelse):
                return [(then, values), (orelse, values)]
            case ir.Let(body=body):
                return [(body, values)]
            case ir.Var() if scalar_type(e).weak:
                return self._definitions(e.name, values)
            case ir.Call(function=function):
                callee = self._values[function]
                return _places(callee.results or [None], callee)
            case ir.Member(operand=operand, field=item):
                return self._packed_parts(operand, item, values)
            case _:
                return None

    def _definitions(self, name: str, values: _FunctionValues) -> list[_Place] | None:
        """Return what a variable is assigned, and the constant arguments if it is a parameter."""
        assigned = values.definitions.get(name, [])
        position = values.parameter_position(name)
        if position is None:
            return _places(assigned or [None], values)
        arguments = self._constant_arguments(position, values)
        definitions = _places(assigned, values)
        return arguments + definitions if arguments and definitions is not None else None

    def _constant_arguments(self, position: int, values: _FunctionValues) -> list[_Place]:
        """Return the arguments of a parameter that are constants."""
        key = values.function.name, position
        if key not in self._arguments:
            self._arguments[key] = []  # while a recursive function passes its own parameter
            arguments = [
                (call.arguments[position], caller)
                for call, caller in self._callers.get(values.function.name, ())
            ]
            self._arguments[key] = [a for a in arguments if self._constants(*a) is not None]
        return self._arguments[key]

    def _packed_parts(
        self, record: ir.Expr, item: str, values: _FunctionValues
    ) -> list[_Place] | None:
        """Return the values of an item of a tuple that a function returns."""
        calls: Sequence[ir.Expr | None] = [record]
        if isinstance(record, ir.Var):
            calls = values.definitions.get(record.name, [None])
        parts: list[_Place] = []
        for call in calls:
            if not isinstance(call, ir.Call):
                return None
            callee = self._values[call.function]
            results = [result for result in callee.results if isinstance(result, ir.Pack)]
            if not results or len(results) < len(callee.results):
                return None
            names = [f.name for f in scalar_type(call).dtype.fields]
            parts += [(result.parts[names.index(item)], callee) for result in results]
        return parts


def _arms(e: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the values that a conditional expression selects."""
    match e:
        case ir.Select(then=then, orelse=orelse):
            yield from _arms(then)
            yield from _arms(orelse)
        case ir.Let(body=body):
            yield from _arms(body)
        case _:
            yield e


def _places(expressions: Sequence[ir.Expr | None], values: _FunctionValues) -> list[_Place] | None:
    places = [(e, values) for e in expressions if e is not None]
    return places if len(places) == len(expressions) else None


def _as_const(e: ir.Expr) -> ir.Const:
    assert isinstance(e, ir.Const)
    return e

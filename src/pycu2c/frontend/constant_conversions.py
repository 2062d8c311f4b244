"""Check that weak constants fit the strong types that they reach, directly or through names.

``arithmetic.coerce`` checks a literal at its conversion. A constant also reaches a conversion
through variables, arguments, results of functions, conditional expressions and items of tuples.
This check follows the definitions of each converted value backwards, across functions, once all of
the module is typed. A value is constant if all its definitions are, except that each argument of a
parameter and each arm of a conditional expression counts by itself. Other values are computed at
run time and wrap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Scalar, uint64
from pycu2c.base.values import fits
from pycu2c.frontend.expressions.arithmetic import constant_fits, range_diagnostic
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, scalar_type, unary
from pycu2c.ir.walk import all_expressions, children, statements

_Constants: TypeAlias = "list[ir.Const] | None"  # None: computed at run time
# an expression, and the function that it is in; None for a value without an expression
_Place: TypeAlias = "tuple[ir.Expr, str] | None"


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


class _ConstantFinder:
    """Finds the constants that an expression may have as its value."""

    def __init__(self, module: ir.Module) -> None:
        self._tables = {c.var.name: c for c in module.constants if c.weak}
        # what each variable, by its function and name, is assigned
        self._definitions: defaultdict[tuple[str, str], list[_Place]] = defaultdict(list)
        # what the calls of a function pass for each parameter
        self._arguments: dict[tuple[str, str], list[_Place]] = {
            (f.name, p.name): [] for f in module.functions for p in f.parameters
        }
        self._results: defaultdict[str, list[tuple[ir.Expr, str]]] = defaultdict(list)
        parameters = {f.name: f.parameters for f in module.functions}
        for name, body in ((f.name, f.body) for f in module.functions):
            for s in statements(body):
                match s:
                    case ir.Assign(var=var, value=value):
                        self._definitions[name, var.name].append((value, name))
                    case ir.For(var=var):
                        self._definitions[name, var.name].append(None)
                    case ir.Return(value=value) if value is not None:
                        self._results[name].append((value, name))
            for e in all_expressions(body):
                match e:
                    case ir.Let(name=variable, value=value):
                        self._definitions[name, variable].append((value, name))
                    case ir.Call(function=callee, arguments=arguments):
                        for parameter, argument in zip(parameters[callee], arguments):
                            self._arguments[callee, parameter.name].append((argument, name))
        self._constant_arguments: dict[tuple[str, str], list[_Place]] = {}  # by parameter
        self._computed_constants: dict[int, _Constants] = {}  # by the id of an operator's node

    def constants_in(self, e: ir.Expr, function: str) -> Iterator[ir.Const]:
        """Yield the constants of a converted value."""
        # in recursive functions they depend on where the search starts
        self._constant_arguments.clear()
        for arm in _arms(e):
            yield from self._constants((arm, function)) or ()

    def _constants(self, place: _Place) -> _Constants:
        """Return the constants that are all values of an expression, or None."""
        found: list[ir.Const] = []
        visited: set[object] = set()  # variables and nodes
        pending = [place]
        while pending:
            place = pending.pop()
            if place is None:
                return None
            e, function = place
            key = (function, e.name) if isinstance(e, ir.Var) else id(e)
            if key in visited:
                continue
            visited.add(key)
            constants = self._own_constants(e, function)
            if constants is None:
                pending += self._sources(e, function)
            else:
                found += constants
        return found

    def _own_constants(self, e: ir.Expr, function: str) -> _Constants:
        """Return the constants of an expression that copies no other; None if it has none."""
        match e:
            case ir.Const() if e.type.weak:
                return [e]
            case ir.Load(array=array) | ir.Cast(operand=ir.Load(array=array)) if (
                array.name in self._tables
            ):
                return [v for v in self._tables[array.name].values if isinstance(v, ir.Const)]
            case ir.Cast() | ir.Unary() | ir.Binary() if e.type.weak:
                return self._computed(e, function)
            case _:
                return None

    def _computed(self, e: ir.Cast | ir.Unary | ir.Binary, function: str) -> _Constants:
        """Return the result of an operator on operands with one constant value each, or None."""
        if id(e) not in self._computed_constants:
            self._computed_constants[id(e)] = None  # if it depends on itself, a loop changes it
            found = [self._constants((operand, function)) or [] for operand in children(e)]
            if all(len(constants) == 1 for constants in found):
                result = _folded(e, [constant for (constant,) in found])
                if result.type != WEAK_INT or fits(int(result.value), WEAK_INT):
                    self._computed_constants[id(e)] = [result]
        return self._computed_constants[id(e)]

    def _sources(self, e: ir.Expr, function: str) -> Sequence[_Place]:
        """Return the expressions whose values an expression copies."""
        match e:
            case ir.Select(then=then, orelse=orelse):
                return [(then, function), (orelse, function)]
            case ir.Let(body=body):
                return [(body, function)]
            case ir.Var(name=name) if scalar_type(e).weak:
                variable = function, name
                if variable not in self._arguments:
                    return self._definitions[variable] or [None]
                arguments = self._constant_arguments_of(variable) or [None]
                return [*arguments, *self._definitions[variable]]
            case ir.Call(function=callee):
                return self._results[callee] or [None]
            case ir.Member(operand=record, field=item):
                calls: Sequence[_Place] = [(record, function)]
                if isinstance(record, ir.Var):
                    calls = self._definitions[function, record.name] or [None]
                return [part for call in calls for part in self._packed_parts(call, item)]
            case _:
                return [None]

    def _constant_arguments_of(self, parameter: tuple[str, str]) -> list[_Place]:
        """Return the arguments of a parameter that are constants."""
        found = self._constant_arguments
        if parameter not in found:
            found[parameter] = []  # while a recursive function passes its own parameter
            arguments = self._arguments[parameter]
            found[parameter] = [a for a in arguments if self._constants(a) is not None]
        return found[parameter]

    def _packed_parts(self, call: _Place, item: str) -> Sequence[_Place]:
        """Return the values of an item of a tuple that a call returns."""
        if call is None or not isinstance(call[0], ir.Call):
            return [None]
        names = [f.name for f in scalar_type(call[0]).dtype.fields]
        return [
            (result.parts[names.index(item)], callee) if isinstance(result, ir.Pack) else None
            for result, callee in self._results[call[0].function]
        ] or [None]


def _folded(e: ir.Cast | ir.Unary | ir.Binary, operands: list[ir.Const]) -> ir.Const:
    """Return the result of an operator on constants."""
    match e:
        case ir.Cast():
            result = cast(operands[0], e.type)
        case ir.Unary():
            result = unary(e.op, operands[0], e.span)
        case ir.Binary():
            result = binary(e.op, operands[0], operands[1], e.span)
    assert isinstance(result, ir.Const)
    return result


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

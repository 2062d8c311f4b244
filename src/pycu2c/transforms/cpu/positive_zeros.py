"""Keep gcc from converting a float to an integer and back by rounding, which can return -0.0.

``(double)(int64_t)x`` is 0.0 for -0.5. With -fno-trapping-math, gcc computes ``trunc(x)``, which is
-0.0, also if the integer is in a variable, an array or the result of a function. That flag is
required to vectorize conditional code.

Before: ``(double)k`` where ``k`` may be the integer that a float was converted to: a variable, an
element or a result in a module with such conversions. After:
``positive_zero((double)k)``, which adds 0.0. Requires C meaning. Sums and other results of
operators are converted as before.
"""

from __future__ import annotations

from pycu2c.base.dtypes import FLOAT32, FLOAT64
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.verify_expressions import is_integer
from pycu2c.ir.walk import all_expressions, map_expr, map_functions, statements, with_body
from pycu2c.ops.intrinsics.threads.cpu_block import positive_zero

_MIN_BITS = 32  # a conversion to a narrower integer is two conversions in C


def keep_positive_zeros(module: ir.Module) -> ir.Module:
    """Add 0.0 to integers that are converted to a float, if they may be converted floats."""
    if not any(_is_conversion(e) for f in module.functions for e in all_expressions(f.body)):
        return module
    return map_functions(module, _change_function)


def _change_function(function: ir.Function) -> ir.Function:
    results: set[str] = set()  # of operators, and counters
    copies = {p.name for p in function.parameters}
    for s in statements(function.body):
        if isinstance(s, ir.Assign | ir.For):
            is_result = isinstance(s, ir.For) or isinstance(s.value, ir.Binary | ir.Const)
            (results if is_result else copies).add(s.var.name)

    def add_zero(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Cast) and _is_float(e) and may_be_converted(e.operand):
            return ir.Apply(positive_zero, (e,), e.type, e.span)
        return e

    def may_be_converted(e: ir.Expr) -> bool:
        """Return whether an expression may be an integer that a float was converted to before."""
        if not _is_wide_integer(e) or _is_conversion(e):
            return _is_conversion(e)
        match e:
            case ir.Cast(operand=operand):
                return may_be_converted(operand)
            case ir.Apply(arguments=arguments):
                return any(map(may_be_converted, arguments))
            case ir.Select(then=then, orelse=orelse):
                return may_be_converted(then) or may_be_converted(orelse)
            case ir.Let(body=body):
                return may_be_converted(body)
            case ir.Var(name=name):
                return name in copies or name not in results
            case _:
                return isinstance(e, ir.Load | ir.Call)

    return with_body(function, map_expr(function.body, add_zero))


def _is_conversion(e: ir.Expr) -> bool:
    """Return whether an expression is an integer that a float is converted to."""
    match e:
        case ir.Cast(operand=operand):
            operands: tuple[ir.Expr, ...] = (operand,)
        case ir.Apply(arguments=arguments):
            operands = arguments
        case _:
            return False
    return _is_wide_integer(e) and any(_is_float(operand) for operand in operands)


def _is_float(e: ir.Expr) -> bool:
    return isinstance(e.type, Scalar) and e.type.dtype in (FLOAT32, FLOAT64)


def _is_wide_integer(e: ir.Expr) -> bool:
    return isinstance(e.type, Scalar) and is_integer(e.type) and e.type.dtype.bits >= _MIN_BITS

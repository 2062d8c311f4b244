"""ast.expr -> ir.Expr: one function per kind of syntax, type rules applied here, once."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import NoReturn

from pycu2c.diagnostics import Label, fail
from pycu2c.frontend import operations, scope
from pycu2c.frontend.frame import Frame, Items, Static, Value, number
from pycu2c.ir.construct import both, const, integer, is_atom, scalar_type, truth
from pycu2c.ir.nodes import Const, Dim, Expr, Junction, Let, Load, Select, Var
from pycu2c.operators import BY_NODE, UNARY_BY_NODE
from pycu2c.source import Span
from pycu2c.types import WEAK_BOOL, Array, Scalar, join


def expression(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression: a number's IR, or something known while compiling."""
    match node:
        case ast.Constant():
            return _constant(frame, node)
        case ast.Name():
            return scope.resolve(frame, node)
        case ast.Attribute():
            return _attribute(frame, node)
        case ast.Tuple():
            items = tuple(expression(frame, item) for item in node.elts)
            return Items(items, frame.span(node))
        case ast.BinOp():
            left, right = numeric(frame, node.left), numeric(frame, node.right)
            operator = BY_NODE[type(node.op)]
            return operations.binary(frame, operator, left, right, frame.span(node))
        case ast.UnaryOp():
            operand = numeric(frame, node.operand)
            return operations.unary(UNARY_BY_NODE[type(node.op)], operand, frame.span(node))
        case ast.Compare():
            return _compare(frame, node)
        case ast.BoolOp():
            return _connective(frame, node)
        case ast.IfExp():
            return _conditional(frame, node)
        case ast.Subscript():
            return _subscript(frame, node)
        case ast.Call():
            return frame.call(frame, node)
        case _:
            fail("subset", Label(frame.span(node), f"{type(node).__name__} is not supported"))


def numeric(frame: Frame, node: ast.expr) -> Expr:
    """An expression that must be a number."""
    return number(expression(frame, node))


def condition(frame: Frame, node: ast.expr) -> Expr:
    """An expression as a condition: ``and``, ``or`` and ``not`` need no values here."""
    match node:
        case ast.BoolOp():
            parts = [condition(frame, value) for value in node.values]
            return _junction(_op(node), parts, frame.span(node))
        case ast.UnaryOp(op=ast.Not()):
            return operations.unary(
                UNARY_BY_NODE[ast.Not], condition(frame, node.operand), frame.span(node)
            )
        case _:
            return truth(number(expression(frame, node), "the condition"))


def _op(node: ast.BoolOp) -> Junction:
    return Junction.AND if isinstance(node.op, ast.And) else Junction.OR


def _junction(op: Junction, parts: list[Expr], span: Span) -> Expr:
    joined = parts[0]
    for part in parts[1:]:
        joined = both(op, joined, part, span)
    return joined


def _constant(frame: Frame, node: ast.Constant) -> Value:
    span = frame.span(node)
    if isinstance(node.value, (bool, int, float)):
        return const(node.value, span)
    return Static(node.value, span)  # a dtype's name, or an error where it is used


def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    owner = expression(frame, node.value)
    if isinstance(owner, Static):
        return scope.attribute(frame, owner, node.attr, node)
    if isinstance(owner, Var) and isinstance(owner.type, Array):
        return _array_attribute(frame, owner, owner.type, node)
    kind = "tuple" if isinstance(owner, Items) else f"`{owner.type}`"
    fail(
        "subset",
        Label(frame.span(node), f"a {kind} has no attribute `{node.attr}` in a kernel"),
        help="attributes are those of modules, of `cuda`, and .shape .size .ndim .dtype of arrays",
    )


def dimension(array: Var, axis: int, span: Span) -> Expr:
    """``array.shape[axis]``: a literal where the kernel fixed it."""
    assert isinstance(array.type, Array)
    if array.type.shape is not None:
        return integer(array.type.shape[axis], span)
    return Dim(array, axis, span)


def _array_attribute(frame: Frame, array: Var, kind: Array, node: ast.Attribute) -> Value:
    span = frame.span(node)
    axes = [dimension(array, axis, span) for axis in range(kind.ndim)]
    match node.attr:
        case "shape":
            return Items(tuple(axes), span)
        case "size":
            return operations.product(frame, axes, span)
        case "ndim":
            return integer(kind.ndim, span)
        case "dtype":
            return Static(kind.element, span)
        case _:
            fail(
                "subset",
                Label(span, f"an array has no `.{node.attr}` in a kernel"),
                help="arrays have .shape .size .ndim .dtype and elements a[i]; "
                "do other work on them before or after the launch",
            )


def _compare(frame: Frame, node: ast.Compare) -> Expr:
    operands = [numeric(frame, e) for e in (node.left, *node.comparators)]
    return _chain(frame, operands, [BY_NODE[type(op)] for op in node.ops], frame.span(node))


def _chain(frame: Frame, operands: list[Expr], ops: list, span: Span) -> Expr:  # type: ignore[type-arg]
    """``a < b < c`` is ``a < b and b < c`` with b evaluated once."""
    left, middle, *rest = operands
    if not rest:
        return operations.compare(frame, ops[0], left, middle, span)
    if not is_atom(left) and not is_atom(middle):  # keep the order of evaluation
        name = frame.fresh("value")
        kept = Var(name, scalar_type(left), left.span)
        return Let(name, left, _chain(frame, [kept, middle, *rest], ops, span), span)

    def chained(value: Expr) -> Expr:
        first = operations.compare(frame, ops[0], left, value, span)
        return both(Junction.AND, first, _chain(frame, [value, *rest], ops[1:], span), span)

    return operations.once(frame, middle, chained)


def _connective(frame: Frame, node: ast.BoolOp) -> Expr:
    """``a and b`` as a value: the operand that decides, in the joined type."""
    values = [numeric(frame, value) for value in node.values]
    if all(v.type == WEAK_BOOL for v in values):
        return _junction(_op(node), values, frame.span(node))
    common = scalar_type(values[0])
    for value in values[1:]:
        common = join(common, scalar_type(value))
    frame.join_types[id(node)] = common
    return _deciding(frame, _op(node), [operations.coerce(v, common) for v in values])


def _deciding(frame: Frame, op: Junction, values: list[Expr]) -> Expr:
    first, *rest = values
    if not rest:
        return first

    def chosen(value: Expr) -> Expr:
        other = _deciding(frame, op, rest)
        decided = truth(value)
        if op is Junction.AND:
            return Select(decided, other, value, scalar_type(value), value.span)
        return Select(decided, value, other, scalar_type(value), value.span)

    return operations.once(frame, first, chosen)


def _conditional(frame: Frame, node: ast.IfExp) -> Value:
    test = condition(frame, node.test)
    if isinstance(test, Const):  # the other arm need not even have a type
        return expression(frame, node.body if test.value else node.orelse)
    chosen = operations.choose(
        test, numeric(frame, node.body), numeric(frame, node.orelse), frame.span(node)
    )
    frame.join_types[id(node)] = scalar_type(chosen)
    return chosen


def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    owner = expression(frame, node.value) if not _is_nested(node) else None
    if isinstance(owner, Items):
        return _item(frame, owner, node)
    array, indices = element(frame, node)
    return Load(array, indices, frame.span(node))


def _is_nested(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Subscript)


def _item(frame: Frame, owner: Items, node: ast.Subscript) -> Value:
    index = expression(frame, node.slice)
    count = len(owner.items)
    if not isinstance(index, Const) or index.type.dtype.is_float:
        fail(
            "constant-needed",
            Label(frame.span(node.slice), "the index of a tuple"),
            help="index tuples with a literal; for a computed index use cuda.local.array",
        )
    if not -count <= index.value < count:
        fail("index-range", Label(index.span, f"the tuple has {count} items"))
    return owner.items[int(index.value)]


def element(frame: Frame, node: ast.Subscript) -> tuple[Var, tuple[Expr, ...]]:
    """The array and the indices of ``a[i, j]``, also written ``a[i][j]``."""
    given: list[ast.expr] = []
    base: ast.expr = node
    while isinstance(base, ast.Subscript):
        inner = base.slice
        given[:0] = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        base = base.value
    array = expression(frame, base)
    if isinstance(array, Items):  # a.shape[0][1], t[0][1]
        fail("index-count", Label(frame.span(node), "a number is not indexed"))
    if not isinstance(array, Var) or not isinstance(array.type, Array):
        _not_an_array(frame, array, base)
    indices = [_index_values(frame, e) for e in given]
    return array, checked_indices(array, [i for group in indices for i in group], frame.span(node))


def _index_values(frame: Frame, node: ast.expr) -> list[Value]:
    value = expression(frame, node)
    return list(value.items) if isinstance(value, Items) else [value]


def _not_an_array(frame: Frame, value: Value, node: ast.expr) -> NoReturn:
    if isinstance(value, Static):
        kind = "a module" if isinstance(value.value, ModuleType) else type(value.value).__name__
        fail(
            "global-value",
            Label(frame.span(node), f"this is {kind}, from outside the kernel"),
            help="pass arrays as arguments of the kernel",
        )
    assert not isinstance(value, Items)
    fail("type-needed", Label(frame.span(node), f"this is `{value.type}`, not an array"))


def checked_indices(array: Var, given: list[Value], span: Span) -> tuple[Expr, ...]:
    """One integer per axis, literals inside the axis where its length is known."""
    kind = array.type
    assert isinstance(kind, Array)
    indices = [number(value, "the index") for value in given]
    if len(indices) != kind.ndim:
        fail(
            "index-count",
            Label(span, f"{len(indices)} for `{kind}`, which has {kind.ndim} axes"),
            help=f"write {kind.ndim} indices; views of a part of an array are not supported yet"
            if len(indices) < kind.ndim
            else f"write {kind.ndim}",
        )
    for axis, index in enumerate(indices):
        _check_index(index, axis, kind)
    return tuple(indices)


def _check_index(index: Expr, axis: int, kind: Array) -> None:
    own = scalar_type(index)
    if not own.dtype.is_integer:
        cure = "write the literal without a point" if isinstance(index, Const) else ""
        fail(
            "index-type",
            Label(index.span, f"this is `{own}`"),
            help=cure or "convert the index with int(...)",
        )
    if isinstance(index, Const) and kind.shape is not None:
        length = kind.shape[axis]
        if not -length <= index.value < length:
            fail("index-range", Label(index.span, f"axis {axis} has {length} elements"))


def constant_integer(frame: Frame, node: ast.expr, what: str) -> int:
    """An expression that must be a whole number known when the kernel is compiled."""
    value = expression(frame, node)
    if (
        isinstance(value, Const)
        and isinstance(value.type, Scalar)
        and not value.type.dtype.is_float
    ):
        return int(value.value)
    fail(
        "constant-needed",
        Label(frame.span(node), what),
        help="use a literal, or a global that holds an int",
    )

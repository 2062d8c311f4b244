"""Assignments: names, elements, tuples of them; the value first, then targets left to right."""

from __future__ import annotations

import ast

from pycu2c.diagnostics import Label, fail
from pycu2c.frontend.expressions import element, expression, numeric
from pycu2c.frontend.frame import Frame, Items, Static, Unknown, Value, number
from pycu2c.frontend.operations import binary, coerce
from pycu2c.intrinsics.dtype_names import scalar_named
from pycu2c.ir.construct import is_atom, scalar_type
from pycu2c.ir.nodes import Apply, Assign, Call, Const, Expr, Load, Store, Var
from pycu2c.ir.walk import expressions
from pycu2c.operators import BY_NODE
from pycu2c.source import Span
from pycu2c.types import Array, Scalar


def assign(frame: Frame, node: ast.Assign) -> None:
    """``target = value`` and ``first = second = value``."""
    single = node.targets[0] if len(node.targets) == 1 else None
    if isinstance(single, ast.Name):
        frame.target = frame.ranges.names.get(id(single))
    value = expression(frame, node.value)
    frame.target = None
    if len(node.targets) > 1:
        value = _kept(frame, value, "value")
    for target in node.targets:
        _assign_to(frame, target, value)


def annotated(frame: Frame, node: ast.AnnAssign) -> None:
    """``x: float32 = value``: the value is converted to the annotation."""
    if node.value is None:
        return
    annotation = expression(frame, node.annotation)
    wanted = scalar_named(annotation.value) if isinstance(annotation, Static) else None
    if wanted is None:
        fail(
            "dtype",
            Label(frame.span(node.annotation), "this names no scalar type"),
            help="write float32, int32, …; arrays need no annotation",
        )
    value = number(expression(frame, node.value), "the value")
    _assign_to(frame, node.target, coerce(value, wanted))


def _assign_to(frame: Frame, target: ast.expr, value: Value) -> None:
    match target:
        case ast.Name():
            _assign_name(frame, target, value)
        case ast.Subscript():
            array, indices = element(frame, target)
            _store(frame, array, indices, number(value, "the value"), frame.span(target))
        case ast.Tuple() | ast.List():
            _unpack(frame, target, value)
        case _:
            fail(
                "subset",
                Label(frame.span(target), "not a place that a kernel can assign to"),
                help="assign to a name or to an element, a[i] = …",
            )


# ---- names -------------------------------------------------------------------------------------


def _assign_name(frame: Frame, target: ast.Name, value: Value) -> None:
    name = frame.ranges.names.get(id(target))
    if name is None:
        raise Unknown
    span = frame.span(target)
    if isinstance(value, Items):
        _bind(frame, name, _as_variables(frame, name, value), span)
    elif isinstance(value, Static) or isinstance(value.type, Array):
        _bind(frame, name, value, span)
    else:
        set_variable(frame, name, number(value, "the value"), span)
        frame.store_types[id(target)] = name


def set_variable(frame: Frame, name: str, value: Expr, span: Span) -> None:
    """``name = value`` in the type that the variable has where its values meet."""
    if name in frame.bound:
        _two_kinds(frame, name, f"`{value.type}`", span)
    joined = frame.assigned(name, scalar_type(value), span)
    frame.emit(Assign(Var(name, joined, span), coerce(value, joined), span))


def _bind(frame: Frame, name: str, value: Value, span: Span) -> None:
    """A name for an array, a tuple or a function: it stands for one thing."""
    known = frame.bound.get(name)
    if known is not None and not _same_binding(known, value):
        _two_kinds(frame, name, _shown(value), span)
    if name in frame.types:
        _two_kinds(frame, name, _shown(value), span)
    frame.bound[name] = value
    frame.origins.setdefault(name, span)


def _same_binding(a: Value, b: Value) -> bool:
    if isinstance(a, Static) and isinstance(b, Static):
        return a.value is b.value
    if isinstance(a, Items) and isinstance(b, Items):
        pairs = zip(a.items, b.items)
        return len(a.items) == len(b.items) and all(_same_binding(x, y) for x, y in pairs)
    return isinstance(a, Var) and isinstance(b, Var) and a.name == b.name


def _shown(value: Value) -> str:
    if isinstance(value, Items):
        return f"a tuple of {len(value.items)}"
    if isinstance(value, Static):
        return f"`{getattr(value.value, '__name__', value.value)}`"
    return f"`{value.type}`"


def _two_kinds(frame: Frame, name: str, new: str, span: Span) -> None:
    old = frame.bound.get(name)
    before = _shown(old) if old is not None else f"`{frame.types[name]}`"
    rule = "array-assign" if old is not None and isinstance(old, Var) else "join"
    fail(
        rule,
        Label(span, f"here `{name.split('.')[0]}` is {new}"),
        Label(frame.origins[name], f"and here {before}"),
        help="give them two names",
    )


def _as_variables(frame: Frame, name: str, value: Items) -> Items:
    """A tuple in a variable: its numbers become variables of their own."""
    items: list[Value] = []
    given = [_kept(frame, item, "old") if _mentions(item, name) else item for item in value.items]
    for position, item in enumerate(given):
        part = f"{name}.{position}.item"
        if isinstance(item, Items):
            items.append(_as_variables(frame, part, item))
        elif isinstance(item, Static) or isinstance(item.type, Array):
            items.append(item)
        else:
            set_variable(frame, part, number(item), item.span)
            items.append(frame.variable(part, item.span))
    return Items(tuple(items), value.span)


def _mentions(value: Value, name: str) -> bool:
    """Whether a value reads the tuple that it is assigned to."""
    if isinstance(value, Items):
        return any(_mentions(item, name) for item in value.items)
    if isinstance(value, Static):
        return False
    base = name.split(".", 1)[0]
    read = (e for e in expressions(value) if isinstance(e, Var))
    return any(e.name.split(".", 1)[0] == base for e in read)


# ---- elements ----------------------------------------------------------------------------------


def _store(frame: Frame, array: Var, indices: tuple[Expr, ...], value: Expr, span: Span) -> None:
    assert isinstance(array.type, Array)
    frame.emit(Store(array, indices, coerce(value, array.type.element), span))


def augmented(frame: Frame, node: ast.AugAssign) -> None:
    """``target op= value``: the target's subscript is evaluated first, and once."""
    operator, span = BY_NODE[type(node.op)], frame.span(node)
    if isinstance(node.target, ast.Subscript):
        array, indices = element(frame, node.target)
        indices = tuple(_settled_index(frame, index) for index in indices)
        old: Expr = Load(array, indices, frame.span(node.target))
        value = binary(frame, operator, old, numeric(frame, node.value), span)
        _store(frame, array, indices, value, span)
        return
    assert isinstance(node.target, ast.Name)
    read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
    name = frame.ranges.names.get(id(node.target))
    if name is None:
        raise Unknown
    frame.ranges.names[id(read)] = name
    old = number(expression(frame, read))
    del frame.ranges.names[id(read)]
    set_variable(frame, name, binary(frame, operator, old, numeric(frame, node.value), span), span)
    frame.store_types[id(node.target)] = name


def _settled_index(frame: Frame, index: Expr) -> Expr:
    """An index that does something or reads memory is computed once, into a variable."""
    if any(isinstance(e, (Apply, Call, Load)) for e in expressions(index)) and not is_atom(index):
        return _variable_of(frame, index, "at")
    return index


# ---- tuples ------------------------------------------------------------------------------------


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Value) -> None:
    if not isinstance(value, Items):
        fail(
            "unpack",
            Label(frame.span(target), f"{len(target.elts)} names"),
            Label(value.span, f"{_shown(value)} is not a tuple"),
        )
    if len(target.elts) != len(value.items):
        fail(
            "unpack",
            Label(frame.span(target), f"{len(target.elts)} names"),
            Label(value.span, f"{len(value.items)} values"),
        )
    touched = [_is_touched(frame, v, target.elts[:i]) for i, v in enumerate(value.items)]
    last = max((i for i, is_touched in enumerate(touched) if is_touched), default=-1)
    values = [  # what stands before a value that is kept is evaluated before it
        _kept(frame, item, "old") if touched[i] or (i < last and _is_unsteady(item)) else item
        for i, item in enumerate(value.items)
    ]
    for inner, item in zip(target.elts, values):
        _assign_to(frame, inner, item)


def _is_touched(frame: Frame, value: Value, earlier: list[ast.expr]) -> bool:
    """Whether assigning to the targets before could change what ``value`` means."""
    if isinstance(value, Items):
        return any(_is_touched(frame, item, earlier) for item in value.items)
    if isinstance(value, (Static, Const)) or isinstance(value.type, Array):
        return False
    # by Python's names: live ranges of one name may become one variable again
    names = {n.id for t in earlier for n in ast.walk(t) if isinstance(n, ast.Name)}
    stores = any(not isinstance(t, ast.Name) for t in earlier)
    for e in expressions(value):
        if isinstance(e, Var) and e.name.split(".", 1)[0] in names:
            return True
        if isinstance(e, (Call, Load)) and stores:
            return True
    return bool(earlier) and any(_has_effect(e) for e in expressions(value))


def _is_unsteady(value: Value) -> bool:
    """Whether a value depends on when it is evaluated, or evaluating it changes memory."""
    if isinstance(value, Items):
        return any(_is_unsteady(item) for item in value.items)
    if isinstance(value, Static):
        return False
    return any(isinstance(e, Load) or _has_effect(e) for e in expressions(value))


def _has_effect(e: Expr) -> bool:
    return isinstance(e, Call) or (isinstance(e, Apply) and e.intrinsic.has_effect)


def _kept(frame: Frame, value: Value, hint: str) -> Value:
    """The value in variables that nothing else assigns."""
    if isinstance(value, Items):
        return Items(tuple(_kept(frame, item, hint) for item in value.items), value.span)
    if isinstance(value, (Static, Const)) or not isinstance(value.type, Scalar):
        return value
    return _variable_of(frame, value, hint)


def _variable_of(frame: Frame, value: Expr, hint: str) -> Var:
    name = frame.fresh(hint)
    var = Var(name, scalar_type(value), value.span)
    frame.emit(Assign(var, value, value.span))
    return var

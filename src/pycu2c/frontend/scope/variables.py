"""Variables: what a name is given, and what it stands for afterwards.

A number lives in a variable of the IR. A tuple is a variable for each of its numbers, a view
one for each number that says where it lies; names of arrays and functions stand for one thing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import have_join
from pycu2c.frontend.evaluation_order import is_steady, kept, with_inside
from pycu2c.frontend.expressions import array_select
from pycu2c.frontend.expressions.arithmetic import coerce
from pycu2c.frontend.expressions.array_views import row_steps, whole
from pycu2c.frontend.expressions.composite_values import item_name, part_name
from pycu2c.frontend.function_context import (
    Chosen,
    Closure,
    Frame,
    Items,
    Static,
    Unknown,
    Value,
    is_array,
    is_fresh,
    shown,
    single,
)
from pycu2c.frontend.hints import records
from pycu2c.ir.builders import integer, scalar_type
from pycu2c.ir.nodes import Assign, Const, Expr, Stmt, Var, View
from pycu2c.ir.walk import expressions, inside, path_with


def set_value(frame: Frame, name: str, value: Value, span: Span) -> None:
    """``name = value``, whatever the value is."""
    if isinstance(value, (Items, View, Chosen)) and _mentions(value, name):
        value = kept(frame, value, "old")  # it reads what it is assigned to
    if isinstance(frame.bound.get(name), Static) and frame.is_straight:
        del frame.bound[name], frame.origins[name]  # no path from here on has the old object
    match value:
        case Items():
            bind(frame, name, _items_in_variables(frame, name, value), span)
        case Static():
            bind(frame, name, value, span)
        case Closure():
            inside = _items_in_variables(frame, name, value.inside)
            bind(frame, name, with_inside(value, inside), span)
        case Chosen():
            set_array(frame, name, value, span)
        case _ if is_array(value):
            set_array(frame, name, value, span)
        case _:
            set_variable(frame, name, single(value, "the value"), span)


def set_array(frame: Frame, name: str, value: Var | View | Chosen, span: Span) -> None:
    """``name = array``: one array wherever the name is assigned, or one of several."""
    array_select.note_arrays(frame, name, value)
    known = frame.arrays[name]
    if len(known) > 1:
        bind(frame, name, _numbered(frame, name, value), span)
        return
    (sample,) = known.values()
    if isinstance(sample, Var):
        bind(frame, name, sample, span)
        return
    given = value.options[0] if isinstance(value, Chosen) else value
    seen = replace(whole(given, span), type=sample.type)
    bind(frame, name, _view_in_variables(frame, name, seen), span)


def _numbered(frame: Frame, name: str, value: Var | View | Chosen) -> Chosen:
    """One of several arrays, in variables: its number, and where its view lies."""
    arrays = array_select.arrays_of(frame, name)
    places = list(arrays)
    which = part_name(name, "<which>")
    span = value.span

    def chosen(array: Var | View) -> None:
        number = places.index(array_select.place_of(array))
        if isinstance(arrays[places[number]], View):
            _view_in_variables(frame, part_name(name, str(number)), whole(array, span))
        set_variable(frame, which, integer(number, span), span)

    if isinstance(value, Chosen):
        blocks: list[list[Stmt]] = []
        for option in value.options:
            with frame.block() as inside:
                chosen(option)
            blocks.append(inside)
        if all(len(block) == 1 for block in blocks):
            numbers = [places.index(array_select.place_of(option)) for option in value.options]
            set_variable(frame, which, array_select.renumbered(value.which, numbers, span), span)
        else:
            frame.emit_all(array_select.one_of(value.which, blocks, span))
    else:
        chosen(value)
    samples = enumerate(arrays.values())
    options = tuple(_option(frame, part_name(name, str(i)), sample) for i, sample in samples)
    return Chosen(frame.variable(which, span), options, span)


def _option(frame: Frame, name: str, sample: Var | View) -> Var | View:
    """An array that a name may stand for, as its variables say."""
    if isinstance(sample, Var):
        return sample

    def part(label: str, e: Expr) -> Expr:
        fixed = isinstance(e, Const) and label.startswith("step")
        own = part_name(name, label)
        return e if fixed else Var(own, frame.assigned(own, scalar_type(e), e.span), e.span)

    return _with_parts(sample, part)


def set_variable(frame: Frame, name: str, value: Expr, span: Span) -> None:
    """``name = value`` in the type that the variable has where its values meet."""
    if name in frame.bound:
        _two_kinds(frame, name, value, span)
    known = frame.types.get(name)
    if known is not None and not have_join(known, scalar_type(value)):
        _two_kinds(frame, name, value, span)
    joined = frame.assigned(name, scalar_type(value), span)
    if isinstance(value, Const) and name in frame.ranges.steady:
        frame.fixed[name] = value
    frame.emit(Assign(Var(name, joined, span), coerce(value, joined), span))


def read(frame: Frame, name: str, span: Span) -> Value:
    """What a variable stands for."""
    if name in frame.broken:
        raise Unknown
    if name in frame.bound:
        return at(frame.bound[name], span)
    return frame.variable(name, span)


def at(value: Value, span: Span) -> Value:
    """A bound value, shown in errors where it is used."""
    match value:
        case Static():
            return Static(value.value, span)
        case Items():
            return Items(tuple(at(item, span) for item in value.items), span, value.names)
        case Closure() | Chosen():
            return replace(value, span=span)
        case _:
            return type(value)(**{**{f: getattr(value, f) for f in value.__slots__}, "span": span})


def bind(frame: Frame, name: str, value: Value, span: Span) -> None:
    """A name for an array, a tuple or a function: it stands for one thing."""
    known = frame.bound.get(name)
    if known is not None and not _same_binding(known, value):
        _two_kinds(frame, name, value, span)
    if name in frame.types:
        _two_kinds(frame, name, value, span)
    frame.bound[name] = value
    frame.origins.setdefault(name, span)


def _same_binding(a: Value, b: Value) -> bool:
    match a, b:
        case Static(), Static():
            return a.value is b.value
        case Items(), Items():
            return _all_same(a.items, b.items)
        case Closure(), Closure():
            return a.function is b.function and _same_binding(a.inside, b.inside)
        case Chosen(), Chosen():
            return _same_binding(a.inside, b.inside)
        case Var(), Var():
            return a.name == b.name
        case Const(), Const():
            return a.value == b.value and a.type == b.type
        case View(), View():
            alike = (a.array.name, a.axes, array_select.fields(a)) == (
                b.array.name,
                b.axes,
                array_select.fields(b),
            )
            return alike and _all_same(_parts(a), _parts(b))
        case _:
            return False


def _all_same(a: tuple[Value, ...], b: tuple[Value, ...]) -> bool:
    return len(a) == len(b) and all(_same_binding(x, y) for x, y in zip(a, b))


def _parts(view: View) -> tuple[Expr, ...]:
    steps = () if array_select.in_rows(view) else view.steps
    return (*view.first, *steps, *view.lengths, *inside(view.path))


def _two_kinds(frame: Frame, name: str, value: Value, span: Span) -> NoReturn:
    """A name is given what has no common type with what it stands for. It stands for nothing
    from here on, so that one mistake is one error."""
    frame.broken.add(name)
    old = frame.bound.get(name)
    before = shown(old) if old is not None else f"`{frame.types[name]}`"
    who = "this" if is_fresh(name) else f"here `{name.split('.')[0]}`"
    fail(
        "join",
        Label(span, f"{who} is {shown(value)}"),
        Label(frame.origins[name], f"and {'this' if is_fresh(name) else 'here'} {before}"),
        help=_two_names(value, old) + records.as_vector(value, old or frame.types[name]),
    )


def _two_names(value: Value, old: Value | None) -> str:
    """What to write where one name stands for two things."""
    both = (value, old)
    if isinstance(value, Items) and isinstance(old, Items) and len(value.items) != len(old.items):
        return "a tuple keeps its length: use two names, or count in a cuda.local.array(n, dtype)"
    if any(isinstance(v, Static) and v.value is None for v in both):
        return "give it a number first, such as 0.0 or -math.inf, and no None"
    if all(isinstance(v, (Static, Closure)) for v in both):
        return "strings and functions are known when the kernel is compiled: use two names"
    return "use two names"


def _items_in_variables(frame: Frame, name: str, value: Items) -> Items:
    """A tuple whose items are variables of their own."""
    items: list[Value] = []
    for position, item in enumerate(value.items):
        part = item_name(name, value, position)
        set_value(frame, part, item, item.span)
        items.append(read(frame, part, item.span))
    return Items(tuple(items), value.span, value.names)


def _view_in_variables(frame: Frame, name: str, view: View) -> View:
    """A view whose numbers are variables, but for those that never change."""
    once = name in frame.ranges.steady

    def part(label: str, e: Expr) -> Expr:
        fixed = isinstance(e, Const) and label.startswith("step")
        is_own = isinstance(e, Var) and e.name in frame.temporaries
        if fixed or (once and (is_own or is_steady(frame, e))):
            return e
        own = part_name(name, label)
        set_variable(frame, own, e, e.span)
        return frame.variable(own, e.span)

    return _with_parts(view, part)


def _with_parts(view: View, part: Callable[[str, Expr], Expr]) -> View:
    """A view made of other numbers; steps that follow from the lengths still do."""

    def group(word: str, given: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(part(f"{word}{i}", e) for i, e in enumerate(given))

    first = group("start", view.first)
    steps = () if array_select.in_rows(view) else group("step", view.steps)
    lengths = group("length", view.lengths)
    steps = steps or row_steps(lengths, view.span)
    path = path_with(view.path, group("item", inside(view.path)))
    return replace(view, first=first, steps=steps, lengths=lengths, path=path)


def _mentions(value: Value, name: str) -> bool:
    """Whether a value reads the variable that it is assigned to."""
    match value:
        case Items():
            return any(_mentions(item, name) for item in value.items)
        case Closure() | Chosen():
            return _mentions(value.inside, name)
        case Static():
            return False
        case _:
            base = name.split(".", 1)[0]
            read_names = (e.name for e in expressions(value) if isinstance(e, Var))
            return any(n.split(".", 1)[0] == base for n in read_names)

"""``dataclass``, ``NamedTuple`` and ``Enum`` that are defined quickly.

The standard ``dataclass`` generates and compiles six functions for each class, about thirty times
the time; this package has two hundred classes. Here the methods are closures, and ``__init__`` is
specialized when the first instance is created. ``dataclasses.fields`` and ``match`` work; ``order``
and ``kw_only`` are not supported. ``NamedTuple`` compiles no annotations and no ``__new__``.
``Enum`` has members with a name and a value. ``Protocol`` exists for type checkers.
"""

from __future__ import annotations

from collections import _tuplegetter, namedtuple  # type: ignore[attr-defined]
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import attrgetter
from reprlib import recursive_repr
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from pycu2c.base.lazy_imports import lazy_module

MISSING: Any = object()  # the default of a field without one
_FIELD = "_FIELD"  # the kind of field that ``dataclasses.fields`` returns


class FieldSpec:
    """The declaration of a field in a class body, as ``dataclasses.field`` makes it."""

    __slots__ = ("compare", "default", "factory", "init", "repr")

    def __init__(
        self,
        *,
        default: Any = MISSING,
        default_factory: Any = None,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
    ) -> None:
        self.default, self.factory, self.init = default, default_factory, init
        self.repr, self.compare = repr, compare

    def as_dataclass_field(self) -> Any:
        """Return the equivalent field of ``dataclasses``."""
        options = {name: getattr(self, name) for name in ("init", "repr", "compare")}
        if self.factory is not None:
            options["default_factory"] = self.factory
        elif self.default is not MISSING:
            options["default"] = self.default
        return dataclasses.field(**options)


if TYPE_CHECKING:
    import dataclasses
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from enum import Enum as Enum
    from typing import NamedTuple as NamedTuple
    from typing import Protocol as Protocol
else:
    dataclasses = lazy_module("dataclasses")  # its import is slow

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True
    ) -> Any:
        """Make a record class from a class body with annotations."""
        if cls is None:
            return lambda c: _make_class(c, frozen, slots, eq)
        return _make_class(cls, frozen, slots, eq)

    field = FieldSpec

    class _TupleClass(type):
        """The metaclass of ``NamedTuple``; it creates the named tuples as plain classes."""

        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
            if not bases:
                return super().__new__(cls, name, bases, members)
            names = tuple(members.get("__annotations__", ()))
            defaults = {field: members.pop(field) for field in names if field in members}
            own = {"__slots__": (), "_fields": names, "__match_args__": names}
            own |= {"_field_defaults": defaults, "__new__": _tuple_new(name, names, defaults)}
            own |= {field: _tuplegetter(i, "") for i, field in enumerate(names)}
            return type(name, (_NamedTupleBase,), {**own, "__doc__": name, **members})

    def _tuple_new(name: str, names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
        """Return a ``__new__`` for positional items; others go through the standard one."""
        ends = tuple(defaults.values())
        standard = lru_cache(lambda: namedtuple(name, names, defaults=ends))

        def __new__(cls: Any, *items: Any, **named: Any) -> Any:
            missing = len(names) - len(items)
            if named or not 0 <= missing <= len(ends):
                items = standard()(*items, **named)
            elif missing:
                items += ends[-missing:]
            return tuple.__new__(cls, items)

        return __new__

    class _NamedTupleBase(tuple):
        """The methods of all named tuples."""

        __slots__ = ()

        @classmethod
        def _make(cls, items: Any) -> Any:
            made = tuple.__new__(cls, items)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes: Any) -> Any:
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {[*changes]!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self))

        def __repr__(self) -> str:
            items = ", ".join(f"{name}={item!r}" for name, item in zip(self._fields, self))
            return f"{type(self).__name__}({items})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    class NamedTuple(metaclass=_TupleClass):
        """The base of named tuple classes."""

    class _EnumClass(type):
        """The metaclass of enumerations: ``Class(value)`` returns the member of a value."""

        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
            made = super().__new__(cls, name, bases, members)
            made._members = {}
            for member, value in members.items():
                if member[0] != "_":
                    one = made._members[value] = object.__new__(made)
                    one.name, one.value = member, value
                    setattr(made, member, one)
            return made

        def __call__(cls, value: Any) -> Any:
            try:
                return cls._members[value]
            except KeyError:
                raise ValueError(f"{value!r} is not a valid {cls.__qualname__}") from None

        def __iter__(cls) -> Any:
            return iter(cls._members.values())

    class Enum(metaclass=_EnumClass):
        """The base of enumerations; each member exists once."""

        def __repr__(self) -> str:
            return f"<{self}: {self.value!r}>"

        def __str__(self) -> str:
            return f"{type(self).__name__}.{self.name}"

        def __reduce__(self) -> Any:
            return type(self), (self.value,)

    class Protocol:
        """The base of structural types."""


R = TypeVar("R")


def field_names(cls: Any) -> tuple[str, ...]:
    """Return the field names of a record class."""
    return tuple(_fields_of(cls).defaults)


def replace(record: R, /, **changes: Any) -> R:
    """Return a copy of a record with other values in some fields.

    Equals ``dataclasses.replace`` for classes of this module whose fields are all parameters of
    ``__init__``.
    """
    cls: Any = type(record)
    names = cls.__match_args__
    values = [changes.pop(name) if name in changes else getattr(record, name) for name in names]
    made: R = cls(*values, **changes)
    return made


def _make_class(cls: Any, frozen: bool, slots: bool, eq: bool) -> Any:
    members = dict(vars(cls))
    fields = _Fields(cls, members)
    defaults = fields.defaults
    members["__dataclass_fields__"] = fields
    members.setdefault("__match_args__", fields.names_with("init"))
    members.setdefault("__repr__", _repr)
    if eq and "__eq__" not in members:
        compared = _values_of(fields.names_with("compare"))
        members["__eq__"] = _eq(compared)
        members.setdefault("__hash__", _hash(compared) if frozen else None)
    if frozen:
        members["__setattr__"] = members["__delattr__"] = _reject_assignment
    if slots:
        _add_slots(cls, members, defaults)
    members.pop("__dict__", None)
    members.pop("__weakref__", None)
    made = type(cls)(cls.__name__, cls.__bases__, members)
    made.__qualname__ = cls.__qualname__
    if "__init__" not in members:
        made.__init__ = _first_init(made, fields)
    return made


class _Fields:
    """The fields of a class and its bases; as a class attribute, what ``dataclasses`` expects."""

    __slots__ = ("_made", "_notes", "defaults", "special")

    def __init__(self, cls: Any, members: Mapping[str, Any]) -> None:
        self._notes: dict[str, object] = {}
        self.defaults: dict[str, Any] = {}  # MISSING, a value or a ``field``
        self.special = False  # whether any default is a ``field``
        self._made: dict[str, Any] | None = None
        for base in cls.__mro__[-2:0:-1]:
            above = vars(base).get("__dataclass_fields__")
            if isinstance(above, _Fields):
                self._notes |= above._notes
                self.defaults |= above.defaults
                self.special |= above.special
        for name, note in members.get("__annotations__", {}).items():
            if str(note)[:8] != "ClassVar":
                default = members.get(name, MISSING)
                self._notes[name], self.defaults[name] = note, default
                self.special |= isinstance(default, FieldSpec)

    def names_with(self, option: str) -> tuple[str, ...]:
        """Return the names of the fields with an option; plain defaults have all options."""
        if not self.special:
            return tuple(self.defaults)
        own = self.defaults.items()
        return tuple(n for n, d in own if not isinstance(d, FieldSpec) or getattr(d, option))

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        if self._made is None:
            made, kind = {}, getattr(dataclasses, _FIELD)
            for name, note in self._notes.items():
                default: Any = self.defaults[name]
                spec = default if isinstance(default, FieldSpec) else FieldSpec(default=default)
                made[name] = found = spec.as_dataclass_field()
                for what, value in (("name", name), ("type", note), ("_field_type", kind)):
                    setattr(found, what, value)
            self._made = made
        return self._made


def _add_slots(cls: Any, members: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for name in defaults:
        members.pop(name, None)  # the defaults are those of ``__init__``
    names = tuple(defaults)
    if len(cls.__mro__) > 2:
        inherited = {name for base in cls.__mro__[1:-1] for name in getattr(base, "__slots__", ())}
        names = tuple(name for name in defaults if name not in inherited)
    members["__slots__"] = names
    members["__getstate__"], members["__setstate__"] = _state, _set_state


# ---- methods -------------------------------------------------------------------------------


def _values_of(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _eq(compared: Callable[[Any], tuple[Any, ...]]) -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        if other is self:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    return __eq__


def _hash(compared: Callable[[Any], tuple[Any, ...]]) -> Any:
    return lambda self: hash(compared(self))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = _fields_of(type(self)).names_with("repr")
    parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{self.__class__.__qualname__}({parts})"


def _fields_of(cls: Any) -> _Fields:
    found = (vars(c).get("__dataclass_fields__") for c in cls.__mro__)
    return next(f for f in found if isinstance(f, _Fields))


def _state(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in _fields_of(type(self)).defaults)


def _set_state(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(_fields_of(type(self)).defaults, state):
        object.__setattr__(self, name, value)


def _reject_assignment(self: Any, name: str, *value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")


# ---- __init__ ------------------------------------------------------------------------------

# By the number of fields: a function from the slots' setters to an ``__init__`` that calls them.
# They are compiled with this file, so no code is compiled for each class.
_INITS: tuple[Callable[..., Any], ...] = (
    lambda: lambda self: None,
    lambda a: lambda self, A: a(self, A),
    lambda a, b: lambda self, A, B: a(self, A) or b(self, B),
    lambda a, b, c: lambda self, A, B, C: a(self, A) or b(self, B) or c(self, C),
    lambda a, b, c, d: (
        lambda self, A, B, C, D: a(self, A) or b(self, B) or c(self, C) or d(self, D)
    ),
    lambda a, b, c, d, e: (
        lambda self, A, B, C, D, E: (
            a(self, A) or b(self, B) or c(self, C) or d(self, D) or e(self, E)
        )
    ),
    lambda a, b, c, d, e, f: (
        lambda self, A, B, C, D, E, F: (
            a(self, A) or b(self, B) or c(self, C) or d(self, D) or e(self, E) or f(self, F)
        )
    ),
    lambda a, b, c, d, e, f, g: (
        lambda self, A, B, C, D, E, F, G: (
            a(self, A)
            or b(self, B)
            or c(self, C)
            or d(self, D)
            or e(self, E)
            or f(self, F)
            or g(self, G)
        )
    ),
)


def _first_init(cls: Any, fields: _Fields) -> Any:
    """Return an ``__init__`` for the first instance, which replaces itself for all later ones."""
    names, has_more = cls.__match_args__, hasattr(cls, "__post_init__") or fields.special
    if has_more or len(names) >= len(_INITS) or not hasattr(cls, "__slots__"):
        return _slow_init(cls, fields.defaults)

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        cls.__init__ = _quick_init(cls, names, fields.defaults)
        cls.__init__(self, *given, **named)

    return __init__


def _quick_init(cls: Any, names: tuple[str, ...], defaults: Mapping[str, Any]) -> Any:
    """Return one of ``_INITS`` with the names and defaults of a class."""
    made: FunctionType = _INITS[len(names)](*(getattr(cls, name).__set__ for name in names))
    full = f"{cls.__qualname__}.__init__"
    code = made.__code__.replace(co_varnames=("self", *names), co_name="__init__")
    made.__code__, made.__name__, made.__qualname__ = code, "__init__", full
    made.__defaults__ = tuple(d for d in defaults.values() if d is not MISSING)
    return made


# For classes with many fields or factories: the extra cost of an instance relative to a compiled
# ``__init__``, with positional arguments and otherwise; the cost to compile an ``__init__``.
_BY_LOOP, _BY_NAME, _COMPILING = 1, 15, 300


def _slow_init(cls: Any, defaults: Mapping[str, Any]) -> Any:
    """Return an ``__init__`` for the first instances.

    It compiles a faster one when the instances so far cost as much as the compilation.
    """
    names, put, paid = cls.__match_args__, object.__setattr__, 0
    ends = () if any(isinstance(d, FieldSpec) for d in defaults.values()) else (*defaults.values(),)

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        nonlocal paid
        if not named and len(given) < len(ends) and ends[len(given)] is not MISSING:
            given = (*given, *ends[len(given) :])
        if paid > _COMPILING:
            cls.__init__ = _init(cls, defaults)
            cls.__init__(self, *given, **named)
        elif named or len(given) != len(names):
            paid += _BY_NAME
            values = _filled(cls, defaults, given, named)
            __init__(self, *values)
        else:
            paid += _BY_LOOP
            for name, value in zip(names, given):
                put(self, name, value)
            if hasattr(cls, "__post_init__"):
                self.__post_init__()

    return __init__


def _filled(
    cls: Any, defaults: Mapping[str, Any], given: tuple[Any, ...], named: dict[str, Any]
) -> list[Any]:
    """Return the values of all fields. Raises TypeError, as the compiled ``__init__`` does."""
    names = cls.__match_args__
    values = dict(zip(names, given))
    fits = len(given) <= len(names) and values.keys().isdisjoint(named)
    values |= named
    for name in names:
        if name not in values:
            values[name] = _default(defaults[name])
    if not fits or len(values) > len(names) or any(v is MISSING for v in values.values()):
        _init(cls, defaults)(object.__new__(cls), *given, **named)  # raises the error
    return [values[name] for name in names]


def _default(declared: Any) -> Any:
    """Return the default of a field, or MISSING."""
    if not isinstance(declared, FieldSpec):
        return declared
    return declared.default if declared.factory is None else declared.factory()


def _init(cls: Any, defaults: Mapping[str, Any]) -> Any:
    scope: dict[str, Any] = {"_MISSING": MISSING, "_set": object.__setattr__}
    head, body = ["self"], []
    for name, given in defaults.items():
        if isinstance(given, FieldSpec) and not given.init:  # __post_init__ sets it
            continue
        value = name
        if isinstance(given, FieldSpec) and given.factory is not None:
            scope[f"_d_{name}"] = given.factory
            head.append(f"{name}=_MISSING")
            value = f"_d_{name}() if {name} is _MISSING else {name}"
        elif _default(given) is not MISSING:
            scope[f"_d_{name}"] = _default(given)
            head.append(f"{name}=_d_{name}")
        else:
            head.append(name)
        if name in getattr(cls, "__slots__", ()):
            scope[f"_s_{name}"] = getattr(cls, name).__set__
            body.append(f"_s_{name}(self, {value})")
        else:
            body.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    lines = "\n    ".join(body or ["pass"])
    exec(f"def __init__({', '.join(head)}):\n    {lines}", scope)
    return scope["__init__"]

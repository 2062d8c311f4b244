"""``dataclass`` as the standard library's, made thirty times as fast: this package has two hundred.

The standard one writes and compiles six functions for each class when it is defined. Here they are
closures, ``__init__`` is compiled where instances turn out to be many, and ``Field`` objects are
made when somebody asks for them. ``fields``, ``replace`` and ``match`` work as ever; what this
package does not use (``order``, ``kw_only``) is not here. ``NamedTuple`` is as that of ``typing``,
which compiles each annotation.
"""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

_FIELD = vars(dataclasses)["_FIELD"]  # what ``fields`` looks for

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from typing import NamedTuple as NamedTuple
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True
    ) -> Any:
        """Make a class of records of a class body with annotations."""
        if cls is None:
            return lambda c: _made(c, frozen, slots, eq)
        return _made(cls, frozen, slots, eq)

    class _TupleClass(type):
        """Of ``NamedTuple`` alone: the classes that are made of it are plain."""

        def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
            if not bases:
                return super().__new__(cls, name, bases, members)
            notes = members.get("__annotations__", {})
            defaults = [members.pop(field) for field in notes if field in members]
            base = namedtuple(name, notes, defaults=defaults)
            return type(name, (base,), {"__slots__": (), **members})

    class NamedTuple(metaclass=_TupleClass):
        """The base of classes of tuples whose items have names."""


def _made(cls: Any, frozen: bool, slots: bool, eq: bool) -> Any:
    fields = _Fields(cls)
    members = dict(vars(cls))
    members["__dataclass_fields__"] = fields
    members.setdefault("__match_args__", fields.named(lambda f: f.init))
    members.setdefault("__repr__", _repr)
    if eq and "__eq__" not in members:
        compared = _values_of(fields.named(lambda f: f.compare))
        members["__eq__"] = _eq(compared)
        members.setdefault("__hash__", _hash(compared) if frozen else None)
    if frozen:
        members["__setattr__"], members["__delattr__"] = _refuse, _refuse
    if slots:
        _slot(cls, members, fields.defaults)
    for own in ("__dict__", "__weakref__"):
        members.pop(own, None)
    made = type(cls)(cls.__name__, cls.__bases__, members)
    made.__qualname__ = cls.__qualname__
    if "__init__" not in members:
        made.__init__ = _first_init(made, fields.defaults)
    return made


class _Fields:
    """The fields of the classes above, and those that the body of one says; as an attribute of a
    class it is what ``dataclasses`` has there."""

    __slots__ = ("_made", "_notes", "defaults")

    def __init__(self, cls: Any) -> None:
        self._notes: dict[str, object] = {}
        self.defaults: dict[str, Any] = {}  # MISSING, or what the body has: a value, a Field
        self._made: dict[str, Field[Any]] | None = None
        for base in reversed(cls.__mro__[1:-1]):
            above = vars(base).get("__dataclass_fields__")
            if isinstance(above, _Fields):
                self._notes |= above._notes
                self.defaults |= above.defaults
        for name, note in cls.__annotations__.items():
            if not str(note).startswith("ClassVar"):
                self._notes[name] = note
                self.defaults[name] = vars(cls).get(name, MISSING)

    def named(self, wanted: Callable[[Field[Any]], bool]) -> tuple[str, ...]:
        """The names of the fields that are wanted; those with no more than a default are."""
        return tuple(
            name for name, d in self.defaults.items() if not isinstance(d, Field) or wanted(d)
        )

    def __get__(self, instance: object, owner: type) -> dict[str, Field[Any]]:
        if self._made is None:
            made = {}
            for name, note in self._notes.items():
                default = self.defaults[name]
                field = default if isinstance(default, Field) else None
                made[name] = found = field or dataclasses.field(default=default)
                for what, given in (("name", name), ("type", note), ("_field_type", _FIELD)):
                    setattr(found, what, given)
            self._made = made
        return self._made


def _slot(cls: Any, members: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    inherited = {name for base in cls.__mro__[1:-1] for name in getattr(base, "__slots__", ())}
    for name in defaults:
        members.pop(name, None)  # defaults are those of __init__
    members["__slots__"] = tuple(name for name in defaults if name not in inherited)
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
    shown = [f.name for f in dataclasses.fields(self) if f.repr]
    parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{self.__class__.__qualname__}({parts})"


def _state(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self.__dataclass_fields__)


def _set_state(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__dataclass_fields__, state):
        object.__setattr__(self, name, value)


def _refuse(self: Any, name: str, *value: Any) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r}")


# What an instance costs more than one that a compiled __init__ makes, by a loop in the order of the
# fields and otherwise; and what it costs to compile one.
_BY_LOOP, _BY_NAME, _COMPILING = 1, 15, 300


def _first_init(cls: Any, defaults: Mapping[str, Any]) -> Any:
    """Of the first instances; then it makes the ``__init__`` of its class for all later ones."""
    names, put, paid = cls.__match_args__, object.__setattr__, 0

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        nonlocal paid
        if paid > _COMPILING:
            cls.__init__ = _init(cls)
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
    """The values of all fields. Raises TypeError, as the compiled one does."""
    names = cls.__match_args__
    values = dict(zip(names, given))
    fits = len(given) <= len(names) and values.keys().isdisjoint(named)
    values |= named
    for name in names:
        if name not in values:
            values[name] = _default(defaults[name])
    if not fits or len(values) > len(names) or any(v is MISSING for v in values.values()):
        _init(cls)(object.__new__(cls), *given, **named)  # which says what is wrong
    return [values[name] for name in names]


def _default(given: Any) -> Any:
    """The value of a field that no argument gives; MISSING if it has none."""
    if not isinstance(given, Field):
        return given
    return given.default if given.default_factory is MISSING else given.default_factory()


def _init(cls: Any) -> Any:
    known: dict[str, Any] = {"_MISSING": MISSING}
    head, body = ["self"], []
    for name, field in cls.__dataclass_fields__.items():
        value = name
        if not field.init:  # __post_init__ sets it
            continue
        if field.default is not MISSING:
            known[f"_d_{name}"] = field.default
            head.append(f"{name}=_d_{name}")
        elif field.default_factory is not MISSING:
            known[f"_d_{name}"] = field.default_factory
            head.append(f"{name}=_MISSING")
            value = f"_d_{name}() if {name} is _MISSING else {name}"
        else:
            head.append(name)
        slot: Any = getattr(cls, name, None)
        if name in getattr(cls, "__slots__", ()):
            known[f"_s_{name}"] = slot.__set__
            body.append(f"_s_{name}(self, {value})")
        else:
            known["_set"] = object.__setattr__
            body.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    lines = "\n    ".join(body or ["pass"])
    exec(f"def __init__({', '.join(head)}):\n    {lines}", known)
    return known["__init__"]

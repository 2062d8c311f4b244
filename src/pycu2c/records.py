"""``dataclass`` as the standard library's, made twenty times as fast: this package has two hundred.

The standard one writes and compiles six functions for each class when it is defined. Here they are
closures, and ``__init__`` is compiled where instances turn out to be many. ``fields``, ``replace``
and ``match`` work as ever; what this package does not use (``order``, ``kw_only``) is not here.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

_FIELD = vars(dataclasses)["_FIELD"]  # what ``fields`` looks for

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True
    ) -> Any:
        """Make a class of records of a class body with annotations."""
        if cls is None:
            return lambda c: _made(c, frozen, slots, eq)
        return _made(cls, frozen, slots, eq)


def _made(cls: Any, frozen: bool, slots: bool, eq: bool) -> Any:
    fields = _fields(cls)
    members = dict(vars(cls))
    compared = _values_of([f.name for f in fields.values() if f.compare])
    members["__dataclass_fields__"] = fields
    members.setdefault("__match_args__", tuple(f.name for f in fields.values() if f.init))
    members.setdefault("__repr__", _repr(fields))
    if eq and "__eq__" not in members:
        members["__eq__"] = _eq(compared)
        members.setdefault("__hash__", _hash(compared) if frozen else None)
    if frozen:
        members["__setattr__"], members["__delattr__"] = _refuse, _refuse
    if slots:
        _slot(cls, members, fields)
    members.setdefault("__init__", _first_init())
    for own in ("__dict__", "__weakref__"):
        members.pop(own, None)
    made = type(cls)(cls.__name__, cls.__bases__, members)
    made.__qualname__ = cls.__qualname__
    return made


def _fields(cls: Any) -> dict[str, Field[Any]]:
    """The fields of the classes above, and those that the body says."""
    found: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= getattr(base, "__dataclass_fields__", {})
    for name, note in inspect.get_annotations(cls).items():
        if str(note).startswith("ClassVar"):
            continue
        default = vars(cls).get(name, MISSING)
        made = default if isinstance(default, Field) else dataclasses.field(default=default)
        for what, given in (("name", name), ("type", note), ("_field_type", _FIELD)):
            setattr(made, what, given)
        found[name] = made
    return found


def _slot(cls: Any, members: dict[str, Any], fields: dict[str, Field[Any]]) -> None:
    inherited = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
    for name in fields:
        members.pop(name, None)  # defaults are those of __init__
    members["__slots__"] = tuple(name for name in fields if name not in inherited)
    values = _values_of(list(fields))

    def set_state(self: Any, state: tuple[Any, ...]) -> None:
        for name, value in zip(fields, state):
            object.__setattr__(self, name, value)

    members["__getstate__"] = lambda self: values(self)
    members["__setstate__"] = set_state


# ---- methods -------------------------------------------------------------------------------


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _eq(compared: Callable[[Any], tuple[Any, ...]]) -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    return __eq__


def _hash(compared: Callable[[Any], tuple[Any, ...]]) -> Any:
    return lambda self: hash(compared(self))


def _repr(fields: dict[str, Field[Any]]) -> Any:
    shown = [f.name for f in fields.values() if f.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({parts})"

    return __repr__


def _refuse(self: Any, name: str, *value: Any) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r}")


_FEW = 8  # to compile one takes as long as to make so many by a loop


def _first_init() -> Any:
    """Of the first instances; then it makes the ``__init__`` of its class for all later ones."""

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        home = next(c for c in type(self).__mro__ if vars(c).get("__init__") in (__init__, *made))
        if not made and next(count) < _FEW and _fill(self, home, given, named):
            return
        if not made:
            made.append(_init(home))
            setattr(home, "__init__", made[0])  # noqa: B010
        made[0](self, *given, **named)

    made: list[Any] = []
    count = itertools.count()
    return __init__


def _fill(self: Any, cls: Any, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """What ``__init__`` does; False where the arguments do not fit, for it to say so."""
    fields = [f for f in cls.__dataclass_fields__.values() if f.init]
    values = dict(zip([f.name for f in fields], given))
    if len(given) > len(fields) or not values.keys().isdisjoint(named):
        return False
    values |= named
    for f in fields:
        if f.name not in values and f.default_factory is not MISSING:
            values[f.name] = f.default_factory()
        elif values.setdefault(f.name, f.default) is MISSING:
            return False
    if len(values) > len(fields):
        return False
    for name, value in values.items():
        object.__setattr__(self, name, value)
    if hasattr(cls, "__post_init__"):
        self.__post_init__()
    return True


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

"""``dataclass`` as in the standard library, for a package with three hundred classes.

The standard ``dataclass`` compiles six functions for each class. Here ``__init__`` alone is
compiled and the other methods are closures, so defining a class takes a third of the time: the
import of the package takes 50 ms and not 80. ``order``, ``kw_only`` and ``InitVar`` are not
supported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field as field
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

R = TypeVar("R")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def replace(record: Any, /, **changes: Any) -> Any:
        """Return a copy of a record with other values of some fields."""
        cls = record.__class__
        names = cls.__match_args__
        values = [changes.pop(n) if n in changes else getattr(record, n) for n in names]
        return cls(*values, **changes)

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True
    ) -> Any:
        """Make a record class from a class body with annotations."""
        if cls is None:
            return lambda body: _record_class(body, frozen, slots, eq)
        return _record_class(cls, frozen, slots, eq)


def field_names(cls: Any) -> tuple[str, ...]:
    """Return the field names of a record class."""
    return tuple(field.name for field in dataclasses.fields(cls))


def _record_class(body: type, frozen: bool, slots: bool, eq: bool) -> Any:
    defined = frozenset(vars(body))
    if body.__doc__ is None:
        body.__doc__ = body.__name__  # the standard one would format the signature
    cls: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(body)
    fields = dataclasses.fields(cls)
    methods: dict[str, Any] = {"__init__": _compiled_init(cls, fields), "__repr__": _repr}
    if eq and "__eq__" not in defined:
        compared = _getter(tuple(f.name for f in fields if f.compare))
        methods["__eq__"] = _eq(compared)
        methods["__hash__"] = _hash(compared) if frozen else None
    if frozen:
        methods["__setattr__"] = methods["__delattr__"] = _reject_assignment
        if slots:  # so that pickle and copy need no assignment
            methods |= {"__getstate__": _get_state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in defined:
            setattr(cls, name, method)
    return cls


def _getter(names: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return a function that returns the attributes to compare and to hash."""
    return attrgetter(*names) if names else lambda _: ()


def _eq(compared: Callable[[Any], Any]) -> Any:
    def __eq__(self: Any, other: Any) -> Any:
        if other is self:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    return __eq__


def _hash(compared: Callable[[Any], Any]) -> Any:
    return lambda self: hash(compared(self))


@recursive_repr()
def _repr(self: Any) -> str:
    names = [f.name for f in dataclasses.fields(self) if f.repr]
    parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
    return f"{self.__class__.__qualname__}({parts})"


def _get_state(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in field_names(self))


def _set_state(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(field_names(self), state):
        object.__setattr__(self, name, value)


def _reject_assignment(self: Any, name: str, *value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")


def _compiled_init(cls: Any, fields: tuple[dataclasses.Field[Any], ...]) -> Any:
    parameters, statements, scope = _initialization(cls, fields)
    return _compiled(cls, "__init__", ["self", *parameters], statements or ["pass"], scope)


def interned(cls: type[R]) -> type[R]:
    """Make equal records of a frozen class one object, which compares and hashes by identity."""
    record_class: Any = cls
    fields = dataclasses.fields(record_class)
    parameters, statements, scope = _initialization(cls, fields)
    key = f"({''.join(f'{f.name}, ' for f in fields if f.init)})"
    body = [
        f"self = instances.get({key})",
        "if self is not None: return self",
        "self = new_object(cls)",
        *statements,
        f"return instances.setdefault({key}, self)",
    ]
    scope |= {"instances": {}, "new_object": object.__new__}
    record_class.__new__ = _compiled(cls, "__new__", ["cls", *parameters], body, scope)
    record_class.__init__ = object.__init__
    if "__reduce__" not in vars(cls):
        values = _getter(tuple(f.name for f in fields if f.init))
        record_class.__reduce__ = lambda self: (cls, values(self))
    return cls


def _initialization(
    cls: Any, fields: tuple[dataclasses.Field[Any], ...]
) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return the parameters of a constructor, its statements, and the names that these use."""
    scope: dict[str, Any] = {"MISSING": dataclasses.MISSING, "set_attribute": object.__setattr__}
    parameters, statements = [], []
    for f in fields:
        if not f.init:  # __post_init__ sets it
            continue
        default, value = f"default_{f.name}", f.name
        if f.default_factory is not dataclasses.MISSING:
            scope[default] = f.default_factory
            parameters.append(f"{f.name}=MISSING")
            value = f"{default}() if {f.name} is MISSING else {f.name}"
        elif f.default is not dataclasses.MISSING:
            scope[default] = f.default
            parameters.append(f"{f.name}={default}")
        else:
            parameters.append(f.name)
        if "__slots__" in vars(cls):  # a slot's own setter takes two thirds of the time
            scope[f"set_{f.name}"] = getattr(cls, f.name).__set__
            statements.append(f"set_{f.name}(self, {value})")
        else:
            statements.append(f"set_attribute(self, {f.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        statements.append("self.__post_init__()")
    return parameters, statements, scope


def _compiled(
    cls: Any, name: str, parameters: list[str], statements: list[str], scope: dict[str, Any]
) -> Any:
    body = "\n    ".join(statements)
    exec(f"def {name}({', '.join(parameters)}):\n    {body}", scope)
    function = scope[name]
    function.__qualname__ = f"{cls.__qualname__}.{name}"
    return function

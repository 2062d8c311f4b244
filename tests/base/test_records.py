"""``pycu2c.base.records.dataclass`` makes the same classes as the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError
from typing import Any, ClassVar

import pytest

from pycu2c.base import records


def classes(home: Any) -> dict[str, Any]:
    """The same classes, by one module or another."""
    make, field = home.dataclass, home.field

    @make(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2
        shown: ClassVar[int] = 5

        @property
        def sum(self) -> int:
            return self.x + self.y

    @make(frozen=True, slots=True)
    class Deep(Point):
        z: tuple[int, ...] = ()

    @make(slots=True)
    class Bag:
        items: list[int] = field(default_factory=list)
        hidden: int = field(default=0, compare=False, repr=False)
        late: int = field(init=False)

        def __post_init__(self) -> None:
            self.late = len(self.items)

    @make(frozen=True, slots=True, eq=False)
    class Node:
        child: object

    @make
    class Plain:
        a: int

        def __repr__(self) -> str:
            return "plain"

    @make(frozen=True)
    class Empty:
        pass

    kinds = (Point, Deep, Bag, Node, Plain, Empty)
    return {kind.__name__: kind for kind in kinds}


OURS, THEIRS = classes(records), classes(dataclasses)
MADE = [
    ("Point", (1,), {}),
    ("Point", (1, 3), {}),
    ("Point", (), {"y": 4, "x": 1}),
    ("Deep", (1, 2, (3,)), {}),
    ("Bag", ([1, 2],), {"hidden": 7}),
    ("Bag", (), {}),
    ("Node", ("child",), {}),
    ("Plain", (1,), {}),
    ("Empty", (), {}),
]


@pytest.mark.parametrize(("name", "arguments", "named"), MADE)
def test_as_the_standard_one(name: str, arguments: Any, named: Any) -> None:
    pair = [kinds[name](*arguments, **named) for kinds in (OURS, THEIRS)]
    ours, theirs = pair
    twins = [kinds[name](*arguments, **named) for kinds in (OURS, THEIRS)]
    assert repr(ours).split(".")[-1] == repr(theirs).split(".")[-1]
    assert (ours == twins[0]) == (theirs == twins[1])
    assert ours != theirs
    assert [f.name for f in dataclasses.fields(ours)] == [
        f.name for f in dataclasses.fields(theirs)
    ]
    assert OURS[name].__match_args__ == THEIRS[name].__match_args__
    assert hasattr(ours, "__dict__") == hasattr(theirs, "__dict__")
    assert (type(ours).__hash__ is None) == (type(theirs).__hash__ is None)
    if type(ours).__hash__ is not None:
        assert (hash(ours) == hash(twins[0])) == (hash(theirs) == hash(twins[1]))
    if ours == twins[0]:
        assert copy.copy(ours) == ours


def test_bag_and_replace() -> None:
    bag = OURS["Bag"]([1], hidden=3)
    assert (bag, bag.late) == (OURS["Bag"]([1]), 1)
    assert OURS["Bag"]().items is not OURS["Bag"]().items
    point = records.replace(OURS["Point"](1), y=9)
    assert (point.x, point.y, point.sum) == (1, 9, 10)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        records.replace(point, z=2)
    kind = OURS["Point"]
    match point:
        case kind(x, y):
            assert (x, y) == (1, 9)
        case _:
            pytest.fail("it does not match")
    with pytest.raises(FrozenInstanceError):
        point.x = 3
    with pytest.raises(FrozenInstanceError):
        del point.x


@pytest.mark.parametrize(
    ("arguments", "named", "text"),
    [
        ((), {}, "missing 1 required positional argument: 'x'"),
        ((1, 2, 3), {}, "takes from 2 to 3 positional arguments but 4 were given"),
        ((1,), {"x": 2}, "got multiple values for argument 'x'"),
        ((1,), {"z": 2}, "got an unexpected keyword argument 'z'"),
    ],
)
def test_arguments_that_do_not_fit(arguments: Any, named: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        OURS["Point"](*arguments, **named)


@records.dataclass(frozen=True, slots=True)
class Kept:
    """At the top, so that it can be pickled."""

    a: int
    b: str = "b"


def test_pickle_and_doc() -> None:
    assert pickle.loads(pickle.dumps(Kept(1))) == Kept(1, "b")
    assert Kept.__doc__ == "At the top, so that it can be pickled."
    assert Kept.__qualname__ == "Kept"


@records.interned
@records.dataclass(frozen=True, slots=True, eq=False)
class Interned:
    """At the top, so that it can be pickled."""

    a: int
    b: str = "b"
    double: int = records.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", 2 * self.a)


def test_equal_interned_records_are_one_object() -> None:
    record = Interned(1)
    assert record.double == 2
    equal = (Interned(1, "b"), Interned(b="b", a=1), pickle.loads(pickle.dumps(record)))
    copies = (copy.copy(record), copy.deepcopy(record), records.replace(Interned(2), a=1))
    assert all(other is record for other in (*equal, *copies))
    assert record != Interned(1, "c")
    assert repr(record) == "Interned(a=1, b='b', double=2)"

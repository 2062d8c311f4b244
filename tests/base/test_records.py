"""What is in ``pycu2c.base.records`` is as in the standard library, as far as it goes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
import typing
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
OFTEN = classes(records)  # these have an __init__ that was compiled
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
for name, given, named in MADE * 8:
    OFTEN[name](*given, **named)


@pytest.mark.parametrize("made", ["seldom", "often"])
@pytest.mark.parametrize(("name", "given", "named"), MADE)
def test_as_the_standard_one(name: str, given: Any, named: Any, made: str) -> None:
    mine = classes(records) if made == "seldom" else OFTEN
    pair = [kinds[name](*given, **named) for kinds in (mine, THEIRS)]
    ours, theirs = pair
    twins = [kinds[name](*given, **named) for kinds in (mine, THEIRS)]
    assert repr(ours).split(".")[-1] == repr(theirs).split(".")[-1]
    assert (ours == twins[0]) == (theirs == twins[1])
    assert ours != theirs
    assert [f.name for f in dataclasses.fields(ours)] == [
        f.name for f in dataclasses.fields(theirs)
    ]
    assert mine[name].__match_args__ == THEIRS[name].__match_args__
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
    for replace in (dataclasses.replace, records.replace):
        point = replace(OURS["Point"](1), y=9)
        assert (point.x, point.y, point.sum) == (1, 9, 10)
        with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
            replace(point, z=2)
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


@pytest.mark.parametrize("kinds", [OURS, OFTEN])
@pytest.mark.parametrize(
    ("given", "named", "text"),
    [
        ((), {}, "missing 1 required positional argument: 'x'"),
        ((1, 2, 3), {}, "takes from 2 to 3 positional arguments but 4 were given"),
        ((1,), {"x": 2}, "got multiple values for argument 'x'"),
        ((1,), {"z": 2}, "got an unexpected keyword argument 'z'"),
    ],
)
def test_arguments_that_do_not_fit(kinds: Any, given: Any, named: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        kinds["Point"](*given, **named)


@records.dataclass(frozen=True, slots=True)
class Kept:
    """At the top, so that it can be pickled."""

    a: int
    b: str = "b"


def test_pickle_and_doc() -> None:
    assert pickle.loads(pickle.dumps(Kept(1))) == Kept(1, "b")
    assert Kept.__doc__ == "At the top, so that it can be pickled."
    assert Kept.__qualname__ == "Kept"


class Pair(records.NamedTuple):
    """At the top, so that it can be pickled."""

    a: int
    b: str = "b"

    @property
    def both(self) -> str:
        return f"{self.a}{self.b}"


class TypedPair(typing.NamedTuple):
    """What it is like."""

    a: int
    b: str = "b"


def test_tuples_with_names() -> None:
    ours, theirs = Pair(1), TypedPair(1)
    assert ours == theirs == (1, "b")
    assert ours.both == "1b"
    assert isinstance(ours, tuple)
    assert repr(ours).replace("Pair", "TypedPair") == repr(theirs)
    assert pickle.loads(pickle.dumps(ours)) == ours
    assert type(ours._replace(b="c")) is Pair
    match ours:
        case Pair(a, b=text):
            assert (a, text) == (1, "b")
    for kind in (Pair, TypedPair):
        assert kind._fields == kind.__match_args__ == ("a", "b")
        assert kind._field_defaults == {"b": "b"}
        assert kind.__doc__
        assert kind.__module__ == __name__
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
            kind()  # type: ignore[call-arg]
        with pytest.raises(AttributeError):
            kind(1).c = 2  # type: ignore[attr-defined]


def test_first_instances_of_many_threads() -> None:
    for _ in range(50):
        kind = classes(records)["Deep"]
        found: list[object] = []

        def make(kind: Any = kind, found: list[object] = found) -> None:
            found.append(kind(1, 2, (3,)).z)

        threads = [threading.Thread(target=make) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert found == [(3,)] * 8


class Color(records.Enum):
    RED = "red"
    BLUE = "blue"


def test_an_enumeration() -> None:
    """As one of the standard library."""
    assert [*Color] == [Color.RED, Color.BLUE]
    assert Color("red") is Color.RED
    assert (Color.BLUE.name, Color.BLUE.value, str(Color.BLUE)) == ("BLUE", "blue", "Color.BLUE")
    assert repr(Color.RED) == "<Color.RED: 'red'>"
    assert copy.deepcopy(Color.RED) is pickle.loads(pickle.dumps(Color.RED)) is Color.RED
    assert isinstance(Color.RED, Color)
    assert len({Color.RED, Color.BLUE}) == 2
    with pytest.raises(ValueError, match="'green' is not a valid Color"):
        Color("green")

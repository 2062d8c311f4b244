"""What a kernel under construction knows: its names and their types, the arrays, the place.

Productions (``expressions``, ``statements``, ``structures``) ask it for names and give it lines.
It knows no syntax of its own beyond indentation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pycu2c.base.dtypes import DTYPES, DTypeKind
from pycu2c.base.types import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar

T = TypeVar("T")

STRONG = tuple(Scalar(row) for row in DTYPES)
WEAK = (WEAK_BOOL, WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX)
SCALARS = (*STRONG, *WEAK)
INTEGERS = tuple(t for t in STRONG if t.dtype.is_integer)
HALVES = tuple(t for t in STRONG if t.dtype.is_half)
COMPLEX = tuple(t for t in STRONG if t.dtype.is_complex)
FLOATS = tuple(t for t in STRONG if t.dtype.is_float and not t.dtype.is_half)
SMALL = 16  # bits that the value of a weak int variable takes at most
WIDEST = 61  # bits that a weak int expression may take: beyond 63 it has no meaning yet


def holds(kind: Scalar, other: Scalar) -> bool:
    """Whether any value of ``other`` may become one of ``kind``: no float an integer, and so on."""
    return _breadth(kind) >= _breadth(other)


def _breadth(kind: Scalar) -> int:
    return 2 * kind.dtype.is_complex + kind.dtype.is_float


def is_number(kind: Scalar) -> bool:
    return kind.dtype.kind is not DTypeKind.BOOL


def is_ordered(kind: Scalar) -> bool:
    """Numbers that have a least: neither bools nor complex."""
    return is_number(kind) and not kind.dtype.is_complex


@dataclass(frozen=True, slots=True)
class Made:
    """An expression's text. ``bits`` bounds a weak int; ``constant`` what the compiler folds."""

    text: str
    type: Scalar
    bits: int = 0
    constant: bool = False

    @property
    def operand(self) -> str:
        """As part of another expression."""
        plain = self.text.replace(".", "").replace("_", "").isalnum()
        return self.text if plain else f"({self.text})"


@dataclass(slots=True)
class ArrayName:
    """An array that the kernel sees. ``own`` gives index texts of the thread's own elements."""

    name: str
    type: Scalar
    shape: tuple[int, ...]
    own: tuple[str, ...] = ()  # none: it is only read
    uniform: bool = False  # every thread of a block reads the same elements
    field: str = ""  # of the elements, which are records: ``.x``
    static: bool = False  # the compiler knows its shape

    @property
    def whole(self) -> bool:
        """Whether the elements themselves are numbers, so that it can be sliced and passed."""
        return not self.field

    @property
    def size_texts(self) -> list[str]:
        texts = [f"{self.name}.shape[{axis}]" for axis in range(len(self.shape))]
        return [*texts, f"len({self.name})"]


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record of numpy's, as the module of a case names it."""

    name: str
    fields: tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, slots=True)
class RecordName:
    """An element of an array of records."""

    text: str
    type: RecordType
    own: bool  # the thread's, to be written


@dataclass(slots=True)
class Variable:
    name: str
    type: Scalar
    uniform: bool = False
    fixed: bool = False  # a loop counter or the like: read, never assigned
    bits: int = SMALL
    constant: bool = False  # the compiler knows it: a loop's that is written out


@dataclass(frozen=True, slots=True)
class DeviceName:
    """A device function that may be called: its parameters' types, an array's as its name."""

    name: str
    parameters: tuple[Scalar | ArrayName | RecordType, ...]
    names: tuple[str, ...]
    results: tuple[Scalar, ...]  # several are a tuple
    writes: bool = False  # elements of the thread, through an array
    defaults: int = 0  # how many of the last parameters have one
    rest: bool = False  # takes any number of further ints


@dataclass(slots=True)
class Place:
    """Where the next statement goes."""

    depth: int = 0  # of nested blocks
    loops: int = 0  # around it, of which ``break`` leaves one
    uniform: bool = True  # all threads of the block come here
    returns: tuple[Scalar, ...] = ()
    in_device: bool = False
    breaks: bool = False  # whether ``break`` and ``continue`` may stand here
    together: bool = False  # in a loop that all threads of the block run
    captures: bool = False  # in a function or comprehension: its names are not split in live ranges


@dataclass(slots=True)
class Writer:
    """Draws a kernel; ``rng`` decides everything."""

    rng: random.Random
    threads: int = 1  # of a block
    block: tuple[int, int, int] = (1, 1, 1)
    lines: list[str] = field(default_factory=list)
    scopes: list[list[Variable]] = field(default_factory=lambda: [[]])
    arrays: list[ArrayName] = field(default_factory=list)
    accumulators: list[ArrayName] = field(default_factory=list)
    updates: dict[str, tuple[str, ...]] = field(default_factory=dict)  # atomics, by array
    approximate: list[ArrayName] = field(default_factory=list)
    devices: list[DeviceName] = field(default_factory=list)
    place: Place = field(default_factory=Place)
    budget: int = 12  # statements that are left
    counter: int = 0
    constants: list[tuple[str, Scalar]] = field(default_factory=list)  # globals of the module
    left: bool = False  # whether threads may have returned
    optional: list[str] = field(default_factory=list)  # parameters that may be None
    records: list[RecordName] = field(default_factory=list)

    # ---- choices ----

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return self.rng.choice(items)

    def weighted(self, rows: Sequence[tuple[float, T]]) -> T:
        return self.rng.choices([r[1] for r in rows], [r[0] for r in rows])[0]

    def scalar(self) -> Scalar:
        """A type for something new."""
        weak = (WEAK_INT, WEAK_FLOAT) if self.chance(0.9) else (WEAK_COMPLEX,)
        return self.pick(self.pick((STRONG, STRONG, INTEGERS, FLOATS, FLOATS, weak)))

    def real(self) -> Scalar:
        """As ``scalar``, without the complex ones."""
        kind = self.scalar()
        while kind.dtype.is_complex:
            kind = self.scalar()
        return kind

    def strong(self) -> Scalar:
        """A type for an array."""
        return self.pick(self.pick((STRONG, STRONG, INTEGERS, FLOATS)))

    # ---- lines ----

    def line(self, text: str) -> None:
        self.lines.append("    " * (self.place.depth + 1) + text)

    @contextmanager
    def block_of(self, head: str, **place: Any) -> Iterator[None]:
        """An indented block with names of its own."""
        self.line(head)
        with self.inside(depth=self.place.depth + 1, **place):
            before = len(self.lines)
            yield
            if len(self.lines) == before:
                self.line("pass")

    @contextmanager
    def inside(self, **changes: Any) -> Iterator[None]:
        old = {name: getattr(self.place, name) for name in changes}
        for name, value in changes.items():
            setattr(self.place, name, value)
        self.scopes.append([])
        arrays = len(self.arrays)
        try:
            yield
        finally:
            self.scopes.pop()
            del self.arrays[arrays:]
            for name, value in old.items():
                setattr(self.place, name, value)

    # ---- names ----

    def fresh(self, stem: str = "v") -> str:
        """A name that nothing visible has; sometimes one that was used before."""
        visible = {v.name for scope in self.scopes for v in scope}
        used = [f"{stem}{n}" for n in range(self.counter) if f"{stem}{n}" not in visible]
        if used and stem == "v" and self.chance(0.3):
            return self.pick(used)
        self.counter += 1
        return f"{stem}{self.counter - 1}"

    def declare(self, name: str, kind: Scalar, **more: Any) -> Variable:
        variable = Variable(name, kind, **more)
        self.scopes[-1].append(variable)
        return variable

    def variables(self, expected: Callable[[Variable], bool]) -> list[Variable]:
        visible = [v for scope in self.scopes for v in scope if expected(v)]
        return [v for v in visible if v.fixed] if self.place.captures else visible

    def readable(self, kind: Scalar) -> list[ArrayName]:
        return [a for a in self.arrays if a.type == kind]

    def written(self) -> list[ArrayName]:
        return [a for a in self.arrays if a.own]

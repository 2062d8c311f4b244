"""Statements of shaped kernels: random choices, arithmetic on variables and elements."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

Dim3 = tuple[int, int, int]

LAUNCHES: tuple[tuple[Dim3, Dim3], ...] = (
    ((2, 1, 1), (40, 1, 1)), ((1, 1, 1), (96, 1, 1)), ((3, 1, 1), (32, 1, 1)),
    ((1, 1, 1), (50, 1, 1)), ((2, 1, 1), (33, 1, 1)), ((4, 1, 1), (8, 1, 1)),
    ((1, 1, 1), (1, 1, 1)), ((1, 1, 1), (130, 1, 1)), ((5, 1, 1), (16, 1, 1)),
    ((1, 2, 1), (8, 8, 1)), ((1, 2, 1), (4, 16, 1)), ((1, 1, 1), (32, 4, 1)),
    ((2, 1, 1), (5, 7, 1)), ((1, 1, 1), (16, 6, 1)), ((1, 1, 1), (8, 12, 1)),
    ((1, 1, 2), (4, 4, 2)), ((1, 2, 1), (32, 2, 1)), ((1, 1, 1), (1, 64, 1)),
    ((2, 1, 1), (2, 40, 1)), ((1, 1, 1), (64, 2, 1)), ((1, 1, 1), (4, 8, 4)),
)  # fmt: skip
FLOATS = ("float32", "float32", "float32", "float64")
WHOLE = ("int32", "int32", "int64", "uint8", "int8", "uint32", "uint64", "int16")


@dataclass(slots=True)
class Words:
    """A kernel that is being drawn; ``rng`` decides everything."""

    rng: random.Random
    grid: Dim3 = (1, 1, 1)
    block: Dim3 = (1, 1, 1)
    width: int = 1
    height: int = 1
    far: int = 1
    threads: int = 1
    of_block: int = 1
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    names: list[dict[str, str]] = field(default_factory=lambda: [{}])  # variables and their types
    fixed: set[str] = field(default_factory=set)  # that are not assigned
    loose: set[str] = field(default_factory=set)  # that no shape counts on
    count: int = 0
    values: dict[str, str] = field(default_factory=dict)  # of arguments, as text
    globals: list[str] = field(default_factory=list)  # what their texts have in common
    outputs: dict[str, tuple[str, str]] = field(default_factory=dict)  # type, own element
    inputs: dict[str, tuple[str, str]] = field(default_factory=dict)  # type, an index
    stores: bool = True  # whether elements may be written here
    leaves: bool = False  # whether ``break`` and ``continue`` may stand here
    whole: bool = True  # whether all threads of the block come here
    loops: int = 0
    inner: str = "x"  # the place that is last in the index of an output
    edges: bool = False  # whether ``e0`` is a number near the last of 64 bits
    upwards: bool = True  # the greatest, not the least
    pure: bool = False  # whether a shape is drawn as passes want it, but for its arithmetic

    def __post_init__(self) -> None:
        self.grid, self.block = self.rng.choice(LAUNCHES)
        self.width, self.height, self.far = (g * b for g, b in zip(self.grid, self.block))
        self.threads = self.width * self.height * self.far
        self.of_block = math.prod(self.block)

    # ---- choices and lines ----

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, items: Sequence[str]) -> str:
        return self.rng.choice(items)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def under(self, head: str, **changes: bool) -> Iterator[None]:
        """An indented block whose names end with it."""
        self.line(head)
        old = {name: getattr(self, name) for name in changes}
        for name, value in changes.items():
            setattr(self, name, value)
        self.depth += 1
        self.names.append({})
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.names.pop()
        self.depth -= 1
        for name, value in old.items():
            setattr(self, name, value)

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def known(self, kind: str) -> list[str]:
        return [n for scope in self.names for n, k in scope.items() if k == kind]

    def changing(self) -> list[tuple[str, str]]:
        return [(n, k) for s in self.names for n, k in s.items() if n not in self.fixed]

    # ---- expressions ----

    def whole_number(self, depth: int = 2) -> str:
        """Of Python's kind, not far from 0."""
        form = self.rng.randrange(9) if depth else 0
        if form < 3:
            return self.pick([*self.known("int"), str(self.rng.randint(-2, 9))])
        a, b = self.whole_number(depth - 1), self.whole_number(depth - 1)
        some = str(self.rng.randint(1, 9))
        match form:
            case 3 | 4:
                return f"({a} {self.pick('+-')} {b})"
            case 5:
                return f"({a} {self.pick(('//', '%', '&', '>>'))} {some})"
            case 6:
                return f"{self.pick(('min', 'max'))}({a}, {b})"
            case 7:
                return f"({a} if {self.condition(depth - 1)} else {b})"
            case _:
                return f"({a} * {some})"

    def number(self, kind: str, depth: int = 2) -> str:
        if kind == "int":
            return self.whole_number(depth)
        form = self.rng.randrange(12) if depth else self.rng.randrange(4)
        if form < 4:
            return self.leaf(kind)
        a, b = self.number(kind, depth - 1), self.number(kind, depth - 1)
        if form == 4:
            return f"({a} if {self.condition(depth - 1)} else {b})"
        if form == 5:
            return f"{self.pick(('min', 'max'))}({a}, {b})"
        if form == 6 and kind.startswith("float"):
            return self.pick((f"abs({a})", f"({a} / (abs({b}) + 1))", f"math.sqrt(abs({a}))"))
        if form == 6:
            operator, last = self.pick(("//", "%", ">>", "<<", "&", "|", "^")), 5
            return f"({a} {operator} {kind}({self.rng.randint(1, last)}))"
        return f"({a} {self.pick('+-*')} {b})"

    def leaf(self, kind: str) -> str:
        result = self.known(kind)
        loads = [n for n, (k, _) in self.inputs.items() if k == kind]
        form = self.rng.random()
        if result and form < 0.5:
            return self.pick(result)
        if loads and form < 0.8:
            return self.load(self.pick(loads))
        if form < 0.9:
            return f"{kind}({self.whole_number(1)} & 63)"
        parts = 4 if kind.startswith("float") else 1
        return f"{kind}({self.rng.randint(0, 20) / parts:g})"

    def load(self, name: str) -> str:
        """Of an element that is there, often one beside the neighbour's."""
        index = self.inputs[name][1]
        return f"{name}[{index}]"

    def condition(self, depth: int = 1) -> str:
        form = self.rng.randrange(7)
        if form == 0 and depth:
            joined = self.pick(("and", "or"))
            return f"({self.condition(depth - 1)} {joined} {self.condition(depth - 1)})"
        if form == 1 and depth:
            return f"(not {self.condition(depth - 1)})"
        compared = self.pick(("<", "<=", ">", ">=", "==", "!="))
        floats = [k for _, k in self.changing() if k != "int"]
        if form < 4 and floats:
            kind = self.pick(floats)
            return f"({self.number(kind, 1)} {compared} {self.number(kind, 1)})"
        return f"({self.whole_number(1)} {compared} {self.whole_number(1)})"

    # ---- statements ----

    def declare(self, kind: str = "", value: str = "") -> str:
        kind = kind or self.pick((*FLOATS, *WHOLE, "int"))
        value = value or self.kept(kind, self.number(kind))
        name = self.fresh("v")
        self.line(f"{name} = {value}")
        self.names[-1][name] = kind
        return name

    def declare_again(self) -> None:
        """Sometimes under the name of one of this block: another live range, of another type."""
        kind = self.pick((*FLOATS, *WHOLE, "int"))
        value = self.kept(kind, self.number(kind))
        names = [n for n in self.names[-1] if n in self.loose]
        if not names or self.chance(0.6):
            self.loose.add(self.declare(kind, value))
            return
        name = self.pick(names)
        self.line(f"{name} = {value}")
        self.names[-1][name] = kind

    def kept(self, kind: str, value: str) -> str:
        """A whole number of Python's stays small."""
        return f"{value} % 97" if kind == "int" else value

    def assign(self) -> None:
        names = self.changing()
        if not names:
            return
        name, kind = self.rng.choice(names)
        value = self.number(kind)
        if kind != "int" and self.chance(0.6):
            self.line(f"{name} {self.pick('+-*+')}= {value}")
        elif kind == "int" and self.chance(0.4):
            self.line(f"{name} += {self.rng.randint(-3, 3)}")
        elif kind != "int" and self.chance(0.3):
            self.line(f"{name} = {name} {self.pick('+-*')} {value}")
        else:
            self.line(f"{name} = {self.kept(kind, value)}")

    def store(self) -> None:
        if not self.stores:
            return self.assign()
        name = self.pick(list(self.outputs))
        kind, own = self.outputs[name]
        self.line(f"{name}[{own}] {self.pick(('=', '+='))} {self.number(kind)}")

    def some(self, most: int) -> None:
        """A few statements of any kind."""
        for _ in range(self.rng.randint(1, most)):
            form = self.rng.randrange(14)
            if form < 5:
                self.assign()
            elif form < 7:
                self.declare_again()
            elif form < 9:
                self.choice()
            elif form == 9 and self.leaves:
                self.line(f"if {self.condition()}:")
                self.line(f"    {self.pick(('break', 'break', 'continue'))}")
            elif form == 10:
                self.store()
            elif form == 11 and self.stores:
                self.line(
                    f"cuda.atomic.add(acc, {self.whole_number(1)} % 5, {self.whole_number()})"
                )
            elif form == 12 and self.loops < 2 and self.depth < 5:
                self.a_loop()
            else:
                self.assign()

    def a_loop(self) -> None:
        """One inside of others."""
        raise NotImplementedError

    def choice(self) -> None:
        if self.depth > 5:
            return self.assign()
        with self.under(f"if {self.condition(2)}:", whole=False):
            self.some(2)
        if self.chance(0.4):
            with self.under("else:", whole=False):
                self.some(2)

"""A whole case as the text of a module: kernel, device functions, launch and arguments.

The text is all there is to a case: a seed gives one, shrinking rewrites it, a regression file is
one. Beside a decorated ``kernel`` it has GRID, BLOCK, APPROXIMATE (arguments by position that
are compared with a tolerance) and ``arguments()``, which makes them anew.
"""

from __future__ import annotations

import itertools
import linecache
import math
import random
from dataclasses import dataclass
from typing import Any

from fuzzing import (
    barriers_and_warps,
    constructs,
    control,
    devices,
    edges,
    functions,
    numpy_functions,
    operations,
    structured,
    together,
    vectors,
)
from fuzzing.expressions import type_name
from fuzzing.mixed import mixed_text
from fuzzing.numbers import array_text, dtype_text, element_text, scalar_text
from fuzzing.shaped.kernels import shaped_text
from fuzzing.statements import statements
from fuzzing.writing import (
    FLOATS,
    INTEGERS,
    STRONG,
    WEAK,
    ArrayName,
    RecordName,
    RecordType,
    Variable,
    Writer,
    holds,
)
from pycu2c.base.types import WEAK_INT, Scalar

Dim3 = tuple[int, int, int]

# importing them fills the tables
MODULES = (
    operations, functions, numpy_functions, control, together, constructs, structured, devices,
    vectors, barriers_and_warps, edges,
)  # fmt: skip

_LAUNCHES: tuple[tuple[Dim3, Dim3], ...] = (
    ((2, 1, 1), (4, 1, 1)), ((3, 1, 1), (4, 1, 1)), ((1, 1, 1), (8, 1, 1)), ((2, 1, 1), (3, 1, 1)),
    ((4, 1, 1), (1, 1, 1)), ((1, 1, 1), (1, 1, 1)), ((2, 2, 1), (2, 2, 1)), ((1, 3, 1), (4, 1, 1)),
    ((2, 1, 1), (2, 3, 1)), ((2, 1, 2), (2, 1, 2)), ((1, 2, 1), (2, 2, 2)), ((1, 1, 1), (16, 1, 1)),
    ((1, 1, 1), (36, 1, 1)), ((1, 1, 1), (32, 1, 1)),
)  # fmt: skip

HEADER = """\
import math
from collections import namedtuple
from math import inf, nan

import ml_dtypes
import numpy as np

from pycu2c import cuda, device, kernel
from pycu2c.base.types import {names}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A loaded case; ``module`` holds what its text defines."""

    text: str
    module: dict[str, Any]

    @property
    def kernel(self) -> Any:
        return self.module["fuzzed"]


_count = itertools.count()


def load(text: str) -> Case:
    """Run a case's text. Its lines are kept where ``source_of`` looks for them."""
    name = f"<case {next(_count)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module: dict[str, Any] = {"__name__": "case"}
    exec(compile(text, name, "exec"), module)
    return Case(text, module)


def text_of(seed: int) -> str:
    """The case that a seed draws: one in three of a shape that passes look for, one in six of
    the rows that show the language."""
    if seed % 6 == 1:
        return mixed_text(seed)
    return shaped_text(seed) if seed % 3 == 0 else _Drawing(seed).text()


class _Drawing:
    """Draws the arguments, then the device functions, then the kernel."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.grid, self.block = self.rng.choice(_LAUNCHES)
        self.threads = math.prod(self.grid) * math.prod(self.block)
        self.w = Writer(self.rng, threads=math.prod(self.block), block=self.block)
        self.parameters: list[str] = []
        self.values: list[str] = []  # the text of each argument
        self.globals: list[str] = []
        self.device_lines: list[str] = []

    def text(self) -> str:
        self.draw_constants()
        self.draw_arguments()
        for number in range(self.rng.choice((0, 0, 1, 1, 2, 3))):
            self.device_lines += devices.draw_device(self.w, f"d{number}")
        self.draw_kernel()
        body = [*self.globals, *self.device_lines, "", "", *self.w.lines, *self.footer()]
        names = sorted(type_name(t) for t in STRONG)
        return HEADER.format(names=", ".join(names)) + "\n" + "\n".join(body) + "\n"

    def footer(self) -> list[str]:
        approximate = [self.parameters.index(a.name) for a in self.w.approximate]
        return [
            "",
            "",
            f"GRID, BLOCK = {self.grid}, {self.block}",
            f"APPROXIMATE = {approximate}",
            f"KNOWN_BLOCK, OWN_ACCUMULATORS = {self.w.chance(0.7)}, {self.w.chance(0.5)}",
            f"VARIANT = {self.w.chance(0.3)}",
            f"PAST_CACHES, PUBLIC = {self.w.chance(0.5)}, {self.w.chance(0.5)}",
            "",
            "",
            "def arguments():",
            "    return (",
            *[f"        {text},  # {name}" for name, text in zip(self.parameters, self.values)],
            "    )",
        ]

    # ---- arguments -------------------------------------------------------------------------

    def draw_constants(self) -> None:
        for number in range(self.rng.randint(0, 2)):
            kind = self.rng.choice((*WEAK, *FLOATS, *INTEGERS))
            shown = scalar_text(self.rng, kind)
            if kind == WEAK_INT:  # a constant must fit whatever it meets
                shown = str(self.rng.randint(0, 100))
            self.globals.append(f"K{number} = {shown}")
            self.w.constants.append((f"K{number}", kind))

        if self.rng.random() < 0.2:  # constant memory
            kind, shape = self.w.real(), self.rng.choice(((3,), (5,), (2, 3)))
            kind = Scalar(kind.dtype)
            self.globals.append(f"W = {array_text(self.rng, kind, shape)}")
            self.w.arrays.append(ArrayName("W", kind, shape, static=True))

    def draw_arguments(self) -> None:
        for number in range(self.rng.randint(1, 3)):
            self.draw_input(f"a{number}")
        for number in range(self.rng.randint(1, 3)):
            self.draw_output(f"o{number}")
        for number in range(self.rng.choice((0, 0, 1, 1, 2))):
            shape = self.rng.choice(((1,), (3,), (2, 2)))
            kind = self.rng.choice([t for t in STRONG if t.dtype.is_integer])
            self.w.accumulators.append(ArrayName(f"acc{number}", kind, shape))
            self.add(f"acc{number}", array_text(self.rng, kind, shape))
        if self.rng.random() < 0.25:
            kind = self.rng.choice(FLOATS)
            self.w.approximate.append(ArrayName("l", kind, (self.threads,), own=("i",)))
            self.add("l", array_text(self.rng, kind, (self.threads,)))
        for number in range(self.rng.randint(0, 3)):
            kind = self.rng.choice((*WEAK, self.rng.choice(STRONG)))
            self.add(f"p{number}", scalar_text(self.rng, kind))
            self.w.declare(f"p{number}", kind, uniform=True)
        if self.rng.random() < 0.25:
            self.draw_tuple()
        if self.rng.random() < 0.25:
            self.draw_records()
        if self.rng.random() < 0.2:
            self.draw_optional()

    def add(self, name: str, text: str) -> None:
        self.parameters.append(name)
        self.values.append(text)

    def draw_input(self, name: str) -> None:
        shape = tuple(self.rng.randint(2, 5) for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3))))
        kind = self.rng.choice(STRONG if self.rng.random() < 0.6 else FLOATS)
        self.w.arrays.append(ArrayName(name, kind, shape))
        self.add(name, array_text(self.rng, kind, shape))

    def draw_output(self, name: str) -> None:
        kind = self.rng.choice(STRONG if self.rng.random() < 0.6 else FLOATS)
        shape, own = self.own_elements()
        self.w.arrays.append(ArrayName(name, kind, shape, own))
        self.add(name, array_text(self.rng, kind, shape))

    def draw_tuple(self) -> None:
        """A tuple or named tuple of numbers, and sometimes an array."""
        kinds = [self.w.scalar() for _ in range(self.rng.randint(1, 3))]
        texts = [scalar_text(self.rng, kind) for kind in kinds]
        places = [f"q[{n}]" for n in range(len(kinds))]
        if self.rng.random() < 0.4:
            self.globals.append("Triple = namedtuple('Triple', 'x y z', defaults=(0, 0, 0))")
            places = [f"q.{name}" for name in "xyz"[: len(kinds)]]
            self.add("q", f"Triple({', '.join(texts)})")
        else:
            if self.rng.random() < 0.3:
                kind = self.w.strong()
                texts.append(array_text(self.rng, kind, (3,)))
                self.w.arrays.append(ArrayName(f"q[{len(kinds)}]", kind, (3,)))
            self.add("q", f"({', '.join(texts)},)")
        for place, kind in zip(places, kinds, strict=True):
            self.w.declare(place, kind, uniform=True, fixed=True)

    def draw_records(self) -> None:
        """An array of records that is written, one that is read, and a record by itself."""
        kinds = [self.w.strong() for _ in range(self.rng.randint(1, 3))]
        record = RecordType("Row", tuple(zip("xyz", kinds)))
        parts = ", ".join(f"('{name}', {dtype_text(kind)})" for name, kind in record.fields)
        aligned = self.rng.choice(("", ", align=True"))
        self.globals.append(f"Row = np.dtype([{parts}]{aligned})")
        for name, own in (("r0", ()), ("r1", ("i", f"i - {self.threads}"))):
            shape = (self.threads if own else self.rng.randint(2, 5),)
            rows = ", ".join(self.record_text(record) for _ in range(shape[0]))
            self.add(name, f"np.array([{rows}], Row)")
            self.w.arrays += [
                ArrayName(name, kind, shape, own, field=self.rng.choice((f".{f}", f"['{f}']")))
                for f, kind in record.fields
            ]
            for _ in range(2):
                index = self.rng.choice(own) if own else self.rng.randrange(-shape[0], shape[0])
                self.w.records.append(RecordName(f"{name}[{index}]", record, bool(own)))
        if self.rng.random() < 0.5:
            self.add("e", f"np.array([{self.record_text(record)}], Row)[0]")
            for field, kind in record.fields:
                self.w.declare(f"e.{field}", kind, uniform=True, fixed=True)

    def record_text(self, record: RecordType) -> str:
        numbers = [element_text(self.rng, kind) for _, kind in record.fields]
        return f"({', '.join(numbers)},)"

    def draw_optional(self) -> None:
        kind = self.rng.choice((WEAK_INT, *FLOATS))
        self.add("n", self.rng.choice(("None", scalar_text(self.rng, kind))))
        self.w.optional.append("n")

    def own_elements(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """A shape with elements for each thread, and how a thread names its own."""
        n = self.threads
        more = n + self.rng.randint(0, 3)
        width, height = (g * b for g, b in zip(self.grid[:2], self.block[:2]))
        rows: list[tuple[tuple[int, ...], tuple[str, ...]]] = [
            ((n,), ("i", "i", f"i - {n}")),
            ((more,), ("i", f"i - {more}")),
            ((n,), (f"{n - 1} - i", "-1 - i")),
            ((2 * n,), ("2 * i", "i * 2 + 1", f"2 * i - {2 * n}")),
            ((2 * n,), ("i", f"i + {n}", f"i - {n}")),
            ((n, 3), ("i, 0", "i, 2", "i, -2")),
            ((2, n), ("1, i", "0, i", "-1, -1 - i" if n == 1 else "-1, i")),
            ((n, 2, 2), ("i, 0, 1", "i, -1, 0", "i, 1, 1")),
        ]
        if self.grid[2] * self.block[2] == 1:
            rows += [((height, width), ("y, x", f"y - {height}, x"))] * 3
            rows += [((width, height), ("x, y", f"x, y - {height}"))]
        return self.rng.choice(rows)

    # ---- functions -------------------------------------------------------------------------

    def draw_kernel(self) -> None:
        w = self.w
        w.lines += ["@kernel", f"def fuzzed({', '.join(self.parameters)}):"]
        self.draw_coordinates()
        w.budget = self.rng.randint(4, 22)
        guard = self.rng.random()
        array = w.pick(w.written())
        if guard < 0.15:
            w.line(f"if i >= {self.threads - w.rng.randrange(3)}:")
            w.line("    return")
            w.left = True
        if guard > 0.85:
            with w.block_of(f"if i < {array.name}.size:", uniform=False):
                statements(w, 8)
        while w.budget > 0:
            statements(w, 8)
        self.show_variables()

    def draw_coordinates(self) -> None:
        w = self.w
        flat = max(self.grid[1:]) == max(self.block[1:]) == 1
        if flat:
            w.line(
                w.pick(
                    ("i = cuda.grid(1)", "i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")
                )
            )
            w.line("t = cuda.threadIdx.x")
            w.line("x, y = i, 0")
        elif self.grid[2] * self.block[2] == 1:
            w.line("x, y = cuda.grid(2)")
            w.line(
                "i = y * cuda.gridsize(2)[0] + x"
                if w.chance(0.5)
                else "width, height = cuda.gridsize(2)"
            )
            if w.lines[-1].strip().startswith("width"):
                w.line("i = y * width + x")
            w.line("t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x")
        else:
            w.line("x, y, z = cuda.grid(3)")
            w.line("width, height, far = cuda.gridsize(3)")
            w.line("i = (z * height + y) * width + x")
            w.line("t = (cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x")
            w.line("t = t + cuda.threadIdx.x")
        w.declare("i", WEAK_INT, fixed=True, bits=5)
        w.declare("t", WEAK_INT, fixed=True, bits=4)

    def show_variables(self) -> None:
        """What the variables hold in the end goes out, so that little is dead."""
        w = self.w

        def kept(variable: Variable) -> bool:
            return variable.name[0] in "vjsu" and variable.name.isalnum()

        for variable in w.variables(kept):
            same = [a for a in w.written() if a.type == variable.type]
            fits = [a for a in w.written() if holds(a.type, variable.type)]
            if w.chance(0.7) and fits:
                array = w.pick(same or fits)
                w.line(f"{array.name}[{w.pick(array.own)}]{array.field} = {variable.name}")

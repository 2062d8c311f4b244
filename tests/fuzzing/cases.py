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

import numpy as np

from fuzzing import constructs, control, functions, operations, together
from fuzzing.expressions import type_name
from fuzzing.statements import statements, value
from fuzzing.writing import FLOATS, INTEGERS, STRONG, WEAK, ArrayName, DeviceName, Place, Writer
from pycu2c.dtypes import Kind
from pycu2c.types import WEAK_BOOL, WEAK_INT, Scalar

Dim3 = tuple[int, int, int]

ROOMS = (operations, functions, control, together, constructs)  # importing them fills the tables

_LAUNCHES: tuple[tuple[Dim3, Dim3], ...] = (
    ((2, 1, 1), (4, 1, 1)), ((3, 1, 1), (4, 1, 1)), ((1, 1, 1), (8, 1, 1)), ((2, 1, 1), (3, 1, 1)),
    ((4, 1, 1), (1, 1, 1)), ((1, 1, 1), (1, 1, 1)), ((2, 2, 1), (2, 2, 1)), ((1, 3, 1), (4, 1, 1)),
    ((2, 1, 1), (2, 3, 1)), ((2, 1, 2), (2, 1, 2)), ((1, 2, 1), (2, 2, 2)), ((1, 1, 1), (16, 1, 1)),
)  # fmt: skip
_ATOMIC = ("int32", "uint32", "int64", "uint64")

HEADER = """\
import math
from math import inf, nan

import numpy as np

from pycu2c import cuda, device, kernel
from pycu2c.types import {names}
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
    """The case that a seed draws."""
    return _Drawing(seed).text()


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
            self.draw_device(number)
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
            shown = number_text(self.rng, kind) if not kind.weak else _weak_text(self.rng, kind)
            if kind == WEAK_INT:  # a constant must fit whatever it meets
                shown = str(self.rng.randint(0, 100))
            self.globals.append(f"K{number} = {shown}")
            self.w.constants.append((f"K{number}", kind))

    def draw_arguments(self) -> None:
        for number in range(self.rng.randint(1, 3)):
            self.draw_input(f"a{number}")
        for number in range(self.rng.randint(1, 3)):
            self.draw_output(f"o{number}")
        if self.rng.random() < 0.3:
            row = self.rng.choice(_ATOMIC)
            shape = self.rng.choice(((1,), (3,), (2, 2)))
            kind = next(t for t in STRONG if str(t.dtype) == row)
            self.w.accumulators.append(ArrayName("c", kind, shape))
            self.add("c", self.array_text(kind, shape))
        if self.rng.random() < 0.25:
            kind = self.rng.choice(FLOATS)
            self.w.approximate.append(ArrayName("l", kind, (self.threads,), own=("i",)))
            self.add("l", self.array_text(kind, (self.threads,)))
        for number in range(self.rng.randint(0, 3)):
            kind = self.rng.choice((*WEAK, self.rng.choice(STRONG)))
            shown = _weak_text(self.rng, kind) if kind.weak else number_text(self.rng, kind)
            self.add(f"p{number}", shown)
            self.w.declare(f"p{number}", kind, uniform=True)

    def add(self, name: str, text: str) -> None:
        self.parameters.append(name)
        self.values.append(text)

    def draw_input(self, name: str) -> None:
        shape = tuple(self.rng.randint(2, 5) for _ in range(self.rng.choice((1, 1, 1, 2, 2, 3))))
        kind = self.rng.choice(STRONG if self.rng.random() < 0.6 else FLOATS)
        self.w.arrays.append(ArrayName(name, kind, shape))
        self.add(name, self.array_text(kind, shape))

    def draw_output(self, name: str) -> None:
        kind = self.rng.choice(STRONG if self.rng.random() < 0.6 else FLOATS)
        shape, own = self.own_elements()
        self.w.arrays.append(ArrayName(name, kind, shape, own))
        self.add(name, self.array_text(kind, shape))

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

    def array_text(self, kind: Scalar, shape: tuple[int, ...]) -> str:
        """``np.array([…], np.int8)``, seen so that the shape comes out."""
        base, view = self.view_of(shape)
        numbers = ", ".join(element_text(self.rng, kind) for _ in range(math.prod(base)))
        shown = f"np.array([{numbers}], np.{kind.dtype})"
        if len(base) > 1:
            shown += f".reshape{base}"
        return shown + view

    def view_of(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
        plain = (shape, "")
        if self.rng.random() < 0.5:
            return plain
        rest = shape[1:]
        rows = [
            plain,
            ((2 * shape[0], *rest), "[::2]"),
            (shape, "[::-1]"),
            ((shape[0] + 2, *rest), "[1:-1]"),
            (tuple(reversed(shape)), ".T"),
            ((*shape[:-1], 2 * shape[-1]), f"[{':, ' * len(rest)}::-2]"),
            ((*shape[:-1], shape[-1] + 1), f"[{':, ' * len(rest)}1:]"),
        ]
        return self.rng.choice(rows)

    # ---- functions -------------------------------------------------------------------------

    def draw_device(self, number: int) -> None:
        name = f"d{number}"
        inner = Writer(self.rng, devices=self.w.devices, constants=self.w.constants)
        inner.place = Place(uniform=False, in_device=True)
        inner.budget = self.rng.randint(0, 5)
        parameters: list[Scalar | ArrayName] = []
        names: list[str] = []
        writes = self.rng.random() < 0.3
        if writes:
            array = ArrayName("a", self.rng.choice(self.w.written()).type, (1,), own=("k",))
            names += ["a", "k"]
            inner.declare("k", WEAK_INT, fixed=True, bits=6)
        elif self.rng.random() < 0.4:
            given = self.rng.choice([a for a in self.w.arrays if not a.own])
            array = ArrayName("a", given.type, given.shape)
            names.append("a")
        if names:
            parameters.append(array)
            inner.arrays.append(array)
        for position in range(self.rng.randint(0 if names else 1, 3)):
            kind = self.rng.choice((*STRONG, *FLOATS, *WEAK))
            parameters.append(kind)
            names.append(f"p{position}")
            inner.declare(f"p{position}", kind)
        result = None if writes else self.rng.choice((*STRONG, *FLOATS, *WEAK))
        inner.place.returns = result
        if inner.budget or writes:
            inner.budget += writes
            statements(inner, 4)
        if result is not None:
            inner.line(f"return {value(inner, result)}")
        elif writes:
            inner.line(f"a[k] = {value(inner, array.type)}")
        self.device_lines += ["", "", "@device", f"def {name}({', '.join(names)}):", *inner.lines]
        self.w.devices.append(DeviceName(name, tuple(parameters), result, writes))

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
        for variable in w.variables(lambda v: v.name[0] in "vjsu"):
            fits = [a for a in w.written() if a.type == variable.type or variable.type.weak]
            floats = [a for a in w.written() if a.type.dtype.is_float]
            array = w.pick(fits or floats or w.written())
            whole = array.type.dtype.is_integer and variable.type.dtype.is_float
            if w.chance(0.7) and not whole:
                w.line(f"{array.name}[{w.pick(array.own)}] = {variable.name}")


# ---- numbers -------------------------------------------------------------------------------------


def element_text(rng: random.Random, kind: Scalar) -> str:
    """A number as an element of an array's list."""
    row = kind.dtype
    if row.kind is Kind.BOOL:
        return rng.choice(("True", "False"))
    if row.is_float:
        return _float_text(rng, row.bits)
    if rng.random() < 0.15:
        return str(rng.choice((row.minimum, row.maximum, row.maximum - 1, row.minimum + 1)))
    return str(rng.randint(max(row.minimum, -9), 20))


_SPECIAL = ("inf", "-inf", "nan", "-0.0", "1e30", "-1e-30", "16777217.0", "2147483648.0", "1e-40")


def _float_text(rng: random.Random, bits: int) -> str:
    if rng.random() < 0.1:
        return rng.choice(_SPECIAL[:4] if bits < 32 else _SPECIAL)
    if rng.random() < 0.5:
        return str(rng.randint(-40, 40) / 4)
    number = rng.uniform(-10, 10)
    return repr(float(np.float32(number)) if bits == 32 else number)


def number_text(rng: random.Random, kind: Scalar) -> str:
    """A numpy scalar: a strong argument."""
    return (
        f"np.{'bool_' if kind.dtype.kind is Kind.BOOL else kind.dtype}({element_text(rng, kind)})"
    )


def _weak_text(rng: random.Random, kind: Scalar) -> str:
    if kind == WEAK_BOOL:
        return rng.choice(("True", "False"))
    if kind == WEAK_INT:
        return str(rng.choice((0, 1, 2, 3, 7, 100, rng.randint(-50, 1000))))
    return _float_text(rng, 64)

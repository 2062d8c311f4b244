"""Random kernels of nested loops, branches and cases, as text."""

from __future__ import annotations

import random
from dataclasses import dataclass

VARIABLES = ("x", "y", "z")
SIMPLE = (
    "{v} = {e}", "{v} += {a}", "{v}, {v} = {a}, {a}", "out[i] += {a}", "table[i % 4] = {a}",
    "{v} = {e}", "return",
)  # fmt: skip
EXPRESSIONS = (
    "{a}", "({a} + {a}) % 97", "({a} * {a}) % 31", "({a} if {c} else {a})", "({a} and {a})",
)  # fmt: skip
CONDITIONS = (
    "{a} % 3 == 1", "{a} % 2 == 0", "{a} > {a}", "{a} < 9 and {a} != 2", "({v} := {a} % 5) > 2",
)  # fmt: skip
LOOPS = (
    "for {v} in ({e}, {e}, {e}):", "for {v} in ({e},):", "for {v} in ():",
    "for {v}, w in zip(({e}, {e}), ({e}, {e}, {e})):", "for k, {v} in enumerate(({e}, {e}), {a}):",
    "for {v}, w in zip(data, ({e}, {e}, {e})):", "for {v} in reversed(({e}, {e})):",
    "for {v} in range({a} % 4):", "for {v} in data:", "for k, {v} in enumerate(data):",
    "for {v} in reversed(data):", "for {v}, {v} in zip(data, range({a} % 5)):",
    "for {v} in reversed(range({a} % 5, 9, 2)):", "for {v} in table:", "for w in range(3):",
)  # fmt: skip
SUBJECTS = ("{a}", "{e}", "({a}, {a})", "({e}, {a})")
OF_PAIRS = (
    "1", "(1, w)", "(w, 1) | (2, w)", "(x, y)", "(x, *_)", "[_, 3]", "(x, y) if {c}", "[1 | 2, y]",
)  # fmt: skip
OF_NUMBERS = (*OF_PAIRS, "2 | 3", "w if {c}", "{v} if {c}", "-1 as z")
FIRST = (
    "i = cuda.grid(1)",
    "table = cuda.local.array(4, int64)",
    "table[0] = table[1] = table[2] = table[3] = 3",
    "x, y, z, w, k = i, 2, i % 3, 1, 0",
)
LAST = "out[i] += x * 3 + y * 5 + z * 7"


def program(seed: int) -> str:
    """The text of a module with one kernel, ``k(data, out)``."""
    writer = _Writer(random.Random(seed))
    body = [line for _ in range(4) for line in writer.statement(3, in_loop=False)]
    head = "from pycu2c import cuda, int64, kernel\n\n\n@kernel\ndef k(data, out):"
    return "\n".join([head, *_indented([*FIRST, *body, LAST])])


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@dataclass(slots=True)
class _Writer:
    chance: random.Random

    def filled(self, choices: tuple[str, ...]) -> str:
        """One of the templates, with its ``{v}``, ``{a}``, ``{e}`` and ``{c}`` filled in."""
        text = self.chance.choice(choices)
        parts = {
            "{v}": lambda: self.chance.choice(VARIABLES),
            "{a}": lambda: self.chance.choice((*VARIABLES, "i", "1", "2", "3", "7")),
            "{e}": lambda: self.filled(EXPRESSIONS),
            "{c}": lambda: self.filled(CONDITIONS),
        }
        for hole, part in parts.items():
            while hole in text:
                text = text.replace(hole, part(), 1)
        return text

    def block(self, depth: int, in_loop: bool) -> list[str]:
        count = self.chance.choice((1, 2, 3))
        return _indented([s for _ in range(count) for s in self.statement(depth, in_loop)])

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        kind = self.chance.random() if depth else 0.0
        if kind < 0.35:
            return [self.filled((*SIMPLE, *(("break", "continue") if in_loop else ())))]
        if kind < 0.6:
            head = f"if {self.filled(CONDITIONS)}:"
            return [head, *self.block(depth - 1, in_loop), *self.orelse(depth, in_loop)]
        if kind < 0.88:
            head = self.filled(LOOPS)
            return [head, *self.block(depth - 1, True), *self.orelse(depth, in_loop)]
        subject = self.filled(SUBJECTS)
        patterns = OF_PAIRS if "," in subject else OF_NUMBERS
        cases = [f"match {subject}:"]
        for _ in range(self.chance.choice((1, 2, 3))):
            cases.append(f"    case {self.filled(patterns)}:")
            cases += _indented(self.block(depth - 1, in_loop))
        return cases

    def orelse(self, depth: int, in_loop: bool) -> list[str]:
        return ["else:", *self.block(depth - 1, in_loop)] if self.chance.random() < 0.45 else []

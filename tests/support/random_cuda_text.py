"""Random kernels in CUDA C text, with barriers and without data races.

Fission and fibers must give the same results. ``PYTHONPATH=tests python -m
support.random_cuda_text 0 1000`` compares those of the seeds 0 to 999.
"""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from unittest import mock

import numpy as np

from pycu2c.compat.cuda_text import TextModule, cpu_build
from pycu2c.compat.cuda_text.host_source import ThreadExecution, generate_host_source

HEAD = """#define MAD(a, b) ((a) * 3 + (b))
#define BUMP(v) v += t
#define LINE threadIdx.x
struct Pair { unsigned a, b; unsigned *p; __device__ void add(unsigned d) { a += d; b ^= a; } };
__device__ unsigned by_value(unsigned v, unsigned w) { v += w * 5; return v ^ w; }
__device__ void by_reference(unsigned &v, unsigned w) { v = v * 3 + w; }
__device__ unsigned *by_pointer(unsigned *v, unsigned w) { v[w % 2] += w; return v + 1; }
__device__ unsigned who() { return LINE; }
__device__ unsigned from_right(unsigned v) { v = __shfl_down_sync(0xffffffff, v, 1); return v + 1; }
"""
ROWS = ("s", "r")  # shared arrays, of an element for each thread
THREADS = 64
BLOCKS = ((64, 1), (8, 8), (33, 1), (1, 1))
BLOCKS_IN_GRID = 3


@dataclass
class Scope:
    """What may be named: numbers of each thread and of all, arrays of 4, pointers to 2 or more."""

    own: list[str] = field(default_factory=list)
    alike: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)

    def inner(self) -> Scope:
        return Scope(*map(list, (self.own, self.alike, self.arrays, self.pointers, self.pairs)))


class Writer:
    """Writes the body of one kernel. ``_state``: what threads may do with each shared array until
    they meet next: use their own element, read any, or add to any. Kernels of even seeds have
    no references, classes or warp operations, so that they can be split."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._state = dict.fromkeys(ROWS, "own")
        self._count = 0
        self._budget = 26
        self._is_simple = seed % 2 == 0

    def text(self, name: str) -> str:
        lines = "\n    ".join(self._body())
        head = f'extern "C" __global__ void {name}(unsigned *x, unsigned n, unsigned *y)'
        return f"{head} {{\n    {lines}\n}}\n"

    def _body(self) -> Iterator[str]:
        yield "__shared__ unsigned s[64], r[64];"
        yield "const unsigned t = threadIdx.x + blockDim.x * threadIdx.y;"
        yield "const unsigned at = blockIdx.x * 64 + t;"
        yield "for (unsigned i = t; i < 64; i += blockDim.x * blockDim.y) {"
        yield "s[i] = x[i]; r[i] = at + i; }"
        yield "__syncthreads();"
        scope = Scope()
        yield from self._statements(scope, depth=0, together=True, count=12)
        yield f"y[at] += {self._number(scope)};"
        for name in (*scope.own, *scope.alike):
            yield f"y[at] = y[at] * 7 + {name};"
        for name in scope.arrays:
            yield f"y[at] = y[at] * 7 + {name}[1] + {name}[3];"
        yield "__syncthreads();"
        yield "y[at] += s[t] + r[t];"

    # ---- numbers ----

    def _pick(self, rows: Sequence[str]) -> str:
        return self._random.choice(rows)

    def _chance(self, part: float) -> bool:
        return self._random.random() < part

    def _name(self, prefix: str, scope: Scope) -> str:
        """A new one; or one that hides another, as that of a loop."""
        self._count += 1
        return f"{prefix}{self._count}"

    def _alike(self, scope: Scope, depth: int = 0) -> str:
        rows = ["n", "blockIdx.x", str(self._random.randrange(1, 9)), *scope.alike, *scope.alike]
        if depth < 2 and self._chance(0.5):
            left, right = self._alike(scope, depth + 1), self._alike(scope, depth + 1)
            shape = self._pick(
                ("({} + {})", "({} * {})", "({} ^ {})", "({} % 5 + {})", "MAD({}, {})")
            )
            return shape.format(left, right)
        return self._pick(rows)

    def _number(self, scope: Scope, depth: int = 0) -> str:
        if depth < 2 and self._chance(0.6):
            left, right = self._number(scope, depth + 1), self._number(scope, depth + 1)
            shapes = (
                "({} + {})",
                "({} * {})",
                "({} ^ {})",
                "({} > {})",
                "MAD({}, {})",
                "min({}, {})",
            )
            return self._pick((*shapes, "by_value({}, {})", "(t % 3 ? {} : {})")).format(
                left, right
            )
        rows = ["t", "at", "n", "x[at]", "who()", *scope.own, *scope.own, *scope.alike]
        rows += [f"{a}[{self._pick(('0', '1', 't % 4', 'n % 4'))}]" for a in scope.arrays]
        rows += [f"{p}[{self._pick(('0', '1', 't % 2'))}]" for p in scope.pointers]
        rows += [f"{p}.{self._pick('ab')}" for p in scope.pairs] + [
            f"{p}.p[1]" for p in scope.pairs
        ]
        rows += [f"{row}[t]" for row in ROWS if self._state[row] == "own"]
        others = ("63 - t", "(t + n) % 64", "0", "t ^ 1")
        rows += [f"{row}[{self._pick(others)}]" for row in ROWS if self._state[row] == "all"]
        return self._pick(rows)

    # ---- statements ----

    def _statements(self, scope: Scope, depth: int, together: bool, count: int) -> Iterator[str]:
        for _ in range(self._random.randrange(count // 2, count + 1)):
            if self._budget <= 0:
                return
            self._budget -= 1
            kinds = [self._declared, self._assigned, self._assigned, self._shared]
            if together:
                kinds += [self._met, self._met, self._alone, self._once]
                kinds += [self._loop, self._branch, self._block] if depth < 3 else []
            yield from self._random.choice(kinds)(scope, depth)

    def _met(self, scope: Scope, depth: int) -> Iterator[str]:
        """Write a barrier, or a call with a barrier that leaves shared memory unchanged."""
        if scope.own and not self._is_simple and self._chance(0.25):
            name, number = self._pick(scope.own), self._number(scope)
            shapes = (
                "{} += __shfl_xor_sync(0xffffffff, {}, 1);",
                "{} += __syncthreads_count({} % 3);",
                "{} ^= __ballot_sync(0xffffffff, {} & 1);",
                "{} = from_right({});",
            )
            yield self._pick(shapes).format(name, number)
            return
        yield "__syncthreads();"
        for row in ROWS:
            self._state[row] = self._pick(("own", "all", "add"))

    def _shared(self, scope: Scope, depth: int) -> Iterator[str]:
        for row in ROWS:
            number = self._number(scope)
            if self._state[row] == "own":
                yield f"{row}[t] {self._pick(('=', '+=', '^='))} {number};"
            elif self._state[row] == "add":
                yield f"atomicAdd(&{row}[{self._number(scope)} % 64], {number});"

    def _declared(self, scope: Scope, depth: int) -> Iterator[str]:
        number = self._number(scope)
        kinds = ("own", "own", "two", "array", "pointer", "row")
        kind = self._pick(kinds if self._is_simple else (*kinds, "reference", "pair"))
        name = self._name("v", scope)
        if kind == "two":
            yield f"unsigned {name} = {number}, {name}b = {name} + t;"
            scope.own += [name, f"{name}b"]
        elif kind == "array" or (kind in ("pointer", "row") and not scope.arrays):
            filled = f" = {{{number}, t, n, 3}}"
            yield f"unsigned {name}[4]{filled if self._chance(0.5) else ''};"
            yield f"for (int i = 0; i < 4; i++) {name}[i] = {number} + i;"
            scope.arrays.append(name)
        elif kind in ("pointer", "row"):
            array = self._pick(scope.arrays)
            arguments = self._pick(
                ("{}", "{} + 1", "&{}[2]", "by_pointer({}, t)", "t % 2 ? {0} : {0} + 2")
            )
            yield f"unsigned *{name} = {arguments.format(array)};"
            scope.pointers.append(name)
        elif kind == "reference" and scope.own:
            yield f"unsigned &{name} = {self._pick(scope.own)};"
            scope.own.append(name)
        elif kind == "pair" and scope.arrays:
            yield f"Pair {name} = {{{number}, t, {self._pick(scope.arrays)}}};"
            scope.pairs.append(name)
        else:
            yield f"{self._pick(('', 'const '))}unsigned {name}c = {number};"
            yield f"unsigned {name} = {name}c + 1;"
            scope.own.append(name)

    def _assigned(self, scope: Scope, depth: int) -> Iterator[str]:
        number = self._number(scope)
        rows = [f"y[at] += {number};"]
        for name in scope.own[-4:]:
            rows += [f"{name} += {number};", f"{name}++;", f"*&{name} ^= {number};"]
            rows += [f"{name} = {number};"]
            if not self._is_simple:
                rows += [f"by_reference({name}, {number});", f"BUMP({name});"]
        rows += [f"{name}[{self._pick(('1', 't % 4'))}] += {number};" for name in scope.arrays]
        rows += [f"by_pointer({name}, {number});" for name in scope.arrays]
        rows += [f"{name}[t % 2] += {number};" for name in scope.pointers]
        rows += [f"{name}.add({number});" for name in scope.pairs]
        rows += [f"{name}.p[0] += {number};" for name in scope.pairs]
        yield self._pick(rows)

    def _alone(self, scope: Scope, depth: int) -> Iterator[str]:
        """What each thread does by itself."""
        head = self._pick(
            (f"if ({self._number(scope)} % 2)", "for (unsigned i = 0; i < t % 3; i++)")
        )
        yield f"{head} {{"
        yield from self._statements(scope.inner(), depth + 1, together=False, count=3)
        if head.startswith("if") and self._chance(0.15):
            yield "if (t % 7 == 3) return;"
        yield "}"

    def _once(self, scope: Scope, depth: int) -> Iterator[str]:
        if scope.alike and self._chance(0.5):
            name = self._pick(scope.alike)
            yield f"{name} {self._pick(('=', '+=', '^='))} {self._alike(scope)};"
            return
        name = self._name("u", scope)
        yield f"unsigned {name} = {self._alike(scope)};"
        if self._chance(0.2):  # it only seems to be alike
            yield f"if (t == 5) {name}++;"
            scope.own.append(name)
        else:
            scope.alike.append(name)

    def _together(self, scope: Scope, depth: int) -> Iterator[str]:
        yield "__syncthreads();"
        for row in ROWS:
            self._state[row] = self._pick(("own", "all", "add"))
        yield from self._statements(scope, depth + 1, together=True, count=5)
        yield "__syncthreads();"
        self._state = dict.fromkeys(ROWS, "own")

    def _loop(self, scope: Scope, depth: int) -> Iterator[str]:
        name, inner = self._name("i", scope), scope.inner()
        bound = f"{self._alike(scope)} % 4"
        kind = self._pick(("for", "while", "do"))
        yield "__syncthreads();"
        if kind == "for":
            yield f"for (unsigned {name} = 0; {name} < {bound}; {name}++) {{"
        else:
            yield f"{{ unsigned {name} = {bound} + 1;"
            yield f"while ({name} > 0) {{" if kind == "while" else "do {"
            yield f"{name}--;"
        yield f"y[at] += {name};"
        yield from self._together(inner, depth)
        if self._chance(0.2):
            yield f"if ({self._alike(scope)} % 3 == 1) {self._pick(('break', 'continue'))};"
        yield {"for": "}", "while": "} }", "do": f"}} while ({name} > 0); }}"}[kind]

    def _branch(self, scope: Scope, depth: int) -> Iterator[str]:
        yield f"if ({self._alike(scope)} % 2) {{"
        yield from self._together(scope.inner(), depth)
        if self._chance(0.5):
            yield "} else {"
            yield from self._together(scope.inner(), depth)
        yield "}"
        yield "__syncthreads();"
        self._state = dict.fromkeys(ROWS, "own")

    def _block(self, scope: Scope, depth: int) -> Iterator[str]:
        """Names in it may hide others."""
        inner = scope.inner()
        yield "{"
        if scope.own:
            name = self._pick(scope.own)
            yield f"unsigned {name} = {self._number(Scope())};"
        yield from self._statements(inner, depth + 1, together=True, count=4)
        yield "}"


def texts(seeds: Sequence[int]) -> str:
    return HEAD + "".join(Writer(seed).text(f"k{seed}") for seed in seeds)


def found(text: str, seeds: Sequence[int]) -> tuple[dict[int, np.ndarray], list[ThreadExecution]]:
    """What the kernels of these seeds put out, and how their threads ran."""
    module = TextModule(text, backend="cpu")
    code = module.code()
    assert isinstance(code, cpu_build.CpuCode)
    results = {}
    for seed in seeds:
        x = np.arange(64 * BLOCKS_IN_GRID, dtype=np.uint32) * 7 % 13
        y = np.zeros((len(BLOCKS), x.size), np.uint32)
        for row, block in zip(y, BLOCKS):
            module.function(f"k{seed}").launch(BLOCKS_IN_GRID, block, (x, np.uint32(5), row), 0)
        results[seed] = y
    return results, [entry.execution for entry in code.entries]


def different(seeds: Sequence[int]) -> tuple[list[int], list[ThreadExecution]]:
    """The seeds whose kernels find something else when they are split, and how threads ran."""
    text = texts(seeds)
    split, ways = found(text, seeds)
    as_written = functools.partial(generate_host_source, rewrites=False)
    with mock.patch.object(
        cpu_build, "generate_host_source", lambda *arguments, **_: as_written(*arguments)
    ):
        plain, _ = found(text, seeds)
    return [seed for seed in seeds if not np.array_equal(split[seed], plain[seed])], ways


def main(first: int, last: int, at_once: int = 8) -> None:
    count = 0
    for start in range(first, last, at_once):
        seeds = range(start, min(start + at_once, last))
        wrong, ways = different(seeds)
        count += sum(execution is not ThreadExecution.FIBERS for execution in ways)
        print(f"{seeds[-1]}: {count} split", *(f"WRONG {seed}" for seed in wrong), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

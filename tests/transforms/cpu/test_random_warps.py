"""Random kernels with warp and block synchronization give equal results in both CPU lowerings."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from pycu2c.cuda_driver import driver
from support.kernels_from_text import module_from
from support.launching import run

BLOCKS = (32, 64, 96)
TARGETS = ["cpu", "cpu-resumable", *(["cuda"] if driver.available() else [])]

HEAD = """
from pycu2c import cuda, int32, kernel

ALL = 0xFFFFFFFF

@kernel
def k(A, out, n):
    box = cuda.shared.array(96, int32)
    t, lane, warp = cuda.threadIdx.x, cuda.laneid, cuda.threadIdx.x // 32
    a, b, w, u = A[t], t * 7 % 13, warp + 1, n
    box[t] = a
    cuda.syncthreads()
"""


class Writer:
    """Draws the body of a kernel. Variables: ``a`` and ``b`` are each thread's own, ``w`` is the
    same in a warp, ``u`` in a block."""

    def __init__(self, source: random.Random) -> None:
        self.random, self.lines, self.count = source, [HEAD], 0

    def text(self) -> str:
        for _ in range(self.random.randint(3, 7)):
            self.statement(1, "block")
        self.put(1, "out[t] = a + 1000 * b + 1000000 * w + 100000000 * u")
        return "\n".join(self.lines)

    def put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def value(self, level: str) -> str:
        names = {"block": ["u", "n", "3"], "warp": ["u", "w", "2"], "lane": ["a", "b", "lane", "w"]}
        pick = self.random.choice
        return f"({pick(names[level])} {pick('+-*')} {pick(names[level])} + {pick('12345')}) % 11"

    def condition(self, level: str) -> str:
        pick = self.random.choice
        return f"{self.value(level)} {pick(['<', '>', '=='])} {pick('357')}"

    def statement(self, depth: int, together: str) -> None:
        """``together``: who is here, the block, a warp, or single lanes."""
        kinds = {
            "block": ["set", "lanes", "vote", "barrier", "counted", "if", "if", "loop", "leave"],
            "warp": ["set", "lanes", "vote", "if", "loop"],
            "lane": ["set", "set", "half"],
        }
        kind = self.random.choice(kinds[together])
        if depth > 3 and kind in ("if", "loop"):
            kind = "set"
        getattr(self, f"put_{kind}")(depth, together)

    def block(self, depth: int, together: str) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, together)

    def put_set(self, depth: int, together: str) -> None:
        level = {"block": "u", "warp": "w", "lane": "ab"}[together]
        name = self.random.choice("ab" + level)
        own = {"u": "block", "w": "warp"}.get(name, "lane")
        self.put(depth, f"{name} = {self.value(own)}")

    def put_lanes(self, depth: int, _: str) -> None:
        pick = self.random.choice
        row = pick(["shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"])
        other = pick(["1", "2", "4", "5", "w % 8", "u % 8", "lane % 8"])
        width = pick(["", ", 16", ", 8"])
        arguments = f"ALL, {self.value('lane')}, {other}{width}"
        self.put(depth, f"{pick('ab')} = cuda.{row}({arguments}) % 97")

    def put_vote(self, depth: int, _: str) -> None:
        pick = self.random.choice
        row = pick(["any_sync", "all_sync", "eq_sync", "ballot_sync", "match_any_sync"])
        name = pick("ab" if row == "match_any_sync" else "abw")
        arguments = self.value("lane") if row == "match_any_sync" else self.condition("lane")
        self.put(depth, f"{name} = cuda.{row}(ALL, {arguments}) % 97")

    def put_barrier(self, depth: int, _: str) -> None:
        place = self.random.choice(["t ^ 1", "cuda.blockDim.x - 1 - t", "0"])
        for line in ("cuda.syncthreads()", "box[t] = a", "cuda.syncthreads()"):
            self.put(depth, line)
        self.put(depth, f"b = box[{place}] % 97")

    def put_counted(self, depth: int, _: str) -> None:
        row = self.random.choice(["count", "and", "or"])
        self.put(depth, f"u = cuda.syncthreads_{row}({self.condition('lane')})")

    def put_half(self, depth: int, _: str) -> None:
        """The lanes of half a warp meet by themselves."""
        self.put(depth, "if lane < 16:")
        self.put(depth + 1, "a = cuda.shfl_xor_sync(0xFFFF, a, 3)")
        self.put(depth, "else:")
        self.put(depth + 1, "b = cuda.ballot_sync(0xFFFF0000, a > 3) % 97")

    def put_if(self, depth: int, together: str) -> None:
        level = self.random.choice(["block", "warp", "lane"])
        inner = level if together == "block" or level == "lane" else "warp"
        self.put(depth, f"if {self.condition(level)}:")
        self.arm(depth + 1, inner)
        if self.random.random() < 0.5:
            self.put(depth, "else:")
            self.arm(depth + 1, inner)

    def arm(self, depth: int, together: str) -> None:
        if together == "lane":  # nobody meets where single lanes are
            self.put(depth, f"{self.random.choice('ab')} = {self.value('lane')}")
        else:
            self.block(depth, together)

    def put_loop(self, depth: int, together: str) -> None:
        self.count += 1
        level = self.random.choice(["block", together])
        self.put(depth, f"for i{self.count} in range({self.value(level)} % 4):")
        self.block(depth + 1, together if level == "block" else "warp")
        if self.random.random() < 0.4:
            self.put(depth + 1, f"if {self.condition(level)}:")
            self.put(depth + 2, self.random.choice(["break", "continue"]))

    def put_leave(self, depth: int, _: str) -> None:
        """Whole warps return: what lanes that are gone would give, CUDA leaves open."""
        self.put(depth, "if warp == 1 and n > 100:")
        self.put(depth + 1, "return")


@pytest.mark.parametrize("seed", range(10))
def test_the_same_as_the_reference(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    text = Writer(source).text()
    parts = () if "shfl" in text else (70,)  # of a warp: what its missing lanes give is open
    k, block = module_from(text, tmp_path).k, source.choice((*BLOCKS, *parts))
    values = np.random.default_rng(seed).integers(0, 20, 96).astype(np.int32)
    arguments = [values, np.zeros(96, np.int64), source.choice([5, 101])]
    expected = run(k, (1, block), arguments, "python")
    for target in TARGETS:
        result = run(k, (1, block), arguments, target)
        np.testing.assert_array_equal(result[1], expected[1], f"{target}, {block} threads\n{text}")

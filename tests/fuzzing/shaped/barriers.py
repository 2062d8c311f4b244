"""Shapes with barriers: tiles in shared memory, tree reductions, sums over warps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fuzzing.shaped.loops import Loops
from fuzzing.shaped.statements import FLOATS, WHOLE


@dataclass(slots=True)
class Barriers(Loops):
    """What the threads of a block do together."""

    def tile(self) -> None:
        """Rounds of an exchange in shared memory, with sums that live across the barriers."""
        bx, by = self.block[0], math.prod(self.block[1:])
        kind = self.pick((*FLOATS, "int32"))
        shared = self.fresh("s")
        self.line(f"{shared} = cuda.shared.array(({by}, {bx}), {kind})")
        here = f"t // {bx}, t % {bx}" if self.block[2] > 1 else "ty, tx"
        name = self.declare(kind)
        counter, inner = self.fresh("r"), self.fresh("k")
        bound = self.pick(("3", "2", "1", "n0 % 3", "rows % 4", "0"))
        with self.under(f"for {counter} in range({bound}):"):
            self.names[-1][counter] = "int"
            self.fixed.add(counter)
            self.line(f"{shared}[{here}] = {self.number(kind)}")
            self.line("cuda.syncthreads()")
            old = dict(self.inputs)
            row, column = here.split(", ")
            indices = (f"{row}, {inner}", f"{inner} % {by}, {column}", f"0, {inner}", here)
            first = self.pick(("", "", "", "", f"{counter} % {bx}, ", "tx % 2, "))
            if self.chance(0.2):
                even = f"ty % {self.rng.choice((2, 3))} == 0"
                tests = (self.condition(), even, "ty < 8", "tx > 1", "ty >= 1 and tx < 7")
                self.line(f"if {self.pick(tests)}:")
                self.depth += 1
            for _ in range(self.rng.choice((1, 1, 2))):
                with self.under(f"for {inner} in range({first}{bx}):", stores=False, whole=False):
                    self.names[-1][inner] = "int"
                    self.fixed.add(inner)
                    self.inputs |= {shared: (kind, self.pick(indices))}
                    self.line(f"{name} += {self.load(shared)} * {self.number(kind, 1)}")
                    if self.chance(0.3):
                        self.assign()
                self.inputs = dict(old)
            self.depth = len(self.names)
            self.line("cuda.syncthreads()")

    def product(self) -> None:
        """Of two tiles: rows of threads read the same of one, columns of the other."""
        bx, by = self.block[0], self.block[1]
        if self.block[2] > 1 or by == 1:
            return self.tile()
        kind = self.pick((*FLOATS, "int32", "int8"))
        one, other = self.fresh("s"), self.fresh("s")
        self.line(f"{one} = cuda.shared.array(({by}, {bx}), {kind})")
        self.line(f"{other} = cuda.shared.array(({by}, {bx}), {kind})")
        total = self.declare(kind)
        for _ in range(self.rng.randint(0, 2)):
            self.declare_again()
        counter, inner = self.fresh("r"), self.fresh("k")
        with self.under(f"for {counter} in range({self.pick(('2', '1', 'n0 % 3'))}):"):
            self.names[-1][counter] = "int"
            self.fixed.add(counter)
            for shared in (one, other):
                self.line(f"{shared}[ty, tx] = {self.number(kind)}")
            self.line("cuda.syncthreads()")
            rounds = self.pick((str(min(bx, by)), "n0 % 4", f"1, {min(bx, by)}"))
            with self.under(f"for {inner} in range({rounds}):", stores=False, whole=False):
                self.names[-1][inner] = "int"
                self.fixed.add(inner)
                part = f"{one}[ty, {inner}] * {other}[{inner}, tx]"
                if self.chance(0.5):
                    part = self.declare(kind, part)
                self.line(f"{total} {self.pick('+-')}= {part}")
                if self.chance(0.4):
                    self.rng.choice((self.assign, self.declare_again))()
            self.line("cuda.syncthreads()")

    def runs(self) -> None:
        """Some warps, or some threads, do what the others do not."""
        if self.of_block % 32 or self.of_block == 32:
            return self.warp()
        kind = self.pick(("int32", "float32", "int64"))
        name, shared = self.declare(kind), self.fresh("s")
        self.line(f"{shared} = cuda.shared.array({self.of_block}, {kind})")
        self.line(f"{shared}[t] = {name}")
        self.line("cuda.syncthreads()")
        last = 32 * self.rng.randrange(1, self.of_block // 32 + 1)
        tests = (f"t < {last}", f"t // 32 == {last // 32 - 1}", f"t >= {last - 32}")
        with self.under(f"if {self.pick(tests)}:", whole=False):
            self.line(f"{name} += {shared}[{self.of_block - 1} - t]")
            self.line(f"{name} += cuda.shfl_down_sync(0xffffffff, {name}, 16)")
            self.some(2)
            if self.chance(0.5):
                self.line(f"{name} += cuda.shfl_xor_sync(0xffffffff, {name}, 1)")
        if self.chance(0.4):
            with self.under("else:", whole=False):
                self.line(f"{name} -= cuda.shfl_sync(0xffffffff, {name}, 3)")
                self.some(2)
        self.line("cuda.syncthreads()")

    def tree(self) -> None:
        """Of sums, down to one thread's."""
        kind = self.pick((*FLOATS, *WHOLE))
        shared, step = self.fresh("s"), self.fresh("h")
        half = 1 << (max(self.of_block - 1, 1).bit_length() - 1)
        self.line(f"{shared} = cuda.shared.array({self.of_block}, {kind})")
        self.line(f"{shared}[t] = {self.number(kind)}")
        self.line("cuda.syncthreads()")
        self.line(f"{step} = {half}")
        with self.under(f"while {step} > {self.pick(('0', '0', '1', '2'))}:"):
            with self.under(f"if t < {step} and t + {step} < {self.of_block}:", whole=False):
                self.line(f"{shared}[t] {self.pick(('+', '*', '-'))}= {shared}[t + {step}]")
            self.line("cuda.syncthreads()")
            self.line(self.pick((f"{step} //= 2", f"{step} >>= 1")))
        self.declare(kind, f"{shared}[{self.pick(('0', 't', '-1'))}]")
        self.line("cuda.syncthreads()")
        if self.chance(0.3):
            self.names[-1][step] = "int"
            self.fixed.add(step)

    def warp(self) -> None:
        """Sums by shuffles, and who reads them."""
        if self.of_block % 32:
            return self.tree()
        kind = self.pick(("int32", "float32", "float64", "int64", "uint32"))
        name = self.declare(kind)
        row = self.pick(("shfl_down_sync", "shfl_xor_sync", "shfl_up_sync"))
        mask = "0xffffffff"
        first = self.rng.choice((16, 16, 8, 4))
        if self.chance(0.5):
            step = self.fresh("h")
            self.line(f"{step} = {first}")
            with self.under(f"while {step} > 0:"):
                self.line(f"{name} += cuda.{row}({mask}, {name}, {step})")
                if self.chance(0.2):
                    self.assign()
                self.line(f"{step} //= 2")
        else:
            step = first
            while step:
                self.line(f"{name} += cuda.{row}({mask}, {name}, {step})")
                step //= 2
        form = self.rng.randrange(5)
        if form == 0:
            self.declare(kind, f"cuda.shfl_sync({mask}, {name}, {self.rng.randrange(32)})")
        elif form == 1:
            self.declare("int", f"int(cuda.ballot_sync({mask}, {self.condition()})) % 97")
        elif form == 2:
            shared = self.fresh("s")
            self.line(f"{shared} = cuda.shared.array({self.of_block // 32}, {kind})")
            self.line("if t % 32 == 0:")
            self.line(f"    {shared}[t // 32] = {name}")
            self.line("cuda.syncthreads()")
            self.declare(kind, f"{shared}[{self.pick(('0', '-1', 't // 32'))}]")
            self.line("cuda.syncthreads()")
        elif form == 3:
            del self.names[-1][name]
            with self.under(f"if t % 32 {self.pick(('== 0', '< 4', '== 31'))}:", whole=False):
                self.names[-1][name] = kind
                self.store()
                self.assign()

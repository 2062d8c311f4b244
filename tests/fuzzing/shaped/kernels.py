"""Kernels in the shapes that the passes for the CPU look for: nests of uniform loops,
grid-stride loops, ``while`` loops that count, divergent loops, tiles in shared memory, tree
reductions, sums over warps.

Each is filled with random arithmetic on few variables, bounds and conditions that are now and then
not what a pass asks for, and blocks of many shapes. The grammar of ``statements`` seldom draws such
shapes; types and forms of statements that do not matter here are left to it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from fuzzing.shaped.barriers import Barriers
from fuzzing.shaped.statements import FLOATS, WHOLE

# not affine in the number of the thread, though nearly
_STEPS = ("(x & 4)", "(x & -4)", "(x ^ 4)", "(x | 1)", "(x >> 1)", "x % 8", "(x + (x & 4))")


@dataclass(slots=True)
class Shaped(Barriers):
    """A whole case."""

    def text(self) -> str:
        self.edges, self.upwards = self.chance(0.1), self.chance(0.6)
        self.arguments()
        self.coordinates()
        self.pure = self.chance(0.6)
        for _ in range(self.rng.randint(0, 2)):
            self.declare()
        guarded = self.rng.random()
        ended = self.rng.choice((self.threads, self.threads - 1, self.threads // 2))
        if guarded < 0.25:
            with self.under(f"if {self.guard(ended)}:", whole=False):
                self.body()
                self.shown()
        else:
            if guarded < 0.4:
                self.line(f"if not ({self.guard(ended)}):")
                self.line("    return")
            self.body(together=guarded >= 0.4)
            self.shown()
        return "\n".join([*self.header(), *self.lines, *self.footer()]) + "\n"

    def guard(self, ended: int) -> str:
        flat = () if self.pure else (f"u < {ended}", "u < n2", "u < data.shape[0]")
        if self.edges:
            away = f"{self.rng.randrange(40)}"
            here = f"x - {away}" if self.upwards else f"x + {away}"
            flat = ("u < e0", "x >= e0", f"e0 <= {here}", "x % 4 == 0 and x > e0", "x != e0")
        return self.pick((*flat, "x < o0.shape[1] and y < o0.shape[0]", f"x < {self.width - 1}"))

    def body(self, together: bool = False) -> None:
        alone = [self.nest, self.striding, self.counted, self.ranged, self.left, self.stencil]
        shapes: list[Callable[[], None]] = [*alone, self.spiral]
        if self.edges:
            shapes += [self.to_the_end] * 4
        if together and self.whole:
            shapes += [self.tile, self.tree, self.warp, self.warp, self.product, self.runs]
        if self.pure:
            shapes = [self.nest, self.nest, self.walk, self.counted, self.left, self.spiral]
            if together and self.chance(0.7):
                flat = self.height == 1
                shapes = [self.warp, self.tree, self.tile] if flat else [self.tile, self.product]
                shapes += [self.runs]
                if self.chance(0.5):
                    self.stencil()
        for _ in range(1 if self.pure else self.rng.choice((1, 1, 2, 2, 3))):
            self.pick_shape(shapes)
            if self.chance(0.3):
                self.store()

    def shown(self) -> None:
        """What the variables hold in the end goes out."""
        for scope in self.names:
            for name, kind in scope.items():
                fits = [o for o, (k, _) in self.outputs.items() if k == kind]
                if name[0] in "vc" and fits:
                    out = self.pick(fits)
                    value = f"{out}[{self.outputs[out][1]}] * {kind}(3) + {name}"
                    value = name if self.chance(0.2) else value
                    self.line(f"{out}[{self.outputs[out][1]}] = {value}")
                elif name[0] in "vc":
                    wide = "int64" if kind in WHOLE else "float64"
                    out = "o2" if kind in WHOLE else "o1"
                    self.line(f"{out}[{self.outputs[out][1]}] += {wide}({name})")

    def coordinates(self) -> None:
        flat = self.height * self.far == 1
        if flat and self.chance(0.6):
            self.line(
                self.pick(
                    ("x = cuda.grid(1)", "x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")
                )
            )
            self.line("y = 0")
        elif self.far == 1 and self.chance(0.8):
            self.line("x, y = cuda.grid(2)")
        else:
            self.line("x, y, z = cuda.grid(3)")
        if self.far > 1:
            self.line("z = cuda.blockIdx.z * cuda.blockDim.z + cuda.threadIdx.z")
        self.line("tx = cuda.threadIdx.x")
        self.line("ty = cuda.threadIdx.y")
        self.line("u1 = cuda.grid(1)")
        self.line("span = cuda.gridsize(1)")
        self.line("wide = cuda.blockDim.x * cuda.gridDim.x")
        bx, by, bz = self.block
        number = f"y * {self.width} + x" if not flat else "x"
        self.line(f"u = {number}" + (f" + z * {self.width * self.height}" if self.far > 1 else ""))
        of_block = "tx" if flat else "ty * cuda.blockDim.x + tx"
        of_block = of_block if bz == 1 else f"(cuda.threadIdx.z * {by} + ty) * {bx} + tx"
        self.line(f"t = {of_block}")
        self.line("rows = m.shape[0]")
        for name in ("x", "y", "u", "t", "tx", "ty", "n0", "n1", "rows"):
            self.names[0][name] = "int"
            self.fixed.add(name)

    def arguments(self) -> None:
        rows = self.rng.choice((3, 5, 8) if self.threads > 60 else (3, 8, 20))
        far = max(self.width, self.height) + 9
        kind = self.pick(FLOATS)
        same = kind if self.chance(0.7) else self.pick((*FLOATS, *WHOLE))
        length = self.rng.choice((self.threads, self.threads + 5, self.threads - 1, 3))
        length = max(1, self.rng.choice((length, 2 * self.threads + 7)))
        flat = self.height * self.far == 1
        shape = (self.height, self.width) if self.far == 1 else (1, self.threads)
        own = "y, x" if self.far == 1 else "0, u"
        if self.far == 1 and not flat and self.chance(0.4):
            shape, own, self.inner = (self.width, self.height), "x, y", "y"
        for name, k in (("o0", kind), ("o1", "float64"), ("o2", "int64")):
            self.outputs[name] = (k, own)
            self.values[name] = f"zeros({shape}, '{k}')"
        self.inputs["m"] = (
            kind,
            f"{self.rng.randrange(rows)}, {self.pick(('x', 'y', 'tx', *_STEPS))}",
        )
        self.inputs["a"] = (same, f"{self.pick(('x', 'y', *_STEPS))}, {self.rng.randrange(rows)}")
        data = self.pick((kind, *WHOLE))
        self.inputs["data"] = (data, "u % data.shape[0]")
        self.inputs["q"] = ("int32", "u")
        self.values["m"] = f"drawn(({rows}, {far}), '{kind}')"
        self.values["a"] = f"drawn(({far}, {rows}), '{same}')"
        if self.chance(0.2):
            self.values["a"] = f"drawn(({rows}, {far}), '{same}').T"
        self.values["data"] = f"drawn({length}, '{data}')"
        self.values["wrote"] = f"drawn({length}, 'float32')"
        self.values["q"] = f"drawn({self.threads}, 'int32') % 9"
        self.values["acc"] = "drawn(5, 'int64')"
        self.values["n0"] = str(self.rng.randint(0, 8 if self.threads > 60 else 30))
        self.values["n1"] = str(self.rng.randint(1, 4))
        self.values["n2"] = str(self.rng.choice((0, 1, length, length - 1, length + 2)))
        if self.chance(0.15):
            self.aliases(far, rows, kind)
        if self.edges:
            end = f"2**63 - {self.rng.randint(1, 9)}" if self.upwards else "-2**63"
            self.values["e0"] = self.pick((end, f"np.int64({end})"))

    def aliases(self, far: int, rows: int, kind: str) -> None:
        """Arrays that lie in the same memory, one behind the start of the other or not."""
        first = self.rng.choice((0, 0, 1, 3))
        size = first + rows * far + first
        self.globals = [f"memory = drawn({size}, '{kind}')"]
        self.values["m"] = f"memory[:{rows * far}].reshape({rows}, {far})"
        part = f"memory[{first}:{first + rows * far}]"
        shape = f"reshape({far}, {rows})" if self.chance(0.5) else f"reshape({rows}, {far}).T"
        self.values["a"] = f"{part}.{shape}"
        self.inputs["a"] = (kind, self.inputs["a"][1])

    def header(self) -> list[str]:
        return [
            "import math",
            "",
            "import numpy as np",
            "",
            "from pycu2c import cuda, device, kernel",
            f"from pycu2c.types import {', '.join(sorted({*FLOATS, *WHOLE, 'complex64'}))}",
            "",
            "",
            "@device",
            "def norm(z):",
            "    return z.real * z.real + z.imag * z.imag",
            "",
            "",
            "@device",
            "def step(z, c):",
            "    return z * z - c if z.real < c.imag else c - z",
            "",
            "",
            "@kernel",
            f"def fuzzed({', '.join(self.values)}):",
        ]

    def footer(self) -> list[str]:
        return [
            "",
            "",
            f"GRID, BLOCK = {self.grid}, {self.block}",
            "APPROXIMATE = []",
            f"KNOWN_BLOCK, OWN_ACCUMULATORS = {self.chance(0.8)}, {self.chance(0.5)}",
            f"PAST_CACHES, PUBLIC = {self.chance(0.5)}, {self.chance(0.5)}",
            f"VARIANT = {self.chance(0.3)}",
            f"ORDINARY = {not self.edges and self.chance(0.9)}",
            "",
            "",
            "def zeros(shape, kind):",
            "    return np.zeros(shape, kind)",
            "",
            "",
            "def drawn(shape, kind):",
            f"    rng = np.random.default_rng({self.rng.randrange(1000)})",
            "    if kind[0] == 'f':",
            "        return rng.uniform(-1.5, 2, shape).astype(kind)",
            "    small = rng.integers(0, 20, shape)",
            f"    if {self.chance(0.3)} and kind[-2:] in ('t8', '16'):",
            "        ends = np.iinfo(kind)",
            "        small += rng.choice([0, 0, ends.min, ends.max - 19], shape)",
            "    return small.astype(kind)",
            "",
            "",
            "def arguments():",
            *[f"    {text}" for text in self.globals],
            "    return (",
            *[f"        {text},  # {name}" for name, text in self.values.items()],
            "    )",
        ]


def shaped_text(seed: int) -> str:
    """The kernel that a seed draws."""
    return Shaped(random.Random(seed)).text()

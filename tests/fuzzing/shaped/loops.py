"""The shapes of loops that passes for the CPU look for, each filled at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzing.shaped.statements import FLOATS, Words

ROUNDS = (1, 2, 3, 5, 8, 17)


@dataclass(slots=True)
class Loops(Words):
    """What a thread does by itself."""

    def a_loop(self) -> None:
        self.pick_shape((self.counted, self.ranged, self.left))

    def pick_shape(self, shapes: Sequence[Callable[[], None]]) -> None:
        self.loops += 1
        self.rng.choice(shapes)()
        self.loops -= 1

    def bound(self) -> str:
        """Most often the same for all threads."""
        few = self.rng.choice(ROUNDS[: 4 if self.loops > 1 or self.threads > 100 else 6])
        alike = (str(few), f"n0 % {few + 1}", "rows", "m.shape[0]", "min(rows, 5)")
        own = (f"u % {few + 1}", "int(q[u])", f"{few} - tx % 3")
        mixed = (f"min(rows, {self.whole_number(1)})",)
        return self.pick(alike) if self.chance(0.6) else self.pick((*own, *mixed))

    def ranged(self) -> None:
        """``for`` over numbers."""
        name = self.fresh("k")
        start = self.pick(("", "", "0, ", "1, ", f"tx % 3 - {self.rng.randrange(3)}, "))
        step = self.pick(("", "", ", 2", ", 3")) if start else ""
        head = f"{start}{self.bound()}{step}"
        if self.chance(0.1):
            head = f"{self.bound()}, {self.rng.randint(-1, 1)}, -{self.rng.randint(1, 2)}"
        with self.under(f"for {name} in range({head}):", leaves=True, whole=False):
            self.names[-1][name] = "int"
            self.fixed.add(name)
            self.some(3)
        self.maybe_read(name)

    def maybe_read(self, name: str) -> None:
        """What a loop counts, after it."""
        if self.chance(0.15):
            self.declare("int", f"({name} + {self.whole_number(1)}) % 97")

    def counted(self) -> None:
        """``while`` that counts upwards, more or less."""
        start = self.pick(("0", "u", "tx", "1", f"int(q[u]) - {self.rng.randrange(4)}", "-3"))
        counter = self.fresh("c")
        self.line(f"{counter} = {start}")
        few = self.rng.choice((0, 2, 5, 9))
        stop = self.pick((f"{start} + {few}", self.bound(), f"{start} + n0 % 7", "data.shape[0]"))
        step = self.pick(("1", "2", "cuda.gridsize(1)", "cuda.blockDim.x", "n1", "rows + 1"))
        if stop == "data.shape[0]":
            step = self.pick(("cuda.gridsize(1)", "cuda.blockDim.x * cuda.gridDim.x", "span"))
        elif self.chance(0.4):
            stop = self.declare("int", stop)
            self.fixed.add(stop)
        more = f" and {self.condition()}" if self.chance(0.25) else ""
        test = f"{counter} < {stop}" if self.chance(0.8) else f"{stop} > {counter}"
        with self.under(f"while {test}{more}:", leaves=False, whole=False):
            self.names[-1][counter] = "int"
            self.fixed.add(counter)
            self.some(3)
            if self.chance(0.1) and stop in self.fixed:
                self.line(f"{stop} -= 1")
            self.names[-1].pop(counter, None)
            if self.chance(0.2):
                self.line(f"if {self.condition()}:")
                self.line("    break")
            counts = (f"{counter} += {step}", f"{counter} = {counter} + {step}")
            self.line(self.pick((*counts, f"{counter} = {step} + {counter}")))
            if self.chance(0.1):
                self.assign()
        if self.chance(0.1):
            with self.under("else:", whole=False):
                self.assign()
        self.maybe_read(counter)

    def left(self) -> None:
        """A loop that each thread leaves when it has enough: numbers alone."""
        kind = self.pick(FLOATS)
        z, c = self.declare(kind), self.fresh("c")
        self.line(f"{c} = {self.pick(('0', '0', 'tx % 4'))}")
        limit = self.pick(("9", "n0 % 12", "int(q[u])", "rows", "20"))
        old, self.inputs = self.inputs, {}
        test = f"{c} < {limit}"
        if self.chance(0.6):
            test += f" and {self.pick((z, f'abs({z})'))} < {self.rng.randint(1, 50)}"
        elif self.chance(0.3):
            test += f" and {self.condition()}"
        counted = self.chance(0.35)
        head = f"for {c} in range({limit}):" if counted else f"while {test}:"
        with self.under(head, stores=self.chance(0.1), leaves=counted, whole=False):
            self.fixed.add(c)
            self.names[-1][c] = "int"
            self.line(f"{z} = {self.number(kind, 3)}")
            self.some(3)
            if not counted:
                self.line(f"{c} += {self.pick(('1', '1', '2'))}")
        self.inputs = old
        self.names[-1][c] = "int"
        self.fixed.add(c)

    def nest(self) -> None:
        """Sums in loops that all threads go through alike."""
        kinds = [self.pick((*FLOATS, "int32")) for _ in range(self.rng.randint(1, 3))]
        kinds[0] = self.inputs["m"][0] if self.pure else kinds[0]
        names = [self.declare(kind) for kind in kinds]
        if self.chance(0.5):
            self.declare()
        opened = self.rng.randint(1, 3 if self.threads <= 64 else 2)
        depth, along = self.depth, dict(self.inputs)
        counters: list[str] = []
        for level in range(opened):
            counter = self.fresh("k")
            bounds = ["rows", "m.shape[0]", "a.shape[1]", "rows - 1"]
            if not self.pure:
                bounds += ["n1", "3", *(f"{c} + 1" for c in counters)]
            bound = self.pick(bounds)
            start = self.pick(("", "", "1, ")) if "n1" not in bound else ""
            self.line(f"for {counter} in range({start}{bound}):")
            self.depth += 1
            self.names.append({counter: "int"})
            self.fixed.add(counter)
            counters.append(counter)
            if level < opened - 1 and self.chance(0.4):
                self.rng.choice((self.declare, self.declare, self.assign))()
        within = all(part not in self.lines[-1] for part in ("+ 1", "n1", "(3", " 3"))
        k = counters[-1] if within else f"{counters[-1]} % rows"
        others = () if self.pure else ("tx", "u % 7", "x // 2")
        i = self.inner
        first = self.pick((i, i, i, f"{i} + 1", "x", "y", *others))
        self.inputs |= {"m": (self.inputs["m"][0], f"{k}, {first}")}
        self.inputs |= {"a": (self.inputs["a"][0], f"{self.pick(('y', 'x', '0'))}, {k}")}
        old, self.stores = (self.stores, self.loops), not self.pure and self.chance(0.1)
        self.loops = 2 if self.pure else self.loops
        for name, kind in zip(names, kinds, strict=True):
            if kind == self.inputs["m"][0]:
                factor = self.load("a") if self.inputs["a"][0] == kind else self.number(kind)
                self.line(f"{name} += {factor} * {self.load('m')}")
            else:
                self.line(f"{name} {self.pick('+-+')}= {self.number(kind, 3)}")
        if self.chance(0.4):
            self.some(2)
        self.stores, self.loops = old
        for _ in range(opened):
            self.names.pop()
            self.depth -= 1
            if self.depth > depth and self.chance(0 if self.pure else 0.2):
                self.assign()
        self.inputs = along

    def striding(self) -> None:
        """Over the data in steps of the grid or the block."""
        name = self.fresh("g")
        start, step = self.rng.choice(
            (("u1", "cuda.gridsize(1)"), ("u1", "span"), ("tx", "cuda.blockDim.x"), ("u1", "wide"))
        )
        stop = self.pick(("data.shape[0]", "n2", "data.size", "n2 - 1", "n2 + 0"))
        alone = start == "u1" and self.height * self.far == 1 and self.stores
        counted = self.chance(0.4)
        if counted:
            self.line(f"{name} = {start}")
            head = f"while {name} < {stop}:"
        else:
            head = f"for {name} in range({start}, {stop}, {step}):"
        old = dict(self.inputs)
        with self.under(head, leaves=not counted and self.chance(0.3), stores=False, whole=False):
            self.names[-1][name] = "int"
            self.fixed.add(name)
            kind = self.inputs["data"][0]
            self.inputs["data"] = (kind, f"{name} % data.shape[0]" if "n2" in stop else name)
            self.loops += self.threads > 64  # the reference takes its time
            self.some(3)
            self.loops -= self.threads > 64
            if alone and "n2" not in stop and self.chance(0.6):
                self.line(f"wrote[{name}] {self.pick(('=', '+='))} {self.number('float32')}")
            if self.chance(0.3):
                self.line(f"cuda.atomic.add(acc, {name} % 5, {self.whole_number()})")
            if counted:
                self.line(f"{name} += {step}")
        self.inputs = old
        self.maybe_read(name)

    def walk(self) -> None:
        """Over the data in steps of the grid, and nothing else."""
        name, kind = self.fresh("g"), self.inputs["data"][0]
        total = self.declare(kind)
        step = self.pick(("cuda.gridsize(1)", "span", "wide"))
        head = f"for {name} in range(u1, data.shape[0], {step}):"
        old = dict(self.inputs)
        with self.under(head, stores=False, whole=False):
            self.names[-1][name] = "int"
            self.fixed.add(name)
            self.inputs = {"data": (kind, name)}
            self.line(f"{total} {self.pick('+-')}= {self.number(kind, 1)}")
            self.line(f"{total} += data[{name}]")
            if self.height * self.far == 1 and self.chance(0.5):
                self.line(f"wrote[{name}] = {self.number('float32', 1)}")
        self.inputs = old

    def to_the_end(self) -> None:
        """Numbers near the last of 64 bits, with few rounds."""
        name, few, step = self.fresh("k"), self.rng.randint(0, 20), self.rng.choice((1, 2, 3, 7))
        ends = (f"e0 - {few}, e0, {step}", f"e0, e0 - {few}, -{step}", f"e0 - {few}, e0, {step}")
        if not self.upwards:
            ends = (f"e0 + {few}, e0, -{step}", f"e0, e0 + {few}, {step}")
        elif self.chance(0.2):
            ends = (f"e0 - t % 32, e0, {step}", f"e0 - {few} * n1, e0, n1", "e0, e0 - t, -n1")
        with self.under(f"for {name} in range({self.pick(ends)}):", leaves=True, whole=False):
            within = self.fresh("k")
            self.line(f"{within} = {name} & 31")
            self.names[-1][within] = "int"
            self.fixed |= {name, within}
            self.some(3)

    def spiral(self) -> None:
        """Complex numbers, or calls of small functions, until each thread has enough."""
        z, c = self.fresh("z"), self.fresh("c")
        f = "float32"
        self.line(f"{z} = complex64(complex({self.number(f, 1)}, {self.number(f, 1)}))")
        self.line(f"{c} = 0")
        norm = self.pick((f"norm({z})", f"{z}.real * {z}.real + {z}.imag * {z}.imag"))
        other = self.pick(("n0 % 12", "9", "rows"))
        with self.under(f"while {c} < {other} and {norm} < {self.rng.randint(2, 50)}:"):
            turned = f"complex64(complex({z}.imag, {self.number(f, 1)}))"
            shifted = f"complex64({self.rng.randint(-3, 3)} + 1j)"
            for _ in range(self.rng.randint(1, 3)):
                values = (f"{z} * {z} + {shifted}", turned, f"step({z}, {shifted})")
                self.line(f"{z} = {self.pick((*values, f'{z} - {shifted}'))}")
            self.line(f"{c} += 1")
        self.declare("float32", f"{z}.real + {z}.imag")
        self.names[-1][c] = "int"
        self.fixed.add(c)

    def stencil(self) -> None:
        """Neighbours, where there are some."""
        kind = self.inputs["data"][0]
        index = self.pick(("u", "x", "u1", "u + 3", "2 * u"))
        n = "data.shape[0]"
        left = f"data[{index} - 1] if {index} > 0 and {index} - 1 < {n} else {self.leaf(kind)}"
        right = f"data[{index} + 1] if {index} + 1 < {n} else {self.leaf(kind)}"
        here = f"data[{index}] if {index} < {n} else {self.leaf(kind)}"
        for text in (left, right, here):
            if self.chance(0.7):
                self.declare(kind, text)

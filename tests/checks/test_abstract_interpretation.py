"""Abstract execution of a block: what it proves holds for every execution of the kernel."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, float32, int32, kernel, uint64
from pycu2c.analysis.ranges.range_analysis import analyse_module
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.checks.function_cloning import clone_callees
from pycu2c.checks.proofs.abstract_interpretation.evaluator import BlockLaunch
from pycu2c.checks.proofs.abstract_interpretation.interpreter import interpret_block
from pycu2c.declarations.signatures import parse_signature

THREADS = 8
SIZE = 8  # of the shared array
OWN = 4  # of the local array
BARRIER = "cuda.syncthreads()"


def verdicts(function: Callable[..., Any], signature: str, threads: int) -> dict[str, str]:
    """Return what is not proved of each array: "race", "init", both, or neither."""
    built = kernel(function, cache=False).launcher.compiler.build(parse_signature(signature))
    cloned = clone_callees(built.module)
    assumptions = LaunchAssumptions(index32_safe=True, block=(threads, 1, 1), grid=(4, 1, 1))
    ranges = analyse_module(cloned.module, assumptions, None)
    launch = BlockLaunch((4, 1, 1), (threads, 1, 1), shared_bytes=256)
    logs = interpret_block(cloned.module, cloned.calls.keys(), ranges, launch, wraparound=True)
    return {
        name: " ".join(
            ["race"] * log.has_conflict + ["init"] * log.has_unwritten,
        )
        for (_, name), log in logs.items()
    }


# ---- kernels, and what is not proved of their array ``a`` -------------------------------------


def tree(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    a[t] = out[t]
    cuda.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            a[t] += a[t + half]
        cuda.syncthreads()
        half //= 2
    out[t] = a[0]


def tree_without_barrier(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    a[t] = out[t]
    cuda.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            a[t] += a[t + half]
        half //= 2
    out[t] = a[0]


def butterfly(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    a[t] = out[t]
    for k in range(6):
        cuda.syncthreads()
        partner = a[t ^ (1 << k)]
        cuda.syncthreads()
        a[t] = a[t] + partner
    out[t] = a[t]


def two_buffers(out):
    a = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    a[0, t] = out[t]
    cuda.syncthreads()
    parity = 0
    for k in range(6):
        step = 1 << k
        a[1 - parity, t] = a[parity, t] + (a[parity, t - step] if t >= step else 0)
        parity = 1 - parity
        cuda.syncthreads()
    out[t] = a[parity, t]


def halo(out):
    a = cuda.shared.array(66, float32)
    t = cuda.threadIdx.x
    a[t + 1] = out[t]
    if t == 0:
        a[0] = 0
        a[65] = 0
    cuda.syncthreads()
    out[t] = a[t] + a[t + 2]


def halo_of_one_side(out):
    a = cuda.shared.array(66, float32)
    t = cuda.threadIdx.x
    a[t + 1] = out[t]
    if t == 0:
        a[0] = 0
    cuda.syncthreads()
    out[t] = a[t] + a[t + 2]


def either_branch(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if out[t] > 3:
        a[t] = 1
    else:
        a[t] = 2
    cuda.syncthreads()
    out[t] = a[63 - t]


def some_branch(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if out[t] > 3:
        a[t] = 1
    cuda.syncthreads()
    out[t] = a[63 - t]


def histogram(out):
    a = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    a[t] = 0
    cuda.syncthreads()
    for i in range(t, len(out), 64):
        cuda.atomic.add(a, int(out[i]) & 63, 1)
    cuda.syncthreads()
    out[t] = a[t]


def early_histogram(out):
    a = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    a[t] = 0
    cuda.atomic.add(a, int(out[t]) & 63, 1)
    cuda.syncthreads()
    out[t] = a[t]


def tiles(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for start in range(0, len(out), 64):
        a[t] = out[start + t]
        cuda.syncthreads()
        for k in range(64):
            total += a[k]
        cuda.syncthreads()
    out[t] = total


def tiles_with_one_barrier(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for start in range(0, len(out), 64):
        a[t] = out[start + t]
        cuda.syncthreads()
        for k in range(64):
            total += a[k]
    out[t] = total


def returned_threads(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t >= len(out):
        return
    a[t] = out[t]
    cuda.syncthreads()
    out[t] = a[63 - t]


def own_after_return(out):
    a = cuda.local.array(4, float32)
    t = cuda.grid(1)
    if t >= len(out):
        return
    for k in range(4):
        a[k] = out[t] + k
    out[t] = a[3] + a[0]


def one_more(out):
    a = cuda.local.array(5, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        a[k] = out[t] + k
    out[t] = a[4]


def later_iteration(out):
    a = cuda.local.array(4, float32)
    total = float32(0)
    for k in range(4):
        a[k] = k
        total += a[3]
    out[cuda.threadIdx.x] = total


def recurrence(out):
    a = cuda.local.array(8, float32)
    a[0] = out[0]
    for k in range(1, 8):
        a[k] = a[k - 1] * 2
    out[cuda.threadIdx.x] = a[7]


@device
def put(row, k):
    row[k] = 1


def by_function(out):
    a = cuda.local.array(4, float32)
    for k in range(4):
        put(a, k)
    out[cuda.threadIdx.x] = a[3]


def any_element(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    a[t] = 0
    cuda.syncthreads()
    out[t] = a[int(out[t]) & 63]
    cuda.syncthreads()
    a[t] = 1


def any_element_written(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    a[t] = 0
    cuda.syncthreads()
    a[int(out[t]) & 63] = 1


def left_early(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(3):
        if out[t] > k:
            continue
        a[t] = k
    cuda.syncthreads()
    out[t] = a[t]


def dynamic(out):
    a = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    a[t] = out[t]
    cuda.syncthreads()
    out[t] = a[63 - t]


@device
def put_in_row(rows, k, value):
    rows[k // 8, k % 8] = value


def passed(out):
    a = cuda.shared.array((8, 8), float32)
    t = cuda.threadIdx.x
    put_in_row(a, t, out[t])
    cuda.syncthreads()
    out[t] = a[7, t % 8]


@device
def with_own_tile(k):
    a = cuda.shared.array(64, float32)
    a[cuda.threadIdx.x] = k
    cuda.syncthreads()
    return a[63 - cuda.threadIdx.x]


def called_on_one_path(out):
    t = cuda.threadIdx.x
    if len(out) > 3:
        out[t] = with_own_tile(1)


def called_for_any_count(out):
    t = cuda.threadIdx.x
    for _ in range(len(out)):
        out[t] += with_own_tile(1)
        cuda.syncthreads()


def left_before_barrier(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        a[t] = k
        if out[0] > 3:
            break
        cuda.syncthreads()
    out[t] = a[63 - t]


def left_after_barrier(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    a[t] = 0
    for k in range(4):
        cuda.syncthreads()
        if k == 2:
            break
        a[t] = k
    out[t] = a[63 - t]


@device
def wait(is_early):
    if is_early:
        return
    cuda.syncthreads()


def waits_in_function(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    a[t] = out[t]
    wait(out[0] > 3)
    out[t] = a[63 - t]


def waits_in_function_always(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    a[t] = out[t]
    wait(len(out) < 0)
    out[t] = a[63 - t]


def a_number_of_64_bits_without_sign(out):
    a = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    a[t] = 1
    cuda.syncthreads()
    if uint64(t) < uint64(2**63 + 1):
        out[t] = a[t + 1 & 63]


EXPECTED = {
    called_on_one_path: "",
    called_for_any_count: "",
    a_number_of_64_bits_without_sign: "",
    left_after_barrier: "",
    waits_in_function_always: "",
    dynamic: "",
    passed: "",
    tree: "",
    tree_without_barrier: "race",
    butterfly: "",
    two_buffers: "",
    halo: "",
    halo_of_one_side: "init",
    either_branch: "",
    some_branch: "init",
    histogram: "",
    early_histogram: "race",
    tiles: "",
    tiles_with_one_barrier: "race",
    returned_threads: "init",
    own_after_return: "",
    one_more: "init",
    later_iteration: "init",
    recurrence: "",
    by_function: "",
    any_element: "",
    any_element_written: "race",
    left_early: "init",
}


@pytest.mark.parametrize("function", [left_before_barrier, waits_in_function])
def test_paths_past_a_barrier(function: Callable[..., Any]) -> None:
    assert verdicts(function, "float32[::1]", 64).get("a", "race") == "race"


@pytest.mark.parametrize("function", EXPECTED, ids=lambda f: f.__name__)
def test_kernels(function: Callable[..., Any]) -> None:
    assert verdicts(function, "float32[::1]", 64)["a"] == EXPECTED[function]


# ---- random kernels, each executed thread by thread -------------------------------------------


class Accesses:
    """An array of one block or one thread that notes who accesses its elements."""

    def __init__(self, size: int) -> None:
        self.values: list[int | None] = [None] * size
        self.uses: list[tuple[int, int, str]] = []  # element, thread, kind
        self.thread = 0
        self.has_conflict = self.has_unwritten = False

    def read(self, i: int) -> int:
        self.uses.append((i, self.thread, "read"))
        self.has_unwritten |= self.values[i] is None
        return self.values[i] or 0

    def __getitem__(self, i: int) -> int:
        return self.read(i)

    def __setitem__(self, i: int, value: int) -> None:
        self.uses.append((i, self.thread, "write"))
        self.values[i] = value

    def add(self, i: int, value: int) -> None:
        self.has_unwritten |= self.values[i] is None
        self.uses.append((i, self.thread, "atomic"))
        self.values[i] = (self.values[i] or 0) + value

    def pass_barrier(self) -> None:
        for i, thread, kind in self.uses:
            for j, other, other_kind in self.uses:
                kinds = {kind, other_kind}
                if i == j and thread != other and kinds not in ({"read"}, {"atomic"}):
                    self.has_conflict = True
        self.uses.clear()


def execute(text: str, data: list[int], n: int) -> tuple[Accesses, list[Accesses]]:
    """Execute a kernel for one block, each thread as a generator that stops at barriers."""
    shared, own = Accesses(SIZE), [Accesses(OWN) for _ in range(THREADS)]
    atomic = SimpleNamespace(add=Accesses.add)
    names: dict[str, Any] = {"put_to": put_to, "cuda": SimpleNamespace(atomic=atomic)}
    names["share"] = share_with_yield
    exec(text.replace(BARRIER, "yield").replace("share(", "yield from share("), names)
    threads: dict[int, Iterator[None]] = {
        t: names["body"](t, shared, own[t], data, n, [0] * THREADS) for t in range(THREADS)
    }
    while threads:
        for t in list(threads):
            shared.thread = t
            if next(threads[t], "ended") == "ended":
                del threads[t]
        shared.pass_barrier()
    return shared, own


class Writer:
    """Writes random statements. Barriers stand where all threads go."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names = ["t", "t", "n"]
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def index(self, size: int) -> str:
        name, k = self.rng.choice(self.names), self.rng.randrange(size)
        forms = [
            name,
            f"{name} + {k}",
            f"{name} ^ {k}",
            f"{name} * {k + 1}",
            f"{name} // 2",
            f"{size - 1} - {name}",
            f"d[{name} % {THREADS}]" if self.rng.random() < 0.3 else name,
            f"min({name}, {k})",
        ]
        return f"({self.rng.choice(forms)}) % {size}"

    def condition(self, *, uniform: bool = False) -> str:
        k = self.rng.randrange(THREADS)
        same = [f"n > {k % 4}", f"d[{k}] > 3", "n % 2 == 0"]
        other = [f"t < {k}", f"t % 2 == {k % 2}", f"d[t] > {k}", f"t >= {k} and d[t] != 2"]
        return self.rng.choice(same if uniform else [*same, *other, *other])

    def body(self, depth: int, *, uniform: bool, loop: bool = False) -> list[str]:
        known = list(self.names)
        lines = [
            line
            for _ in range(self.rng.randint(1, 4))
            for line in self.statement(depth, uniform=uniform, loop=loop)
        ]
        self.names = known
        return lines

    def statement(self, depth: int, *, uniform: bool, loop: bool) -> list[str]:
        makers = [self.store, self.store, self.load, self.atomic, self.assign, self.call]
        if uniform:
            makers += [lambda: [BARRIER]] * 4 + [self.share]
        if depth > 0:
            makers += [lambda: self.branch(depth, uniform, loop)] * 2
            makers += [lambda: self.loop(depth, uniform)] * 2
        if loop:
            jump, condition = (
                self.rng.choice(["break", "continue"]),
                self.condition(uniform=uniform),
            )
            makers.append(lambda: [f"if {condition}:", f"    {jump}"])
        if self.rng.random() < 0.05:
            makers = [lambda: [f"if {self.condition()}:", "    return"]]
        return self.rng.choice(makers)()

    def store(self) -> list[str]:
        array, size = self.rng.choice([("s", SIZE), ("own", OWN)])
        return [f"{array}[{self.index(size)}] = {self.rng.choice(self.names)}"]

    def call(self) -> list[str]:
        array, size = self.rng.choice([("s", SIZE), ("own", OWN)])
        return [f"put_to({array}, {self.index(size)}, 1)"]

    def share(self) -> list[str]:
        is_known = self.rng.random() < 0.8
        condition = "len(d) < 0" if is_known else self.condition(uniform=True)
        return [f"share(s, {self.index(SIZE)}, {condition})"]

    def load(self) -> list[str]:
        array, size = self.rng.choice([("s", SIZE), ("own", OWN)])
        return [f"out[t] += {array}[{self.index(size)}]"]

    def atomic(self) -> list[str]:
        return [f"cuda.atomic.add(s, {self.index(SIZE)}, 1)"]

    def assign(self) -> list[str]:
        name = "x"
        lines = [f"{name} = {self.index(SIZE)}"]
        self.names = [*self.names, name]
        return lines

    def branch(self, depth: int, uniform: bool, loop: bool) -> list[str]:
        agree = uniform and self.rng.random() < 0.6
        condition = self.condition(uniform=agree)
        then = self.body(depth - 1, uniform=agree, loop=loop)
        lines = [f"if {condition}:", *indented(then)]
        if self.rng.random() < 0.5:
            lines += ["else:", *indented(self.body(depth - 1, uniform=agree, loop=loop))]
        return lines

    def loop(self, depth: int, uniform: bool) -> list[str]:
        name, k = self.fresh(), self.rng.randint(1, 4)
        bounds = [f"{k}", f"1, {k + 2}", "n", "d[0] % 3", f"{k}, -1, -1"]
        if not uniform or self.rng.random() < 0.4:
            uniform = False
            bounds += ["t % 3", f"t, {THREADS}, 2", "d[t] % 3"]
        if self.rng.random() < 0.25:
            head = [f"{name} = {k}", f"while {name} > 0:"]
            tail = [f"    {name} //= 2"]
        else:
            head, tail = [f"for {name} in range({self.rng.choice(bounds)}):"], []
        self.names = [*self.names, name]
        is_for = not tail
        body = self.body(depth - 1, uniform=uniform, loop=is_for)
        self.names.remove(name)
        return [*head, *indented(body), *tail]


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def text_of(seed: int) -> str:
    body = Writer(seed).body(3, uniform=True) + Writer(seed + 1).body(2, uniform=True)
    return "\n".join(["def body(t, s, own, d, n, out):", "    x = 0", *indented(body), "    yield"])


def kernel_of(text: str, name: str) -> Callable[..., Any]:
    head = (
        "def body(d, n, out):\n"
        f"    s = cuda.shared.array({SIZE}, int32)\n"
        f"    own = cuda.local.array({OWN}, int32)\n"
        "    t = cuda.threadIdx.x\n"
    )
    source = head + "\n".join(text.splitlines()[1:-1]) + "\n"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"cuda": cuda, "int32": int32, "put_to": device(put_to), "share": device(share)}
    exec(compile(source, name, "exec"), names)
    return names["body"]


def put_to(array, i, value):
    array[i] = value


def share(array, i, is_early):
    array[i] = 1
    if is_early:
        return
    cuda.syncthreads()
    array[i] += 2


def share_with_yield(array: Accesses, i: int, is_early: bool) -> Iterator[None]:
    array[i] = 1
    if is_early:
        return
    yield
    array[i] += 2


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_kernels(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pycu2c.base.diagnostics.warn", lambda *_: None)
    proved = 0
    for seed in range(first, first + 20):
        text = text_of(seed)
        found = verdicts(
            kernel_of(text, f"<random {seed}>"), "int32[::1], int32, int32[::1]", THREADS
        )
        if not found:
            continue  # too complex
        proved += sum(not v for v in found.values())
        rng = np.random.default_rng(seed)
        for n in (0, 1, 3):
            shared, own = execute(text, rng.integers(0, 8, THREADS).tolist(), n)
            assert not shared.has_conflict or "race" in found["s"], text
            assert not shared.has_unwritten or found["s"], text
            assert not any(a.has_unwritten for a in own) or "init" in found["own"], text
    assert proved > 0

"""lower_to_work_item_loops: a block computes what its threads compute."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.transforms.cpu.loops import axis_loops
from pycu2c.transforms.cpu.loops.unroll_loops import unroll_block_loops
from support.ir_execution import LANES, Undefined, kernel, run_block, run_threads
from support.launching import every_divergent_loop, lower_to_work_item_loops

THREADS = 8
VALUES = {"OUT": [-1] * 64, "A": [5, 3, 8, 1, 9, 2, 7, 4] * 2, "SAME": [3] * 64, "n": 6, "m": 3}


def check(text: str, threads: int = THREADS) -> ir.Body:
    """Both ways of running a kernel agree; returns the block's code."""
    module = kernel(text)
    values = {p.name: VALUES[p.name] for p in module.kernel.parameters}
    expected = run_threads(module, values, threads)
    placed = lower_to_work_item_loops(module, LaunchAssumptions())
    for way in (
        placed,
        lower_to_work_item_loops(module, LaunchAssumptions(), every_divergent_loop),
    ):
        assert run_block(way, values, threads) == expected
        unrolled = unroll_block_loops(way)
        assert run_block(unrolled, values, threads) == expected
        for facts in (LaunchAssumptions(), LaunchAssumptions(block=(threads, 1, 1))):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(axis_loops, "LANES", LANES)
                looped = axis_loops.loop_over_axes(unrolled, facts, frozenset())
            assert run_block(looped, values, threads) == expected
    return placed.kernel.body


def shape(body: ir.Body) -> list[object]:
    """The outline of a block's code: its control flow and its thread loops."""
    out: list[object] = []
    for s in body:
        match s:
            case ir.WorkItemLoop():
                out.append("threads")
            case ir.If():
                out.append(("if", shape(s.then), shape(s.orelse)))
            case ir.While() | ir.For():
                out.append((type(s).__name__.lower(), shape(s.body)))
            case ir.Declare(var) | ir.Assign(var):
                out.append(var.name)
            case ir.Allocate(var):
                out.append(f"{var.name}[]")
            case _:
                out.append(type(s).__name__.lower())
    return out


def slots(body: ir.Body) -> set[str]:
    """The arrays with one slot for each thread."""
    arrays = [s.var for s in statements(body) if isinstance(s, ir.Allocate)]
    return {
        v.name for v in arrays if isinstance(v.type, Array) and v.type.space is MemorySpace.BLOCK
    }


# ---- where statements go -----------------------------------------------------------------------


def test_without_a_barrier_there_is_one_thread_loop() -> None:
    body = check("""
        def f(OUT, A, n):
            if tid >= n:
                return
            for k in range(3):
                if A[tid] == k:
                    return
            OUT[tid] = A[tid]
    """)
    assert shape(body) == ["threads"]


def test_a_parameter_that_is_assigned_is_each_threads_own() -> None:
    check("""
        def f(OUT, n):
            n = n + tid
            n += 1
            OUT[tid] = n
    """)
    body = check("""
        def f(OUT, n):
            n = n // 2
            sync()
            OUT[tid] = n
    """)
    assert shape(body) == ["n.1", "n.1", "threads"]


def test_reduction_keeps_its_shape() -> None:
    body = check("""
        def reduce_sum(OUT, A, n):
            S = shared(8)
            i = bid * width + tid
            x = 0
            if i < n:
                x = A[i]
            S[tid] = x
            sync()
            s = 4
            while s > 0:
                if tid < s:
                    S[tid] = S[tid] + S[tid + s]
                sync()
                s //= 2
            if tid == 0:
                OUT[bid] = S[0]
    """)
    assert shape(body) == ["S[]", "threads", "s", ("while", ["threads", "s"]), "threads"]


def test_an_early_return_before_a_barrier() -> None:
    body = check("""
        def f(OUT, A, n):
            S = shared(8)
            i = bid * width + tid
            if i >= n:
                return
            S[tid] = A[i]
            sync()
            OUT[i] = S[n - 1 - tid]
    """)
    assert slots(body) == {"state"}  # i is computed again
    block = ["threads", ("if", ["return"], []), "threads"]
    assert shape(body) == ["S[]", "state[]", "any_active", *block]  # declared as 0


def test_a_break_where_all_agree_after_a_loop_that_threads_leave_one_by_one() -> None:
    check("""
        def f(OUT, A, n):
            k2 = 0
            for k1 in range(tid, 9, width):
                end = 0
                while k2 < end:
                    k2 += 1
                if n < 0:
                    for k3 in range(n):
                        k2 += 1
                    break
                OUT[tid] = k1
    """)


def test_when_all_threads_have_returned_the_block_ends() -> None:
    body = check("""
        def f(OUT, A, n):
            if A[tid] < 100:
                return
            k = A[bid + 1000]
            while A[2000] > 0:
                sync()
            OUT[tid] = k
    """)
    assert ("if", ["return"], []) in shape(body)


def test_a_return_of_all_threads_needs_no_state() -> None:
    body = check("""
        def f(OUT, m, n):
            OUT[tid] = 1
            sync()
            if m < n:
                return
            OUT[tid] = 2
            sync()
    """)
    assert shape(body) == ["threads", ("if", ["return"], []), "threads"]


def test_barriers_in_both_arms_of_a_uniform_if() -> None:
    body = check("""
        def f(OUT, A, n):
            S = shared(8)
            S[tid] = A[tid]
            if n > 5:
                sync()
                OUT[tid] = S[7 - tid]
            else:
                OUT[tid] = 4
                sync()
    """)
    assert shape(body) == ["S[]", "threads", ("if", ["threads"], ["threads"])]


def test_a_trip_count_from_memory_is_read_once_if_its_place_is_uniform() -> None:
    text = """
        def f(OUT, A, n):
            S = shared(8)
            S[tid] = A[tid]
            x = 0
            count = {count}
            for k in range(count):
                sync()
                x += S[(tid + k) % 8]
                sync()
            OUT[tid] = x
    """
    body = check(text.format(count="A[bid + 1]"))
    assert ("for", ["threads"]) in shape(body)
    assert "count" in shape(body)
    body = check(text.format(count="A[tid] // 100 + 2"))
    assert slots(body) >= {"state", "x", "k"}


def test_an_uneven_end_of_a_barrier_loop() -> None:
    """Threads that have left take no part: they come to no barrier any more."""
    body = check("""
        def f(OUT, A, n):
            k = 0
            while True:
                if k >= A[tid]:
                    break
                OUT[tid] = k
                sync()
                k += 1
    """)
    assert slots(body) == {"state", "k"}
    check("""
        def f(OUT, A, n):
            S = shared(8)
            for k in range(n):
                S[tid] = k
                if A[tid] < k:
                    break
                sync()
                OUT[tid] = S[tid] + k
    """)


def test_nested_barrier_loops_with_continue() -> None:
    check("""
        def f(OUT, A, SAME, n, m):
            S = shared(8)
            x = tid
            for i in range(n):
                j = 0
                while j < m:
                    j += 1
                    if SAME[tid] == j:
                        continue
                    S[tid] = x + j
                    sync()
                    x += S[(tid + 1) % 8]
                    sync()
                    if SAME[tid] + i == 5:
                        break
                if i == 2:
                    continue
                OUT[tid + 8 * i] = x
                sync()
    """)


def test_values_across_cuts() -> None:
    body = check("""
        def f(OUT, A, n):
            t = tid
            u = n * 2
            x = A[t] * 3
            L = local(2)
            L[0] = x
            L[1] = u
            sync()
            tmp = x + L[0]
            OUT[t] = tmp + u
            sync()
            tmp = L[1] + x
            OUT[t + 8] = tmp
    """)
    assert slots(body) == {"x", "L"}
    first, *_ = [s for s in body if isinstance(s, ir.Declare)]
    assert first.var.name == "u"


def test_a_uniform_value_computed_in_a_loop_without_barriers_moves_out_with_it() -> None:
    body = check("""
        def f(OUT, A, n):
            count = 0
            for k in range(n):
                if A[k] > 2:
                    count += 1
            for k in range(count):
                sync()
                OUT[tid + 8 * k] = k
    """)
    assert shape(body)[:2] == ["count", ("for", [("if", ["count"], [])])]


def test_a_uniform_load_stays_after_a_possible_store() -> None:
    check("""
        def f(OUT, A, n):
            S = shared(1)
            if tid == 3:
                S[0] = A[3] + 4
            sync()
            OUT[tid + 8] = 1
            limit = S[0]
            sync()
            if tid == 0:
                S[0] = 100
            for k in range(limit):
                sync()
                OUT[tid] = k
    """)


def test_no_jump_of_one_thread_and_no_barrier_is_left() -> None:
    body = check("""
        def f(OUT, A, n):
            for k in range(n):
                if A[tid] == k:
                    return
                sync()
            OUT[tid] = 1
    """)
    loops = [s for s in statements(body) if isinstance(s, ir.WorkItemLoop)]
    inside = [inner for loop in loops for inner in statements(loop.body)]
    assert not any(isinstance(s, ir.Return | ir.Break) for s in inside)
    assert not any(
        isinstance(e, ir.Apply) and e.intrinsic.name == "cuda.syncthreads"
        for e in all_expressions(body)
    )


# ---- random kernels ----------------------------------------------------------------------------


class Writer:
    """Writes a random kernel. What threads disagree on has rarely a barrier inside."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.lines = [
            "def f(OUT, A, SAME, n, m):",
            "    S = shared(8)",
            "    L = local(2)",
            "    S[tid] = A[tid]",
            "    L[0] = tid",
            "    L[1] = n",
            "    a = tid * 3",
            "    b = A[tid]",
            "    u = n",
            "    w = 2",
        ]
        self.loops = 0

    def text(self) -> str:
        for _ in range(self.random.randint(3, 8)):
            self.statement(1, 0, True)
        self.put(1, "OUT[tid] = a + b * 2 + u * 3 + w + L[0] + L[1] + S[tid]")
        return "\n".join(self.lines)

    def put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def value(self, uniform: bool) -> str:
        pick = self.random.choice
        atoms = ["u", "w", "n", "m", "2", "A[bid]", "SAME[tid]"]
        if not uniform:
            atoms += ["a", "b", "tid", "A[tid]", "S[tid]", "L[0]", "L[1]"]
        return f"({pick(atoms)} {pick('+-*')} {pick(atoms)} + {self.random.randint(0, 5)}) % 13"

    def condition(self, uniform: bool) -> str:
        return f"{self.value(uniform)} {self.random.choice(['<', '>', '=='])} {self.value(True)}"

    def statement(self, depth: int, loops: int, synchronizes: bool) -> None:
        """``meets``: whether all threads are here."""
        kinds = ["set"] * 4 + ["store", "local", "jump"] + ["if"] * 2 + ["loop"] * 2
        kinds += ["sync", "exchange", "exchange"] if synchronizes else ["set"]
        kind = self.random.choice(kinds)
        if kind in ("if", "loop") and depth > 4:
            kind = "set"
        getattr(self, f"put_{kind}")(depth, loops, synchronizes)

    def put_set(self, depth: int, loops: int, synchronizes: bool) -> None:
        name = self.random.choice("abuw" if synchronizes else "ab")
        self.put(depth, f"{name} = {self.value(name in 'uw')}")

    def put_store(self, depth: int, loops: int, synchronizes: bool) -> None:
        place = self.random.choice(["S[tid]", "OUT[tid + 8]", "OUT[tid + 16]"])
        self.put(depth, f"{place} = {self.value(False)}")

    def put_local(self, depth: int, loops: int, synchronizes: bool) -> None:
        self.put(depth, f"L[{self.random.randint(0, 1)}] = {self.value(False)}")

    def put_sync(self, depth: int, loops: int, synchronizes: bool) -> None:
        self.put(depth, "sync()")

    def put_exchange(self, depth: int, loops: int, synchronizes: bool) -> None:
        place = self.random.choice(["(tid + 1) % 8", "7 - tid", "2"])
        name = self.random.choice("abu" if place == "2" else "ab")
        for line in ("sync()", f"{name} = S[{place}]", "sync()"):
            self.put(depth, line)

    def put_jump(self, depth: int, loops: int, synchronizes: bool) -> None:
        jump = self.random.choice(["return"] + ["break", "continue"] * (2 if loops else 0))
        agreed = jump != "return" and self.random.random() < 0.7
        self.put(depth, f"if {self.condition(agreed)}:")
        self.block(depth + 1, 0, False, self.random.randint(0, 1))
        self.put(depth + 1, jump)

    def block(self, depth: int, loops: int, synchronizes: bool, count: int) -> None:
        for _ in range(count):
            self.statement(depth, loops, synchronizes)

    def put_if(self, depth: int, loops: int, synchronizes: bool) -> None:
        agreed = self.random.random() < 0.6
        synchronizes = synchronizes and (agreed or self.random.random() < 0.1)
        self.put(depth, f"if {self.condition(agreed)}:")
        self.block(depth + 1, loops, synchronizes, self.random.randint(1, 3))
        if self.random.random() < 0.4:
            self.put(depth, "else:")
            self.block(depth + 1, loops, synchronizes, self.random.randint(1, 3))

    def put_loop(self, depth: int, loops: int, synchronizes: bool) -> None:
        self.loops += 1
        counter, agreed = f"k{self.loops}", self.random.random() < 0.7
        synchronizes = synchronizes and (agreed or self.random.random() < 0.1)
        count = f"{self.value(agreed)} % 4"
        kind = self.random.random()
        if kind < 0.2:
            first = self.random.choice(["tid", "tid + 1", f"{self.value(True)} + tid"])
            stop, step = f"{self.value(True)} + 9", self.random.choice(["width", "width * 2"])
            self.put(depth, f"for {counter} in range({first}, {stop}, {step}):")
        elif kind < 0.6:
            self.put(depth, f"for {counter} in range({count}):")
        else:
            self.put(depth, f"{counter} = 0")
            self.put(depth, f"end{counter} = {count}")
            self.put(depth, f"while {counter} < end{counter}:")
            self.put(depth + 1, f"{counter} += 1")
        self.block(depth + 1, loops + 1, synchronizes, self.random.randint(1, 4))


@pytest.mark.slow
@settings(max_examples=100)
@given(st.randoms(use_true_random=False))
def test_random_kernels_do_the_same(source: random.Random) -> None:
    text = Writer(source).text()
    try:
        run_threads(kernel(text), VALUES, THREADS)
    except Undefined:
        return
    check(text)


ODD_ONES = {
    "a masked if that nobody enters, before an if that some would return from": """
        def f(OUT, SAME, n):
            if SAME[tid] > 5:
                sync()
            if n > 100:
                if tid > 3:
                    return
                sync()
            OUT[tid] = 1
    """,
    "a return inside a masked if": """
        def f(OUT, SAME):
            if SAME[tid] == 3:
                sync()
                if tid < 3:
                    return
                sync()
            OUT[tid] = 1
    """,
    "a return in one arm of a uniform if": """
        def f(OUT, n):
            if n > 3:
                if tid < 3:
                    return
                sync()
            OUT[tid] = 1
    """,
    "a return at the end of an iteration": """
        def f(OUT, n):
            for k in range(n):
                OUT[tid + 8 * k] = k
                sync()
                if tid == k:
                    return
    """,
    "a loop that ends only because all return": """
        def f(OUT, A, n):
            while n > 0:
                sync()
                OUT[tid] = 1
                if A[tid] > 0:
                    return
    """,
    "the same under a mask": """
        def f(OUT, A, SAME, n):
            if SAME[tid] == 3:
                while n > 0:
                    sync()
                    OUT[tid] = 1
                    if A[tid] > 0:
                        return
            OUT[tid + 8] = 1
    """,
    "a write before the return": """
        def f(OUT, A, n):
            S = shared(8)
            if tid >= n:
                S[tid] = 7
                return
            S[tid] = A[tid]
            sync()
            OUT[tid] = S[tid]
    """,
    "a value made of a scalar that changes": """
        def f(OUT):
            s = 4
            while s > 0:
                x = s + tid
                s //= 2
                sync()
                OUT[tid + 8 * s] = x
    """,
    "a value set in a loop that may not be run": """
        def f(OUT, m):
            x = tid
            sync()
            for k in range(m - 3):
                x = k
            OUT[tid] = x
    """,
    "counting down, step by step of each thread": """
        def f(OUT, A, SAME):
            for k in range(SAME[tid] + 2, 0, -2):
                sync()
                OUT[tid + 8 * k] = A[tid]
    """,
    "both arms of a masked if": """
        def f(OUT, SAME):
            if SAME[tid] == 3:
                sync()
                OUT[tid] = 1
            else:
                OUT[tid] = 2
                sync()
    """,
    "a value set in one arm of an if": """
        def f(OUT, A):
            x = 1
            sync()
            if A[tid] > 4:
                x = 2
            OUT[tid] = x
    """,
    "a table for each thread": """
        def f(OUT, A):
            L = local(2, 3)
            L[1, 2] = A[tid]
            sync()
            OUT[tid] = L[1, 2]
    """,
    "else only": """
        def f(OUT, SAME):
            if SAME[tid] > 5:
                pass
            else:
                OUT[tid] = 1
                sync()
                OUT[tid] = OUT[tid] + 1
            OUT[tid + 8] = 2
    """,
}


@pytest.mark.parametrize("text", ODD_ONES.values(), ids=ODD_ONES.keys())
def test_odd_ones(text: str) -> None:
    check(text)


def test_one_thread_sees_its_own_store_in_order() -> None:
    check(
        """
        def f(OUT, A):
            A[tid] = 2
            x = A[bid]
            sync()
            for k in range(x):
                sync()
                OUT[k] = x
        """,
        threads=1,
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_small_blocks(threads: int) -> None:
    check(
        """
        def f(OUT, A, n):
            x = A[tid]
            sync()
            if tid > 0:
                return
            sync()
            OUT[tid] = x
        """,
        threads,
    )

"""Narrow: what fits 32 bits is computed in 32 bits, and every program means what it meant."""

from __future__ import annotations

import random

import pytest

from integer_programs import (
    HERE,
    Interpreter,
    Writer,
    call,
    count,
    dim,
    function,
    i,
    leave,
    let,
    loop,
    op,
    place,
    use,
    v,
    when,
)
from pycu2c.ir.nodes import Call, Expr, Function, Let, Module, Parameter, Return, Stmt
from pycu2c.ir.printer import print_module
from pycu2c.ir.verifier import verify
from pycu2c.operators import ADD, GE, LT, MOD, MUL, SHL, SUB
from pycu2c.passes.intervals import everything
from pycu2c.passes.narrow import narrow
from pycu2c.passes.ranges import Facts, analyse_module
from pycu2c.types import WEAK_INT, Scalar

BIG, SMALL = Facts(), Facts(index32=True)


def narrowed(*body: Stmt, facts: Facts = SMALL, **parameters: Scalar) -> list[str]:
    """The lines of a narrowed function's body."""
    module = narrow(Module(function(*body, **parameters)), facts)
    assert verify(module) == []
    return [line.strip() for line in print_module(module).splitlines()[1:]]


GUARDED = (let("i", place("grid.x")), when(op(GE, v("i"), dim()), [leave()]), use(v("i")))


def test_small_launches_count_in_32_bits() -> None:
    assert narrowed(*GUARDED) == [
        "i: small = cuda.grid.x.small()",
        "if ge.small(i, dim.small(a, 0)):",
        "return",
        "out[0] = a[i]",
    ]


def test_large_launches_do_not() -> None:
    assert narrowed(*GUARDED, facts=BIG)[:2] == [
        "i: int = cuda.grid.x()",
        "if ge.int(i, dim(a, 0)):",
    ]


def test_bounds_of_the_block_hold_in_any_launch() -> None:
    assert narrowed(let("i", place("threadIdx.x")), facts=BIG) == [
        "i: small = cuda.threadIdx.x.small()"
    ]


def test_arguments_keep_their_64_bits_in_large_launches() -> None:
    body = [let("i", place("threadIdx.x")), use(op(ADD, v("i"), v("n")))]
    assert narrowed(*body, facts=BIG, n=WEAK_INT)[1] == "out[0] = a[add.int(int(i), n)]"
    assert narrowed(*body, n=WEAK_INT)[1] == "out[0] = a[add.small(i, n)]"


def test_a_comparison_takes_the_wider_type() -> None:
    compared = when(op(LT, place("threadIdx.x"), v("n")), [])
    lines = narrowed(compared, facts=BIG, n=WEAK_INT)
    assert lines[0] == "if lt.int(int(cuda.threadIdx.x.small()), n):"


def test_a_variable_that_may_grow_stays_wide() -> None:
    grows = [let("k", i(1)), loop(op(LT, v("n"), i(0)), let("k", op(MUL, v("k"), i(2))))]
    assert narrowed(*grows, n=WEAK_INT)[0] == "k: int = 1"


def test_a_result_that_does_not_fit_is_computed_wide() -> None:
    product = op(MUL, dim(), i(8))
    assert narrowed(use(product)) == ["out[0] = a[mul.int(int(dim.small(a, 0)), 8)]"]


def test_shifts_by_the_width_of_a_small_int_stay_wide() -> None:
    zero = op(SUB, v("t"), v("t"))
    shifted = op(SHL, zero, i(40))
    lines = narrowed(let("t", place("threadIdx.x")), use(shifted))
    assert lines[1] == "out[0] = a[shl.int(int(sub.small(t, t)), 40)]"


def test_loops_count_in_32_bits_if_the_step_beyond_the_end_fits() -> None:
    near = count("k", i(0), i(2**31 - 1), i(1))
    beyond = count("k", i(0), i(2**31 - 1), i(2))
    assert narrowed(near)[0] == "for k: small in range(0, 2147483647, 1):"
    assert narrowed(beyond)[0] == "for k: int in range(0, 2147483647, 2):"


def test_bound_names_intrinsics_and_remainders() -> None:
    bound = Let("h", op(MOD, v("n"), i(10)), call("max", v("h"), i(3)), HERE)
    assert narrowed(use(bound), n=WEAK_INT) == [
        "out[0] = a[(let h: small = mod.small(n, 10) in max.small(h, 3))]"
    ]


def device(name: str, result: Expr, *before: Stmt) -> Function:
    n = Parameter("n", WEAK_INT, 0)
    return Function(name, name, (n,), WEAK_INT, (*before, Return(result, HERE)), HERE)


def called(name: str, argument: Expr) -> Call:
    return Call(name, (argument,), WEAK_INT, HERE)


def lines_of(module: Module, facts: Facts = SMALL) -> list[str]:
    small = narrow(module, facts)
    assert verify(small) == []
    return [line.strip() for line in print_module(small).splitlines()]


def test_device_functions_take_and_give_what_their_calls_need() -> None:
    twice = device("twice", op(ADD, v("n"), v("n")))
    calls = [let("y", called("twice", place("threadIdx.x"))), let("z", called("twice", i(5)))]
    lines = lines_of(Module(function(*calls), (twice,)))
    assert lines[:2] == ["device twice(n: small) -> small", "return add.small(n, n)"]
    assert "y: small = twice(cuda.threadIdx.x.small())" in lines


def test_one_call_that_needs_64_bits_keeps_them_for_all() -> None:
    twice = device("twice", op(MOD, v("n"), i(7)))
    calls = [let("y", called("twice", place("threadIdx.x"))), let("z", called("twice", v("n")))]
    lines = lines_of(Module(function(*calls, n=WEAK_INT), (twice,)), BIG)
    assert lines[0] == "device twice(n: int) -> small"
    assert "y: small = twice(int(cuda.threadIdx.x.small()))" in lines


def test_nothing_is_said_of_a_recursive_function() -> None:
    less = called("down", op(SUB, v("n"), i(1)))
    down = device("down", less, when(op(LT, v("n"), i(1)), [Return(i(0), HERE)]))
    ranges = analyse_module(Module(function(let("y", called("down", i(9)))), (down,)), SMALL)
    assert ranges["down"].variable("n") == everything(WEAK_INT)
    assert ranges["f"].variable("y") == everything(WEAK_INT)


def test_a_call_that_nothing_reaches_says_nothing() -> None:
    same = device("same", v("n"))
    lines = lines_of(Module(function(leave(), let("y", called("same", i(1)))), (same,)))
    assert lines[0] == "device same(n: int) -> int"


# ---- meaning -----------------------------------------------------------------------------------


def accesses(program: Function, seed: int, facts: Facts) -> tuple[list[object], dict[str, int]]:
    """What a program reads, and what its variables end with, for random arguments."""
    rng = random.Random(seed)
    big = 2**40 if facts is BIG else 2**25
    lengths = {("a", 0): rng.choice([0, 1, 7, big]), ("m", 0): 5, ("m", 1): rng.choice([1, big])}
    width, blocks = rng.choice([1, 32, 1024]), rng.choice([1, 1000, 2**19])
    places = {
        "cuda.threadIdx.x": width - 1, "cuda.blockDim.x": width,
        "cuda.grid.x": width * blocks - 1, "cuda.gridsize.x": width * blocks,
    }  # fmt: skip
    most = 2**63 - 1 if facts is BIG else 2**30 - 1
    arguments = {"n": rng.choice([0, -1, most // 2, most]), "w": rng.choice([1, -(2**31)])}
    seen: list[object] = []
    machine = Interpreter(
        arguments,
        lengths,
        places,
        lambda e, value: None,
        accessed=lambda _, where: seen.append(where),
    )
    machine.run(program)
    return seen, machine.variables


@pytest.mark.parametrize("facts", [BIG, SMALL])
@pytest.mark.parametrize("batch", range(4))
def test_random_programs_mean_what_they_meant(batch: int, facts: Facts) -> None:
    for seed in range(1000 + batch * 15, 1015 + batch * 15):
        program = Writer(random.Random(seed)).program()
        small = narrow(Module(program), facts)
        assert verify(small) == []
        for run in range(3):
            assert accesses(program, run, facts) == accesses(small.kernel, run, facts)

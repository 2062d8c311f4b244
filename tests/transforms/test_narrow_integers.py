"""narrow_integers: values that fit 32 bits are computed in 32 bits, with equal results."""

from __future__ import annotations

import random

import pytest

from pycu2c.analysis.launch_ranges import IndexRules
from pycu2c.analysis.ranges.interval_arithmetic import all_values
from pycu2c.analysis.ranges.range_analysis import analyse_module
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.types import WEAK_INT, WEAK_INT32, Scalar, float32, int32
from pycu2c.base.values import Number
from pycu2c.ir.nodes import (
    Call,
    Const,
    Expr,
    Function,
    Let,
    Load,
    Module,
    Parameter,
    Return,
    Select,
    Stmt,
    Store,
    Var,
)
from pycu2c.ir.printer import print_module
from pycu2c.ir.verifier import verify
from pycu2c.ops.operators import ADD, GE, GT, LT, MOD, MUL, NE, SHL, SUB
from pycu2c.transforms.cuda.narrow_integers import narrow
from support.random_integer_ir import (
    HERE,
    Interpreter,
    Writer,
    a,
    call,
    count,
    dim,
    function,
    i,
    leave,
    let,
    load,
    loop,
    op,
    place,
    use,
    v,
    when,
)

BIG = IndexRules(LaunchAssumptions())
PLAIN = IndexRules(LaunchAssumptions(index32_safe=True))


def narrowed_module(module: Module, rules: IndexRules) -> Module:
    return narrow(module, rules, analyse_module(module, rules.assumptions))


def narrowed(*body: Stmt, rules: IndexRules = PLAIN, **parameters: Scalar) -> list[str]:
    """The lines of a narrowed function's body."""
    module = narrowed_module(Module(function(*body, **parameters)), rules)
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
    assert narrowed(*GUARDED, rules=BIG)[:2] == [
        "i: int = cuda.grid.x()",
        "if ge.int(i, dim(a, 0)):",
    ]


def test_bounds_of_the_block_hold_in_any_launch() -> None:
    assert narrowed(let("i", place("threadIdx.x")), rules=BIG) == [
        "i: small = cuda.threadIdx.x.small()"
    ]


def test_arguments_keep_their_64_bits_in_large_launches() -> None:
    body = [let("i", place("threadIdx.x")), use(op(ADD, v("i"), v("n")))]
    assert narrowed(*body, rules=BIG, n=WEAK_INT)[1] == "out[0] = a[add.int(int(i), n)]"
    assert narrowed(*body, n=WEAK_INT)[1] == "out[0] = a[add.small(i, n)]"


def test_a_comparison_takes_the_wider_type() -> None:
    compared = when(op(LT, place("threadIdx.x"), v("n")), [])
    lines = narrowed(compared, rules=BIG, n=WEAK_INT)
    assert lines[0] == "if lt.int(int(cuda.threadIdx.x.small()), n):"


def test_a_variable_that_may_grow_stays_wide() -> None:
    grows = [let("k", i(1)), loop(op(NE, v("k"), v("n")), let("k", op(MUL, v("k"), i(2))))]
    assert narrowed(*grows, n=WEAK_INT)[0] == "k: int = 1"


def test_a_result_that_does_not_fit_is_computed_wide() -> None:
    product = op(GT, op(MUL, dim(), i(8)), i(5))
    assert narrowed(when(product, [])) == [
        "if gt.int(mul.int(int(dim.small(a, 0)), 8), 5):",
        "pass",
    ]


def test_shifts_by_the_width_of_a_SMALL_stay_wide() -> None:
    zero = op(SUB, v("t"), v("t"))
    shifted = op(SHL, zero, i(40))
    lines = narrowed(let("t", place("threadIdx.x")), use(shifted))
    assert lines[1] == "out[0] = a[shl.int(int(sub.small(t, t)), 40)]"


def test_an_index_with_a_wide_summand_stays_wide() -> None:
    """C compilers add constants to such an address; a conversion would prevent it."""
    start = let("start", op(MUL, place("blockIdx.x"), i(3000)))
    in_array = op(LT, op(ADD, v("start"), i(128)), dim())
    lines = narrowed(start, when(in_array, [use(op(ADD, v("start"), i(128)))]))
    assert lines[-1] == "out[0] = a[add.int(start, 128)]"


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


def lines_of(module: Module, rules: IndexRules = PLAIN) -> list[str]:
    small = narrowed_module(module, rules)
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
    ranges = analyse_module(
        Module(function(let("y", called("down", i(9)))), (down,)), PLAIN.assumptions
    )
    assert ranges["down"].variable("n") == all_values(WEAK_INT)
    assert ranges["f"].variable("y") == all_values(WEAK_INT)


def test_an_unreachable_call_warns_of_nothing() -> None:
    same = device("same", v("n"))
    lines = lines_of(Module(function(leave(), let("y", called("same", i(1)))), (same,)))
    assert lines[0] == "device same(n: int) -> int"


# ---- indices -----------------------------------------------------------------------------------

ROW, COLUMN = place("grid.y"), place("grid.x")
PLACE = op(ADD, op(MUL, ROW, v("w")), COLUMN)
WIDE = [when(op(LT, v("w"), i(0)), [leave()])]  # w is not negative after it


def indexing(*body: Stmt, rules: IndexRules = PLAIN) -> list[str]:
    return narrowed(*WIDE, *body, rules=rules, w=WEAK_INT, n=WEAK_INT)[2:]


def test_parts_of_an_index_fit_where_the_index_does() -> None:
    assert indexing(use(PLACE)) == [
        "out[0] = a[add.small(mul.small(cuda.grid.y.small(), w), cuda.grid.x.small())]"
    ]
    assert "int(" in indexing(use(PLACE), rules=BIG)[0]


def test_a_factor_of_0_hides_the_other_factor() -> None:
    hidden = op(MUL, op(MUL, v("n"), i(8)), place("threadIdx.x"))
    assert indexing(use(hidden)) == [
        "out[0] = a[small(mul.int32(mul.int32(int32(n), 8:int32), "
        "int32(cuda.threadIdx.x.small())))]"
    ]


def test_a_variable_fits_if_an_access_always_follows() -> None:
    assert indexing(let("k", PLACE), let("j", op(ADD, v("k"), i(1))), use(v("j")))[:2] == [
        "k: small = add.small(mul.small(cuda.grid.y.small(), w), cuda.grid.x.small())",
        "j: small = add.small(k, 1)",
    ]


GUARDED_USE = when(op(LT, COLUMN, v("n")), [use(v("k"))])


def test_a_variable_that_is_only_an_index_may_wrap() -> None:
    assert indexing(let("k", PLACE), GUARDED_USE) == [
        "k: int32 = add.int32(mul.int32(int32(cuda.grid.y.small()), int32(w)), "
        "int32(cuda.grid.x.small()))",
        "if lt.small(cuda.grid.x.small(), n):",
        "out[0] = a[python.from_start.int32(k)]",
    ]


@pytest.mark.parametrize(
    "also",
    [
        when(op(GE, v("k"), i(9)), []),
        let("j", op(MOD, v("k"), i(9))),
        when(op(LT, v("n"), i(0)), [leave()]),
    ],
)
def test_a_variable_that_is_read_elsewhere_keeps_its_64_bits(also: Stmt) -> None:
    is_read = when(op(NE, v("k"), v("n")), [])
    lines = indexing(let("k", PLACE), also, GUARDED_USE, is_read)
    assert lines[0].startswith("k: int = add.int(mul.int(")


def test_what_is_chosen_by_a_condition_promises_nothing() -> None:
    chosen = Select(op(LT, v("n"), i(0)), load(v("k")), Const(0.0, float32, HERE), float32, HERE)
    lines = indexing(
        let("k", PLACE), Store(a("out"), (i(0),), chosen, HERE), when(op(NE, v("k"), v("n")), [])
    )
    assert lines[0].startswith("k: int = ")


# ---- meaning -----------------------------------------------------------------------------------


class _Outside(Exception):
    """An access outside of an array: what the program does is undefined."""


class _Exact(Interpreter):
    """Finds what leaves the 32 bits that it was proved to fit: undefined in C."""

    def _value(self, e: Expr) -> Number:
        value = super()._value(e)
        if e.type == WEAK_INT32 and not isinstance(e, (Const, Var)):
            assert int(value) in all_values(WEAK_INT32), f"{e} is {value}"
        return value


def accesses(
    program: Function, seed: int, rules: IndexRules
) -> tuple[list[object], dict[str, int]]:
    """What a program reads, and what its variables end with, for random arguments."""
    rng = random.Random(seed)
    big = 2**40 if rules is BIG else 2**30 - 1
    lengths = {
        ("a", 0): rng.choice([1, 100, big, big]),
        ("m", 0): 5,
        ("m", 1): rng.choice([1, big]),
    }
    lengths["out", 0] = 1
    width, blocks = rng.choice([1, 32, 1024]), rng.choice([1, 1000, 2**19])
    places = {
        "cuda.threadIdx.x": width - 1, "cuda.blockDim.x": width,
        "cuda.grid.x": width * blocks - 1, "cuda.gridsize.x": width * blocks,
    }  # fmt: skip
    most = 2**63 - 1 if rules is BIG else 2**30 - 1
    arguments = {"n": rng.choice([0, -1, most // 2, most]), "w": rng.choice([1, -(2**31)])}
    seen: list[object] = []

    def accessed(access: object, indices: tuple[int, ...]) -> None:
        assert isinstance(access, (Load, Store))
        seen.append(indices)
        inside = (
            -lengths[access.array.name, axis] <= index < lengths[access.array.name, axis]
            for axis, index in enumerate(indices)
        )
        if rules is PLAIN and not all(inside):
            raise _Outside

    machine = Interpreter(arguments, lengths, places, lambda e, value: None, accessed=accessed)
    machine.run(program)
    return seen, machine.variables


def mean_the_same(program: Function, seed: int, rules: IndexRules) -> bool:
    """Whether a program and what is left of it after ``narrow`` read the same; not asked of one
    that is undefined."""
    small = narrowed_module(Module(program), rules)
    assert verify(small) == []
    try:
        seen, variables = accesses(program, seed, rules)
    except _Outside:
        return False
    result, ended = accesses(small.kernel, seed, rules)
    assert result == seen
    modular = {name for name in variables if ended[name] != variables[name]}
    assert all((ended[name] - variables[name]) % 2**32 == 0 for name in modular)
    return True


@pytest.mark.parametrize("rules", [BIG, PLAIN])
@pytest.mark.parametrize("batch", range(4))
def test_random_programs_mean_what_they_meant(batch: int, rules: IndexRules) -> None:
    defined = 0
    for seed in range(1000 + batch * 15, 1015 + batch * 15):
        program = Writer(random.Random(seed)).program()
        defined += sum(mean_the_same(program, run, rules) for run in range(3))
    assert defined >= 10


def index_program(rng: random.Random) -> Function:
    """Indices that are sums of products, of variables that are set and read like them."""

    def number(depth: int) -> Expr:
        if depth == 0 or rng.random() < 0.2:
            leaves = [v("n"), v("p"), v("q"), place("grid.x"), dim(), i(rng.choice([0, 1, -1, 4]))]
            return rng.choice(leaves)
        row = rng.choice([ADD, ADD, SUB, MUL, MUL])
        return op(row, number(depth - 1), number(depth - 1))

    def body(depth: int) -> list[Stmt]:
        out: list[Stmt] = []
        for _ in range(rng.randint(2, 4)):
            kind = rng.random()
            if kind < 0.45:
                out.append(let(rng.choice("pq"), number(rng.choice([1, 2, 3]))))
            elif kind < 0.8 or depth == 0:
                out.append(use(number(rng.choice([0, 1, 2]))))
            elif kind < 0.9:
                guard = op(LT, rng.choice([v("n"), v("p"), dim()]), number(1))
                out.append(when(guard, body(depth - 1), body(depth - 1)))
            else:
                out.append(count("k", i(0), i(3), i(1), *body(depth - 1)))
        return out

    return function(let("p", i(0)), let("q", i(3)), *body(2), n=WEAK_INT, w=int32)


@pytest.mark.slow
def test_indices_mean_what_they_meant() -> None:
    rng = random.Random(7)
    defined = sum(
        mean_the_same(index_program(rng), run, PLAIN) for _ in range(250) for run in range(2)
    )
    assert defined >= 100

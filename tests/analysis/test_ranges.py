"""Range analysis: it proves what typical kernels need, and never proves anything false."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from pycu2c.analysis.ranges import range_analysis as found
from pycu2c.analysis.ranges.interval_arithmetic import Interval
from pycu2c.analysis.ranges.range_analysis import Ranges, unconstrained_parameters
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import INDEX32_LIMIT
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar, int32, uint8
from pycu2c.ir.nodes import Break, Continue, Expr, Function, Load, Select, Stmt, Var
from pycu2c.ir.walk import all_expressions
from pycu2c.ops.operators import (  # fmt: skip
    ADD,
    AND,
    EQ,
    FLOORDIV,
    GE,
    GT,
    LE,
    LT,
    MOD,
    MUL,
    NE,
    SHL,
    SHR,
    SUB,
)
from support.random_integer_ir import (
    HERE,
    PLANE,
    Interpreter,
    Writer,
    both,
    call,
    count,
    dim,
    either,
    function,
    i,
    leave,
    let,
    load,
    loop,
    negate,
    op,
    place,
    use,
    v,
    when,
)

SMALL = LaunchAssumptions(index32_safe=True)
MOST = INDEX32_LIMIT - 1
N = v("n")


def analyse(program: Function, facts: LaunchAssumptions) -> Ranges:
    """The ranges of a function that may be called by anyone."""
    return found.analyse(program, facts, unconstrained_parameters(program))


def loads(program: Function) -> list[Load]:
    return [e for e in all_expressions(program.body) if isinstance(e, Load)]


def ranges_of(program: Function, facts: LaunchAssumptions = SMALL) -> tuple[Ranges, list[Load]]:
    return analyse(program, facts), loads(program)


def assert_inside(program: Function) -> None:
    """Every index of every load is proved to lie inside its axis."""
    ranges, read = ranges_of(program, LaunchAssumptions())
    assert read
    for e in read:
        for axis, index in enumerate(e.indices):
            assert ranges.of(index).low >= 0
            assert ranges.is_in_bounds(e, axis)


# ---- what kernels do -------------------------------------------------------------------------


def test_early_return_guards_what_follows() -> None:
    index = v("i")
    assert_inside(function(
        let("i", place("grid.x")), when(op(GE, index, dim()), [leave()]), use(index)
    ))  # fmt: skip


def test_coordinates_are_the_same_wherever_they_are_read() -> None:
    here = place("grid.x")
    assert_inside(function(when(op(LT, here, dim()), [use(place("grid.x"))])))


def test_stencil() -> None:
    index = v("i")
    inside = both(op(GT, index, i(0)), op(LT, index, op(SUB, dim(), i(1))))
    assert_inside(function(
        let("i", place("grid.x")),
        when(inside, [use(op(SUB, index, i(1))), use(index), use(op(ADD, index, i(1)))]),
    ))  # fmt: skip


def test_stencil_of_two_axes_after_a_return() -> None:
    x, y = v("x"), v("y")
    width, height = dim("m", 1, PLANE), dim("m", 0, PLANE)
    read = load(op(SUB, y, i(1)), op(ADD, x, i(1)), name="m")
    assert_inside(function(
        let("x", place("grid.x")), let("y", place("grid.y")),
        let("width", width), let("height", height),
        when(either(op(GE, x, v("width")), op(GE, y, v("height"))), [leave()]),
        when(both(op(LT, x, op(SUB, v("width"), i(1))), op(GT, y, i(0))), [let("f", read)]),
    ))  # fmt: skip


def test_tree_reduction() -> None:
    s, tid = v("s"), v("tid")
    index = op(ADD, tid, s)
    program = function(
        let("tid", place("threadIdx.x")), let("s", i(128)),
        loop(op(GT, s, i(0)), when(op(LT, tid, s), [use(index)]), let("s", op(FLOORDIV, s, i(2)))),
    )  # fmt: skip
    ranges, _ = ranges_of(program)
    assert ranges.of(index) == Interval(1, 254 + 1)
    assert ranges.variable("s") == Interval(0, 128)


STAGE = v("stage")
UP = [let("stage", op(ADD, STAGE, i(1))), when(op(EQ, STAGE, i(7)), [let("stage", i(0))])]
UP_BEFORE = [when(op(EQ, STAGE, i(6)), [let("stage", i(-1))]), let("stage", op(ADD, STAGE, i(1)))]
NEXT = v("next")
UP_IN_A_COPY = [
    let("next", op(ADD, STAGE, i(1))),
    when(op(EQ, NEXT, i(7)), [let("next", i(0))]),
    let("stage", NEXT),
]


@pytest.mark.parametrize("advance", [UP, UP_BEFORE, UP_IN_A_COPY])
def test_position_in_a_ring(advance: list[Stmt]) -> None:
    index = v("stage")
    ranges, _ = ranges_of(
        function(
            let("stage", i(0)), loop(op(GT, N, i(0)), use(index), *advance, let("n", load(i(0))))
        )
    )
    assert ranges.of(index) == Interval(0, 6)


def test_scan_reads_behind_itself() -> None:
    distance, tid = v("d"), v("tid")
    index = op(SUB, tid, distance)
    program = function(
        let("tid", place("threadIdx.x")), let("d", i(1)),
        loop(
            op(LT, distance, i(64)),
            when(op(GE, tid, distance), [use(index)]),
            let("d", op(MUL, distance, i(2))),
        ),
    )  # fmt: skip
    ranges, _ = ranges_of(program)
    assert ranges.of(index) == Interval(0, 1022)
    assert ranges.variable("d") == Interval(1, 126)


def test_for_loop_over_an_array() -> None:
    assert_inside(function(count("k", i(0), dim(), i(1), use(v("k")))))


def test_for_loop_backwards() -> None:
    last = op(SUB, dim(), i(1))
    assert_inside(function(count("k", last, i(-1), i(-1), use(v("k")))))


def test_for_loop_with_the_stride_of_the_grid() -> None:
    grid = count("k", place("grid.x"), dim(), place("gridsize.x"), use(v("k")))
    assert_inside(function(grid))


def test_while_loop_with_the_stride_of_the_grid() -> None:
    program = function(
        let("i", place("grid.x")), let("stride", place("gridsize.x")),
        loop(op(LT, v("i"), dim()), use(v("i")), let("i", op(ADD, v("i"), v("stride")))),
    )  # fmt: skip
    assert_inside(program)
    assert analyse(program, SMALL).variable("i") == Interval(0, 2 * MOST)


def test_mirrored_index() -> None:
    index = v("i")
    mirrored = op(SUB, op(SUB, dim(), i(1)), index)
    assert_inside(function(
        let("i", place("grid.x")),
        when(op(LT, index, dim()), [let("j", mirrored), use(v("j")), use(mirrored)]),
    ))  # fmt: skip


def test_mirrored_in_the_block() -> None:
    last = op(SUB, place("blockDim.x"), i(1))
    index = op(SUB, last, place("threadIdx.x"))
    assert analyse(function(use(index)), SMALL).of(index) == Interval(0, 1023)


def test_binary_search() -> None:
    low, high, middle = v("low"), v("high"), v("middle")
    assert_inside(function(
        let("low", i(0)), let("high", dim()),
        loop(
            op(LT, low, high),
            let("middle", op(FLOORDIV, op(ADD, low, high), i(2))),
            use(middle),
            when(op(EQ, v("n"), i(3)), [let("low", op(ADD, middle, i(1)))],
                 [let("high", middle)]),
        ),
        n=WEAK_INT,
    ))  # fmt: skip


def test_clamped_index() -> None:
    last = op(SUB, dim(), i(1))
    clamped = call("min", call("max", v("n"), i(0)), last)
    program = function(when(op(GT, dim(), i(0)), [use(clamped)]), n=WEAK_INT)
    assert_inside(program)


def test_clamped_by_conditional_expressions() -> None:
    index = Select(op(LT, v("n"), dim()), v("n"), op(SUB, dim(), i(1)), WEAK_INT, HERE)
    program = function(
        when(op(LT, v("n"), i(0)), [leave()]), when(op(EQ, dim(), i(0)), [leave()]),
        let("k", index), use(v("k")), n=WEAK_INT,
    )  # fmt: skip
    assert_inside(program)


def test_wrapped_around() -> None:
    after = op(MOD, op(ADD, v("i"), i(1)), dim())
    before = op(MOD, op(SUB, v("i"), i(1)), dim())
    assert_inside(function(
        let("i", place("grid.x")), when(op(LT, v("i"), dim()), [use(after), use(before)])
    ))  # fmt: skip


def test_break_and_continue_guard_what_follows() -> None:
    k = v("k")
    assert_inside(function(
        let("k", i(0)),
        loop(
            op(GE, k, i(0)),
            when(op(GE, k, dim()), [Break(HERE)]),
            use(k),
            let("k", op(ADD, k, i(1))),
            when(op(EQ, k, i(5)), [Continue(HERE)]),
        ),
    ))  # fmt: skip


def test_conditions_after_a_loop() -> None:
    index = op(SUB, v("k"), dim())
    program = function(
        let("k", i(0)), loop(op(LT, v("k"), dim()), let("k", op(ADD, v("k"), i(1)))), use(index)
    )
    assert analyse(program, SMALL).of(index) == Interval(0, 0)


def test_number_of_elements() -> None:
    size = op(MUL, dim("m", 0, PLANE), dim("m", 1, PLANE))
    program = function(when(op(LT, place("grid.x"), size), [use(place("grid.x"))]))
    assert analyse(program, SMALL).of(size) == Interval(0, INDEX32_LIMIT)


def test_a_condition_kept_in_a_variable() -> None:
    inside = v("inside", WEAK_BOOL)
    start = [let("i", place("grid.x")), let("inside", op(LT, v("i"), dim()))]
    assert_inside(function(*start, when(inside, [use(v("i"))])))
    assert_inside(function(*start, when(negate(inside), [leave()]), use(v("i"))))
    moved = function(*start, let("i", op(MUL, v("i"), i(2))), when(inside, [use(v("i"))]))
    assert not analyse(moved, LaunchAssumptions()).is_in_bounds(loads(moved)[0], 0)


def test_a_condition_after_the_access_it_bounds() -> None:
    here = [let("row", place("grid.y")), let("k", op(ADD, op(MUL, v("row"), N), v("row")))]
    guarded = when(op(LT, v("row"), N), [use(v("k"))])
    moved = [*here, let("row", op(SUB, v("row"), i(1))), guarded]
    n = {"n": WEAK_INT}
    for body, proved in (([*here, guarded], True), ([*here, use(v("k"))], False), (moved, False)):
        program = function(when(op(GT, N, dim()), [leave()]), *body, **n)
        assert (analyse(program, SMALL).of(loads(program)[0].indices[0]).low >= 0) is proved


# ---- counters ----------------------------------------------------------------------------------

STEP = let("c", op(ADD, v("c"), i(1)))
MAYBE = when(op(LT, v("n"), i(0)), [STEP])
HALVE = let("n", op(SHR, v("n"), i(1)))


@pytest.mark.parametrize(
    ("loop_of", "most"),
    [
        (count("k", i(0), i(10), i(1), STEP), 10),
        (count("k", i(10), i(0), i(-3), STEP), 4),
        (count("k", i(0), i(0), i(1), STEP), 0),
        (count("k", i(0), dim(), i(1), MAYBE), INDEX32_LIMIT),
        (count("k", dim(), i(0), i(-2), STEP), (MOST + 1) // 2),
        (count("k", i(0), i(10), v("n"), STEP), 10),
        (count("k", i(0), i(3), i(1), count("j", i(0), i(5), i(2), STEP), STEP), 12),
        (count("k", i(0), i(3), i(1), when(op(LT, N, i(0)), [STEP, STEP], [STEP])), 6),
        (count("k", i(0), i(9), i(1), when(op(LT, N, i(0)), [Continue(HERE)]), STEP), 9),
        (count("k", i(0), i(9), i(1), STEP, when(op(LT, N, i(0)), [Break(HERE)]), STEP), 18),
        (count("k", i(0), i(8), i(1), let("c", op(ADD, v("c"), v("u", int32)))), 8 * (2**31 - 1)),
        (loop(op(GT, v("u", int32), i(0, int32)), STEP,
              let("u", op(FLOORDIV, v("u", int32), i(2, int32)))), 31),
    ],
)  # fmt: skip
def test_counters_are_bounded_by_the_trip_count(loop_of: Stmt, most: int) -> None:
    program = function(let("c", i(0)), let("j", i(0)), loop_of, use(v("c")), n=WEAK_INT, u=int32)
    final = loads(program)[-1].indices[0]
    assert analyse(program, SMALL).of(final).high == most


@pytest.mark.parametrize(
    "endless",
    [
        loop(op(NE, v("j"), N), STEP, let("j", op(ADD, v("j"), i(2)))),
        loop(op(NE, N, i(0)), STEP, HALVE),  # -1 >> 1 is -1
        loop(op(LT, v("j"), i(9)), STEP, MAYBE, when(op(LT, N, i(0)), [Continue(HERE)]),
             let("j", op(ADD, v("j"), i(1)))),
        loop(op(LT, v("j"), i(9)), STEP, let("j", op(ADD, v("j"), op(AND, N, i(1))))),
        loop(op(GT, N, i(5)), STEP, let("n", op(MUL, N, i(2)))),
        count("k", i(0), i(64), i(1), let("c", op(ADD, v("c"), v("c")))),
        count("k", i(0), i(64), i(1), STEP, let("c", op(MUL, v("c"), i(2)))),
    ],
)  # fmt: skip
def test_counters_without_a_bound_may_be_anything(endless: Stmt) -> None:
    program = function(let("c", i(1)), let("j", i(0)), endless, n=WEAK_INT)
    assert analyse(program, SMALL).variable("c").high == 2**63 - 1


def test_a_sum_that_leaves_64_bits_may_be_anything() -> None:
    far = let("c", op(ADD, v("c"), i(2**62)))
    program = function(let("c", i(0)), count("k", i(0), i(3), i(1), far))
    assert analyse(program, SMALL).variable("c") == Interval(-(2**63), 2**63 - 1)


def test_a_counter_keeps_its_distance_from_what_lasts() -> None:
    """Inserting k elements behind those that are there."""
    place = op(SUB, v("c"), v("n"))
    program = function(
        when(op(GT, N, i(9)), [leave()]), when(op(LT, N, i(0)), [leave()]),
        let("c", N), count("k", i(0), i(10), i(1), STEP, use(place)), n=WEAK_INT,
    )  # fmt: skip
    assert analyse(program, SMALL).of(place) == Interval(1, 10)


def test_a_divisor_is_no_greater_than_the_root() -> None:
    square, further = op(MUL, v("d"), v("d")), let("d", op(ADD, v("d"), i(1)))
    for condition in (op(LE, square, dim()), op(GT, dim(), square)):
        program = function(let("d", i(2)), loop(condition, further))
        assert analyse(program, SMALL).variable("d") == Interval(2, math.isqrt(INDEX32_LIMIT) + 1)


# ---- rules -----------------------------------------------------------------------------------


def interval(e: Expr, *before: object, **parameters: object) -> Interval:
    program = function(*before, use(e), **parameters)  # type: ignore[arg-type]
    return analyse(program, SMALL).of(e)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (op(MOD, v("n"), i(8)), Interval(0, 7)),
        (op(MOD, v("n"), i(-8)), Interval(-7, 0)),
        (op(AND, v("n"), i(15)), Interval(0, 15)),
        (op(SHR, place("threadIdx.x"), i(5)), Interval(0, 31)),
        (op(SHL, place("threadIdx.x"), i(2)), Interval(0, 4092)),
        (op(FLOORDIV, place("threadIdx.x"), i(-2)), Interval(-512, 0)),
        (op(FLOORDIV, i(100), v("n")), Interval(-100, 100)),
        (op(ADD, v("n"), i(1)), Interval(-(2**63), 2**63 - 1)),
        (op(SUB, v("n"), v("n")), Interval(0, 0)),
        (call("abs", op(SUB, place("threadIdx.x"), i(10))), Interval(0, 1013)),
        (call("min", v("n"), i(3)), Interval(-(2**63), 3)),
        (call("max", v("n"), i(3)), Interval(3, 2**63 - 1)),
        (op(ADD, v("u", uint8), i(1, uint8)), Interval(0, 255)),
        (op(LT, place("threadIdx.x"), i(1024)), Interval(1, 1)),
        (op(EQ, place("blockDim.x"), i(0)), Interval(0, 0)),
        (place("grid.x"), Interval(0, MOST - 1)),
    ],
)
def test_rule(e: Expr, expected: Interval) -> None:
    assert interval(e, n=WEAK_INT, u=uint8) == expected


@pytest.mark.parametrize(
    ("exiting", "expected"),
    [
        (either(op(LT, N, i(2)), op(GT, N, i(9))), Interval(2, 9)),
        (negate(both(op(LE, i(2), N), op(LE, N, i(9)))), Interval(2, 9)),
        (negate(op(AND, op(LE, i(2), N), op(LE, N, i(9)))), Interval(2, 9)),
        (op(NE, N, i(0)), Interval(0, 0)),
        (either(op(LT, N, i(0)), op(EQ, N, i(0))), Interval(1, 2**63 - 1)),
    ],
)
def test_conditions_of_every_kind(exiting: Expr, expected: Interval) -> None:
    assert interval(v("n"), when(exiting, [leave()]), n=WEAK_INT) == expected


def test_an_assignment_invalidates_ranges() -> None:
    index = op(SUB, v("i"), v("s"))
    guarded = [let("s", op(MUL, v("s"), i(2))), use(index)]
    program = function(when(op(GE, v("i"), v("s")), guarded), i=WEAK_INT, s=WEAK_INT)
    assert analyse(program, SMALL).of(index).low < 0


def test_an_increment_shifts_ranges() -> None:
    gap = op(SUB, v("i"), v("before"))
    steps = [
        let("i", v("n")),
        let("before", v("i")),
        let("i", op(ADD, v("i"), place("threadIdx.x"))),
    ]
    bounded = [when(either(op(GT, N, i(99)), op(LT, N, i(0))), [leave()])]
    assert interval(gap, *bounded, *steps, n=WEAK_INT) == Interval(0, 1023)


def test_code_that_nothing_reaches_has_the_whole_type() -> None:
    index = v("n", int32)
    assert interval(index, leave(), n=int32) == Interval(-(2**31), 2**31 - 1)


def test_nested_loops_settle() -> None:
    body = use(op(ADD, v("k0"), v("k3")))
    for depth in range(5):
        body = count(f"k{depth}", i(0), dim(), i(1), body, let("t", op(ADD, v("t"), i(1))))
    assert analyse(function(body), SMALL).variable("k4") == Interval(0, MOST)


H, W, Y, X, K = (v(name, int32) for name in "hwyxk")
FEW_PIXELS = LaunchAssumptions(index32_safe=True, small_products=((3, 4),))


def in_image(e: Expr, assumptions: LaunchAssumptions, least: int = 0) -> Interval:
    """The interval of e where y is below h, x below w, and k below h * w."""
    inside = both(op(LT, Y, H), both(op(LT, X, W), op(LT, K, op(MUL, H, W))))
    low = i(least, int32)
    nonnegative = both(op(GE, Y, low), both(op(GE, X, low), op(GE, K, low)))
    program = function(
        when(inside, [when(nonnegative, [let("t", e)])]),
        h=int32,
        w=int32,
        y=int32,
        x=int32,
        k=int32,
    )
    return found.analyse(program, assumptions).of(e)


def plus(e: Expr, number: int) -> Expr:
    return op(ADD, e, i(number, int32))


@pytest.mark.parametrize(
    ("product", "high"),
    [
        (op(MUL, H, W), 2**29),
        (op(MUL, Y, W), 2**29),
        (op(MUL, W, Y), 2**29),
        (op(MUL, X, Y), 2**29),
        (op(MUL, plus(Y, 1), W), 2**29),
        (op(MUL, plus(Y, 2), W), 2**30),
        (op(MUL, plus(Y, 2), plus(W, 1)), 3 * 2**29 + 1),
        (op(MUL, plus(Y, 4), W), 2**31 - 1),
        (op(MUL, X, W), 2**31 - 1),
        (op(MUL, H, H), 2**31 - 1),
    ],
)
def test_a_small_product_of_arguments_bounds_others(product: Expr, high: int) -> None:
    assert in_image(product, FEW_PIXELS).high == high
    assert in_image(product, SMALL).high == 2**31 - 1


def test_a_product_of_negative_numbers_is_not_bounded() -> None:
    product, names = op(MUL, v("x"), v("y")), {"h": WEAK_INT, "w": WEAK_INT, "y": WEAK_INT}
    inside = both(op(LT, v("y"), v("h")), op(LT, v("x"), v("w")))
    program = function(when(inside, [let("t", product)]), **names, x=WEAK_INT)
    assert found.analyse(program, FEW_PIXELS).of(product).high == MOST**2


@pytest.mark.parametrize(
    ("difference", "low"),
    [
        (op(SUB, op(MUL, H, W), op(MUL, Y, W)), 1),
        (op(SUB, op(MUL, H, W), op(MUL, W, H)), 0),
        (op(SUB, op(MUL, H, W), op(ADD, op(MUL, Y, W), X)), 1),
        (op(SUB, op(MUL, W, H), op(ADD, Y, op(MUL, H, X))), 1),
        (op(SUB, op(MUL, H, W), op(ADD, op(MUL, plus(Y, 1), W), X)), -(2**29) + 1),
        (op(SUB, op(MUL, H, W), op(MUL, X, plus(Y, -3))), 1),
        (op(SUB, H, op(FLOORDIV, K, W)), 1),
        (op(SUB, H, op(FLOORDIV, K, plus(W, 1))), 1),
        (op(SUB, H, op(FLOORDIV, plus(K, 1), W)), 1 - 2**29),
        (op(SUB, H, op(FLOORDIV, K, plus(W, -1))), 2 - 2**29),
    ],
)
def test_a_product_of_arguments_bounds_rows_and_indices(difference: Expr, low: int) -> None:
    assert in_image(difference, FEW_PIXELS).low == low


# ---- soundness ---------------------------------------------------------------------------------


def watched(
    program: Function,
    ranges: Ranges,
    rng: random.Random,
    most: int,
    arguments: Mapping[str, int] = MappingProxyType({}),
) -> Interpreter:
    """An interpreter of the program with random arguments that checks each node's range."""
    rows, columns = rng.choice([0, 1, 2, 5, most // 16]), rng.choice([1, 3, 9])
    lengths = {("a", 0): rng.choice([0, 1, 2, 7, 100, most]), ("m", 0): rows, ("m", 1): columns}
    width, blocks = rng.choice([1, 32, 1024]), rng.choice([1, 2, 1000, 2**19])
    thread, block = rng.randrange(width), rng.randrange(blocks)
    places = {
        "cuda.threadIdx.x": thread, "cuda.blockDim.x": width,
        "cuda.grid.x": block * width + thread, "cuda.gridsize.x": blocks * width,
    }  # fmt: skip
    n = rng.choice([0, 1, -1, 5, 100, 2**31, -(2**63), 2**63 - 1, rng.randrange(50)])
    w = rng.choice([0, 1, -1, 2**31 - 1, -(2**31), rng.randrange(50)])

    def saw(e: Expr, value: int) -> None:
        assert value in ranges.of(e), f"{e} gives {value}, not in {ranges.of(e)}"

    def assigned(name: str, value: int) -> None:
        assert value in ranges.variable(name), f"{name} is {value}"

    def accessed(access: object, indices: tuple[int, ...]) -> None:
        if isinstance(access, Load):
            for axis, index in enumerate(indices):
                length = lengths[access.array.name, axis]
                assert not ranges.is_in_bounds(access, axis) or 0 <= index < length

    return Interpreter({"n": n, "w": w, **arguments}, lengths, places, saw, assigned, accessed)


def check_program(seed: int) -> None:
    rng = random.Random(seed)
    program = Writer(rng).program()
    for facts, most in ((LaunchAssumptions(), 2**40), (SMALL, 2**28)):
        ranges = analyse(program, facts)
        for _ in range(4):
            watched(program, ranges, rng, most).run(program)


@pytest.mark.parametrize("batch", range(10))
def test_random_programs_stay_in_their_ranges(batch: int) -> None:
    for seed in range(batch * 20, batch * 20 + 20):
        check_program(seed)


class ProductWriter(Writer):
    """Writes products, sums and quotients of variables that are related to arguments."""

    def program(self) -> Function:
        """Each variable is an argument less a little, or a coordinate that is below one."""
        first: list[Stmt] = []
        for name in "pqrs":
            least, below = self.rng.choice([0, 0, -1, -200]), self.argument()
            value = self.rng.choice([op(SUB, below, i(1)), self.argument(), place("threadIdx.x")])
            outside = either(op(LT, v(name), i(least)), op(GE, v(name), below))
            first += [let(name, value), when(outside, [leave()])]
        return function(*first, *self.block(1, 6), **dict.fromkeys(ARGUMENTS, WEAK_INT))

    def argument(self) -> Var:
        return v(self.rng.choice(ARGUMENTS))

    def simple(self) -> Stmt:
        return let(self.name(WEAK_INT), self.number(WEAK_INT, 3))

    def binary(self, scalar: Scalar, depth: int) -> Expr:
        row = self.rng.choice([MUL, MUL, ADD, ADD, SUB, FLOORDIV])
        return op(row, self.number(scalar, depth - 1), self.number(scalar, depth - 1))

    def leaf(self, scalar: Scalar) -> Expr:
        if scalar != WEAK_INT or self.rng.random() < 0.1:
            return i(self.rng.choice([0, 1, 2, 100]), scalar)
        return self.argument() if self.rng.random() < 0.4 else v(self.name(WEAK_INT))


ARGUMENTS = "height", "width", "depth"
SIZES = [(1, 1, 1), (2, 3, 5), (2**29, 1, 1), (1, 2**15, 2**14), (812, 812, 812), (7, 1, 900)]
LAST_ARGUMENTS = LaunchAssumptions(index32_safe=True, small_products=((3, 4, 5),))


@pytest.mark.parametrize("batch", range(4))
def test_small_products_bound_random_programs(batch: int) -> None:
    bounded = 0
    for seed in range(batch * 50, batch * 50 + 50):
        rng = random.Random(seed)
        program = ProductWriter(rng).program()
        ranges = found.analyse(program, LAST_ARGUMENTS)
        bounded += bool(ranges.required_products)
        for sizes in SIZES:
            shuffled = dict(zip(ARGUMENTS, rng.sample(sizes, 3), strict=True))
            watched(program, ranges, rng, 2**28, shuffled).run(program)
    assert bounded


def test_the_interpreter_detects_a_false_range() -> None:
    program = function(let("k", op(ADD, v("n"), i(1))), n=WEAK_INT)
    narrow = Ranges(program, Interval(0, 0), {id(program.body[0].value): Interval(5, 5)}, {})  # type: ignore[union-attr]
    with pytest.raises(AssertionError, match="not in"):
        watched(program, narrow, random.Random(1), 10).run(program)

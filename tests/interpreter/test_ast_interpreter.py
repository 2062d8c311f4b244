"""The oracle on plain functions, with types given explicitly."""

from __future__ import annotations

import ast
import math
import operator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda
from pycu2c.base.source import Source, source_of
from pycu2c.base.types import Scalar, boolean, float32, float64, int8, int32, int64
from pycu2c.interpreter.functions import UnsupportedByReferenceError
from support.ast_interpreter.interpreter import ReferenceKernel
from support.ast_interpreter.weak_floats import ReferenceTypes

SCALE = 3
WEIGHTS = (2, 5)


def kernel_of(function: Any, types: Any = None, joins: Any = None, **more: Any) -> ReferenceKernel:
    """A kernel all of whose parameters are arrays, unless ``parameters`` says otherwise."""
    source = source_of(function)
    parameters = more.get("parameters") or [int32[:]] * len(source.tree.args.args)
    devices = {id(d): source_of(d) for d in more.get("devices", ())}
    return ReferenceKernel(
        source,
        ReferenceTypes(
            nodes(source, ast.Name, types or {}),
            nodes(source, ast.expr, joins or {}),
        ),
        parameters,
        lambda value: devices.get(id(value)),
    )


def nodes(source: Source, kind: type[ast.AST], types: dict[str, Scalar]) -> dict[Any, Scalar]:
    """The nodes whose text is a key: stores of a name, or expressions."""
    result = {}
    for node in ast.walk(source.tree):
        stores = not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Store)
        if isinstance(node, kind) and stores and ast.unparse(node) in types:
            result[node] = types[ast.unparse(node)]
    return result


def run(
    function: Any, *arguments: Any, grid: Any = 1, block: Any = 1, shared: int = 0, **more: Any
) -> None:
    kernel_of(function, **more).launch(grid, block, shared, arguments)


# ---- numbers -----------------------------------------------------------------------------------


def saxpy(y, a, x):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i]


def test_python_numbers_give_way_to_numpy_ones() -> None:
    x = np.float32([0.1, 0.2, 0.3])
    y = np.float32([1, 2, 3])
    expected = np.float32(0.1) * x + y
    types = [float32[:], float64, float32[:]]
    run(
        saxpy,
        y,
        0.1,
        x,
        grid=2,
        block=2,
        parameters=[types[0], Scalar(float64.dtype, True), types[2]],
    )
    assert np.array_equal(y, expected)


def test_arguments_are_converted_to_the_signature() -> None:
    y = np.zeros(2)
    run(saxpy, y, 0.1, np.ones(2), block=2, parameters=[float64[:], float32, float64[:]])
    assert y[0] == float(np.float32(0.1))


def arithmetic(out):
    out[0] = -7 // 2
    out[1] = -7 % 3
    out[2] = 7 // 0
    out[3] = 1 << 64
    out[4] = 2**62 * 2 * 2
    out[5] = abs(-3) + round(2.5) + int(-1.9) + len(out)
    out[6] = max(3, 9, 4) - min((8, 2))
    out[7] = bool(4) + (not 4)


def test_arithmetic_is_pythons_in_64_bits() -> None:
    out = np.zeros(8, np.int64)
    run(arithmetic, out)
    assert out.tolist() == [-4, 2, 0, 0, 0, 3 + 2 - 1 + 8, 7, 1]


def powers(out):
    out[0] = 2**-1
    e = -1
    out[1] = 2**e
    out[2] = 2 ** (SCALE - 5)


def test_a_constant_negative_exponent_gives_a_float() -> None:
    out = np.zeros(3)
    run(powers, out)
    assert out.tolist() == [0.5, 0, 0.25]


def conversions(out, x):
    out[0] = x[0]
    out[1] = x[0] + 1
    out[2] = np.uint8(x[1])
    out[3] = float(x[0]) / 2
    out[4] = math.floor(2.75) + math.sqrt(x[1] * 0 + 4)


def test_stores_and_conversions_wrap_as_astype_does() -> None:
    out = np.zeros(5, np.int16)
    run(conversions, out, np.int16([np.iinfo(np.int16).max, -1]))
    assert out.tolist() == [32767, -32768, 255, 16383, 4]


def truths(out, flags):
    out[0] = flags[0] + flags[1]
    out[1] = flags[0] and not flags[2]
    out[2] = 0.5


def test_bools_are_numpys() -> None:
    out = np.zeros(3, np.bool_)
    run(truths, out, np.array([True, True, False]), parameters=[boolean[:], boolean[:]])
    assert out.tolist() == [True, True, True]


# ---- types of variables ------------------------------------------------------------------------


def accumulate(out, x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    out[0] = total / 3


def test_a_variable_takes_the_type_that_inference_gives() -> None:
    x = np.float32([16777216, 1, 1])
    single, double = np.zeros(1), np.zeros(1)
    run(accumulate, single, x, types={"total": float32})
    run(accumulate, double, x, types={"total": float64})
    assert single[0] == np.float32(16777216) / np.float32(3)
    assert double[0] == 16777218 / 3


def choose(out, x):
    out[0] = (x[0] if x[1] > 0 else 0.1) * 10000000.0
    out[1] = (x[1] or 0.1) * 10000000.0


def test_conditionals_take_the_joined_type() -> None:
    x = np.float32([1, 0])
    joins = {"x[0] if x[1] > 0 else 0.1": float32, "x[1] or 0.1": float32}
    joined, apart = np.zeros(2), np.zeros(2)
    run(choose, joined, x, joins=joins)
    run(choose, apart, x)
    assert joined.tolist() == [float(np.float32(0.1) * np.float32(1e7))] * 2
    assert apart.tolist() == [1e6, 1e6]


def declared(out):
    x: float32 = 0.1
    y: int8 = 3.9
    out[0] = x
    out[1] = y


def test_annotations_convert() -> None:
    out = np.zeros(2)
    run(declared, out)
    assert out.tolist() == [float(np.float32(0.1)), 3]


def sometimes(out, x):
    if x[0] > 5:
        k = 7
    out[0] = k


def test_an_unassigned_variable_reads_zero() -> None:
    out = np.full(1, 9, np.int32)
    run(sometimes, out, np.int32([1]))
    assert out[0] == 0


# ---- order and number of evaluations -------------------------------------------------------------


def tickets(out, counter):
    out[cuda.atomic.add(counter, 0, 1)] += 5
    if 0 <= cuda.atomic.add(counter, 0, 1) < 9:
        out[1] = 1
    out[2], out[3] = cuda.atomic.add(counter, 0, 1), cuda.atomic.add(counter, 0, 1)


def test_everything_is_evaluated_once_from_left_to_right() -> None:
    out, counter = np.zeros(4, np.int32), np.zeros(1, np.int32)
    run(tickets, out, counter)
    assert out.tolist() == [5, 1, 2, 3]
    assert counter[0] == 4


def swapped(out):
    a, b = 1, 2
    a, b = b, a
    out[0] = first = a
    (out[1], c), d = (b, 7), first
    out[2] = c * 10 + d


def test_tuples_are_unpacked_and_targets_chained() -> None:
    out = np.zeros(3, np.int32)
    run(swapped, out)
    assert out.tolist() == [2, 1, 72]


def loops(out):
    i = 0
    while True:
        i += 1
        if i % 2 == 0:
            continue
        if i > 7:
            break
        out[0] += i
    for i in range(5, 0, -2):
        out[1] = out[1] * 10 + i


def test_loops_are_pythons() -> None:
    out = np.zeros(2, np.int32)
    run(loops, out)
    assert out.tolist() == [1 + 3 + 5 + 7, 531]


# ---- elements ------------------------------------------------------------------------------------


def corners(m, out):
    h, w = m.shape
    p = -1, -1
    out[0] = m[p]
    out[1] = m[h - 1][0]
    out[-1] = m[0, w - 1]
    m[0][0] = 9


def test_indices_are_pythons() -> None:
    m, out = np.arange(6, dtype=np.int32).reshape(2, 3), np.zeros(3, np.int32)
    run(corners, m, out, parameters=[int32[:, :], int32[:]])
    assert out.tolist() == [5, 3, 2]
    assert m[0, 0] == 9


def outside(a):
    i = cuda.grid(1)
    a[i] = 1


def outside_atomic(a):
    cuda.atomic.add(a, 3, 1)


@pytest.mark.parametrize(
    ("function", "line", "thread"), [(outside, 2, (1, 0, 0)), (outside_atomic, 1, (0, 0, 0))]
)
def test_an_index_out_of_bounds_names_line_and_thread(
    function: Any, line: int, thread: tuple[int, ...]
) -> None:
    expected = f"{__file__}:{function.__code__.co_firstlineno + line}: index 3 is out of bounds"
    with pytest.raises(IndexError, match=expected) as raised:
        run(function, np.zeros(3, np.int32), grid=2, block=2)
    block = (thread[0], 0, 0)
    whose = f"with size 3 of a, in thread {thread} of block {block}"
    assert str(raised.value).endswith(whose)


# ---- threads and blocks --------------------------------------------------------------------------


def places(out):
    x, y = cuda.grid(2)
    out[y, x] = cuda.blockIdx.x * 1000 + cuda.threadIdx.y * 100 + cuda.gridDim.x + cuda.blockDim.y


def test_threads_have_their_coordinates() -> None:
    out = np.zeros((4, 6), np.int32)
    run(places, out, grid=(3, 2), block=(2, 2), parameters=[int32[:, :]])
    assert out[3, 5] == 2 * 1000 + 100 + 3 + 2
    assert (out > 0).all()


def block_sum(out, x):
    tile = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i]
    step = 4
    while step > 0:
        cuda.syncthreads()
        if t < step:
            tile[t] += tile[t + step]
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


def test_barriers_and_shared_memory() -> None:
    out = np.zeros(2, np.int32)
    run(block_sum, out, np.arange(16, dtype=np.int32), grid=2, block=8)
    assert out.tolist() == [28, 92]


def some_leave(out):
    tile = cuda.shared.array((4,), "int32")
    t = cuda.threadIdx.x
    tile[t] = t
    if t >= 2:
        return
    cuda.syncthreads()
    out[t] = tile[3 - t]


def test_threads_that_have_ended_do_not_hold_up_a_barrier() -> None:
    out = np.zeros(2, np.int32)
    run(some_leave, out, block=4)
    assert out.tolist() == [3, 2]


def dirty(out):
    shared = cuda.shared.array(1, int32)
    local = cuda.local.array((1, 2), dtype=int64)
    out[0] = shared[0]
    out[1] = local[0, 1] != 0


def test_new_memory_is_not_zero() -> None:
    out = np.zeros(2, np.int32)
    run(dirty, out)
    assert out.all()


def dynamic(out):
    words = cuda.shared.array(0, np.int32)
    t = cuda.threadIdx.x
    words[t] = t + 1
    cuda.syncthreads()
    out[t] = words[words.shape[0] - 1 - t]


def test_dynamic_shared_memory_has_the_launchs_size() -> None:
    out = np.zeros(3, np.int32)
    run(dynamic, out, block=3, shared=12)
    assert out.tolist() == [3, 2, 1]


# ---- functions and globals -----------------------------------------------------------------------


def neighbour(tile, t):
    cuda.syncthreads()
    if t == 0:
        return tile[1]
    return tile[t - 1]


def synchronizes_in_a_function(out):
    tile = cuda.shared.array(2, int32)
    t = cuda.threadIdx.x
    tile[t] = t + 1
    look = neighbour
    out[t] = neighbour(tile, t) * 10 + look(tile, t=t)


def test_device_functions_may_have_barriers() -> None:
    out = np.zeros(2, np.int32)
    run(synchronizes_in_a_function, out, block=2, devices=[neighbour])
    assert out.tolist() == [22, 11]


def unknown(out):
    out[0] = operator.length_hint(out)


def test_an_unknown_function_raises_when_it_is_called() -> None:
    line = unknown.__code__.co_firstlineno + 1
    with pytest.raises(UnsupportedByReferenceError, match=rf"py:{line}: .*length_hint"):
        run(unknown, np.zeros(1, np.int32))


def missing(out):
    if SCALE == 3:
        out[0] = 1
    else:
        out[0] = not_there(math.not_there) + also_not_there  # noqa: F821


def test_names_that_are_not_reached_may_be_missing() -> None:
    out = np.zeros(1, np.int32)
    run(missing, out)
    assert out[0] == 1


def scaled(out):
    out[0] = SCALE * WEIGHTS[1]


def test_globals_are_frozen_when_the_kernel_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen, out = kernel_of(scaled), np.zeros(1, np.int32)
    monkeypatch.setitem(globals(), "SCALE", 100)
    frozen.launch((1, 1, 1), (1, 1, 1), 0, [out])
    assert out[0] == 15


def test_closures_are_read() -> None:
    k, sine = 4, math.sin

    def enclosed(out):
        out[0] = k + sine(0.0)

    out = np.zeros(1, np.int32)
    run(enclosed, out)
    assert out[0] == 4


def numbas(out):
    i = numba_cuda.grid(1)
    numba_cuda.atomic.add(out, numba_cuda.threadIdx.x, i + 1)


numba_cuda: Any = ModuleType("numba.cuda")


def test_the_module_of_numba_is_understood() -> None:
    out = np.zeros(2, np.int32)
    run(numbas, out, block=2)
    assert out.tolist() == [1, 2]


def test_items_of_tuples_have_64_bits_as_variables_have() -> None:
    def wide(out):
        t = (2**64 - 1, (2**63, 1))
        out[0] = t[0] + 0.0
        out[1] = t[1][0]

    out = np.zeros(2)
    run(wide, out, parameters=[float64[:]])
    assert out.tolist() == [-1, -(2.0**63)]

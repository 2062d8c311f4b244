"""Readability of the generated text: what is not written out."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.launching import run


@kernel
def blurred(a, out):
    i = cuda.grid(1)
    for step in (-1, 0, 1):
        out[i] += a[i + 1 + step] * a[i + 1 - step]


def test_a_loop_over_offsets_is_idiomatic_c():
    text = blurred.inspect("cuda", "float32[::1], float32[::1]")
    for unusual in ("+ -1", "- -1", "+ 0]"):
        assert unusual not in text
    for first, second in (("i", "i + 2"), ("i + 1", "i + 1"), ("i + 2", "i")):
        assert f"out[i] += a[{first}] * a[{second}];" in text


@kernel
def small(a, out):
    i = cuda.grid(1)
    for step in (-128, -1, 0, 1):
        out[i] += a[i] + np.int8(step) - np.int8(0)
        out[i] -= a[i] - np.int8(step)


def test_numbers_of_8_bits_wrap_as_before(target):
    a = np.array([127, -128, -1, 0], np.int8)
    _, result = run(small, (1, 4), (a, np.zeros(4, np.int64)), target)
    with np.errstate(over="ignore"):
        terms = [[a + np.int8(step), a - np.int8(step)] for step in (-128, -1, 0, 1)]
    added, subtracted = np.sum(terms, axis=0, dtype=np.int64)
    assert result.tolist() == (added - subtracted).tolist()


def test_and_of_bools_is_one_expression():
    @kernel("bool[::1], int32[::1], bool[::1], int32[::1]")
    def k(out, a, b, sums):
        i = cuda.grid(1)
        out[i] = a[i] == 3 or (a[i] == 2 and b[i])
        sums[i] = (b[i] or a[i] > 7) + b[i] + (a[i] == 3 and a[i] > 2) + 0

    assert "out[i] = a[i] == 3 || (a[i] == 2 && b[i]);" in k.inspect("cuda")
    a, b = np.array([1, 2, 2, 3], np.int32), np.array([True, False, True, False])
    for backend in ("cpu", "python"):
        out, sums = np.zeros(4, bool), np.zeros(4, np.int32)
        kernel(k.signature, backend=backend)(k.python)[1, 4](out, a, b, sums)
        assert out.tolist() == [False, False, True, True]
        assert sums.tolist() == [1, 0, 1, 1]  # of numpy's bools the first sum is one


@device
def doubled(x):
    return x * 2


@device
def exchanged(x):
    element = cuda.shared.array(1, np.int64)
    element[0] = x
    cuda.syncthreads()
    return element[0]


@kernel(block=1)
def call_with_two_types(out):
    first, second = cuda.shared.array(1, np.int64), cuda.shared.array(1, np.int64)
    if cuda.threadIdx.x == 0:
        first[0] = doubled(out[0]) + doubled(int(out[0]))
        second[0] = exchanged(out[0]) + exchanged(int(out[0]))
    out[0] = first[0] + second[0]


def test_functions_that_are_equal_in_c_are_emitted_once(target):
    """An int and an int64 are different types in Python. Shared memory is not merged."""
    out = run(call_with_two_types, (1, 1), (np.array([3]),), target)[0]
    assert out.tolist() == [18]
    text = call_with_two_types.inspect("cuda", "int64[::1]")
    assert text.count("long long doubled(") == 1
    assert text.count("long long exchanged") == 2


def test_names_of_a_tuple_and_comparisons_of_coordinates():
    text = call_with_two_types.inspect("cuda", "int64[::1]")
    assert "__shared__ long long first[1];" in text
    assert "__shared__ long long second[1];" in text
    assert "if (threadIdx.x == 0) {" in text


@kernel
def products_with_offsets(u, v, out, nx):
    i = cuda.grid(1)
    for k in (0, 1, 2):
        out[i + k * nx] += u[i + k * nx] * v[i + k * nx]


def test_an_index_is_computed_once_in_a_statement(target):
    text = products_with_offsets.inspect("cuda", "float32[::1], float32[::1], float32[::1], int32")
    assert "out[i] += u[i] * v[i];" in text
    assert text.count("int at") == 2
    assert "int at = i + nx;" in text
    u, v, nx = np.arange(6, dtype=np.float32), np.arange(6, dtype=np.float32) + 3, np.int32(-2)
    _, _, out, _ = run(products_with_offsets, (1, 2), (u, v, np.zeros_like(u), nx), target)
    assert out.tolist() == (u * v).tolist()


@kernel
def changing_memory(a, out):
    i = cuda.grid(1)
    out[i] = cuda.atomic.add(a, a[0] - 3, 1) * 10 + cuda.atomic.add(a, a[0] - 3, 1)


def test_an_index_that_memory_changes_is_computed_again(target):
    """The first atomic makes a[0] from 2 to 3, so the second has another index."""
    a, _ = run(changing_memory, (1, 1), (np.array([2, 0, 7]), np.zeros(1, np.int64)), target)
    _, out = run(changing_memory, (1, 1), (np.array([3, 0, 7]), np.zeros(1, np.int64)), target)
    assert a.tolist() == [2, 0, 9]
    assert out.tolist() == [30]


def test_integers_times_0_and_1(target):
    @kernel
    def k(n, x, out):
        i = cuda.grid(1)
        for step in (0, 1):
            out[i, step] = (n * step + step * i) * step
            out[i, 2 + step] = x[i] * step + x[i] * (1 - step)

    x = np.array([np.inf, -0.0])
    _, _, out = run(k, (1, 2), (7, x, np.zeros((2, 4))), target)
    with np.errstate(invalid="ignore"):
        assert out[:, :2].tolist() == [[0, 7], [0, 8]]
        np.testing.assert_array_equal(out[:, 2], x * 0 + x * 1)
        np.testing.assert_array_equal(out[:, 3], x * 1 + x * 0)


@kernel
def mixed_numbers(values, counts, n, out):
    i, j = cuda.grid(2)
    at = i * n + j
    out[at] = values[i] * j + counts[i] / (n - 0.5)
    if counts[i] < values[j] and counts[j] - n < at:
        out[at] -= n


def test_an_operation_has_one_conversion():
    text = mixed_numbers.inspect("cuda", "float32[::1], int64[::1], int32, float32[::1]")
    assert "int at = (unsigned int)i * n + j;" in text
    assert "values[i] * j + " in text
    assert "counts[i] / (n - 0.5)" in text


def test_operations_of_different_types(target):
    values, counts = np.float32([0.5, 7, -1]), np.array([4, -3, 2])
    (*_, out) = run(mixed_numbers, (1, (3, 3)), [values, counts, np.int32(3), np.zeros(9)], target)
    expected = values[:, None] * np.arange(3, dtype=np.float32) + (counts / 2.5)[:, None]
    at = np.arange(9).reshape(3, 3)
    expected -= 3 * ((counts[:, None] < values) & (counts - 3 < at))
    np.testing.assert_allclose(out.reshape(3, 3), expected, rtol=1e-6)


@kernel
def strided_sums(a, out):
    thread, block, width = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockDim.x
    first = thread + block * width
    stride = width * cuda.gridDim.x
    for i in range(first, a.size, stride):
        out[first] += a[i]


def test_a_grid_stride_loop_has_32_bit_counters(target):
    text = strided_sums.inspect("cuda", "float32[::1], float32[::1]")
    assert "int first = blockIdx.x * blockDim.x + threadIdx.x;" in text
    assert "int stride = gridDim.x * blockDim.x;" in text
    assert "for (int i = first; i < a_len; i += stride) {" in text
    a = np.arange(20, dtype=np.float32)
    _, out = run(strided_sums, (2, 3), (a, np.zeros(6, np.float32)), target)
    assert out.tolist() == [a[first::6].sum() for first in range(6)]


@kernel
def coordinates_in_branches(out):
    width = cuda.blockDim.x
    thread = cuda.threadIdx.x
    if cuda.blockIdx.x == 1:
        thread = 7
    out[cuda.blockIdx.x * width + cuda.threadIdx.x] = cuda.blockIdx.x * width + thread


def test_a_variable_that_is_reassigned_is_no_coordinate(target):
    (out,) = run(coordinates_in_branches, (2, 3), (np.zeros(6, np.int64),), target)
    assert out.tolist() == [0, 1, 2, 10, 10, 10]


@kernel
def sums_with_constants(a, out):
    i = cuda.grid(1)
    n = a[i]
    out[0, i] = n + 4 - 1
    out[1, i] = n - 4 + 1
    out[2, i] = (n + 2147483647) + 2147483647
    out[3, i] = (n + 5) - 5


def test_constants_that_are_added_at_compile_time(target):
    a = np.array([1, -9, 2**63 - 1, -(2**63)])
    _, out = run(sums_with_constants, (1, 4), (a, np.zeros((4, 4), np.int64)), target)
    with np.errstate(over="ignore"):
        expected = [a + 3, a - 3, a + np.int64(2**32 - 2), a]
    assert out.tolist() == [x.tolist() for x in expected]


@kernel
def small_sums_with_constants(a, out):
    i = cuda.grid(1)
    out[0, i] = a[i] + 100 + 100
    out[1, i] = a[i] - 3 + 1


def test_constants_of_small_integers_wrap(target):
    for dtype in (np.int8, np.uint8, np.uint32):
        a = np.array([0, 1, 55, 127], dtype)
        (_, out) = run(small_sums_with_constants, (1, 4), (a, np.zeros((2, 4), dtype)), target)
        one, hundred, three = dtype(1), dtype(100), dtype(3)
        with np.errstate(over="ignore"):
            assert out.tolist() == [(a + hundred + hundred).tolist(), (a - three + one).tolist()]


@kernel
def square_roots(x, y, out):
    i = cuda.grid(1)
    square = x[i] ** 2
    total = square + y[i] ** 2
    out[0, i] = total**0.5
    out[1, i] = (x[i] * x[i]) ** 0.5
    out[2, i] = x[i] ** 0.5


def test_the_root_of_a_sum_of_squares(target):
    text = square_roots.inspect("cuda", "float64[::1], float64[::1], float64[:, ::1]")
    assert "sqrt(total)" in text
    assert "pow(x[i], 0.5)" in text
    x, y = np.array([3, -0.0, -np.inf, np.nan]), np.array([4, -0.0, 1, 1])
    *_, out = run(square_roots, (1, 4), (x, y, np.zeros((3, 4))), target)
    np.testing.assert_allclose(out[0], np.hypot(x, y), rtol=1e-15)
    np.testing.assert_allclose(out[1], abs(x), rtol=1e-15)
    assert not np.signbit(out[:2, :3]).any()


@kernel
def weighted(x, out):
    i = cuda.grid(1)
    third, tenth = 1 / 3, 0.1
    total = 0
    while i < x.size:
        total += int(x[i] * third)
        out[0] += x[i] * third
        out[1] += tenth * 3
        i += cuda.gridsize(1)


def test_constants_have_the_type_that_reads_convert_them_to(target):
    text = weighted.inspect("cuda", "float32[::1], float32[::1]")
    assert "float third = 0.33333334f;" in text
    assert "double tenth = 0.1;" in text
    x = np.arange(7, dtype=np.float32)
    _, out = run(weighted, (1, 1), (x, np.zeros(2, np.float32)), target)
    np.testing.assert_allclose(out, [x.sum() / 3, 2.1], rtol=1e-6)


@kernel
def wide_sums(n, out):
    i = cuda.grid(1)
    total = np.int64(2**40)
    total += n[i]
    total -= n[i] * np.int32(2)
    total //= n[i]
    out[i] = total


def test_a_wide_sum_converts_its_terms(target):
    text = wide_sums.inspect("cuda", "int32[::1], int64[::1]")
    assert "total += n[i];" in text
    n = np.int32([7, -3, 2**31 - 1])
    _, out = run(wide_sums, (1, 3), (n, np.zeros(3, np.int64)), target)
    with np.errstate(over="ignore"):
        assert out.tolist() == ((2**40 + n.astype(np.int64) - n * np.int32(2)) // n).tolist()


@device
def neighbours(i):
    return i, i + 1


def test_types_of_structs_need_no_keyword_and_are_hidden_by_no_variable(target):
    @kernel
    def i64_i64(i64_i64_1, x):
        i64_i64 = neighbours(cuda.threadIdx.x)
        for i64 in neighbours(i64_i64[1]):
            i64_i64_1[i64] += x
        f64_i64 = neighbours(i64_i64[0])
        i64_i64_1[f64_i64[0]] += 1

    signature = "int32[::1], int32"
    text = i64_i64.inspect("cuda", signature)
    assert "struct i64_i64_1 {" in text  # the kernel keeps its name
    assert text.count("struct") == 1
    assert nvrtc.compile(text, "i64_i64", "sm_90").data
    (out, _) = run(i64_i64, (1, 1), (np.zeros(4, np.int32), 10), target)
    assert out.tolist() == [1, 10, 10, 0]


def test_a_reshape_of_dynamic_shared_memory_compares_its_length():
    @kernel(signature="float32[::1]")
    def tiled(out):
        tile = cuda.shared.array(0, np.float32)[:1024].reshape(32, 32)
        out[cuda.threadIdx.x] = tile[cuda.threadIdx.x, 1]

    assert "if (shared_bytes_i32() / 4 < 1024) return;" in tiled.inspect("cuda")

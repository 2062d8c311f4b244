"""Slice assignments compared with numpy's, and those that are rejected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, kernel
from pycu2c.kernels.kernel import Kernel
from support.launching import run

N = 4


@device
def cleared(numbers):
    numbers[:] = 0
    numbers[1] += 2.5


def rows(m, a, t):
    """A thread for each row."""
    i = cuda.grid(1)
    own = cuda.local.array(2, np.float32)
    cleared(own)
    m[i] = own[1]
    m[i, 1:] += a[i]
    m[i, ::-2] *= 3
    m[i][:2] = t[i, :2, 0]
    t[i, :, 1] = m[i, : t.shape[1]]
    t[i, ..., 0] -= t[i, ..., 1]
    t[i, 0] = (i, a[i], 7)
    t[i, 1:, 1:] = a[1:3]
    t[i][2, :] = t[i][1]


def in_python(m, a, t):
    for i in range(N):
        own = np.array([0, 2.5], np.float32)
        m[i] = own[1]
        m[i, 1:] += a[i]
        m[i, ::-2] *= 3
        m[i][:2] = t[i, :2, 0]
        t[i, :, 1] = m[i, : t.shape[1]]
        t[i, ..., 0] -= t[i, ..., 1]
        t[i, 0] = (i, a[i], 7)
        t[i, 1:, 1:] = a[1:3]
        t[i][2, :] = t[i][1]


def data() -> list[Any]:
    random = np.random.default_rng(3)
    return [random.random((N, 6)), random.random(N).astype(np.float32), random.random((N, 3, 3))]


def test_parts_of_rows(target: str) -> None:
    got, expected = data(), data()
    Kernel(rows, backend=target)[1, N](*got)  # type: ignore[arg-type]
    in_python(*expected)
    for ours, theirs in zip(got, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_the_value_is_evaluated_first_and_the_target_once(target: str) -> None:
    def kernel(a, k):
        k[:] = cuda.atomic.add(k, 0, 1) + 10
        a[cuda.atomic.add(k, 1, 1) - 10 : k[1]] = k[0]

    a, k = np.zeros(4, np.int32), np.zeros(2, np.int32)
    Kernel(kernel, backend=target)[1, 1](a, k)  # type: ignore[arg-type]
    assert a.tolist() == [10, 10, 10, 10]
    assert k.tolist() == [10, 11]


def test_nothing_is_stored_where_a_part_is_empty(target: str) -> None:
    def kernel(a, n):
        a[n:] = 7
        a[2:n] += 1

    a = np.arange(4.0)
    Kernel(kernel, backend=target)[1, 1](a, 9)  # type: ignore[arg-type]
    assert a.tolist() == [0, 1, 3, 4]


def one_of_two(a, b, which) -> None:
    chosen = a if which else b
    chosen[1:] = 5
    chosen[0] += 1


def test_a_part_of_one_of_several_arrays(target: str) -> None:
    a, b = np.zeros(3), np.zeros(5)
    for which in (0, 1):
        Kernel(one_of_two, backend=target)[1, 1](a, b, which)  # type: ignore[arg-type]
    assert a.tolist() == [1, 5, 5]
    assert b.tolist() == [1, 5, 5, 5, 5]


def turned(a) -> None:
    a[:] = a[::-1]


def too_many(a) -> None:
    local = cuda.local.array((2, 3), np.float32)
    local[:] = cuda.local.array(2, np.float32)


def items_in_rows(a) -> None:
    local = cuda.local.array((2, 3), np.float32)
    local[:] = (1, 2)


def three_of_two(a) -> None:
    local = cuda.local.array(2, np.float32)
    local[:] = (a[0], 1, 2)


def more_than_a_slice_has(a) -> None:
    a[:2] = (1, 2, 3)


def more_than_its_steps(a) -> None:
    a[1:6:2] = (1, 2, 3, 4)


def more_from_the_end(a) -> None:
    a[-3:-1] += (1, 2, 3)


def an_array_with_more(a) -> None:
    local = cuda.local.array(4, np.float32)
    a[3:5] = local


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (more_than_a_slice_has, "at most 2 elements[^E]*a tuple of 3"),
        (more_than_its_steps, "at most 3 elements[^E]*a tuple of 4"),
        (more_from_the_end, "at most 2 elements[^E]*a tuple of 3"),
        (an_array_with_more, "at most 2 elements[^E]*these have 4"),
        (turned, "may overlap them, in another order"),
        (too_many, r"the shape \(2, 3\)[^E]*and these \(2,\)"),
        (items_in_rows, r"the shape \(2, 3\)[^E]*and there 2 items"),
        (three_of_two, r"the shape \(2,\)[^E]*and there 3 items"),
    ],
)
def test_invalid_slice_assignments(wrong: Callable[..., None], text: str) -> None:
    with pytest.raises(CompileError, match=text) as caught:
        kernel("float32[:]")(wrong)
    assert caught.value.code == "slice-assign"


@kernel
def one_item_and_parts_that_fit(a, local_first):
    local = cuda.local.array(4, np.float32)
    local[:] = (7,)
    a[:4] = local
    a[4:6] = (1,)
    a[6:12:2] = (2, 3, 4)
    a[-4:-2] = (8, 9)
    a[-2:] += (5,)


def test_one_item_is_broadcast_and_others_must_fit(target: str) -> None:
    (a, _) = run(one_item_and_parts_that_fit, (1, 1), (np.zeros(16, np.float32), 0), target)
    expected = np.zeros(16, np.float32)
    expected[:4], expected[4:6], expected[6:12:2] = (7,), (1,), (2, 3, 4)
    expected[-4:-2] = (8, 9)
    expected[-2:] += (5,)
    np.testing.assert_array_equal(a, expected)


PAIR = np.dtype([("x", np.float32), ("n", np.int32)])


@kernel
def one_record_and_one_row(records, rows):
    records[:4] = ((1.5, 2),)
    records[4:6] = ((3.5, 4), (5.5, 6))
    rows[:] = ((1, 2, 3),)
    rows[1:, 1:] = (7,)


def test_one_record_or_row_is_broadcast(target: str) -> None:
    arguments = [np.zeros(8, PAIR), np.zeros((3, 3), np.float32)]
    records, rows = run(one_record_and_one_row, (1, 1), arguments, target)
    expected = np.zeros(8, PAIR)
    expected[:4], expected[4:6] = (1.5, 2), [(3.5, 4), (5.5, 6)]
    assert records.tolist() == expected.tolist()
    assert rows.tolist() == [[1, 2, 3], [1, 7, 7], [1, 7, 7]]


# ---- lengths that only the launch determines -----------------------------------------------------


def whole(a, b, m):
    a[:] = b


def partial(a, b, m):
    a[:3] = b[1:]


def augmented(a, b, m):
    a[1:] += b


def by_ufunc(a, b, m):
    np.multiply(a, b, a)


def by_ufunc_with_two_results(a, b, m):
    np.divmod(a, 2.0, a, b)


def rows_of_a_matrix(a, b, m):
    m[:, 1:] = b


def by_items(a, b, m):
    a[: len(b) - 2] = 1.0, 2.0


def in_a_device_function(a, b, m):
    copied(b, a)


@device
def copied(source, target):
    target[:] = source


RUN_TIME_LENGTHS = [
    whole,
    partial,
    augmented,
    by_ufunc,
    by_ufunc_with_two_results,
    rows_of_a_matrix,
    by_items,
    in_a_device_function,
]


def launched(function: Callable[..., None], length: int, target: str, **options: Any) -> list[Any]:
    """Return the arrays after a launch; ``length`` is that of b."""
    arrays = [np.arange(5.0), np.arange(length) + 10.0, np.ones((2, 4))]
    kernel(function, backend=target, **options)[1, 1](*arrays)
    return arrays


@pytest.mark.parametrize("function", RUN_TIME_LENGTHS)
def test_lengths_at_run_time(function: Callable[..., None], target: str) -> None:
    for length in {partial: (0, 3, 4, 5, 9), by_items: range(1, 9)}.get(
        function, (0, 2, 3, 4, 5, 9)
    ):
        arrays = [np.arange(5.0), np.arange(length) + 10.0, np.ones((2, 4))]
        before = [array.copy() for array in arrays]
        try:
            {in_a_device_function: whole}.get(function, function)(*arrays)
        except ValueError:
            with pytest.raises(ValueError, match=r"could not (be )?broadcast|values for"):
                launched(function, length, target, check=True)
            arrays = before
            if target == "python":  # it raises NumPy's errors
                continue
        for checked in (False, True)[: 1 if arrays is before else 2]:
            for result, array in zip(launched(function, length, target, check=checked), arrays):
                np.testing.assert_array_equal(result, array)


def test_lengths_that_are_equal_are_not_compared() -> None:
    @kernel(signature="float32[:, :], int64")
    def k(a, n):
        i = cuda.grid(1)
        a[i, :] += a[i, :]
        np.add(a[i, 1:n], 1, a[i, 1:n])

    assert "return" not in k.inspect("cuda")

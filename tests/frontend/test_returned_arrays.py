"""Device functions that return one of their array parameters."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, device, kernel
from pycu2c.base.diagnostics import CompileError
from support.launching import run


@device
def fill(a, value):
    a[0] = value
    return a


@device
def fill_twice(a, value):
    return fill(a, value)


@device
def fill_from(a, i):
    if i < 0:
        raise ValueError("negative")
    if i > 2:
        return a
    a[i] = 10
    return a


@device
def first_or_none(a):
    if a[0] > 0:
        return a
    return None


@device
def select(a, b):
    if a[0] > 0:
        return a
    return b


@kernel
def stores_to_result(out):
    b = fill(out, 3)
    b[1] = 4
    fill(out, 5)[2] = 6


@kernel
def nested_calls(out):
    fill(fill(out[1:], 7)[1:], 8)[1] = 9


@kernel
def in_shared_memory(out):
    t = cuda.shared.array(4, np.float32)
    i = cuda.threadIdx.x
    t[i] = i
    cuda.syncthreads()
    out[i] = fill_from(t[1:], i + 5)[0]


@kernel
def view_whose_start_changes(out):
    out[0] = 1
    k = 1
    b = fill_from(out[k:], 0)
    k += 1
    b[1] = k


CASES = {
    stores_to_result: [5, 4, 6, 0],
    nested_calls: [0, 7, 8, 9],
    in_shared_memory: [1, 1, 1, 1],
    view_whose_start_changes: [1, 10, 2, 0],
}


@pytest.mark.parametrize("k", CASES, ids=lambda k: k.name)
def test_the_result_is_the_array(k: object, target: str) -> None:
    threads = 4 if k is in_shared_memory else 1
    (out,) = run(k, (1, threads), (np.zeros(4, np.float32),), target)
    assert out.tolist() == CASES[k]


@kernel
def optional_array(out):
    first_or_none(out)


@kernel
def one_of_two(out):
    select(out, out)


@pytest.mark.parametrize(("k", "text"), [(optional_array, "None"), (one_of_two, "the array b")])
def test_other_arrays_are_an_error(k: object, text: str) -> None:
    with pytest.raises(CompileError, match="the array a") as caught:
        run(k, (1, 1), (np.zeros(4, np.float32),), "cpu")
    assert caught.value.code == "return-type"
    assert text in str(caught.value)


@device
def first(a):
    return a[0]


@device
def last_row(m):
    return m[-1]


@device
def corner(m):
    return m[1, 0]


@device
def element(a):
    return a[()]


@kernel
def parts(points, m, single, results, out):
    point = first(points)
    out[0] = point.x + first(m)[1] + first(last_row(m)) + point.h[1]
    point.x = 9
    first(m)[0] = 77
    results[0] = first(points)
    out[1] = corner(m) + first(first(points).h) + element(single)
    out[2] = first(points[1:]).x + first(m if out[0] > 0 else m[1:])[0]


def test_rows_and_records_of_a_parameter(target: str) -> None:
    points = np.zeros(2, [("x", "f4"), ("h", "f4", 2)])
    points["x"], points["h"] = 3, [[1, 2], [3, 4]]
    m = np.arange(6.0).reshape(2, 3)
    new, changed, _, results, out = run(
        parts, (1, 1), [points, m, np.array(4.0), np.zeros(1, points.dtype), np.zeros(3)], target
    )
    assert out.tolist() == [3 + 1 + 3 + 2, 3 + 1 + 4, 3 + 77]
    assert new["x"].tolist() == [9, 3]
    assert changed.tolist() == [[77, 1, 2], [3, 4, 5]]
    assert results[0].tolist()[0] == 9

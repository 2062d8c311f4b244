"""Slice operations on arrays that overlap: NumPy's result on every target, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, LaunchError, cuda, device, float32, int32, kernel
from pycu2c.toolchain.nvrtc import nvrtc

POINT = np.dtype([("x", np.float64), ("y", np.float64)])
Function = Callable[..., Any]


def line() -> Any:
    return np.arange(12.0)


def plane() -> Any:
    return np.arange(36.0).reshape(6, 6)


def columns() -> Any:
    return np.asfortranarray(plane())


def points() -> Any:
    return np.arange(12.0).view(POINT)


# ---- operations that suit arrays that are the same one ------------------------------------------


def shifted_up(a, b):
    a[1:] = b[:-1]


def shifted_down(a, b):
    a[:-2] = b[2:]


def shifted_from_the_end(a, b):
    a[::-1][3:] = b[::-1][:-3]


def shifted_by_steps(a, b):
    a[2::2] = b[:-2:2]


def shifted_by_numbers(a, b):
    for k in range(4):
        a[k : k + 3] = b[3 : 3 + 3]
        a[5 : 5 + 3] = b[k : k + 3]


def shifted_by_computed_steps(a, b):
    for step in (1, -1, 2, -2):
        a[::step][1:] = b[::step][:-1]


def accumulated(a, b):
    a[1:] += b[:-1]
    b[:-1] *= a[1:]


def in_one_array(a, b):
    a[1:] = a[:-1]
    b[2:] -= b[:-2]
    for k in range(3):
        a[k : k + 4] = a[2:6]
    np.add(a[:-1], a[1:], a[:-1])


def by_a_ufunc(a, b):
    np.add(a[1:], b[:-1], a[1:])
    np.subtract(b[:-3], 1, out=a[3:])
    np.multiply(a, b, out=b)


def of_reshaped(a, b):
    a.reshape(-1)[4:] = b.reshape(-1)[:-4]
    a.ravel()[:5] += b.ravel()[5:10]


def in_rows(m, n):
    for i in range(3):
        m[i + 1] = n[i]
        m[i, 1:] = n[i, :-1]
        m[:-2, i] = n[2:, i]
    m[-1, 1:] = n[5, :-1]


def in_both_axes(m, n):
    m[1:, 1:] = n[:-1, :-1]
    m[1:, :-1] = n[:-1, 1:]
    m[:-2, 3:] += n[2:, :-3]


def in_both_axes_by_numbers(m, n):
    for i in range(3):
        for j in range(3):
            m[i : i + 3, j : j + 2] = n[1 : 1 + 3, 1 : 1 + 2]
            m.T[i : i + 3, j : j + 2] = n.T[1 : 1 + 3, 1 : 1 + 2]


def of_fields(p, q):
    p.x[1:] = q.x[:-1]
    p.y[:] = q.x
    p.x[::-1] = q.y


@device
def copy(target, source):
    target[:] = source


@device
def shift(target, source):
    target[1:] = source[:-1]


@device
def reverse(target, source):
    target[:] = source[::-1]


def in_functions(m, n):
    shift(m, n)
    shift(m[2], n[2])
    copy(m[1:, 2], n[1:, 2])
    for i in range(4):
        copy(m[i], n[i + 1])
        shift(m[i], m[i + 1])
    reverse(m[0], m[1])


def plain(function: Function) -> Function:
    """Return a function that Python runs, with NumPy arrays."""
    functions = {"copy": copy, "shift": shift, "reverse": reverse}
    scope = {"np": np, **{name: f.python for name, f in functions.items()}}
    return type(function)(function.__code__, scope)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (shifted_up, line),
        (shifted_up, plane),
        (shifted_down, line),
        (shifted_from_the_end, line),
        (shifted_by_steps, line),
        (shifted_by_numbers, line),
        (shifted_by_computed_steps, line),
        (accumulated, line),
        (in_one_array, line),
        (by_a_ufunc, line),
        (of_reshaped, line),
        (in_rows, plane),
        (in_both_axes, plane),
        (in_both_axes, columns),
        (in_both_axes_by_numbers, plane),
        (in_both_axes_by_numbers, columns),
        (of_fields, points),
        (in_functions, plane),
        (in_functions, columns),
    ],
)
def test_the_same_array_as_numpy_does(
    function: Function, make: Callable[[], Any], target: str
) -> None:
    k = kernel(backend=target)(function)[1, 1]
    for _ in range(4):  # by the dispatch table in the end
        first, second, expected, expected_second = make(), make(), make(), make()
        k(first, second)
        plain(function)(_records(expected), _records(expected_second))
        np.testing.assert_array_equal(first, expected)
        np.testing.assert_array_equal(second, expected_second)
        both, expected = make(), make()
        k(both, both)
        plain(function)(_records(expected), _records(expected))
        np.testing.assert_array_equal(both, expected)


def _records(array: Any) -> Any:
    return array.view(np.recarray) if array.dtype.names else array


# ---- operations that need other arrays ----------------------------------------------------------


def reversed_elements(a, b):
    a[:] = b[::-1]


def with_neighbours(a, b):
    np.add(b[:-2], b[2:], a[1:-1])


def in_a_function(a, b):
    copy(a[1:], b[:-1])


def reversed_in_a_function(a, b):
    reverse(b, a)


def transposed(m, n):
    m[:] = n.T


def from_one_row(m, n):
    m[:] = n[1]


NEEDS_OTHER_ARRAYS = [
    (reversed_elements, line),
    (with_neighbours, line),
    (in_a_function, line),
    (reversed_in_a_function, line),
    (transposed, plane),
    (from_one_row, plane),
]


@pytest.mark.parametrize(("function", "make"), NEEDS_OTHER_ARRAYS)
def test_the_same_array_is_an_error_of_the_launch(
    function: Function, make: Callable[[], Any], target: str
) -> None:
    k = kernel(backend=target)(function)[1, 1]
    for _ in range(4):
        first, second, expected, expected_second = make(), make(), make(), make()
        k(first, second)
        plain(function)(expected, expected_second)
        np.testing.assert_array_equal(first, expected)
        np.testing.assert_array_equal(second, expected_second)
        with pytest.raises(LaunchError, match=r"shares memory with .*, in another order"):
            k(first, first)


@pytest.mark.parametrize(("function", "make"), NEEDS_OTHER_ARRAYS)
def test_one_parameter_is_an_error_of_the_kernel(
    function: Function, make: Callable[[], Any]
) -> None:
    called = device(function)

    @kernel
    def twice(a):
        called(a, a)

    with pytest.raises(CompileError, match="may overlap them, in another order") as caught:
        twice.inspect("c", f"float64[{'::1' if make is line else ':, ::1'}]")
    assert caught.value.code == "slice-assign"


def test_parts_of_one_array_overlap_or_do_not(target: str) -> None:
    k = kernel(backend=target)(shifted_up)[1, 1]
    for _ in range(4):
        a = np.arange(24.0)
        k(a[:12], a[12:])
        assert a[:12].tolist() == [0, *range(12, 23)]
        m = np.arange(24.0).reshape(12, 2)
        k(m[:, 0], m[:, 1])  # side by side
        assert m[:, 0].tolist() == [0, *range(1, 22, 2)]
        with pytest.raises(
            LaunchError, match=r"argument 2 \(b\) shares memory with argument 1 \(a\), and is not"
        ):
            k(a[1:], a[:-1])
        with pytest.raises(LaunchError, match="shares memory"):  # one address, other steps
            k(a[:12], a[::2])


def of_other_types(a, b):
    a[:4] = b[:4]


def test_views_with_another_dtype(target: str) -> None:
    a = np.zeros(4, np.float32)
    with pytest.raises(LaunchError, match="shares memory"):
        kernel(backend=target)(of_other_types)[1, 1](a, a.view(np.int32))


def dynamic_parts(out, n):
    both = cuda.shared.array(0, float32)
    left, right = both[:n], both[2:]
    for i in range(n + 2):
        both[i] = i
    right[:n] = left
    out[:] = both[: n + 2]


def test_parts_of_dynamic_shared_memory(target: str) -> None:
    out = np.zeros(6, np.float32)
    kernel(backend=target)(dynamic_parts)[1, 1, None, 64](out, 4)
    assert out.tolist() == [0, 1, 0, 1, 2, 3]


def dynamic_arrays_of_two_types(out):
    numbers, counts = cuda.shared.array(0, float32), cuda.shared.array(0, int32)
    numbers[:4] = counts[:4]
    out[0] = numbers[0]


def test_dynamic_arrays_of_two_types() -> None:
    with pytest.raises(CompileError, match="may overlap"):
        kernel("float32[:]")(dynamic_arrays_of_two_types)


@pytest.mark.parametrize("function", [shifted_by_numbers, in_both_axes_by_numbers])
def test_nvrtc_accepts_both_directions(function: Function) -> None:
    axes = "::1" if function is shifted_by_numbers else ":, ::1"
    text = kernel(function).inspect("cuda", f"float64[{axes}], float64[{axes}]")
    assert "--i" in text
    assert nvrtc.compile(text, function.__name__, "sm_80", cache=False).data


def test_local_arrays_need_one_direction() -> None:
    def own(out):
        local = cuda.local.array(8, float32)
        for i in range(4):
            local[i : i + 2] = out[:2]
            out[i : i + 2] = local[:2]

    assert "--i" not in kernel(own).inspect("cuda", "float32[::1]")

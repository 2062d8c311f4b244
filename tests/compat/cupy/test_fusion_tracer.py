"""``fuse`` traces functions: its kernels return and assign what numpy does."""

# mypy: ignore-errors

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda
from pycu2c.compat.cupy.parameter_declarations import ArgumentTypeError, ArgumentValueError
from pycu2c.cupy import fuse
from support.cupy_arrays import on_backend, to_numpy

RNG = np.random.default_rng(5)
DTYPES = "?bBhHiIqQefdFD"


def some(dtype: Any, shape: tuple[int, ...] = (3, 4)) -> np.ndarray:
    numbers = RNG.integers(1, 6, shape)
    made = numbers + 1j * numbers[::-1] if np.dtype(dtype).kind == "c" else numbers
    return made.astype(dtype)


def same(result: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert isinstance(result, tuple)
        assert len(result) == len(expected)
        for one, other in zip(result, expected):
            same(one, other)
    elif expected is None:
        assert result is None
    else:
        result = to_numpy(result) if hasattr(result, "copy_to_host") else np.asarray(result)
        assert (result.shape, result.dtype) == (np.shape(expected), np.asarray(expected).dtype)
        np.testing.assert_allclose(result, expected, rtol=3e-3, atol=3e-3)


def check(function, backend: str, *args: Any) -> None:
    """That a fused function gives what it gives by itself, and changes the same."""
    own = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    arguments = [on_backend(backend, a.copy()) if isinstance(a, np.ndarray) else a for a in args]
    with np.errstate(all="ignore"):
        expected = function(*own)
    fused = fuse(function)
    same(fused(*arguments), expected)
    for one, other in zip(arguments, own):
        if isinstance(other, np.ndarray):
            same(one, other)


# ---- results -----------------------------------------------------------------------------------


def swapped(x, y):
    w = x * y
    (x, w) = (w, x)
    return w * y + x


def summed(x, y):
    total = 0
    for _ in range(5):
        total += x + y
    return total


def nothing(x):
    pass


@pytest.mark.parametrize(
    "function",
    [
        swapped,
        summed,
        lambda x, y: (x + y,),
        lambda x, y: (),
        lambda x, y: (x + y, (y - x, 3)),
        lambda x, y: x,
        lambda x, y: (x.copy(), x.astype(np.float32), x.astype(x.dtype, copy=False)),
        lambda x, y: (x.size, x.ndim, x.shape, len(x)),
        lambda x, y: np.divmod(x, y),
        lambda x, y: -abs(x) + (~y << 1),
        lambda x, y: (x == y, x < y, (x > 2) + (y > 2)),
        lambda x, y: np.where(x > y, x, 0.5),
        lambda x, y: (x.clip(2, 4), (x / y).round(1), x.real),
        lambda x, y: (np.trunc(x / y), np.around(x / y), np.angle(x + 1j * y)),
    ],
)
def test_results(function, backend: str) -> None:
    check(function, backend, some(int), some(int))


def test_nothing_is_given(backend: str) -> None:
    check(nothing, backend, some(int))


def test_each_result_has_its_own_shape(backend: str) -> None:
    check(lambda x, y, s: (x + 1, x + y, s * 2), backend, some(float, (4,)), some(float), 3)
    check(lambda x, y: (x + x) * (x + y) * y, backend, some(int, (3, 1, 4)), some(int, (3, 5, 4)))


SHAPES = [
    ((1,), (1,)), ((10,), (1,)), ((3, 4), (3, 1)), ((3, 4), (1, 4)), ((3, 4), (4,)),
    ((3, 1), (1, 4)), ((2, 1, 4), (3, 1)), ((0,), (1,)), ((2, 0, 3), (0, 1)), ((), ()), ((3,), ()),
]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES)
def test_shapes_that_broadcast(shapes, backend: str) -> None:
    x, y = (some(int, shape) for shape in shapes)
    check(lambda x, y: (x + y, y - x), backend, x, y)


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2,), (0,)), ((3, 2), (2, 2)), ((3,), (1, 2))])
def test_shapes_that_do_not(shapes) -> None:
    x, y = (some(int, shape) for shape in shapes)
    with pytest.raises(ValueError, match="shape"):
        fuse(lambda x, y: x + y)(x, y)


# ---- types -------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", DTYPES)
def test_types_of_two_arrays(first: str) -> None:
    def f(x, y):
        return x + y, x * y, x / y, x == y

    fused = fuse(f)
    for second in RNG.choice(list(DTYPES), 2):
        x, y = some(first), some(second)
        same(fused(x, y), f(x, y))


def of_numbers(x):
    return np.sqrt(x), np.sin(x), np.exp(x), np.square(x), abs(x), np.isfinite(x)


def of_real_numbers(x):
    return np.floor(x), np.reciprocal(x), np.signbit(x), np.modf(x), np.frexp(x), np.cbrt(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_of_functions(dtype: str) -> None:
    check(of_numbers, "cpu", some(dtype))
    if dtype not in "?FD":
        check(lambda x: (-x, x // x, *of_real_numbers(x)), "cpu", some(dtype))


@pytest.mark.parametrize("number", [2, 2.5, True, np.float32(2), np.int8(2), np.float64(2)])
def test_numbers(number, backend: str) -> None:
    for dtype in "fh":
        check(lambda x, s: (x + s, s - x, x * number), backend, some(dtype), number)


def test_numbers_do_not_change(backend: str) -> None:
    def f(x, s, t):
        before = s
        s += t
        return x + s + before

    def g(x, s):
        s += x
        return s

    check(f, backend, some("f"), np.float32(1), np.int64(2))
    check(f, backend, some("f"), 1, 2)
    check(g, backend, some("f"), 1)


def test_a_number_that_does_not_fit() -> None:
    with pytest.raises(OverflowError, match="300"):
        fuse(lambda x: x + 300)(some(np.uint8))


def test_halves_and_doubles_are_rounded_once() -> None:
    x = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 3 * 2.0**-11 - 2.0**-40, -0.1, 6e-8])
    same(fuse(lambda x: x.astype(np.float16) + 0)(x), x.astype(np.float16))


# ---- arrays that change ------------------------------------------------------------------------


def three_times(x, y):
    x += y
    x += y
    x *= y
    return x


def one_another(x, y):
    x += y
    y += x
    x -= y


def into_others(x, y, z):
    np.add(x, y, out=z)
    np.subtract(z, x, out=y)
    return z


def whole(x, y):
    y[...] = x
    x[:] = 3
    return y


def by_name(x, y):
    z = x
    z += y
    return x is z


def of_all_shapes(x, y):
    a = x + y
    b = np.sum(a, axis=0)
    x += b
    c = np.sum(x, axis=0)
    y += c
    return c, b, x, y, a


@pytest.mark.parametrize("function", [three_times, one_another, whole, by_name, of_all_shapes])
@pytest.mark.parametrize("dtype", "iF")
def test_changes(function, dtype: str, backend: str) -> None:
    check(function, backend, some(dtype), some(dtype))


def test_results_in_other_arrays(backend: str) -> None:
    check(into_others, backend, some("i"), some("d"), some("d"))
    check(lambda x, y: np.copyto(x, y), backend, some("d"), some("i"))
    check(lambda x, y, m: np.copyto(x, y, where=m), backend, some("d"), some("i"), some("i") > 2)
    check(lambda x, y: np.sum(x, axis=0, out=y), backend, some("d"), some("d", (4,)))


def of_two_shapes(x, y):
    part = x[0] + y
    y += x[0]
    x += y
    return part


def one_of_two(x, y):
    total = x.sum(axis=0)
    x += y
    y += total
    return y[1:]


@pytest.mark.parametrize("function", [of_two_shapes, one_of_two])
def test_reads_see_earlier_values(function, backend: str) -> None:
    check(function, backend, some("d"), some("d", (4,)))


def test_the_same_array_twice(backend: str) -> None:
    x = on_backend(backend, np.arange(5.0))
    fuse(three_times)(x, x)
    same(x, 16 * np.arange(5.0) ** 2)


def test_arrays_that_overlap() -> None:
    x = np.arange(6.0)
    for one, other in ((slice(1, 6), slice(0, 5)), (slice(0, 6), slice(0, 6))):
        changed, expected = x.copy(), x.copy()
        fuse(one_another)(changed[one], changed[other])
        one_another(expected[one], expected[other])
        same(changed, expected)
    on_device = cuda.to_device(x)
    with pytest.raises(
        ArgumentValueError, match=r"argument 1 and .* argument 2 share memory.*a copy"
    ):
        fuse(one_another)(on_device[1:], on_device[:-1])
    same(fuse(lambda x, y: x + y)(x[1:], x[:-1]), x[1:] + x[:-1])


def test_changes_that_cannot_be() -> None:
    def divided(x, y):
        x /= y

    def first(x, y):
        x[0] = y

    def part(x, y):
        z = x[0]
        z += y

    with pytest.raises(TypeError, match="cannot cast float64 to int64 in place"):
        fuse(divided)(some(int), some(int))
    with pytest.raises(ValueError, match=r"\(3, 4\) cannot be broadcast to \(4,\)"):
        fuse(one_another)(some("d", (4,)), some("d"))
    for function in (first, part):
        with pytest.raises(TypeError, match="whole arrays"):
            fuse(function)(some("d"), 2.0)


# ---- reductions --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (3, 4), (2, 1, 4), (2, 0, 3), (2, 3, 2, 2)])
@pytest.mark.parametrize("axis", [None, 0, -1, 2, (0, 1), (0, -1), (1, 3), (0, 0), 4])
def test_sums_along_axes(shape, axis, backend: str) -> None:
    x = some(int, shape)
    for function in (lambda x: np.sum(x, axis), lambda x: x.sum(axis=axis, keepdims=True)):
        try:
            function(x)
        except ValueError as error:  # of axes that there are not, or twice
            with pytest.raises(type(error)):
                fuse(function)(x)
        else:
            check(function, backend, x)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sum", "prod", "max", "amax", "min", "amin", "all", "any"])
def test_reductions(name: str, backend: str) -> None:
    function = getattr(np, name)
    numbers = "?hQef" if "m" in name[:3] else "?bIedF"
    for dtype in numbers if backend == "cpu" else numbers[-2:]:
        check(lambda x: (function(x), function(x, axis=0)), backend, some(dtype) * some(dtype))


def test_parts_of_python_numbers(backend: str) -> None:
    check(lambda x, n: x * n.real + n.imag + np.real(n), backend, some("f"), 2.5)


COMPLEX = np.array([1 + 2j, 3 - 1j, 3 + 4j, -1j, complex(np.nan, 1), complex(1, np.nan)])


@pytest.mark.parametrize("name", ["nansum", "nanprod"])
def test_reductions_without_nan(name: str, backend: str) -> None:
    function = getattr(np, name)
    x = np.array([[1, np.nan, 3, 4], [np.nan, np.nan, 2, np.nan]])
    for values in (x.astype("f"), x + 1j, some("h")):
        check(lambda x: (function(x), function(x * 2, axis=0, keepdims=True)), backend, values)


@pytest.mark.parametrize("dtype", "FD")
def test_reductions_of_complex_numbers(dtype: str, backend: str) -> None:
    for x in (COMPLEX.astype(dtype), COMPLEX[:4].astype(dtype), COMPLEX[[4, 5]].astype(dtype)):
        check(lambda x: (x.max(), np.min(x)), backend, x)


@pytest.mark.parametrize(
    "name",
    [
        *("less", "less_equal", "greater", "greater_equal"),
        *("maximum", "minimum", "fmax", "fmin"),
    ],
)
def test_the_order_of_complex_numbers(name: str, backend: str) -> None:
    function = getattr(np, name)
    x, y = (z.ravel() for z in np.meshgrid(COMPLEX, COMPLEX))
    check(lambda x, y: (function(x, y), function(x, 1.5)), backend, x, y)
    check(lambda x, y: function(x, y, out=x), backend, x.astype("F"), y)


@pytest.mark.parametrize("dtype", "bif")
def test_types_of_sums(dtype: str, backend: str) -> None:
    check(lambda x: x.sum(axis=0, dtype=dtype), backend, some("d"))
    check(lambda x: x.sum(axis=0, dtype="d"), backend, some(dtype))


def softmax(x):
    powers = np.exp(x - np.max(x, axis=1, keepdims=True))
    return powers / np.sum(powers, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.sum(x * 3 + y, 1),
        lambda x, y: np.sqrt(np.sum(x) + 10),
        lambda x, y: x.sum(0) * 2 + y,
        lambda x, y: np.sum(np.sqrt(x) + y, 0) * 2 + y,
        lambda x, y: (x.sum(0), y.sum(1), x.max() + y.min()),
        lambda x, y: x.prod(axis=1).sum(axis=0) + (x.sum(axis=0) + y).max(),
        lambda x, y: softmax(x) + y.all(),
    ],
)
def test_operations_before_and_after_a_reduction(function, backend: str) -> None:
    check(function, backend, some("d"), some("d"))


def test_a_normalized_batch(backend: str) -> None:
    def normalized(x, gamma, beta, means, variances, size):
        along = (None, slice(None), None)
        mean = np.sum(x, axis=(0, 2)) / size
        diff = x - mean[along]
        variance = np.sum(diff * diff, axis=(0, 2)) / size
        means *= 0.9
        means += 0.1 * mean
        variances *= 0.9
        variances += 0.1 * variance
        return gamma[along] * diff / np.sqrt(variance + 2e-5)[along] + beta[along]

    rows = [RNG.random(5) for _ in range(4)]
    check(normalized, backend, RNG.random((4, 5, 6)).astype("f"), *rows, 24)


# ---- parts -------------------------------------------------------------------------------------

INDICES = [
    1, -1, (1, 0), (1, 0, 2), np.s_[:], np.s_[::-1], np.s_[:, ::-1], ..., None, (None, None),
    np.s_[:, 0, ::-1], (1, None, slice(None, None, -1), None, 2), np.s_[..., 2], np.s_[1, ...],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_parts(index, backend: str) -> None:
    check(lambda x: x[index] * 2, backend, some("i", (2, 3, 4)))
    check(lambda x: x[index], backend, some("i", (2, 3, 4)))


def changed_after(x):
    first = x[0]
    x += first
    return first * 2, x[0][1]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + x[0] + x[1],
        lambda x: x + x[0, 1] + x[1][0] + x[2, 1],
        lambda x: (x + 1)[1:] * x[:1],
        lambda x: sum(row for row in x),
        changed_after,
    ],
)
def test_parts_together(function, backend: str) -> None:
    check(function, backend, some("d"))


@pytest.mark.parametrize("index", [(0, 0, 0), 3, -4])
def test_unsupported_parts(index) -> None:
    with pytest.raises(IndexError):
        fuse(lambda x: x[index])(some("d"))


def test_arrays_are_no_indices() -> None:
    with pytest.raises(TypeError, match="integers, slices, None"):
        fuse(lambda x, y: x[y])(some("d"), some("i"))


# ---- calls -------------------------------------------------------------------------------------


def optional(x, y, z=2):
    if y is None:
        return x * z
    return x + y + z


def test_none_defaults_and_names() -> None:
    x, fused = some("d"), fuse(optional)
    same(fused(x, None), x * 2)
    same(fused(x, x, 3), x + x + 3)
    same(fused(x, z=4, y=None), x * 4)
    same(fused(x, None, x), x * x)


def test_fused_functions_in_fused_functions(backend: str) -> None:
    @fuse
    def inner(x, y):
        return x - y * 2, x + y

    @fuse
    def larger(x, y):
        return x if x > y else y

    def outer(x, y):
        a, b = inner(x + y * 2, y * 3)
        return a - b * inner(x, y)[0]

    check(outer, backend, some("d"), some("d"))
    zeros = some("d") * 0
    chosen = fuse(lambda x, y: larger(x, y) + 1)(zeros, on_backend("cpu", zeros + 2))
    assert (chosen == 3).all()


def test_requested_elements(backend: str) -> None:
    x = on_backend(backend, np.arange(-2.0, 3.0))
    same(fuse(lambda x: x if x > 0 else -2 * x)(x), np.array([4.0, 2, 0, 1, 2]))

    def changed(x):
        x += 1
        return x if x > 0 else -x

    with pytest.raises(TypeError, match=r"changed changes x in place.*write x = x"):
        fuse(changed)(x)
    with pytest.raises(TypeError, match="None"):
        fuse(lambda x, y: x if x > 0 else 1)(x, None)


@pytest.mark.slow
def test_kernels_are_made_once() -> None:
    fused = fuse(lambda x, y: x + y)

    def made() -> int:
        return len(fused._kernels)

    x = some("i")
    for count, (a, b) in enumerate(
        [(x, x[::-1]), (x, some("h")), (some("h"), x), (x, some("i", (4,)))], 1
    ):
        fused(a, b)
        fused(a.copy(), b.copy())
        assert made() == min(count, 3)  # shapes need no other kernel
    fused(some("i", (5,)), some("i", (2, 5)))
    assert made() == 3
    fused(x, x)
    assert made() == 4  # of one array
    fused.clear_cache()
    assert made() == 0


def test_threads() -> None:
    fused, result = fuse(lambda x, y: x + y * 2), {}
    arrays = [some(int), some("d")]

    def run(k: int) -> None:
        result[k] = fused(arrays[k % 2], arrays[k % 2])

    threads = [threading.Thread(target=run, args=(k,)) for k in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(20):
        same(result[k], arrays[k % 2] * 3)


@pytest.mark.parametrize(
    ("function", "raised"),
    [
        (lambda x: x + None, "computes with its arguments and numbers, not with None"),
        (lambda x: x + object(), "pass it as an argument"),
        (lambda x: np.add(x, x, out=object()), "stores results in its arguments"),
        (lambda x: np.add(x, x, where=x > 1), "calls np.add without where"),
        (lambda x: np.add.reduce(x), r"calls np.add without \.reduce"),
        (lambda x: np.mean(x), "cannot call np.mean"),
        (lambda x: np.sum(x, where=x > 1), "calls np.sum without where"),
        (lambda x: [x], "returns arrays, numbers, tuples of them or None"),
    ],
)
def test_missing_operations(function, raised: str) -> None:
    with pytest.raises(ArgumentTypeError, match=raised):
        fuse(function)(some("d"))


def test_functions_that_kernels_have_not() -> None:
    with pytest.raises(CompileError, match=r"numpy\.spacing"):
        fuse(lambda x: np.spacing(x))(some("d"))
    with pytest.raises(TypeError, match="positional arguments"):
        fuse(lambda x: np.add(x))(some("d"))


@pytest.mark.parametrize("dtype", "?hefF")
def test_texts_for_gpus_compile(dtype: str) -> None:
    fused = fuse(lambda x: (x / (x + 1), np.sqrt(x), (x * 2).sum(axis=0), x.all()))
    fused(some(dtype))
    assert len(fused._kernels) == 3
    for kernel in fused._kernels.values():
        assert ".visible .entry fused(" in kernel.inspect("ptx", "sm_90")


COMPLEX_UFUNCS = sorted(
    name
    for name, ufunc in vars(np).items()
    if isinstance(ufunc, np.ufunc)
    and (ufunc.nin, ufunc.nout) == (1, 1)
    and any(types.startswith("F->") for types in ufunc.types)
)


def test_all_ufuncs_of_complex_numbers(backend: str) -> None:
    """Also near 0, where ``exp(z) - 1`` would cancel."""
    assert {"expm1", "log1p", "exp2", "sign", "rint", "sqrt"} <= {*COMPLEX_UFUNCS}
    z = np.array([0.3 - 0.4j, -1.5 + 2.5j, 1e-6 + 2e-6j], np.complex64)
    functions = [getattr(np, name) for name in COMPLEX_UFUNCS]
    check(lambda z: tuple(function(z) for function in functions), backend, z)
    small = fuse(lambda z: np.expm1(z) / z)(on_backend(backend, z[2:]))
    np.testing.assert_allclose(to_numpy(small), 1, rtol=1e-5)


def test_the_remainder_of_bools_is_an_integer(backend: str) -> None:
    check(lambda x, y: np.fmod(x, y), backend, np.ones(3, bool), np.ones(3, bool))
    check(lambda x, y: np.fmod(x, y), backend, np.ones(3, bool), np.ones(3, np.uint8))

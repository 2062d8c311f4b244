"""``vectorize``, ``guvectorize`` and ``cuda.reduce``, as programs for numba use them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pycu2c
from pycu2c import (
    CompileError,
    cuda,
    f4,
    f8,
    float32,
    float64,
    guvectorize,
    int64,
    types,
    vectorize,
)
from pycu2c.compat.numba.elementwise import map_1d_by_four
from pycu2c.declarations.signatures import SignatureError
from pycu2c.kernels.kernel import DeviceFunction, Kernel


@pytest.fixture(autouse=True)
def _there(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decorated from now on runs on the target."""
    monkeypatch.setenv("PYCU2C_BACKEND", target)


def placed(target: str, values: Any) -> Any:
    """A device array that the target reaches."""
    return cuda.to_device(values, device=None if target == "cuda" else "cpu")


def added(a, b):
    return a + b


FORMS: list[Any] = [
    "float32(float32, float32)",
    ["float32(float32, float32)", "float64(float64, float64)"],
    [float32(float32, float32), (f8, f8)],
    [types.f4(f4, f4)],
]


# ---- takes scalar types ----------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_vectorize(form, target):
    add = vectorize(form, target="cuda")(added)
    x = np.arange(12, dtype=np.float32)
    result = add(x, x)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, 2 * x)
    np.testing.assert_array_equal(add(x, 1), x + 1)
    np.testing.assert_array_equal(add(2.5, x), x + 2.5)
    assert add(1, 2) == 3
    assert isinstance(add(1, 2), np.float32)
    assert (add.nin, add.nout, add.nargs, add.ntypes) == (2, 1, 3, len(add.types))
    assert add.types[0] == "ff->f"
    assert add.__name__ == "added"
    assert add.py_func is added


def test_the_loop_is_chosen_by_dtype(target):
    add = vectorize(["i4(i4, i4)", "f4(f4, f4)", "f8(f8, f8)"], target="cuda")(added)
    for dtype, expected in (("i4", "i4"), ("i2", "i4"), ("f4", "f4"), ("f8", "f8"), ("u4", "f8")):
        arguments = np.array([2, 4], dtype)
        assert add(arguments, arguments).dtype == expected
    assert add(np.ones(2, "i2"), np.ones(2, "f4")).dtype == "f4"
    with pytest.raises(
        TypeError, match=r"signatures ii->i, ff->f, dd->d, and none for \(complex128"
    ):
        add(np.ones(2, complex), 1)
    with pytest.raises(TypeError, match="takes 2 arrays, not 1"):
        add(np.ones(2))


def test_results_without_signatures(target):
    multiplied = vectorize(lambda a, b: a * b, target="cuda")
    x = np.arange(4, dtype=np.float32)
    assert multiplied(x, 2).dtype == multiplied(x, 2.5).dtype == np.float32
    assert multiplied(np.arange(4), 2.5).dtype == np.float64
    assert multiplied(np.arange(4), x).dtype == np.float64
    compared = vectorize(lambda a, b: a < b, target="cuda")
    assert compared(x, 2).tolist() == [True, True, False, False]


SHAPES = [
    ((), (3,)),
    ((4, 1), (3,)),
    ((2, 3), (2, 3)),
    ((5, 1, 3), (4, 1)),
    ((2, 1, 3, 1, 2), (2, 1, 4, 1)),
    ((0, 3), (3,)),
    ((1,), (1, 1)),
]


@pytest.mark.parametrize(("one", "two"), SHAPES)
def test_broadcasting(one, two, target):
    add = vectorize("f8(f8, f8)", target="cuda")(added)
    random = np.random.default_rng(1)
    a, b = random.random(one), random.random(two)
    np.testing.assert_allclose(add(a, b), a + b)
    np.testing.assert_allclose(add(np.asfortranarray(a), b), a + b)


def test_any_strides_and_byte_orders(target):
    add = vectorize("f8(f8, f8)", target="cuda")(added)
    a = np.arange(24.0).reshape(4, 6)
    np.testing.assert_array_equal(add(a[::2, ::-1], a[:2, :6]), a[::2, ::-1] + a[:2])
    np.testing.assert_array_equal(add(a.astype(">f8"), a), 2 * a)
    a.flags.writeable = False
    np.testing.assert_array_equal(add(a, a.T.reshape(4, 6)), a + a.T.reshape(4, 6))


@pytest.mark.parametrize("size", [1, 31, 200, 256, 300, 511, 600, 2048])
def test_four_elements_of_a_thread(size, target):
    """What a GPU runs, also where the last block is not full."""
    x, y = np.random.default_rng(size).integers(-9, 9, (2, size)).astype(np.float32)
    out = placed(target, np.zeros((size, 2), np.float32))
    back = placed(target, y[::-1].copy())[::-1]
    run = Kernel(map_1d_by_four, backend=target)
    run[-(-size // 256), 64](DeviceFunction(added), out[:, 1], placed(target, x), back)
    result = out.copy_to_host()
    assert not result[:, 0].any()
    np.testing.assert_array_equal(result[:, 1], x + y)


def test_out(target):
    add = vectorize("f4(f4, f4)", target="cuda")(added)
    x = np.arange(6, dtype=np.float32)
    out = np.zeros(6)
    assert add(x, 1, out=out) is out
    assert add(x, 1, out) is out
    np.testing.assert_array_equal(out, x + 1)
    wide = np.zeros((6, 2), np.float32)
    add(x, 2, out=wide[:, 1])
    np.testing.assert_array_equal(wide, np.stack([x * 0, x + 2], 1))
    add(x[:-1], x[1:], out=x[1:])  # over what it reads
    np.testing.assert_array_equal(x, [0, 1, 3, 5, 7, 9])
    with pytest.raises(TypeError, match="the result has the type float32, and out has int32"):
        add(x, 1, out=np.zeros(6, np.int32))
    with pytest.raises(ValueError, match=r"has the shape \(6,\), and out has \(5,\)"):
        add(x, 1, out=np.zeros(5))


def test_arrays_on_a_device(target):
    add = vectorize("f4(f4, f4)", target="cuda")(added)
    x = np.arange(6, dtype=np.float32)
    there, stream = placed(target, x), cuda.stream()
    result = add(there, x, stream=stream)
    assert isinstance(result, cuda.DeviceArray)
    np.testing.assert_array_equal(result.copy_to_host(), 2 * x)
    assert add(result, 1, out=there) is there
    np.testing.assert_array_equal(there.copy_to_host(), 2 * x + 1)
    host = np.zeros(6, np.float32)
    assert add(there, there, out=host) is host
    np.testing.assert_array_equal(host, 4 * x + 2)


def test_a_function_of_one_and_of_many(target):
    root = vectorize([float64(float64)], target="cuda")(lambda x: math.sqrt(x))
    np.testing.assert_array_equal(root(np.array([4.0, 9.0])), [2, 3])
    many = vectorize("f8(f8, f8, f8, f8)", target="cuda")(lambda a, b, c, d: a * b + c * d)
    np.testing.assert_array_equal(many(np.arange(3), 2, 3, [1, 2, 3]), [3, 8, 13])


def test_reduce_by_a_ufunc(target):
    add = vectorize("f8(f8, f8)", target="cuda")(added)
    assert add.reduce(np.arange(1000.0)) == 499500
    assert add.reduce(np.arange(1000.0), 10) == 45
    with pytest.raises(TypeError, match="reduce needs a function of two"):
        vectorize("f8(f8)", target="cuda")(abs_of).reduce(np.ones(3))


def abs_of(x):
    return abs(x)


def test_kernels_call_it(target):
    add = vectorize("f4(f4, f4)", target="cuda")(added)

    @cuda.jit
    def k(out):
        out[cuda.grid(1)] = add(cuda.grid(1), 1)

    out = np.zeros(3)
    k[1, 3](out)
    assert out.tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["cpu", "parallel"])
def test_other_targets_are_the_cpu(name, target):
    assert vectorize("f4(f4, f4)", target=name)(added)(1, 2) == 3


def test_wrong_declarations(target):
    with pytest.raises(ValueError, match="target is one of cuda, cpu, parallel, not 'tpu'"):
        vectorize("f4(f4, f4)", target="tpu")
    with pytest.raises(TypeError, match="takes 2 inputs"):
        vectorize("f4(f4)", target="cuda")(added)
    with pytest.raises(TypeError, match="takes scalar types"):
        vectorize("f4(f4[:], f4)", target="cuda")(added)
    with pytest.raises(TypeError, match="a function, not 3"):
        vectorize("f4(f4)")(3)


# ---- functions of arrays -----------------------------------------------------------------------


def multiplied(a, b, c):
    m, n = a.shape
    for i in range(m):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(n):
                c[i, j] += a[i, k] * b[k, j]


MATRICES: Callable[[Any], Any] = guvectorize(
    ["void(f4[:, :], f4[:, :], f4[:, :])", (f8[:, :], f8[:, :], f8[:, :])],
    "(m,n),(n,p)->(m,p)",
    target="cuda",
)


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4, 2)), ((5, 3, 4), (4, 2)), ((2, 1, 3, 4), (5, 4, 2))]
)
def test_guvectorize(shapes, target):
    matmul = guvectorize(
        ["void(f4[:, :], f4[:, :], f4[:, :])", (f8[:, :], f8[:, :], f8[:, :])],
        "(m,n),(n,p)->(m,p)",
        target="cuda",
    )(multiplied)
    random = np.random.default_rng(1)
    a, b = (random.random(shape) for shape in shapes)
    np.testing.assert_allclose(matmul(a, b), a @ b)
    single = matmul(a.astype("f4"), b.astype("f4"))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, a @ b, rtol=1e-5)
    out = np.zeros(np.shape(a @ b))
    assert matmul(a, b, out) is matmul(a, b, out=out) is out
    np.testing.assert_allclose(out, a @ b)
    there = matmul(placed(target, a), b)
    assert isinstance(there, cuda.DeviceArray)
    np.testing.assert_allclose(there.copy_to_host(), a @ b)
    assert (matmul.nin, matmul.nout, matmul.types) == (2, 1, ["ff->f", "dd->d"])


def test_numbers_and_several_outputs(target):
    @guvectorize([(int64[:], int64, int64[:], int64[:])], "(n),()->(n),()", target="cuda")
    def scaled(x, by, out, total):
        total[0] = 0
        for i in range(x.shape[0]):
            out[i] = x[i] * by
            total[0] += out[i]

    x = np.arange(12).reshape(3, 4)
    out, total = scaled(x, 2)
    np.testing.assert_array_equal(out, 2 * x)
    np.testing.assert_array_equal(total, 2 * x.sum(1))
    out, total = scaled(x, [1, 2, 3])
    np.testing.assert_array_equal(total, x.sum(1) * [1, 2, 3])
    arguments = np.zeros((3, 8), np.int32)[:, ::2]
    out, _ = scaled(x, 2, arguments)
    assert out is arguments
    np.testing.assert_array_equal(arguments, 2 * x)


def test_a_number_that_is_declared_as_an_array(target):
    @guvectorize(["void(f8[:], f8[:], f8[:])"], "(),(n)->(n)", target="cuda")
    def scaled(by, x, out):
        for i in range(x.shape[0]):
            out[i] = x[i] * by[0]

    np.testing.assert_array_equal(scaled([2, 3], np.ones(2)), [[2, 2], [3, 3]])

    res = np.zeros(4)
    assert scaled([2], np.ones(4), out=res) is res  # the number has an axis, and the result none
    assert res.tolist() == [2] * 4
    with pytest.raises(ValueError, match="has the shape"):
        scaled([2, 3], np.ones(4), out=res)


def test_without_signatures_it_is_given_what_it_writes(target):
    @guvectorize("(n)->()", target="cuda")
    def most(x, out):
        out[0] = x[0]
        for v in x:
            out[0] = max(out[0], v)

    out = np.zeros(2)
    most(np.array([[1.0, 5, 2], [3, 1, 1]]), out)
    assert out.tolist() == [5, 3]
    with pytest.raises(TypeError, match="pass the arrays that it writes to"):
        most(np.ones(3))


def test_wrong_calls(target):
    matmul = MATRICES(multiplied)
    with pytest.raises(ValueError, match=r"the axis n of .* has the lengths 3 and 2"):
        matmul(np.ones((2, 3)), np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"argument 2 of .* has 1 axes, and needs at least 2"):
        matmul(np.ones((2, 3)), np.ones(3))
    with pytest.raises(ValueError, match=r"has the shape \(2, 2\), and out has \(2, 3\)"):
        matmul(np.ones((2, 3)), np.ones((3, 2)), np.ones((2, 3)))
    with pytest.raises(TypeError, match=r"none for .complex128"):
        matmul(np.ones((2, 3), complex), np.ones((3, 2)))
    with pytest.raises(TypeError, match="takes 2 arrays, not 1"):
        matmul(np.ones((2, 3)))
    with pytest.raises(TypeError, match="has 1 outputs, and 2 were passed"):
        matmul(np.ones((2, 3)), np.ones((3, 2)), np.ones((2, 2)), np.ones((2, 2)))


@pytest.mark.parametrize("layout", ["(n)", "n->n", "(n)->(m)", "(n),->(n)", "(n)->(n)->(n)"])
def test_wrong_layouts(layout, target):
    with pytest.raises(SignatureError, match="layout"):
        guvectorize(["void(f4[:], f4[:])"], layout)
    with pytest.raises(SignatureError, match="2 inputs and 1 outputs"):
        guvectorize(["void(f4[:], f4[:])"], "(n),(n)->(n)")(multiplied)


# ---- reductions --------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 31, 257, 70000])
def test_reduce(count, target):
    if target == "python":  # which is slow
        count = min(count, 300)
    total = cuda.reduce(lambda a, b: a + b)
    values = np.arange(count)
    assert total(values) == values.sum()
    assert total(values, init=5) == values.sum() + 5
    assert total(values.astype("f4")[::-1]).dtype == np.float32


def test_reduce_as_a_decorator(target):
    @cuda.reduce
    def largest(a, b):
        return a if a > b else b

    values = np.random.default_rng(1).random(300)
    assert largest(values) == values.max()
    assert largest(placed(target, values), size=20) == values[:20].max()
    assert largest(-values) == 0  # what it begins with is 0, as numba's
    assert largest(-values, init=-2) == -values.min()
    device = cuda.Reduce(cuda.jit(device=True)(lambda a, b: a * b))
    assert device(np.arange(1, 6), init=1) == 120


def test_destinations_of_a_reduction(target):
    total = cuda.reduce(added)
    res = placed(target, np.zeros(2))
    assert total(np.ones(700), res=res, stream=cuda.stream()) is None
    cuda.synchronize()
    assert res.copy_to_host().tolist() == [700, 0]
    assert total(np.zeros(0), init=3) == 3
    assert total(np.zeros(0), res=res, init=4) is None
    assert res[0] == 4
    host = np.zeros(1)
    total(np.ones(3), res=host)
    assert host[0] == 3
    with pytest.raises(TypeError, match="takes an array with one axis, not 2"):
        total(np.ones((2, 2)))


# ---- what is there beside them -----------------------------------------------------------------


def test_names_of_the_package():
    assert pycu2c.typeof(np.zeros((2, 3))) == float64[:, ::1]
    assert str(pycu2c.typeof((1, 2.5))) == "(int64, float64)"
    assert pycu2c.from_dtype(np.float32) == float32
    assert str(pycu2c.from_dtype([("x", "f4"), ("n", "i4")])) == "{x: float32, n: int32}"
    with pytest.raises(AttributeError, match="pycu2c has no attribute stencil"):
        _ = pycu2c.stencil


def test_a_declared_type_is_looked_at_when_it_is_defined(target):
    with pytest.raises(CompileError, match=r"kernels have no `numpy\.median`"):

        @vectorize(["float32(float32)"])
        def middle(x):
            return np.median(x)

    with pytest.raises(CompileError, match="`unknown` is not defined"):

        @guvectorize(["void(float32[:], float32[:])"], "(n)->(n)")
        def each(a, out):
            out[0] = unknown(a)  # noqa: F821

"""GPUArray: arithmetic, views, copies, functions. Numpy says what is right. On the GPU, or the CPU
where there is none."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pycu2c.pycuda.driver as drv
from pycu2c import cuda, cupy, kernel
from pycu2c.cuda_driver import driver as our_driver
from pycu2c.devices.array import DeviceArray
from pycu2c.pycuda import cumath, gpuarray
from pycu2c.pycuda.elementwise import ElementwiseKernel
from pycu2c.pycuda.gpuarray import GPUArray
from pycu2c.pycuda.reduction import ReductionKernel
from pycu2c.pycuda.tools import DeviceMemoryPool

RNG = np.random.default_rng(13)
DTYPES = (np.float32, np.float64, np.complex64, np.int32, np.uint8)


def some(dtype: Any, shape: Any = (50,)) -> np.ndarray:
    """Numbers that are not 0."""
    values = (RNG.random(shape) * 8 + 1).astype(dtype)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * RNG.random(shape).astype(values.real.dtype)
    return values.astype(dtype)


def same(result: GPUArray, expected: np.ndarray, rtol: float = 1e-5) -> None:
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    assert np.allclose(result.get(), expected, rtol=rtol)


# ---- arithmetic --------------------------------------------------------------------------------

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64])
@pytest.mark.parametrize("sign", OPERATORS)
def test_arithmetic(sign: str, dtype: Any) -> None:
    apply = OPERATORS[sign]
    a, b = some(dtype), some(dtype)
    if sign == "**" and dtype is np.int32:
        b = b % 4
    if sign == "**" and dtype is np.complex64:
        b = b * 0 + 2
    a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    same(apply(a_gpu, b_gpu), apply(a, b), 1e-4)
    same(apply(a_gpu, 3), apply(a, 3), 1e-4)
    if sign != "**" or dtype is not np.complex64:
        same(apply(2, a_gpu if sign != "**" else b_gpu), apply(2, a if sign != "**" else b), 1e-4)
    if dtype is np.float32:
        same(apply(a_gpu, np.float32(1.5)), apply(a, np.float32(1.5)), 1e-4)


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "**"])
def test_in_place(sign: str) -> None:
    apply = {"+": operator.iadd, "-": operator.isub, "*": operator.imul}
    apply |= {"/": operator.itruediv, "**": operator.ipow}
    a, b = some(np.float32), some(np.float32)
    a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    kept = a_gpu
    a_gpu = apply[sign](a_gpu, b_gpu)
    a_gpu = apply[sign](a_gpu, 2)
    assert a_gpu is kept
    same(a_gpu, apply[sign](apply[sign](a, b), np.float32(2)), 1e-4)


@pytest.mark.slow
def test_mixed_types_are_numpys() -> None:
    arrays = {dtype: some(dtype) for dtype in DTYPES}
    for one, a in arrays.items():
        for other, b in arrays.items():
            same(gpuarray.to_gpu(a) + gpuarray.to_gpu(b), a + b)
            assert (gpuarray.to_gpu(a) * 2).dtype == (a * 2).dtype, (one, other)
    same(gpuarray.to_gpu(arrays[np.float32]) * (2 + 1j), arrays[np.float32] * (2 + 1j))


def test_an_expression() -> None:
    a = np.arange(200000, dtype=np.float32)
    b = a + 17
    a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    assert (((a_gpu - 3 * b_gpu + (-a_gpu)).get() - (a - 3 * b + (-a))) == 0).all()
    same(abs(-a_gpu), a)
    assert +a_gpu is a_gpu


def test_shapes_are_broadcast_as_in_pycuda() -> None:
    a, one = some(np.float32, (4, 5)), some(np.float32, ())
    a_gpu, one_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(one)
    same(a_gpu + one_gpu, a + one)
    same(one_gpu * a_gpu, one * a)
    same(a_gpu - one, a - one)
    with pytest.raises(NotImplementedError, match=r"\(4, 5\), \(5,\)"):
        a_gpu + gpuarray.to_gpu(some(np.float32, (5,)))
    with pytest.raises(TypeError):
        a_gpu + "x"


def test_orders_of_axes_and_gaps() -> None:
    a, b = some(np.float64, (6, 5)), np.asfortranarray(some(np.float64, (6, 5)))
    a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    assert b_gpu.flags.f_contiguous
    assert not b_gpu.flags.c_contiguous
    same(a_gpu + b_gpu, a + b)
    same(b_gpu + a_gpu, a + b)
    assert (b_gpu + a_gpu).flags.f_contiguous
    assert not a_gpu[:, 1:3].flags.forc
    same(a_gpu[:, 1:3] * b_gpu[:, 2:4], a[:, 1:3] * b[:, 2:4])
    part = a_gpu[::2, 1:4]
    part += 1
    a[::2, 1:4] += 1
    assert (a_gpu.get() == a).all()
    same(cumath.exp(a_gpu.T), np.exp(a.T))


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_comparisons_give_ones_and_zeros(dtype: Any) -> None:
    a, b = some(dtype), some(dtype)
    a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    for apply in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        for result, expected in (
            (apply(a_gpu, b_gpu), apply(a, b)),
            (apply(a_gpu, a[3]), apply(a, a[3])),
        ):
            assert result.dtype == a.dtype
            assert (result.get() == expected).all()


def test_functions_of_truth() -> None:
    a_gpu = gpuarray.to_gpu(np.array([0, 1, 0, 2], np.float32))
    assert a_gpu.any().get()
    assert not a_gpu.all().get()
    assert (a_gpu + 1).all().get()
    assert not (a_gpu * 0).any()
    with pytest.raises(ValueError, match="no truth value"):
        bool(a_gpu)


def test_complex_numbers() -> None:
    a = some(np.complex64, (3, 4))
    a_gpu = gpuarray.to_gpu(a)
    same(a_gpu.real, a.real)
    same(a_gpu.imag, a.imag)
    same(a_gpu.conj(), a.conj())
    same(abs(a_gpu), abs(a))
    plain = gpuarray.to_gpu(a.real.copy())
    assert plain.real is plain
    assert plain.conj() is plain
    assert not plain.imag.get().any()


# ---- new arrays --------------------------------------------------------------------------------


def test_arrays_of_zeros_and_ones() -> None:
    for order in "CF":
        zeros = gpuarray.zeros((3, 4), np.complex64, order=order)
        assert getattr(zeros.flags, f"{order.lower()}_contiguous")
        assert not zeros.get().any()
        assert (gpuarray.ones((3, 4), np.float32, order=order).get() == 1).all()
    assert gpuarray.empty(5, np.float32).shape == (5,)
    assert gpuarray.zeros((), np.int32).get() == 0
    assert gpuarray.zeros((0, 3), np.float32).get().shape == (0, 3)
    with pytest.raises(ValueError, match="order is 'C' or 'F'"):
        gpuarray.empty(5, np.float32, order="K")


def test_arrays_like_others() -> None:
    a = gpuarray.to_gpu(np.asfortranarray(some(np.float32, (3, 4))))
    for make in (gpuarray.empty_like, gpuarray.zeros_like, gpuarray.ones_like):
        assert make(a).flags.f_contiguous
        assert make(a, np.float64).dtype == np.float64
        assert make(a.T[1:], dtype=np.int8).shape == (3, 3)
    assert gpuarray.ones_like(a).get().sum() == 12


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ((5,), {"dtype": np.float32}),
        ((2, 9), {"dtype": np.int32}),
        ((2, 9, 3), {"dtype": np.float64}),
        ((9, 2, -2), {"dtype": np.int64}),
    ],
)
def test_ranges(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    same(gpuarray.arange(*args, **named), np.arange(*args, **named))


# ---- copies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
def test_set_and_get(order: Any) -> None:
    a = np.asarray(some(np.float32, (4, 5)), order=order)
    there = gpuarray.to_gpu(a)
    result = there.get()
    assert result.strides == a.strides
    assert (result == a).all()
    there.set(2 * a)
    assert (there.get(np.empty_like(a)) == 2 * a).all()
    assert (there.get(pagelocked=True) == 2 * a).all()
    stream = drv.Stream()
    there.set_async(a, stream)
    result = there.get_async(stream)
    stream.synchronize()
    assert (result == a).all()
    assert (gpuarray.to_gpu_async(a, stream=stream).get() == a).all()
    turned = there.transpose().get()
    assert turned.strides == a.T.strides
    assert (turned == a.T).all()


def test_errors_of_set_and_get() -> None:
    there = gpuarray.zeros(6, np.float32)
    with pytest.raises(ValueError, match="same size"):
        there.set(np.zeros(5, np.float32))
    with pytest.raises(ValueError, match="size and dtype"):
        there.set(np.zeros(6))
    for wrong in (np.zeros(6), np.zeros(7, np.float32)):
        with pytest.raises(ValueError, match="cannot be copied to one"):
            there.get(wrong)
    there.set(np.ones((2, 3), np.float32))
    assert there.get().tolist() == [1] * 6


def test_conversions_and_fills() -> None:
    a = some(np.float64, (3, 4))
    there = gpuarray.to_gpu(a)
    same(there.astype(np.float32), a.astype(np.float32))
    same(there.astype(np.int32), a.astype(np.int32))
    assert there.astype(np.float64) is not there
    assert there.fill(2.5) is there
    assert (there.get() == 2.5).all()
    there[1:, ::2].fill(1)
    assert there.get().sum() == 2.5 * 8 + 4


def test_arrays_over_memory_of_others() -> None:
    memory = drv.to_device(np.arange(6, dtype=np.float32))
    there = gpuarray.GPUArray((3,), np.float32, base=memory, gpudata=int(memory) + 4)
    assert (there + 1).get().tolist() == [2, 3, 4]


def test_pickles_and_texts() -> None:
    a = some(np.float32, (2, 2))
    there = gpuarray.to_gpu(a)
    same(pickle.loads(pickle.dumps(there)), a)
    assert str(there) == str(a)
    assert repr(there) == repr(a)
    assert len(there) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(there)
    with pytest.raises(TypeError, match="without axes"):
        len(gpuarray.zeros((), np.float32))


def test_other_packages_see_arrays_of_a_gpu() -> None:
    there = gpuarray.zeros((2, 3), np.float32)
    if our_driver.available():
        raised = there.__cuda_array_interface__
        assert (raised["shape"], raised["data"]) == ((2, 3), (there.ptr, False))
    else:
        assert not hasattr(there, "__cuda_array_interface__")


# ---- views -------------------------------------------------------------------------------------

INDICES = [
    np.s_[3],
    np.s_[-1],
    np.s_[1:4],
    np.s_[::2],
    np.s_[::-1],
    np.s_[1:5:2, 3],
    np.s_[:, 1:3],
    np.s_[..., 2],
    np.s_[2, ...],
    np.s_[None, 1:3, :, None],
    np.s_[1, 2],
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_slices(index: Any, order: Any) -> None:
    a = np.asarray(some(np.float32, (6, 5)), order=order)
    there = gpuarray.to_gpu(a)
    part = there[index]
    assert part.shape == a[index].shape
    assert (part.get() == a[index]).all()
    there[index] = 3
    a[index] = 3
    assert (there.get() == a).all()
    other = some(np.float32, a[index].shape)
    there[index] = gpuarray.to_gpu(other)
    a[index] = other
    assert (there.get() == a).all()


def test_errors_of_slices() -> None:
    there = gpuarray.zeros((6, 5), np.float32)
    for index in (7, (1, 2, 3), (..., ...)):
        with pytest.raises(IndexError):
            there[index]
    with pytest.raises(ValueError, match="broadcast"):
        there[1] = gpuarray.zeros(4, np.float32)


def test_shapes() -> None:
    a = some(np.float32, (4, 6))
    there = gpuarray.to_gpu(a)
    same(there.reshape(2, 12), a.reshape(2, 12))
    same(there.reshape((3, -1)), a.reshape(3, -1))
    same(gpuarray.reshape(there, -1), a.ravel())
    same(there.ravel(), a.ravel())
    same(there.reshape(6, 4, order="F"), a.reshape((6, 4), order="F"))
    same(there[:1].squeeze(), a[:1].squeeze())
    same(gpuarray.transpose(there), a.T)
    same(there.reshape(2, 2, 6).transpose((2, 0, 1)), a.reshape(2, 2, 6).transpose(2, 0, 1))
    same(there.view(np.int32), a.view(np.int32))
    same(there.view(np.float64), a.view(np.float64))
    same(there.ravel().reverse(), a.ravel()[::-1])
    view = there.reshape(24)
    view.fill(1)
    assert (there.get() == 1).all()
    assert view.base is there
    for shape in ((5, 5), (-1, -1), (7, -1)):
        with pytest.raises(ValueError, match=r"shape|one unknown dimension"):
            there.reshape(shape)
    same(there[:, 1:3].reshape(8), np.ones(8, np.float32))
    with pytest.raises(ValueError, match="axes"):
        there.transpose((0, 1, 2))
    with pytest.raises(ValueError, match="divisor"):
        there[:, :3].copy().view(np.float64)


# ---- functions of arrays -----------------------------------------------------------------------


def test_elements_by_their_indices() -> None:
    a, indices = some(np.float32, 20), np.array([3, 1, 19, 0, 3], np.uint32)
    there, chosen = gpuarray.to_gpu(a), gpuarray.to_gpu(indices)
    same(gpuarray.take(there, chosen), a[indices])


def test_choices() -> None:
    a, b = some(np.float32, 30) - 4, some(np.float32, 30)
    a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    same(gpuarray.if_positive(a_gpu, a_gpu, b_gpu), np.where(a > 0, a, b))
    same(gpuarray.where(a_gpu > 1, a_gpu, b_gpu), np.where(a > 1, a, b))
    same(gpuarray.maximum(a_gpu, b_gpu), np.maximum(a, b))
    same(gpuarray.minimum(a_gpu, 2), np.minimum(a, np.float32(2)))
    same(gpuarray.maximum(2, a_gpu), np.maximum(a, np.float32(2)))
    with pytest.raises(ValueError, match="shapes"):
        gpuarray.if_positive(a_gpu, a_gpu[:3], b_gpu)
    with pytest.raises(ValueError, match="dtypes"):
        gpuarray.if_positive(a_gpu, a_gpu, b_gpu.astype(np.float64))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("count", [1, 300, 100_003])
def test_reductions(dtype: Any, count: int) -> None:
    a = some(dtype, count)
    b = a[::-1].copy()
    a_gpu, b_gpu = map(gpuarray.to_gpu, (a, b))
    assert np.allclose(gpuarray.sum(a_gpu).get(), a.sum(dtype=dtype), rtol=1e-4)
    assert np.allclose(gpuarray.sum(a_gpu, dtype=np.float64).get(), a.sum(dtype=float), rtol=1e-9)
    assert gpuarray.min(a_gpu).get() == a.min()
    assert gpuarray.max(a_gpu).get() == a.max()
    if count > 300:
        return
    assert np.allclose(gpuarray.dot(a_gpu, b_gpu).get(), np.dot(a, b), rtol=1e-4)


def test_reductions_use_the_allocator_that_is_given() -> None:
    pool, sizes = DeviceMemoryPool(), []

    def allocate(size: int) -> drv.DeviceAllocation:
        sizes.append(size)
        return pool.allocate(size)

    a = gpuarray.to_gpu(np.arange(5, dtype=np.float32))
    total = gpuarray.sum(a, allocator=allocate)
    assert total.get() == 10
    assert sizes == [4]
    assert total.shape == ()


# ---- cumath ------------------------------------------------------------------------------------

NUMPYS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
OF_FLOATS = [*NUMPYS, "ceil", "floor", "fabs", "exp", "log", "log10", "sqrt", "sin", "cos", "tan"]
OF_FLOATS += ["sinh", "cosh", "tanh", "arcsin", "arccos", "arctan"]


@pytest.mark.parametrize("name", OF_FLOATS)
def test_functions_of_elements(name: str) -> None:
    a = RNG.random((20, 3)).astype(np.float32)
    expected = getattr(np, NUMPYS.get(name, name))(a)
    there = gpuarray.to_gpu(a)
    same(getattr(cumath, name)(there), expected)
    out = gpuarray.empty_like(there)
    assert getattr(cumath, name)(there, out=out) is out
    same(out, expected)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "cosh", "tanh"])
def test_functions_of_complex_numbers(name: str) -> None:
    a = some(np.complex64) / 4
    same(getattr(cumath, name)(gpuarray.to_gpu(a)), getattr(np, name)(a), 1e-3)


def test_angles() -> None:
    a, b = some(np.float32), some(np.float32) / 3
    same(cumath.atan2(gpuarray.to_gpu(a), gpuarray.to_gpu(b)), np.arctan2(a, b))


# ---- what programs of PyCUDA do beside that ----------------------------------------------------


def test_results_as_positional_arguments() -> None:
    a = RNG.random(20)
    there, stream = gpuarray.to_gpu(a), drv.Stream()
    out = gpuarray.empty_like(there)
    assert cumath.exp(there, out) is out
    same(out, np.exp(a))
    assert cumath.sin(there, stream=stream, out=out) is out
    same(out, np.sin(a))
    same(cumath.log10(gpuarray.to_gpu(a + 1j)), np.log10(a + 1j))


def test_shapes_of_numpys_numbers() -> None:
    for shape, expected in (
        (np.int32(17), (17,)),
        ((np.int32(2), np.uint8(3)), (2, 3)),
        (np.array(3), (3,)),
        (np.array([2, 3]), (2, 3)),
    ):
        assert gpuarray.empty(shape, np.float32).shape == expected
    assert gpuarray.zeros(3).dtype == gpuarray.ones(3).dtype == np.float64


def test_truth() -> None:
    for axes in range(4):
        assert bool(gpuarray.ones((1,) * axes, np.float32))
        assert not bool(gpuarray.zeros((1,) * axes, np.float32))
    with pytest.raises(ValueError, match="no truth value"):
        bool(gpuarray.ones(2, np.float32))


@pytest.mark.parametrize("dtype", [np.int32, np.bool_, np.float32, np.float64])
def test_any_and_all(dtype: Any) -> None:
    for values in ([0, 0, 0], [0, 1, 0], [1, 1, 1], [1]):
        a = np.array(values, dtype)
        there = gpuarray.to_gpu(a)
        same(there.any(), a.any())
        same(there.all(), a.all())


@pytest.mark.parametrize("left", [np.int32, np.int64, np.float32, np.complex128])
@pytest.mark.parametrize("right", [np.int32, np.float32, np.float64, np.complex64])
def test_arithmetic_of_two_types(left: Any, right: Any) -> None:
    a, b = some(left, (10, 4)) + left(1), some(right, (10, 4)) + right(1)
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    for result, expected in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x / y, a / b)):
        same(result, expected, 1e-4)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_orders_stay(order: Any, dtype: Any) -> None:
    a = gpuarray.to_gpu(np.asarray(some(dtype, (3, 4)), order=order))
    for made in (a.real, a.imag, a.conj(), abs(a), -a, a + a, 2 * a, cumath.exp(a)):
        assert getattr(made.flags, f"{order.lower()}_contiguous")


def test_reductions_of_rows_into_elements() -> None:
    a = some(np.float32, (10, 200))
    there, out = gpuarray.to_gpu(a), gpuarray.empty(10, np.float32)
    most = ReductionKernel(np.float32, neutral=0, reduce_expr="max(a,b)", arguments="float *in")
    for k in range(10):
        most(there[k], out=out[k])
    same(out, a.max(axis=1))


def test_vectors() -> None:
    there = gpuarray.GPUArray(5, dtype=gpuarray.vec.float3)
    there.fill(gpuarray.vec.make_float3(1, 2, 3))
    assert there.get().dtype == gpuarray.vec.float3
    assert there.get()[4].item() == (1, 2, 3)


# ---- arrays of others ------------------------------------------------------------------------


def ours(values: np.ndarray) -> DeviceArray:
    return cuda.to_device(values)


@pytest.mark.parametrize("sign", OPERATORS)
def test_arithmetic_with_device_arrays(sign: str) -> None:
    a, b = some(np.float32), some(np.float32)
    operation = OPERATORS[sign]
    same(operation(gpuarray.to_gpu(a), ours(b)), operation(a, b))
    same(operation(ours(a), gpuarray.to_gpu(b)), operation(a, b))
    changed = gpuarray.to_gpu(a)
    changed += ours(b)
    same(changed, a + b)
    assert ((gpuarray.to_gpu(a) < ours(b)).get() == (a < b)).all()


def test_functions_of_device_arrays() -> None:
    a, b = some(np.float32), some(np.float32)
    x, y = ours(a), ours(b)
    assert gpuarray.sum(x).get() == pytest.approx(a.sum(), rel=1e-6)
    assert gpuarray.dot(x, y).get() == pytest.approx(a @ b, rel=1e-6)
    same(cumath.exp(x), np.exp(a))
    same(gpuarray.maximum(x, y), np.maximum(a, b))
    same(gpuarray.if_positive(x, y, x), np.where(a > 0, b, a))
    same(gpuarray.take(x, ours(np.int32([3, 1]))), a[[3, 1]])
    there = gpuarray.to_gpu(x)
    there[2:4] = y[2:4]
    same(there, np.concatenate([a[:2], b[2:4], a[4:]]))


def test_kernels_of_pycuda_take_device_arrays() -> None:
    a = some(np.float32)
    x = ours(a)
    ElementwiseKernel("float *x", "x[i] *= 2")(x)
    ElementwiseKernel("float *x", "x[i] += 1")(x)
    assert np.allclose(x.copy_to_host(), 2 * a + 1)
    drv.memset_d32(x, 0, 10)
    drv.memcpy_htod(x, a[:5])
    assert drv.from_device(x, 10, np.float32).tolist() == [*a[:5], *[0] * 5]
    view = gpuarray.as_gpuarray(x)
    view += 1
    assert (x.copy_to_host()[:5] == a[:5] + 1).all()
    assert gpuarray.as_gpuarray(view) is view
    with pytest.raises(drv.LogicError, match="only 200 bytes"):
        drv.memcpy_htod(x, np.zeros(51, np.float32))


def test_kernels_of_this_package_take_gpuarrays() -> None:
    @kernel
    def twice(x, y):  # type: ignore[no-untyped-def]
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            y[i, j] = 2 * x[i, j]

    a = some(np.float32, (6, 8))
    double = cupy.ElementwiseKernel("T x", "T y", "y = 2 * x", "double")
    total = cupy.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    for _ in range(4):  # later ones go another way
        x, y = gpuarray.to_gpu(a), gpuarray.zeros((3, 8), np.float32)
        twice[(1, 1), (8, 8)](x[::2], y)
        same(y, 2 * a[::2])
        same(double(x.T), 2 * a.T)
        same(total(x, axis=0), a.sum(0))
        assert isinstance(double(x), GPUArray)
    if not our_driver.available():
        assert (np.from_dlpack(double(x)) == 2 * a).all()


def test_values_that_are_no_array() -> None:
    with pytest.raises(TypeError, match="convert the list with"):
        gpuarray.to_gpu([1, 2])  # type: ignore[arg-type]
    for wrong in (lambda: GPUArray(3, object), lambda: gpuarray.to_gpu(np.array([{}]))):
        with pytest.raises(TypeError, match="are Python objects"):
            wrong()


def test_arrays_not_on_the_device() -> None:
    there, a = gpuarray.zeros(3, np.float32), np.ones(3, np.float32)
    for wrong in (
        lambda: there + a,
        lambda: a + there,
        lambda: np.exp(there),
        lambda: cumath.exp(a),
        lambda: gpuarray.maximum(there, a),
        lambda: gpuarray.sum(a),
    ):
        with pytest.raises(TypeError, match=r"GPUArray|with to_gpu"):
            wrong()

"""``ReductionKernel`` compared with numpy: axes, strides, sizes, types, options and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from compat.cupy.test_elementwise import strided
from pycu2c import CompileError, LaunchError, cuda
from pycu2c.cupy import ReductionKernel
from support.cupy_arrays import on_backend, to_numpy

SUM = ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "sum")
LARGEST = ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")


def call(backend: str, kernel: ReductionKernel, *args: Any, **named: Any) -> Any:
    """What a kernel gives for arrays of a backend, in numpy's arrays."""
    return to_numpy(kernel(*(on_backend(backend, a) for a in args), **named))


def numbers(*shape: int) -> np.ndarray[Any, Any]:
    """Whole numbers as floats, whose sums are exact in any order; negative ones too."""
    return np.random.default_rng(1).integers(-50, 50, shape).astype(np.float32)


# ---- axes and sizes --------------------------------------------------------------------------


@pytest.mark.parametrize("power", range(1, 10))
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_sizes_around_powers_of_two(backend: str, power: int, more: int) -> None:
    x = numbers(2**power + more)
    assert call(backend, SUM, x) == x.sum()
    both = numbers(2**power + more, 70)
    for axis in (0, 1):
        np.testing.assert_array_equal(call(backend, SUM, both, axis=axis), both.sum(axis=axis))
        np.testing.assert_array_equal(call(backend, LARGEST, both, axis=axis), both.max(axis=axis))


FORMS = [
    ((1,), None),
    ((3_000_001,), None),
    ((5, 400_001), 1),
    ((400_001, 5), 0),
    ((400_001, 5), 1),
    ((3, 100_000), 0),
    ((300_000, 40), 0),
    ((700, 700), 0),
    ((700, 700), (0, 1)),
    ((20, 30, 40), (0, 2)),
    ((20, 30, 40), 1),
    ((20, 30, 40), (-1, -2)),
    ((2, 3, 4, 5, 6), (1, 3)),
    ((2, 3, 4, 5, 600), (0, 2, 4)),
    ((1, 1), None),
    ((3, 1, 4), 1),
]


@pytest.mark.parametrize(("shape", "axis"), FORMS)
def test_axes(backend: str, shape: tuple[int, ...], axis: Any) -> None:
    x = numbers(*shape)
    for keepdims in (False, True):
        for kernel, numpys in ((SUM, np.sum), (LARGEST, np.max)):
            result = call(backend, kernel, x, axis=axis, keepdims=keepdims)
            expected = numpys(x, axis=axis, keepdims=keepdims)
            assert result.dtype == np.float32
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("shape", "axis"), [form for form in FORMS if len(form[0]) > 1])
def test_axes_of_views(backend: str, shape: tuple[int, ...], axis: Any) -> None:
    for x in (numbers(*shape[::-1]).T, numbers(*shape)[::-1, ..., ::2], numbers(*shape)[..., 1:]):
        if x.size:
            result = call(backend, SUM, x, axis=axis)
            np.testing.assert_array_equal(result, x.sum(axis=axis))


@pytest.mark.slow
@settings(max_examples=60)
@given(shape=arrays_of.array_shapes(min_dims=0, max_dims=4, max_side=5), data=st.data())
def test_any_axes_of_any_strides(shape: tuple[int, ...], data: st.DataObject) -> None:
    x = strided(shape, data)
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1)) if shape else st.just(set()))
    axis, keepdims = tuple(axes), data.draw(st.booleans())
    result = SUM(x, axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(result, x.sum(axis=axis, keepdims=keepdims))
    np.testing.assert_array_equal(LARGEST(x, axis=axis), x.max(axis=axis))


def test_the_same_each_time(backend: str) -> None:
    x = on_backend(backend, np.random.default_rng(2).random((3000, 1001), dtype=np.float32))
    for axis in (None, 0, 1):
        first = to_numpy(SUM(x, axis=axis))
        for _ in range(5):
            np.testing.assert_array_equal(to_numpy(SUM(x, axis=axis)), first)


def test_nothing(backend: str) -> None:
    assert call(backend, SUM, np.zeros((0,))) == 0
    assert call(backend, SUM, np.zeros((3, 0)), axis=1).tolist() == [0, 0, 0]
    assert call(backend, SUM, np.zeros((3, 0)), axis=0).shape == (0,)
    assert call(backend, LARGEST, np.zeros((3, 0)), axis=0).shape == (0,)
    with pytest.raises(ValueError, match="reduction operation largest which has no identity"):
        call(backend, LARGEST, np.zeros((3, 0)), axis=1)


def test_without_identity_nothing_joins_in(backend: str) -> None:
    x = -1 - numbers(100, 5) ** 2
    assert call(backend, LARGEST, x) == x.max()
    assert call(backend, LARGEST, x, axis=0).tolist() == x.max(axis=0).tolist()


# ---- what is reduced -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16, np.complex64])
def test_dtypes(backend: str, dtype: Any) -> None:
    x = (numbers(40, 300) % 3).astype(dtype)
    for axis in (None, 0, 1):
        result = call(backend, SUM, x, axis=axis)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, x.sum(axis=axis, dtype=dtype))


def test_several_inputs_are_broadcast(backend: str) -> None:
    kernel = ReductionKernel("T x, T w", "T y", "x * w", "a + b", "y = a", "0", "weighted")
    x, w = numbers(50, 60), numbers(60)
    np.testing.assert_array_equal(call(backend, kernel, x, w, axis=1), (x * w).sum(axis=1))
    np.testing.assert_array_equal(call(backend, kernel, x, w, axis=0), (x * w).sum(axis=0))
    np.testing.assert_array_equal(call(backend, kernel, x, 3), (x * 3).sum())


def test_norms(backend: str) -> None:
    kernel = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    np.testing.assert_allclose(call(backend, kernel, x, axis=1), [5.477226, 15.9687195], rtol=1e-6)
    np.testing.assert_allclose(call(backend, kernel, x), 16.881943, rtol=1e-6)


def test_a_type_between(backend: str) -> None:
    kernel = ReductionKernel(
        "T x", "float32 y", "x", "a + b", "y = a / (_in_ind.size() / _out_ind.size())", "0", "mean",
        reduce_type="double",
    )  # fmt: skip
    x = (numbers(1000, 300) + 1e4).astype(np.float32)
    expected = x.mean(axis=0, dtype=np.float64).astype(np.float32)
    np.testing.assert_array_equal(call(backend, kernel, x, axis=0), expected)
    by_dtype = ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, "m", reduce_type="float64")
    assert call(backend, by_dtype, x) == np.float32(x.sum(dtype=np.float64))


ARGMAX = """
struct Place { T value; int at; __device__ Place(T v = 0, int a = -1) : value(v), at(a) {} };
__device__ Place better(const Place &a, const Place &b) {
    if (a.at < 0) return b;
    if (b.at < 0) return a;
    return a.value > b.value || (a.value == b.value && a.at < b.at) ? a : b;
}
"""


@pytest.mark.parametrize("identity", ["", None, "Place()"])
def test_a_struct_of_the_users(backend: str, identity: Any) -> None:
    kernel = ReductionKernel(
        "T x", "int32 y", "Place(x, _J)", "better(a, b)", "y = a.at", identity, "argmax",
        reduce_type="Place", preamble=ARGMAX,
    )  # fmt: skip
    x = numbers(300, 500)
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(call(backend, kernel, x, axis=axis), x.argmax(axis=axis))
    long = numbers(3, 200_000)
    np.testing.assert_array_equal(call(backend, kernel, long, axis=1), long.argmax(axis=1))


def test_several_outputs(backend: str) -> None:
    kernel = ReductionKernel(
        "T x", "T total, float64 half", "x", "a + b", "total = a; half = a / 2.0", "0", "both"
    )
    x = numbers(20, 30)
    total, half = call(backend, kernel, x, axis=1)
    np.testing.assert_array_equal(total, x.sum(axis=1))
    np.testing.assert_array_equal(half, x.sum(axis=1) / 2.0)


def test_raw_inputs(backend: str) -> None:
    kernel = ReductionKernel("T x, raw T w", "T y", "x * w[_J]", "a + b", "y = a", "0", "dot")
    x, w = numbers(30, 40), numbers(40)
    np.testing.assert_array_equal(call(backend, kernel, x, w, axis=1), x @ w)


def test_given_outputs(backend: str) -> None:
    x = numbers(30, 40)
    for out in (np.zeros(40, np.float32), np.zeros(80, np.float32)[::2]):
        target = on_backend(backend, out)
        assert SUM(on_backend(backend, x), axis=0, out=target) is target
        np.testing.assert_array_equal(to_numpy(target), x.sum(axis=0))
        assert SUM(on_backend(backend, -x), target, axis=0) is target
        np.testing.assert_array_equal(to_numpy(target), -x.sum(axis=0))


# ---- Python functions, and the order of CuPy's page --------------------------------------------


@pytest.mark.parametrize(("shape", "axis"), [((1 << 20,), None), ((300, 40), 0), ((3, 7), (0, 1))])
def test_graphs(backend: str, shape: tuple[int, ...], axis: Any) -> None:
    x, y = on_backend(backend, numbers(*shape)), on_backend(backend, numbers(*shape) + 1)
    for _ in range(9):
        SUM(x, axis=axis)  # quick ones are noted, too
    with cuda.graph(device="cpu" if backend == "cpu" else None) as graph:
        total = SUM(x, axis=axis)
        twice = SUM(x, axis=axis, keepdims=True)
    assert [node.name for node in graph.nodes] == ["sum", "sum"]
    for k in range(3):  # each of which ends as it begins
        x[...] = numbers(*shape) + k
        graph.launch()
        cuda.synchronize()
        assert (to_numpy(total) == (numbers(*shape) + k).sum(axis)).all()
        assert (to_numpy(twice) == (numbers(*shape) + k).sum(axis, keepdims=True)).all()
    with pytest.raises(LaunchError, match="takes all 2 arguments by position"):
        graph.nodes[0].set(x)
    graph.nodes[0].set(y, total)
    for _ in range(2):
        graph.launch()
        cuda.synchronize()
        assert (to_numpy(total) == to_numpy(y).sum(axis)).all()


@pytest.mark.parametrize("position", range(3))
def test_functions_of_python(position: int) -> None:
    texts: list[Any] = ["x", "a + b", "y = a"]
    texts[position] = abs
    with pytest.raises(TypeError, match="_expr is a Python function: write C text"):
        ReductionKernel("T x", "T y", *texts)


def test_the_identity_in_the_place_of_the_last_expression(backend: str) -> None:
    kernel = ReductionKernel("float32 x", "float32 out", "x * x", "a + b", "0", "sum_of_squares")
    assert (kernel.name, kernel.identity, kernel.post_map_expr) == (
        "sum_of_squares",
        "0",
        "out = a",
    )
    assert call(backend, kernel, np.arange(6, dtype=np.float32)) == 55


def test_macros_with_names_that_headers_have(backend: str) -> None:
    kernel = ReductionKernel(
        "float32 x, raw float32 w",
        "float32 y",
        "x * T + w[0]",
        "a + b + op",
        "y = a",
        "0",
        "named",
        options=("-DT=3", "-Dop=0", "-Dop_by=1"),
    )
    assert call(backend, kernel, np.float32([1, 2]), np.float32([5])) == 19
    assert "entry named(" in kernel.inspect("ptx")


def test_attributes_of_a_kernel() -> None:
    assert (SUM.nin, SUM.nout, SUM.nargs, SUM.name) == (1, 1, 2, "sum")
    assert (SUM.map_expr, SUM.reduce_expr, SUM.post_map_expr) == ("x", "a + b", "y = a")
    assert (SUM.identity, SUM.reduce_type, LARGEST.identity) == ("0", "T", "")
    assert repr(SUM) == "<ReductionKernel sum>"


# ---- text and errors -------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [SUM, LARGEST])
@pytest.mark.parametrize(("shape", "axis"), FORMS)
def test_the_text_for_a_gpu_compiles(
    kernel: ReductionKernel, shape: tuple[int, ...], axis: Any
) -> None:
    for dtype in (np.float32, np.int8, np.complex128) if kernel is SUM else (np.float32,):
        kernel(np.zeros(shape, dtype), axis=axis)
        assert f"entry {kernel.name}(" in kernel.inspect("ptx")


def test_calls_that_are_wrong() -> None:
    x = numbers(3, 4)
    for args, named, error, said in (
        ((), {}, TypeError, "takes 1 arguments, or 2 with outputs, not 0"),
        ((x,), {"axis": 2}, IndexError, "axis 2 is out of bounds"),
        ((x,), {"axis": (0, 0)}, ValueError, "duplicate value in 'axis'"),
        ((x,), {"axis": 0, "out": np.zeros(3, np.float32)}, ValueError, "Out shape is mismatched"),
        ((x, x), {"out": x}, ValueError, "both a positional and keyword"),
        ((x,), {"out": np.zeros(())}, TypeError, r"T, here float64, and the argument"),
        ((1.0,), {}, ValueError, "Loop size is undecided"),
    ):
        with pytest.raises(error, match=said):
            SUM(*args, **named)


def test_declarations_that_are_wrong() -> None:
    with pytest.raises(ValueError, match="Invalid kernel name"):
        ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name="1")
    with pytest.raises(ValueError, match="a reduction has an output"):
        ReductionKernel("T x", "", "x", "a + b", "y = a", "0")


def test_text_that_does_not_compile() -> None:
    kernel = ReductionKernel("T x", "T y", "x", "a + q", "y = a", "0", "wrong")
    with pytest.raises(CompileError, match=r"<reduce_expr of wrong>:1:1[\s\S]*a \+ q"):
        kernel(numbers(3))


def test_arrays_of_two_backends() -> None:
    class OnGpu:
        __cuda_array_interface__ = {
            "shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3, "strides": None,
        }  # fmt: skip

    kernel = ReductionKernel("T x, T w", "T y", "x * w", "a + b", "y = a", "0", "dot")
    with pytest.raises(LaunchError, match=r"argument 2 \(w\) is on a GPU, and .* in host memory"):
        kernel(numbers(3), OnGpu())

"""``ElementwiseKernel`` compared with numpy: types, shapes, strides, options and errors."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from pycu2c import CompileError, LaunchError, cuda
from pycu2c.cupy import ElementwiseKernel, ReductionKernel
from support.complex_values import FUNCTIONS, differences, special_values
from support.cupy_arrays import on_backend, to_numpy

DTYPES = [
    *(np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128, np.bool_),
]
ADD = ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")


def call(backend: str, kernel: ElementwiseKernel, *args: Any, **named: Any) -> Any:
    """What a kernel gives for arrays of a backend, in numpy's arrays."""
    return to_numpy(kernel(*(on_backend(backend, a) for a in args), **named))


# ---- types ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(backend: str, dtype: Any) -> None:
    a = np.arange(6).astype(dtype)
    result = call(backend, ADD, a, a[::-1].copy())
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, a + a[::-1])


def test_outputs_without_an_input_array(backend: str) -> None:
    kernel = ElementwiseKernel("T x", "T y", "y = x", "filled")
    assert call(backend, kernel, 2.0, np.zeros(3)).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("inputs", "outputs", "operation", "args", "expected"),
    [
        ("", "int32 y", "y = 2 * i", (), [[0, 2, 4]]),
        ("", "raw int32 y", "y[i] = i + 1", (), [[1, 2, 3]]),
        ("", "int32 y, float64 z", "y = i, z = i / 2.0", (), [[0, 1, 2], [0, 0.5, 1]]),
        ("T x", "T y", "y = x + i", (0.5,), [[0.5, 1.5, 2.5]]),
        ("", "", "", (), []),
    ],
    ids=lambda value: repr(value) if isinstance(value, str) else None,
)
def test_calls_without_arrays(
    inputs: str, outputs: str, operation: str, args: tuple[float, ...], expected: list[list[float]]
) -> None:
    kernel = ElementwiseKernel(inputs, outputs, operation, "made", return_tuple=True)
    for _ in range(4):  # repeated calls take the fast path
        assert [to_numpy(out).tolist() for out in kernel(*args, size=3)] == expected
    with pytest.raises(ValueError, match=r"^Loop size is undecided\."):
        kernel(*args)


def test_bfloat16(backend: str) -> None:
    a = np.array([1, 2.5, -3], ml_dtypes.bfloat16)
    kernel = ElementwiseKernel("bfloat16 x", "float32 y", "y = x * 2", "twice")
    assert call(backend, kernel, a).tolist() == [2, 5, -6]


def test_halves_are_rounded_when_they_are_stored(backend: str) -> None:
    a = np.array([1, 2049, 65504, 1e-7, -5.96e-8, np.nan, np.inf], np.float32)
    kernel = ElementwiseKernel("float32 x", "float16 y", "y = x", "rounded")
    np.testing.assert_array_equal(call(backend, kernel, a), a.astype(np.float16))


def test_every_half_is_read_as_the_float_that_it_is(backend: str) -> None:
    a = np.arange(1 << 16).astype(np.uint16).view(np.float16)
    kernel = ElementwiseKernel("float16 x", "float32 y", "y = x", "wide")
    np.testing.assert_array_equal(call(backend, kernel, a), a.astype(np.float32))


@pytest.mark.parametrize("value", [2, 2.0, True, np.float64(2), np.int8(2)])
def test_numbers_take_the_type_of_arrays(backend: str, value: object) -> None:
    a = np.arange(4, dtype=np.float32)
    result = call(backend, ADD, a, value)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, a + np.float32(value))


@pytest.mark.parametrize("value", [-1, 2**32, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64, np.float32, np.complex64])
def test_integers_wrap(backend: str, dtype: Any, value: int) -> None:
    a = np.arange(3).astype(dtype)
    np.testing.assert_array_equal(call(backend, ADD, a, value), a + np.array(value).astype(dtype))


def test_a_placeholder_that_only_numbers_have(backend: str) -> None:
    kernel = ElementwiseKernel("raw float32 x, T s", "T y", "y = x[i] * s", "scaled")
    result = call(backend, kernel, np.arange(3, dtype=np.float32), 2, size=3)
    assert result.dtype == np.int64
    assert result.tolist() == [0, 2, 4]


def test_several_placeholders(backend: str) -> None:
    kernel = ElementwiseKernel("T x, U y", "T a, U b", "a = y; b = x;", "swapped")
    x, y = np.arange(3, dtype=np.int16), np.arange(3, 6, dtype=np.float64)
    a, b = call(backend, kernel, x, y)
    assert (a.dtype, b.dtype) == (np.int16, np.float64)
    assert (a.tolist(), b.tolist()) == ([3, 4, 5], [0, 1, 2])


def test_complex_functions(backend: str) -> None:
    text = "z = conj(x) * exp(x) / (x + T(1, 2)) + sqrt(x) * abs(x) - real(x) * 2"
    kernel = ElementwiseKernel("T x", "T z", text, "formula")
    x = np.array([1 + 2j, -0.5j, 3, -1 - 1j])
    expected = np.conj(x) * np.exp(x) / (x + 1 + 2j) + np.sqrt(x) * np.abs(x) - x.real * 2
    np.testing.assert_allclose(call(backend, kernel, x), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_functions_at_special_values(backend: str, dtype: Any) -> None:
    outputs = ", ".join(f"T of_{name}" for name in FUNCTIONS)
    text = "; ".join(f"of_{name} = {name}(x)" for name in FUNCTIONS)
    kernel, z = ElementwiseKernel("T x", outputs, text, "all"), special_values(dtype)
    results = kernel(on_backend(backend, z))
    wrong = {n: differences(n, z, to_numpy(r)) for n, r in zip(FUNCTIONS, results)}
    assert not {name: found for name, found in wrong.items() if found}
    assert ".entry all" in kernel.inspect("ptx")


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_projection(backend: str, dtype: Any) -> None:
    z = special_values(dtype)
    result = call(backend, ElementwiseKernel("T x", "T y", "y = proj(x)", "p"), z)
    is_infinite = np.isinf(z)
    np.testing.assert_array_equal(result[~is_infinite], z[~is_infinite])
    assert np.isposinf(result.real[is_infinite]).all()
    signs = np.copysign(0.0, z.imag[is_infinite])
    np.testing.assert_array_equal(np.signbit(result.imag[is_infinite]), np.signbit(signs))
    np.testing.assert_array_equal(result.imag[is_infinite], signs)


def test_complex_division_by_zero(backend: str) -> None:
    z = np.array([1, -1j, 1 + 2j, 0, np.inf])
    kernel = ElementwiseKernel("T x, T y", "T z", "z = x / y", "quotient")
    with np.errstate(all="ignore"):
        expected = z / np.zeros_like(z)
    np.testing.assert_array_equal(call(backend, kernel, z, np.zeros_like(z)), expected)


@pytest.mark.parametrize("exponent", [-1, 1, 0.5, 1 + 1j])
def test_complex_powers(backend: str, exponent: complex) -> None:
    z = np.array([0, 2j, -1e200j, 1e-200 + 1e-200j, 3 - 4j])
    kernel = ElementwiseKernel("T x, T y", "T z", "z = pow(x, y)", "power")
    with np.errstate(all="ignore"):
        expected = np.array([x**exponent for x in z])
    result = call(backend, kernel, z, np.full_like(z, exponent))
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_parts_of_complex_numbers(backend: str) -> None:
    text = "re = z.real(); im = z.imag(); size = abs(z)"
    kernel = ElementwiseKernel("complex64 z", "float32 re, float32 im, float32 size", text, "p")
    z = np.array([3 + 4j, -1j], np.complex64)
    re, im, size = call(backend, kernel, z)
    assert (re.tolist(), im.tolist(), size.tolist()) == ([3, 0], [4, -1], [5, 1])


# ---- shapes --------------------------------------------------------------------------------

SHAPES = arrays_of.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=5)


@pytest.mark.slow
@settings(max_examples=60)
@given(shapes=SHAPES, data=st.data())
def test_broadcasting_and_strides(shapes: Any, data: st.DataObject) -> None:
    a, b = (strided(shape, data) for shape in shapes.input_shapes)
    np.testing.assert_array_equal(ADD(a, b), a + b)


def strided(shape: tuple[int, ...], data: st.DataObject) -> np.ndarray[Any, Any]:
    """An array whose axes are in some order, with gaps and in either direction."""
    order = data.draw(st.permutations(range(len(shape))))
    steps = [data.draw(st.sampled_from([1, 2, -1, -3])) for _ in shape]
    lengths = [shape[axis] * abs(step) for axis, step in enumerate(steps)]
    whole = np.arange(math.prod(lengths), dtype=np.int64).reshape([lengths[k] for k in order])
    back = np.argsort(np.array(order, dtype=int)) if shape else ()
    cuts = tuple(slice(None, None, step) for step in steps)
    return np.asarray(whole.transpose(tuple(back))[(..., *cuts)])


@pytest.mark.parametrize(
    "cut",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::2, ::-1],
        lambda a: a[:, 3:7],
        lambda a: a[3],
        lambda a: a[:, 5],
        lambda a: a.reshape(5, 8, 3, 4).transpose(2, 0, 3, 1),
        lambda a: np.broadcast_to(a[0], (6, 12)),
    ],
)
def test_views(backend: str, cut: Any) -> None:
    x = cut(np.arange(480, dtype=np.float64).reshape(40, 12))
    np.testing.assert_array_equal(call(backend, ADD, x, 1), x + 1)
    out = cut(np.zeros((40, 12)))
    if out.flags.writeable:
        target = on_backend(backend, out)
        assert ADD(on_backend(backend, x), 1, target) is target
        np.testing.assert_array_equal(to_numpy(target), x + 1)


def test_no_axes(backend: str) -> None:
    result = call(backend, ADD, np.array(2.0), 3)
    assert result.shape == ()
    assert result == 5


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4)])
def test_no_elements(backend: str, shape: tuple[int, ...]) -> None:
    assert call(backend, ADD, np.zeros(shape), 1).shape == shape


def test_more_elements_than_a_piece_or_a_block(backend: str) -> None:
    a = np.arange(70_001, dtype=np.int32)
    np.testing.assert_array_equal(call(backend, ADD, a, a), 2 * a)
    b = np.arange(70_001 * 2, dtype=np.int32).reshape(-1, 2)
    np.testing.assert_array_equal(call(backend, ADD, b, b[:, :1]), b + b[:, :1])


def test_without_joined_axes(backend: str) -> None:
    text = "z = x * 100 + _ind.get()[0] * 10 + _ind.get()[1]"
    kernel = ElementwiseKernel("T x", "T z", text, "places", reduce_dims=False)
    x = np.ones((2, 3), np.int32)
    expected = [[100, 101, 102], [110, 111, 112]]
    assert call(backend, kernel, x).tolist() == expected
    assert call(backend, kernel, np.ones((3, 2), np.int32).T).tolist() == expected


# ---- raw arrays, indices ---------------------------------------------------------------------


def test_raw_arrays_and_indices(backend: str) -> None:
    text = "z[i] = x[n - 1 - i] + y * (i + _ind.size())"
    kernel = ElementwiseKernel("raw T x, T y", "raw T z", text, "reverse")
    x = np.arange(5, dtype=np.float32)
    result = call(backend, kernel, x, 2, size=5)
    np.testing.assert_array_equal(result, x[::-1] + 2 * (np.arange(5) + 5))


@pytest.mark.parametrize(
    ("asked", "expected"), [("size()", [6]), ("shape()[i]", [2, 3]), ("strides()[i]", [12, 4])]
)
def test_attributes_of_raw_arrays(backend: str, asked: str, expected: list[int]) -> None:
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    kernel = ElementwiseKernel("raw int32 x", "int32 y", f"y = x.{asked}", "asked")
    assert to_numpy(kernel(on_backend(backend, x), size=len(expected))).tolist() == expected


def test_places_as_arrays(backend: str) -> None:
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    text = "ptrdiff_t place[] = {i / 12, i / 4 % 3, i % 4}; y = x[place]"
    kernel = ElementwiseKernel("raw T x", "int32 y", text, "placed")
    for order in ("C", "F"):
        given = on_backend(backend, np.asarray(x, order=order))  # type: ignore[call-overload]
        result = kernel(given, on_backend(backend, np.zeros_like(x)))
        np.testing.assert_array_equal(to_numpy(result), x)


def test_places_that_are_numbers_and_lists(backend: str) -> None:
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    text = "int at[] = {2, 1}; y = x[0] + 100 * x[{1, i}] + 10000 * x[at] + w[0]"
    kernel = ElementwiseKernel("raw T x, raw T w", "T y", text, "listed")
    result = to_numpy(kernel(on_backend(backend, x), on_backend(backend, x[:, 0]), size=4))
    assert result.tolist() == [90400, 90500, 90600, 90700]
    assert "entry listed(" in kernel.inspect("ptx")


def test_textures(backend: str) -> None:
    image = np.arange(12, dtype=np.float32).reshape(3, 4)
    texture = cuda.texture(image if backend == "cpu" else cuda.to_device(image))
    text = "z = tex2D<float>(picture, x, y)"
    kernel = ElementwiseKernel("T x, T y, U picture", "float32 z", text, "fetched")
    x = on_backend(backend, np.arange(4) + 0.5)
    for _ in range(3):
        assert to_numpy(kernel(x, 1.5, texture)).tolist() == [4, 5, 6, 7]
    assert "entry fetched(" in kernel.inspect("ptx")
    total = ReductionKernel("T x, U t", "T y", "tex2D<float>(t, x, 0.5f)", "a + b", "y = a", "0")
    assert to_numpy(total(x, texture)) == 6


def test_vectors_are_read_of_raw_arrays(backend: str) -> None:
    with pytest.raises(ValueError, match="is a vector") as caught:
        ElementwiseKernel("float4 x", "float32 y", "y = x.w")
    hint = "raw float32 x", "*(const float4 *)&x[4 * i]"
    assert all(each in str(caught.value) for each in hint)
    kernel = ElementwiseKernel(hint[0], "float32 y", f"const float4 v = {hint[1]}; y = v.w", "w")
    x, y = np.arange(12, dtype=np.float32), np.zeros(3, np.float32)
    assert to_numpy(kernel(on_backend(backend, x), on_backend(backend, y))).tolist() == [3, 7, 11]


def test_a_raw_array_with_several_axes(backend: str) -> None:
    text = "ptrdiff_t at[] = {i % 3, i / 3}; z = x[at] + x[i] + x.shape()[0] + x.size()"
    kernel = ElementwiseKernel("raw T x", "T z", text, "both")
    x = np.arange(12, dtype=np.int64).reshape(4, 3)[:3].T
    out = on_backend(backend, np.zeros(9, np.int64))
    kernel(on_backend(backend, x), out)
    i = np.arange(9)
    np.testing.assert_array_equal(to_numpy(out), x[i % 3, i // 3] + x.ravel() + 3 + 9)


def test_indices_count_in_the_order_of_c(backend: str) -> None:
    kernel = ElementwiseKernel("T x", "int64 z", "z = i", "index")
    expected = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(call(backend, kernel, np.ones((3, 4))), expected)
    np.testing.assert_array_equal(call(backend, kernel, np.ones((4, 3)).T), expected)


def test_a_raw_output_that_many_add_to(backend: str) -> None:
    kernel = ElementwiseKernel("raw float32 x", "", "atomicAdd(&x[i % 2], 1.0f)", "count")
    with pytest.raises(TypeError, match="argument"):
        kernel()


def test_a_parameter_named_n(backend: str) -> None:
    kernel = ElementwiseKernel("T x, int32 n", "T z", "z = x + n", "shifted")
    assert call(backend, kernel, np.arange(3), 10).tolist() == [10, 11, 12]


# ---- outputs -------------------------------------------------------------------------------


def test_several_outputs(backend: str) -> None:
    kernel = ElementwiseKernel("T x", "T a, T b", "a = x + 1; b = x * 2", "two")
    a, b = call(backend, kernel, np.arange(3))
    assert (a.tolist(), b.tolist()) == ([1, 2, 3], [0, 2, 4])


def test_given_outputs_are_returned(backend: str) -> None:
    a = on_backend(backend, np.arange(3.0))
    out = on_backend(backend, np.zeros(3))
    assert ADD(a, a, out) is out
    assert to_numpy(out).tolist() == [0, 2, 4]


def test_an_output_keeps_what_the_operation_leaves(backend: str) -> None:
    kernel = ElementwiseKernel("T x", "T z", "if (x > 1) z += x", "some")
    out = on_backend(backend, np.full(4, 10.0))
    kernel(on_backend(backend, np.arange(4.0)), out)
    assert to_numpy(out).tolist() == [10, 10, 12, 13]


def test_in_place(backend: str) -> None:
    data = on_backend(backend, np.arange(5.0))
    ADD(data, 1, data)
    assert to_numpy(data).tolist() == [1, 2, 3, 4, 5]


def test_an_output_with_the_name_of_an_input(backend: str) -> None:
    kernel = ElementwiseKernel("T x, T a", "T x", "x = x * a + 1", "in_place")
    data = np.arange(3.0)
    assert call(backend, kernel, data, 2).tolist() == [1, 3, 5]
    assert data.tolist() == [0, 1, 2]
    there_too = on_backend(backend, data)
    kernel(there_too, 2, there_too)
    assert to_numpy(there_too).tolist() == [1, 3, 5]


def test_an_output_that_overlaps_an_input(backend: str) -> None:
    data = np.arange(10_000.0)
    if backend == "cpu":
        ADD(data[:-1], 0, data[1:])
        np.testing.assert_array_equal(data, np.maximum(np.arange(10_000.0) - 1, 0))
    else:
        on_gpu = on_backend(backend, data)
        ADD(on_gpu[:-1], 0, on_gpu[1:])
        np.testing.assert_array_equal(to_numpy(on_gpu), np.maximum(data - 1, 0))


def test_results_of_a_call(backend: str) -> None:
    x = on_backend(backend, np.arange(3))
    as_tuple = ElementwiseKernel("T x", "T z", "z = x", "k", return_tuple=True)
    assert [to_numpy(a).tolist() for a in as_tuple(x)] == [[0, 1, 2]]
    nothing = ElementwiseKernel("T x", "T z", "z = x", "k", no_return=True)
    assert nothing(x, on_backend(backend, np.zeros(3, np.int64))) is None
    assert type(ADD(x, x)) is type(x)


# ---- text ----------------------------------------------------------------------------------


def test_preambles(backend: str) -> None:
    kernel = ElementwiseKernel(
        "T x",
        "T z",
        "z = twice(x) + shift + real(1)",
        "with_text",
        type_preamble="typedef double real;",
        preamble="template <typename T> __device__ T twice(T x) { return 2 * x; }",
        loop_prep="const T shift = 10;",
    )
    assert call(backend, kernel, np.arange(3.0)).tolist() == [11, 13, 15]


def test_options(backend: str) -> None:
    kernel = ElementwiseKernel("T x", "T z", "z = x * N", "defined", options=("-DN=3",))
    assert call(backend, kernel, np.arange(3.0)).tolist() == [0, 3, 6]
    assert "entry defined(" in kernel.inspect("ptx")


def test_macros_with_names_that_headers_have(backend: str) -> None:
    macros = ("-DT=3", "-Daxes=2", "-Dplace", "-D", "old=5", "--define-macro=Index=4")
    text = "z = x * T + axes + place + old + Index + y[1]"
    kernel = ElementwiseKernel("float64 x, raw U y", "float64 z", text, "named", options=macros)
    y = np.complex64([0, 2]).real.astype(np.float16)
    assert call(backend, kernel, np.arange(3.0), y).tolist() == [14, 17, 20]
    assert "entry named(" in kernel.inspect("ptx")


def test_headers_that_are_in_front_anyway(backend: str) -> None:
    preamble = "#include <cupy/complex.cuh>\n  # include <cuda_fp16.h>"
    text = "complex<float> c(x, 4); z = abs(c) + (float)__half(0.5f)"
    kernel = ElementwiseKernel("float32 x", "float32 z", text, "with_headers", preamble=preamble)
    assert call(backend, kernel, np.float32([3])).tolist() == [5.5]
    assert "entry with_headers(" in kernel.inspect("ptx")


def test_graphs(backend: str) -> None:
    x, y, z = (on_backend(backend, np.arange(3.0) + k) for k in range(3))
    for _ in range(9):
        ADD(x, y, z)  # quick ones are noted, too
    device = "cpu" if backend == "cpu" else None
    before = to_numpy(z).tolist()
    with cuda.graph(device=device) as graph:
        total = ADD(x, y)
        ADD(total, 1.0, z)
    assert to_numpy(z).tolist() == before
    assert [node.name for node in graph.nodes] == ["add", "add"]
    x[...] = np.arange(3.0) + 10
    graph.launch()
    cuda.synchronize()
    assert to_numpy(total).tolist() == [11, 13, 15]
    assert to_numpy(z).tolist() == [12, 14, 16]
    graph.nodes[1].set(total, 5.0, z)
    graph.launch()
    cuda.synchronize()
    assert to_numpy(z).tolist() == [16, 18, 20]
    with pytest.raises(LaunchError, match="takes all 3 arguments by position"):
        graph.nodes[1].set(total, 5.0)


def test_captures_that_would_copy_an_argument(backend: str) -> None:
    x = on_backend(backend, np.arange(9.0))
    device = "cpu" if backend == "cpu" else None
    rejected = pytest.raises(LaunchError, match="add would copy an argument")
    with cuda.graph(device=device), rejected:
        ADD(x[:-1], x[1:], x[1:])


def test_an_operation_that_returns(backend: str) -> None:
    kernel = ElementwiseKernel("T x", "T z", "z = 1; if (x > 1) return; z = 0", "early")
    assert call(backend, kernel, np.arange(4.0)).tolist() == [0, 0, 1, 1]


def test_a_comment_at_the_end(backend: str) -> None:
    kernel = ElementwiseKernel("T x", "T z", "z = x + 1; // one more", "commented")
    assert call(backend, kernel, np.arange(2.0)).tolist() == [1, 2]


def test_functions_of_cuda(backend: str) -> None:
    text = """
        float t = fmaf(x, 2.0f, 1.0f);
        z = t > 3.0f ? rsqrtf(t) + __expf(-t) : fminf(t, max(x, 0.5f)) + __fdividef(x, 2.0f);
    """
    kernel = ElementwiseKernel("float32 x", "float32 z", text, "of_cuda")
    x = np.linspace(0, 5, 50, dtype=np.float32)
    t = x * 2 + 1
    expected = np.where(
        t > 3, 1 / np.sqrt(t) + np.exp(-t), np.minimum(t, np.maximum(x, 0.5)) + x / 2
    )
    np.testing.assert_allclose(call(backend, kernel, x), expected, rtol=1e-5)


def test_shown_text() -> None:
    kernel = ElementwiseKernel("T x, T y", "T z", "z = x * y", "product")
    with pytest.raises(ValueError, match="call it"):
        kernel.inspect()
    kernel(np.arange(6.0).reshape(2, 3), np.arange(3.0))
    assert "__global__ void product(" in kernel.inspect("cuda")
    assert "z = x * y;" in kernel.inspect("c")
    assert ".visible .entry product(" in kernel.inspect("ptx")
    assert kernel.cached_codes == {(np.dtype(float),) * 3: kernel.cached_code}
    assert kernel.cached_code in (kernel.inspect("c"), kernel.inspect("cuda"))
    with pytest.raises(ValueError, match="one of cuda, c"):
        kernel.inspect("ir")  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.float16, np.complex64, np.int8, np.float64])
def test_the_text_for_a_gpu_compiles(dtype: Any) -> None:
    kernel = ElementwiseKernel("T x, raw T y", "T z", "z = x + y[i]; z += _ind.get()[0]", "k")
    x = np.ones((4, 3), dtype)
    kernel(x.copy().T if dtype is np.int8 else x, x)
    assert "entry k(" in kernel.inspect("ptx")


# ---- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (("T x", "T z", "z = x", "1"), ValueError, "Invalid kernel name"),
        (("T i", "T z", "z = i", "k"), ValueError, "cannot be named i"),
        (("x", "T z", "z = x", "k"), ValueError, "write a type and a name"),
        (("row T x", "T z", "z = x", "k"), ValueError, "unknown qualifier 'row'"),
        (("flat32 x", "T z", "z = x", "k"), ValueError, "which is no dtype of numpy"),
        (("T x, T x", "T z", "z = x", "k"), ValueError, "declares x twice"),
        (("object x", "T z", "z = x", "k"), TypeError, "do not support dtype object"),
        (("T x", "T z", abs), TypeError, "operation is a Python function: write C text"),
    ],
)
def test_declarations_that_are_wrong(words: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        ElementwiseKernel(*words)


def test_calls_that_are_wrong() -> None:
    x = np.arange(3.0)
    for args, error, said in (
        ((x,), TypeError, "takes 2 arguments, or 3 with outputs, not 1"),
        ((x, [1, 2]), TypeError, r"argument 2 \(y\) is a list.*pass numpy.array"),
        ((x, x.astype(np.float32)), TypeError, r"T, here float64.*astype\('float64'\)"),
        ((x, np.arange(4.0)), ValueError, r"could not be broadcast together.*\(3,\).*\(4,\)"),
        ((x, x, np.zeros(4)), ValueError, r"broadcast together"),
        ((x[:, None], x[:1], np.zeros(3)), ValueError, "Out shape is mismatched"),
        ((x, x, 3.0), TypeError, "is an output: pass an array"),
        ((1.0, 2.0), ValueError, "Loop size is undecided"),
        ((x, 1j), TypeError, "is complex: pass its real part"),
    ):
        with pytest.raises(error, match=said) as result:
            ADD(*args)
        assert isinstance(result.value, LaunchError)


def test_textures_that_are_wrong() -> None:
    x, texture = np.ones(3, np.float32), cuda.texture(np.ones(3, np.float32))
    for inputs, arguments, said in (
        ("float32 x, uint64 t", (x, texture), "'U t'"),
        ("T x, T t", (x, texture), "give each its own letter"),
        ("T x", (texture,), "Loop size is undecided"),
        ("T x, raw U t", (x, texture), "'U t'"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            ElementwiseKernel(inputs, "float32 y", "y = 1")(*arguments)
    with pytest.raises(TypeError, match="pass a field, as"):
        ElementwiseKernel("T x", "float32 y", "y = 1")(np.zeros(3, [("a", "f4"), ("b", "i8")]))


def test_sizes_that_are_wrong() -> None:
    x = np.arange(3.0)
    with pytest.raises(
        ValueError, match=r"^Specified 'size' can be used only if all.*argument 1 \(x\)"
    ):
        ADD(x, x, size=3)
    raw = ElementwiseKernel("raw T x", "raw T z", "z[i] = x[i]", "raw")
    with pytest.raises(ValueError, match="Loop size is undecided"):
        raw(x)
    half_raw = ElementwiseKernel("T x", "raw T z", "z[i] = x", "half_raw")
    with pytest.raises(ValueError, match="Output array size is Undecided"):
        half_raw(x)
    with pytest.raises(ValueError, match="block_size must be greater than zero"):
        ADD(x, x, block_size=0)


def test_block_sizes(backend: str) -> None:
    x = np.arange(1000.0)
    np.testing.assert_array_equal(call(backend, ADD, x, 1, block_size=1), x + 1)


def test_an_output_that_may_not_be_written() -> None:
    out = np.zeros(3)
    out.flags.writeable = False
    with pytest.raises(LaunchError, match=r"\(z\) is an output, and the array is read-only"):
        ADD(np.arange(3.0), 1, out)


def test_text_that_does_not_compile(backend: str) -> None:
    kernel = ElementwiseKernel("T x", "T z", "T y = 2 * x;\n  z = y + q", "wrong")
    with pytest.raises(CompileError) as result:
        kernel(on_backend(backend, np.arange(3.0)))
    shown = str(result.value)
    assert "--> <operation of wrong>:2:3\n" in shown
    assert "2 |   z = y + q\n" in shown
    assert "^^^^^^^^^" in shown


def test_a_preamble_that_does_not_compile() -> None:
    kernel = ElementwiseKernel("T x", "T z", "z = x", "wrong", preamble="int f() { return p; }")
    with pytest.raises(CompileError, match="<preamble of wrong>:1:1"):
        kernel(np.arange(3.0))


def test_attributes_of_a_kernel() -> None:
    assert (ADD.nin, ADD.nout, ADD.nargs, ADD.name, ADD.__name__) == (2, 1, 3, "add", "add")
    assert [p.name for p in ADD.in_params] == ["x", "y"]
    assert [(p.ctype, p.raw, p.is_const) for p in ADD.out_params] == [("T", False, False)]
    assert ADD.operation == "z = x + y"
    assert ADD.reduce_dims
    assert not ADD.no_return
    assert not ADD.return_tuple
    assert repr(ADD) == "<ElementwiseKernel add>"

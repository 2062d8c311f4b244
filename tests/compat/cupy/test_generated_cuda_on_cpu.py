"""CUDA C of CuPy's kernels, run on the CPU: threads, warps, shared memory, block reductions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pycu2c.compat.cuda_text.module import TextModule
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.elementwise.source import elements_of_thread
from pycu2c.compat.cupy.reduction import kernel as reduction
from pycu2c.cupy import ElementwiseKernel, ReductionKernel

SUM = ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
LARGEST = ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")


@pytest.fixture(autouse=True)
def a_small_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_processors", lambda: 2)


def launch(text: GeneratedText, grid: int, arrays: list[Any], sizes: dict[str, int]) -> None:
    """``arrays``: for the pointers, in order."""
    pointers = iter(arrays)
    arguments = [
        field.parameter.type.dtype.numpy.type(sizes[field.parameter.name])
        if field.is_size
        else next(pointers)
        for field in text.fields
    ]
    kernel = TextModule(text.text, backend="cpu").function(text.entry)
    kernel.launch((grid, 1, 1), (256, 1, 1), arguments)


def reduced(kernel: ReductionKernel, x: np.ndarray, axis: Any) -> np.ndarray:
    """By the text for a GPU; the counters of blocks that are done must be 0 again."""
    call = kernel.check_call((x,), axis, keepdims=False)
    form, sizes, cut = kernel._plan(call.with_backend("cuda"))
    text = kernel._text(form, "cuda")
    out = call.results[0]
    room = np.zeros(64 * sizes["_row_count"] * cut.splits, np.uint8), np.zeros(1 << 10, np.uint32)
    launch(text, cut.blocks, [x, out, *room], sizes)
    assert not room[1].any()
    return out


@pytest.mark.parametrize("kernel", [SUM, LARGEST], ids=lambda k: k.name)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((1,), None),
        ((5,), None),
        ((3000,), None),
        ((40001,), None),
        ((100, 7), 1),
        ((20, 3008), 1),
        ((500, 40), 0),
        ((300, 33), 0),
        ((2000, 5), 0),
        ((10, 20, 30), (0, 2)),
        ((10, 20, 30), 1),
    ],
)
def test_reductions(kernel: ReductionKernel, shape: tuple[int, ...], axis: Any) -> None:
    numpys = np.sum if kernel is SUM else np.max
    for dtype in (np.float32, np.int8):
        x = np.random.default_rng(0).integers(-3, 4, shape).astype(dtype)
        expected = numpys(x, axis=axis)
        np.testing.assert_array_equal(reduced(kernel, x, axis), expected.astype(dtype))


def test_a_struct_of_the_users() -> None:
    kernel = ReductionKernel(
        "T x", "int32 y", "Place(x, _J)", "a.value > b.value ? a : b", "y = a.at", "Place()",
        "argmax", reduce_type="Place", preamble="""struct Place {
            T value; int at;
            __device__ Place(T v = T(-1e30), int a = -1) : value(v), at(a) {}
        };""",
    )  # fmt: skip
    for shape, axis in (((30_000,), None), ((40, 3000), 1), ((500, 70), 0)):
        x = np.random.default_rng(1).permutation(math.prod(shape)).reshape(shape)
        result = reduced(kernel, x.astype(np.float32), axis)
        np.testing.assert_array_equal(result, x.argmax(axis=axis))


def of_elements(kernel: ElementwiseKernel, *arguments: Any) -> tuple[Any, int]:
    """What the text for a GPU gives, and how many elements a thread has there."""
    call = kernel.check_call(arguments, None).with_backend("cuda")
    form, sizes = kernel._plan(call)
    share = elements_of_thread(form, kernel._operation)
    arrays = [*arguments[: kernel.nin], *call.results]
    launch(kernel._text(form, "cuda"), -(-sizes["_size"] // (256 * share)), arrays, sizes)
    return call.results[0], share


@pytest.mark.parametrize("cut", [lambda a: a, lambda a: a[:, :1], lambda a: a[:1], lambda a: a[5]])
@pytest.mark.parametrize("rows", [1, 20, 35, 103])
def test_elements(cut: Any, rows: int) -> None:
    kernel = ElementwiseKernel("T x, T y", "T z", "z = x * y + _ind.size()", "product")
    x = np.arange(30.0 * rows, dtype=np.float32).reshape(rows, 30)
    y = cut(x) if rows > 5 else x
    out, share = of_elements(kernel, x, y)
    np.testing.assert_array_equal(out, x * y + 30 * rows)
    assert share == (4 if y.shape == x.shape else 1)  # of one axis alone


@pytest.mark.parametrize(
    "text",
    [
        "if (x < 0) return; z = 2 * x",
        "if (x < 0) break; z = 2 * x",
        "for (int k = 0; k < 2; k++) z += x * (x >= 0)",
    ],
    ids=["returning", "breaking", "looping"],
)
def test_what_leaves_a_thread_has_one_for_itself(text: str) -> None:
    x = (np.random.default_rng(3).random(3001) - 0.5).astype(np.float32)
    out, share = of_elements(ElementwiseKernel("T x", "T z", text), x, np.zeros_like(x))
    assert share == 1
    np.testing.assert_array_equal(out, np.where(x < 0, 0, 2 * x))


def test_elements_in_place() -> None:
    kernel = ElementwiseKernel("T x", "T y", "if (i % 3) continue; y = y * x + n", "updated")
    x, y = np.random.default_rng(4).random((2, 5000))
    expected = np.where(np.arange(5000) % 3, y, y * x + 5000)
    out, share = of_elements(kernel, x, y)
    assert share == 2
    assert out is y
    np.testing.assert_allclose(y, expected, rtol=1e-15)

"""The text that a GPU is given, run by the CPU's engine for CUDA C: threads, warps, shared memory
and the last block of a reduction do there what they do on a GPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pycu2c.cudac.module import Module
from pycu2c.cupy import ElementwiseKernel, ReductionKernel, elementwise, reduction
from pycu2c.cupy.compiled import Text
from pycu2c.parameters import Part

SUM = ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
LARGEST = ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")


@pytest.fixture(autouse=True)
def a_small_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_processors", lambda: 2)


def launch(text: Text, grid: int, arrays: list[Any], passed: list[Any]) -> None:
    """``arrays``: for the pointers, in order; ``passed``: what numbers are read from."""
    pointers = iter(arrays)
    given = []
    for field in text.fields:
        parameter = field.parameter
        value = passed[parameter.argument]
        if parameter.part is Part.DATA:
            given.append(next(pointers))
            continue
        if parameter.part is Part.STRIDE:
            value = value.strides[parameter.axis] // value.dtype.size
        given.append(parameter.type.dtype.numpy.type(value))
    kernel = Module(text.text, backend="cpu").function(text.entry)
    kernel.launch((grid, 1, 1), (256, 1, 1), given)


def reduced(kernel: ReductionKernel, x: np.ndarray, axis: Any) -> np.ndarray:
    """By the text for a GPU; the counters of blocks that are done must be 0 again."""
    call = kernel._checked((x,), axis, keepdims=False)
    axes, form, cut = kernel._planned(call.at("cuda"))
    text = kernel._text(form, "cuda")
    out = call.results[0]
    room = np.zeros(64 * axes.rows * cut.splits, np.uint8), np.zeros(1 << 10, np.uint32)
    numbers = (axes.rows, axes.length, cut.splits, cut.piece, cut.group)
    moved = reduction.moved(call, form, axes)
    passed = [*moved, *numbers, *axes.kept.shape, *axes.reduced.shape, *room]
    launch(text, cut.blocks, [x, out, *room], passed)
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


@pytest.mark.parametrize("cut", [lambda a: a, lambda a: a[:, :1], lambda a: a[:1], lambda a: a[5]])
def test_elements(cut: Any) -> None:
    kernel = ElementwiseKernel("T x, T y", "T z", "z = x * y + _ind.size()", "product")
    x = np.arange(600.0).reshape(20, 30)
    y = cut(x)
    call = kernel._checked((x, y), None).at("cuda")
    form, walked = kernel._form(call)
    passed = [*elementwise._moved(call, form, walked), x.size, *walked.shape[1:]]
    out = call.results[0]
    launch(kernel._text(form, "cuda"), 2, [x, y, out], passed)  # threads do more than one
    np.testing.assert_array_equal(out, x * y + 600)

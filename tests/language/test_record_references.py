"""Records that a kernel changes, and arrays without axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, LaunchError, cuda, device, float64, from_dtype, kernel
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc

INNER = np.dtype([("u", "i2"), ("v", "f8")], align=True)
RECORD = np.dtype([("a", "f4"), ("b", "i4"), ("h", "f8", (2, 2)), ("c", INNER)], align=True)


@device
def add_to_b(p, by):
    p.b += by


def change(p, q, by):
    p.a = q.a + by
    p["b"] += 2
    p.h[1, 0] = 5
    p.h[0] = (1, 2)
    p.c.u = 3
    add_to_b(p, q.b)


def on(target: str, function: Any, **options: Any) -> Any:
    return Kernel(function, backend=target, **options)[1, 1]


def records() -> np.ndarray[Any, Any]:
    values = np.zeros(3, RECORD)
    values["a"], values["b"] = [1, 2, 3], [10, 20, 30]
    return values


def test_a_record_is_changed_in_place(target: str) -> None:
    got, launch = records(), on(target, change)
    for _ in range(3):  # the third launch may be dispatched
        launch(got[1], got[2], 0.5)
    expected = records()
    expected[1] = (3.5, 20 + 3 * 32, [[1, 2], [5, 0]], (3, 0))
    np.testing.assert_array_equal(got, expected)


def test_a_record_of_its_own(target: str) -> None:
    record = records()[0].copy()
    on(target, change)(record, records()[1], 1)
    assert record["a"] == 3
    assert record["c"]["u"] == 3


def test_a_declared_record_is_a_reference(target: str) -> None:
    def set_b(p, by):
        add_to_b(p, 1)
        p.a = by

    values = records()
    on(target, set_b, signature=(from_dtype(RECORD), float64))(values[2], 7)
    assert values[2]["a"] == 7
    assert values[2]["b"] == 31


def test_a_read_only_record_is_rejected() -> None:
    values = records()
    values.flags.writeable = False
    with pytest.raises(LaunchError, match="is written, and it is read-only"):
        on("cpu", change)(values[0], values[1], 1)


def test_other_types_than_the_declared_record() -> None:
    launch = on("cpu", change, signature=(from_dtype(RECORD), from_dtype(RECORD), float64))
    with pytest.raises(LaunchError, match="argument 1"):
        launch(np.zeros(1, INNER)[0], records()[0], 1)


def scale(x, out, m):
    out[()] = x[()] * 2 + x.ndim + m[1, 2]


@pytest.mark.parametrize("dtype", [np.int32, np.float64, np.complex64])
def test_arrays_without_axes(dtype: Any, target: str) -> None:
    x, out = np.array(3, dtype), np.array(0, dtype)
    launch = on(target, scale)
    for _ in range(3):
        launch(x, out, np.ones((2, 3), dtype))
    assert out == 7
    launch(x[()].reshape(1)[0:1].reshape(()), out, np.ones((2, 3), dtype))
    assert out == 7


def test_device_arrays_without_axes() -> None:
    place = cuda.to_device(np.array(3.0))
    on("auto", scale)(place, place, np.ones((2, 3)))
    assert place.copy_to_host() == 7


def test_an_array_without_axes_is_not_a_number() -> None:
    @kernel(backend="cpu")
    def doubled(x, out):
        out[0] = x * 2

    with pytest.raises(CompileError, match=r"x\[\(\)\]"):
        doubled[1, 1](np.array(3.0), np.zeros(1))


def test_cuda_text_compiles() -> None:
    on("cpu", change)(records()[0], records()[1], 1.0)
    changed = Kernel(change, backend="cpu")
    changed[1, 1](records()[0], records()[1], 1.0)
    made = nvrtc.compile(changed.inspect("cuda"), "change", "sm_90", cache=False)
    assert made.log.strip("\0\n ") == ""

"""Loads and stores with cache hints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, float32, float64, int32, kernel
from pycu2c.base.dtypes import DType
from pycu2c.base.types import Scalar
from pycu2c.ops.intrinsics.memory.cache_hints import CACHED
from pycu2c.toolchain.nvrtc import nvrtc
from support.launching import run


@kernel
def loaded(a, out):
    i = cuda.grid(1)
    if i < len(a):
        out[0, i] = cuda.ldg(a, i)
        out[1, i] = cuda.ldca(a, i - len(a))
        out[2, i] = cuda.ldcg(a, (i,))
        out[3, i] = cuda.ldcs(a, i)
        cuda.stwb(out, (4, i), cuda.ldlu(a, i))
        cuda.stcg(out, (5, i), cuda.ldcv(a, i))
        cuda.stcs(out, (6, i), a[i])
        cuda.stwt(out, (7, i), a[i])


def some(dtype: DType) -> Any:
    rng = np.random.default_rng(1)
    return rng.integers(0, 60, (40, dtype.size), np.uint8).view(dtype.numpy)[:, 0]


@pytest.mark.parametrize("dtype", CACHED, ids=str)
def test_every_type(dtype: DType, target: str) -> None:
    a = some(dtype)
    result = run(loaded, (2, 32), [a, np.zeros((8, 40), a.dtype)], target)[1]
    for row in result:
        assert row.tobytes() == a.tobytes()


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
@pytest.mark.parametrize("dtype", CACHED, ids=str)
def test_cuda_has_them(dtype: DType, arch: str) -> None:
    kind = Scalar(dtype)
    text = loaded.inspect("cuda", (kind[::1], kind[:, ::1]))
    assert nvrtc.compile(text, "loaded", arch, cache=False).log.strip("\0\n ") == ""


def test_only_loaded_arrays_are_not_written() -> None:
    text = loaded.inspect("cuda", (float32[::1], float32[:, ::1]))
    assert "void loaded(const float *a" in text
    assert "__stcs(&out[6 * out_shape1 + i], a[i]);" in text
    assert "out[7 * out_shape1 + i] = a[i];" in loaded.inspect("c", (float32[::1], float32[:, ::1]))


def test_operands_are_evaluated_from_left_to_right(target: str) -> None:
    @kernel
    def ordered(a, log):
        cuda.stcs(a, cuda.atomic.add(log, 0, 1), cuda.atomic.add(log, 0, 10))

    a, log = run(ordered, (1, 1), [np.full(4, -1, np.int32), np.zeros(1, np.int32)], target)
    assert a.tolist() == [1, -1, -1, -1]
    assert log.tolist() == [11]


def test_a_field_of_a_record(target: str) -> None:
    dtype = np.dtype([("p", np.int32), ("q", np.float64)], align=True)

    @kernel
    def fields(a):
        cuda.stcg(a.q, 1, cuda.ldcg(a.p, 0))

    a = np.zeros(2, dtype)
    a["p"] = 7
    (result,) = run(fields, (1, 1), [a], target)
    assert result["q"].tolist() == [0, 7]


def test_only_global_memory_has_these_caches() -> None:
    @kernel
    def shared(out):
        tile = cuda.shared.array(4, float64)
        out[0] = cuda.ldcg(tile, 0)

    with pytest.raises(CompileError, match="an array in shared memory"):
        shared.inspect("c", (int32[::1],))

"""Constant arrays, lane masks and clocks."""

from __future__ import annotations

import numpy as np
import pytest

import pycu2c
from pycu2c import CompileError, cuda, float32, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.launching import run

TABLE = np.arange(10, dtype=np.float32)


@kernel
def constants(out):
    i = cuda.threadIdx.x
    table = cuda.const.array_like(TABLE)
    out[i] = table[i % 10] + table[-1] + cuda.selp(i > 3, 0.5, 0)


def test_an_array_of_constants(target: str) -> None:
    (result,) = run(constants, (1, 16), [np.zeros(16, np.float32)], target)
    i = np.arange(16)
    np.testing.assert_array_equal(result, i % 10 + 9 + np.where(i > 3, 0.5, 0))
    assert "__constant__ const float TABLE" in constants.inspect("cuda", (float32[::1],))


POINT = [("x", "f4"), ("n", "i8")]
LAYOUTS = {
    "packed": np.dtype(POINT),
    "aligned": np.dtype([("b", "i1"), ("z", "c8"), ("h", "f2"), ("x", "f8")], align=True),
    "packed halves": np.dtype([("b", "i1"), ("h", "f2"), ("z", "c16"), ("t", "?")]),
    "padded": np.dtype(
        {"names": ["b", "a"], "formats": ["u8", "i2"], "offsets": [16, 2], "itemsize": 40}
    ),
    "aligned in packed": np.dtype(
        [("b", "i1"), ("r", np.dtype([("c", "i1"), ("h", "f2", 2), ("v", "f4")], align=True))]
    ),
    "nested": np.dtype([("m", "i4", (2, 3)), ("p", POINT), ("ps", POINT, 2)]),
}


def random_records(dtype: np.dtype) -> np.ndarray:
    """Five records of small random numbers; their padding is zero."""
    numbers = np.random.default_rng(1)

    def fill(array: np.ndarray) -> None:
        for name in array.dtype.names or ():
            fill(array[name])
        if not array.dtype.names:
            array[...] = numbers.integers(0, 100, array.shape)

    records = np.zeros(5, dtype)
    fill(records)
    return records


RECORDS = {name: random_records(dtype) for name, dtype in LAYOUTS.items()}


def copy_of(records: np.ndarray):
    @kernel
    def copied(out, indices):
        i = cuda.threadIdx.x
        table = cuda.const.array_like(records)
        if i < out.size:
            out[i] = table[indices[i]]

    return copied


@pytest.mark.parametrize("name", LAYOUTS)
def test_records_in_constant_memory(target: str, name: str) -> None:
    indices = np.array([3, 0, 4, 1, -3], np.int32)
    records = RECORDS[name]
    (result, _) = run(copy_of(records), (1, 8), [np.zeros(5, records.dtype), indices], target)
    assert np.all(result == records[indices])


@pytest.mark.parametrize("name", LAYOUTS)
def test_nvrtc_compiles_records_in_constant_memory(name: str) -> None:
    types = (pycu2c.from_dtype(LAYOUTS[name])[::1], pycu2c.int32[::1])
    text = copy_of(RECORDS[name]).inspect("cuda", types)
    assert nvrtc.compile(text, "copied", "sm_90", cache=False).data


@kernel
def fields_of_constants(out):
    i = cuda.threadIdx.x
    nested = cuda.const.array_like(NESTED)
    none = cuda.const.array_like(NO_RECORDS)
    record = nested[i]
    out[i] = record.p.n + nested[i]["m"][1, i % 3] + nested["ps"][i, 1]["x"] + 1000 * len(none)


NO_RECORDS = np.zeros(0, LAYOUTS["nested"])
NESTED = RECORDS["nested"]


def test_fields_of_records_in_constant_memory(target: str) -> None:
    (result,) = run(fields_of_constants, (1, 5), [np.zeros(5)], target)
    nested = RECORDS["nested"]
    expected = [r["p"]["n"] + r["m"][1, i % 3] + r["ps"][1]["x"] for i, r in enumerate(nested)]
    assert result.tolist() == expected


def test_a_changed_record_is_another_constant(target: str) -> None:
    records = np.zeros(5, POINT)
    for n in (1, 2):
        records["n"] = n
        out = np.zeros(5, POINT)
        (result, _) = run(copy_of(records), (1, 8), [out, np.arange(5)], target)
        assert result["n"].tolist() == [n] * 5


def test_an_argument_is_no_constant() -> None:
    @kernel
    def taken(out, a):
        out[0] = cuda.const.array_like(a)[0]

    with pytest.raises(CompileError, match="defined outside of the kernel"):
        taken.inspect("c", (float32[::1], float32[::1]))


@kernel
def lanes(masks):
    i = cuda.threadIdx.x
    masks[0, i] = cuda.lanemask_lt()
    masks[1, i] = cuda.lanemask_le()
    masks[2, i] = cuda.lanemask_eq()
    masks[3, i] = cuda.lanemask_ge()
    masks[4, i] = cuda.lanemask_gt()


def test_masks_of_lanes(target: str) -> None:
    (result,) = run(lanes, (1, 40), [np.zeros((5, 40), np.int64)], target)
    bit = 1 << (np.arange(40, dtype=np.int64) % 32)
    everyone = (1 << 32) - 1
    expected = [bit - 1, 2 * bit - 1, bit, everyone - (bit - 1), everyone - (2 * bit - 1)]
    np.testing.assert_array_equal(result, expected)


@kernel
def timed(out):
    start, began, short = cuda.clock64(), cuda.globaltimer(), cuda.clock()
    out[0] = cuda.clock64() - start
    out[1] = cuda.globaltimer() - began
    out[2] = short >> 32
    out[3] = cuda.clock64() > 0


def test_clocks_go_forward(target: str) -> None:
    (result,) = run(timed, (1, 1), [np.full(4, -1, np.int64)], target)
    assert result[0] >= 0
    assert result[1] >= 0
    assert result[2:].tolist() == [0, 1]

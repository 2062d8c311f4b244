"""Fields of records that are arrays, records as tuples, and records stored from tuples. What is
meant is what the same function does in plain Python with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, from_dtype, int64, kernel
from pycu2c.base.dtypes import decode_dtype, encode_dtype, from_numpy
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.arguments.flattened_arguments import flatten_arguments
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from
from support.launching import run
from support.plain_python import run_in_python

PAIR = np.dtype([("u", np.int32), ("v", np.float64)], align=True)
ROWS = [("n", "i4"), ("x", "f4", 3), ("inner", PAIR), ("m", "i2", (2, 2)), ("s", PAIR, 2)]
WIDE = np.dtype(ROWS, align=True)
PACKED = np.dtype([("n", "i1"), ("x", "f4", 3), ("z", "c8"), ("p", "i4", (2, 3))])
PARTS = [("b", "i1"), ("h", "f2", 2), ("c", "c8", 2), ("f", cuda.float2.numpy, 2)]
COUNT = 4


def filled(dtype: np.dtype[Any], count: int = COUNT) -> np.ndarray[Any, Any]:
    """Records with different numbers in all fields, and zeros between them."""
    array = np.zeros(count, dtype)
    _fill(array, np.random.default_rng(3))
    return array


def _fill(array: np.ndarray[Any, Any], rng: np.random.Generator) -> None:
    for name in array.dtype.names or ():
        _fill(array[name], rng)
    if not array.dtype.names:
        array[...] = rng.integers(1, 30, array.shape)


def out() -> np.ndarray[Any, Any]:
    return np.zeros(COUNT, np.float64)


@kernel
def elements(a, o):
    i = cuda.grid(1)
    o[i] = a[i].x[1] + a[i]["x"][-1] + a["x"][i, 0] + len(a[i].x)
    a[i].x[2] = 5
    a[i].m[1, 0] += 2
    a[i].x[i - 3] *= 2
    for k in range(a[i].m.shape[0]):
        o[i] += a[i].m[k, 1]
    for value in a[i].x:
        o[i] += value
    first, *rest = a[i].x[0], a[i].x[2]
    o[i] += first - rest[0]


@kernel
def nested(a, o):
    i = cuda.grid(1)
    k = int(o[i])
    a[i].inner.v = 3.5
    a[i].inner.u += 2
    a[i].s[1].u = 7
    a[i].s[k].v = 8
    a[i].s[i % 2].u += 4
    o[i] = a[i].inner.u + a[i].s[k - 1].u + a.s["u"][i, 1] + a.s[i, 0].v


@kernel
def views(a, o):
    i = cuda.grid(1)
    a[i].x[1:] = a[i].m[0, 0]
    a[i].m[:, 1] = 4
    a[i].m[0] += 1
    row, all_rows = a[i].x, a.x
    row[i - 3] = 9
    np.sqrt(row, row)
    all_rows[i, 1] += 2
    o[i] = row[0] + all_rows[i][2] + 100 * all_rows.shape[1] + 10 * a[i].m.size
    o[i] += a[i].m.T[0, 1] + a[i].m.strides[0] + a.x.strides[0] + all_rows.ndim
    chosen = a[i].m[0] if i % 2 else a[i].m[1]
    o[i] += chosen[1]


@kernel
def copied(a, b, o):
    i = cuda.grid(1)
    b[i] = a[i]
    b[i].x = a[i].x[::-1]
    b[i].m = 3
    b[i].inner = a[i].s[0]
    b[i].s[1] = a[i].inner
    o[i] = b[i].x[0] + b[i].inner.u


@device
def total(row, k):
    row[0] += k
    result = row[0]
    for j in range(row.shape[0]):
        result += row[j - 1]
    return result


@kernel
def passed(a, o):
    i = cuda.grid(1)
    o[i] = total(a[i].x, i) + total(a[i].m[1], 1) + total(a[i].m[:, 0], 2)
    o[i] += total(a[i].x[::2], 1) + total(a[i].x[1:], 3) + total(a.s.u[i], 1)


@device
def total_pair(u, v):
    return u + 2 * v


@kernel
def by_position(a, o):
    i = cuda.grid(1)
    first, second = a[i].inner
    o[i] = first + second + a[i].inner[0] + a[i].s[1][-1] + a[i][1][2]
    a[i].inner[0] = 17
    a[i][2][1] += 1
    p = a[i].inner
    o[i] += total_pair(*p) + p[1]


@kernel
def from_tuples(a, o):
    i = cuda.grid(1)
    a[i].inner = (i, o[i] + 2.5)
    a[i].s[0] = a[i].inner.u + 1, 3
    a[i] = (5, (1, 2, i), (6, 7), [(1, 2), (3, i)], [(8, 9), (i, 11)])
    o[i] = a[i].inner.v


@kernel
def packed(a, o):
    i = cuda.grid(1)
    k = int(o[i]) + 1
    a[i].x[k] += 2
    a[i].p[k, i % 3] = 4
    a[i].x[1:] = a[i].x[2]
    o[i] = a[i].x[i % 3] + a[i].z.real + a[i].p[1, -1] + a.x[i].shape[0]


@kernel
def halves(a, o):
    i = cuda.grid(1)
    a[i].h[i % 2] += np.float16(1)
    a[i].c[1] *= 1j
    a[i].f[1].y = 4
    o[i] = a[i].h[1] + a[i].c[i % 2].imag + a[i].f[0].x + a[i].c[1].real + a[i].f[1].y


CASES = (
    (elements, [filled(WIDE), out()]),
    (elements, [filled(WIDE, 2 * COUNT)[::2], out()]),
    (nested, [filled(WIDE), out()]),
    (views, [filled(WIDE), out()]),
    (copied, [filled(WIDE), np.zeros(COUNT, WIDE), out()]),
    (passed, [filled(WIDE), out()]),
    (by_position, [filled(WIDE), out()]),
    (from_tuples, [filled(WIDE), out()]),
    (packed, [filled(PACKED), out()]),
)


@pytest.mark.parametrize(("made", "arguments"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_as_python(made: Kernel, arguments: list[Any], target: str) -> None:
    result = run(made, (1, COUNT), arguments, target)
    plain = run_in_python(made, [a.view(np.recarray) for a in arguments], COUNT)  # which have a.x
    for mine, expected in zip(result, plain, strict=True):
        assert repr(mine.tolist()) == repr(np.asarray(expected).tolist())


@pytest.mark.parametrize("align", [False, True])
def test_halves_complex_numbers_and_vectors(align: bool, target: str) -> None:
    a = np.zeros(COUNT, np.dtype(PARTS, align=align))
    a["h"], a["c"], a["f"]["x"] = [[1, 2], [3, 4], [5, 6], [7, 8]], 2 + 3j, 2
    (b, o) = run(halves, (1, COUNT), [a, out()], target)
    assert b["h"].tolist() == [[2, 2], [3, 5], [6, 6], [7, 9]]
    assert b["c"].tolist() == [[2 + 3j, -3 + 2j]] * COUNT
    assert b["f"]["y"].tolist() == [[0, 4]] * COUNT
    assert o.tolist() == [
        h + (3 if i % 2 == 0 else 2) + 2 - 3 + 4 for i, h in enumerate([2, 5, 6, 9])
    ]


@kernel
def shared_and_atomic(a, o):
    i = cuda.grid(1)
    shared = cuda.shared.array(4, WIDE)
    own = cuda.local.array(2, WIDE)
    shared[i] = a[3 - i]
    own[1] = a[i]
    own[0].x = own[1].x
    cuda.syncthreads()
    cuda.atomic.add(shared[0].x, i % 3, 1)
    cuda.atomic.max(a.x, (i, 0), 70)
    cuda.syncthreads()
    o[i] = shared[0].x[i % 3] + shared[3 - i].s[1].u + own[0].x[2]


def test_in_shared_and_local_memory(target: str) -> None:
    a = filled(WIDE)
    (b, o) = run(shared_and_atomic, (1, COUNT), [a, out()], target)
    sums = a[3]["x"] + [2, 1, 1]
    expected = [sums[i % 3] + a[i]["s"][1]["u"] + a[i]["x"][2] for i in range(COUNT)]
    assert o.tolist() == expected
    np.testing.assert_array_equal(b["x"][:, 0], 70)


@device
def with_others(row, column, i):
    row[0] += i
    cuda.syncthreads()
    column[i] += row[0]
    cuda.syncthreads()
    row[1:] = column[3 - i]
    cuda.atomic.add(row, 1, 2)
    return row[1] + column.shape[0]


@kernel
def barrier(a, o):
    i = cuda.grid(1)
    o[i] = with_others(a[i].x, a.n, i)


def test_functions_with_barriers(target: str) -> None:
    """On the CPU these are put into their callers."""
    a = filled(WIDE)
    (b, o) = run(barrier, (1, COUNT), [a, out()], target)
    first = a["x"][:, 0] + np.arange(COUNT)
    numbers = a["n"] + first
    np.testing.assert_array_equal(b["x"][:, 0], first)
    np.testing.assert_array_equal(b["n"], numbers)
    np.testing.assert_array_equal(b["x"][:, 1], numbers[::-1] + 2)
    np.testing.assert_array_equal(o, numbers[::-1] + 2 + COUNT)


@kernel
def by_value(r, a, o):
    i = cuda.grid(1)
    o[i] = r.n + r.x[i % 3] + r.m[1, 0] + r["s"][1].u + len(r.x) + total_of(r)
    a[i] = r
    a[i].inner = r.s[0]


@device
def total_of(r):
    return r.x[0] + r.inner.v


def test_a_record_as_an_argument(target: str) -> None:
    arguments, a = filled(WIDE), np.zeros(COUNT, WIDE)
    r = arguments[1]
    (_, b, o) = run(by_value, (1, COUNT), [r, a, out()], target)
    rest = r["n"] + r["m"][1, 0] + r["s"][1]["u"] + 3 + r["x"][0] + r["inner"]["v"]
    assert o.tolist() == [rest + r["x"][i % 3] for i in range(COUNT)]
    expected = arguments[[1] * COUNT]
    expected["inner"] = r["s"][0]
    assert repr(b.tolist()) == repr(expected.tolist())


def test_compilers_take_the_text() -> None:
    for made, arguments in (*CASES, (halves, [np.zeros(1, PARTS), out()])):
        types = flatten_arguments(arguments, [""] * len(arguments)).types
        assert check_warnings(made.inspect("c", types)) == ""
        text = made.inspect("cuda", types)
        assert nvrtc.compile(text, made.__name__, "sm_90", cache=False).log.strip("\0\n ") == ""


def test_the_types() -> None:
    row = from_numpy(WIDE)
    assert row is not None
    assert str(row).startswith(
        "{n: int32, x: float32[3], inner: {u: int32, v: float64}, m: int16[2, 2]"
    )
    assert from_numpy(row.numpy) is row
    assert decode_dtype(encode_dtype(row)) is row
    assert row.alignment == WIDE.alignment
    swapped = np.dtype({"names": ["b", "a"], "formats": ["i4", "i4"], "offsets": [4, 0]})
    assert str(from_numpy(swapped)) == "{b: int32, a: int32}"


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("a[0].x[3] = 1", "index-range", "this has 3 elements"),
        ("o[0] = a[0].m[0, -3]", "index-range", "this has 2 elements"),
        ("o[0] = a[0][9]", "index-range", "the record has 5 fields"),
        ("x, y = a[0]", "unpack", "5 values"),
        ("a[0].inner = 1, 2, 3", "store-type", "a tuple of 3"),
        ("a[0].x = (1, 2)", "slice-assign", "a tuple of 2"),
        ("o[0] = a[0].x", "store-type|type-needed", "float32"),
        ("o[0] = a[0].x['u']", "name", "has no field"),
        ("a[0].x[1.5] = 1", "index-type", "float"),
    ],
)
def test_rejected_uses(text: str, code: str, message: str, tmp_path: Any) -> None:
    head = "from pycu2c import kernel\n\n@kernel\ndef k(a, o):\n"
    made = module_from(f"{head}    {text}\n", tmp_path).k
    with pytest.raises(CompileError, match=rf"error\[({code})\](?s:.*){message}"):
        made.inspect("c", (from_dtype(WIDE)[:], int64[:]))


@kernel
def selected(a, x, o):
    i = cuda.grid(1)
    if i < a.size:
        o[0, i] = x[i] if o[1, i] > 0 else a[i].n
        o[1, i] = x[i] if o[1, i] > 0 else a[i].x[1]


def test_a_field_of_a_packed_record_or_an_element(target: str) -> None:
    """nvcc reads either at one address, which it takes to be aligned if both are lvalues."""
    a, x = filled(PACKED), np.arange(COUNT, dtype=np.float32) + 100
    o = np.zeros((2, COUNT), np.float32)
    o[1, ::2] = 1
    expected = np.where(o[1] > 0, x, [a["n"], a["x"][:, 1]])
    np.testing.assert_array_equal(run(selected, (1, 8), (a, x, o), target)[2], expected)
    text = selected.inspect("cuda", (from_dtype(PACKED)[::1], "float32[::1]", "float32[:, ::1]"))
    assert ": (float)a[i].x[1];" in text

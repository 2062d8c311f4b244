"""``half2`` and ``bfloat162``: vectors of two halves, and CUDA's functions of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, bfloat162, cuda, float2, half2, kernel
from pycu2c.base.types import Scalar, bool_, uint32
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.arguments.flattened_arguments import flatten_arguments
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.launching import run

KINDS = [half2, bfloat162]
MODULES = {"half2": cuda.fp16, "bfloat162": cuda.bf16}


def pairs(kind: Scalar, x: Any, y: Any) -> np.ndarray[Any, Any]:
    made = np.zeros(len(x), kind.dtype.numpy)
    made["x"], made["y"] = x, y
    return made


def operands(kind: Scalar) -> list[np.ndarray[Any, Any]]:
    a = pairs(kind, [1, -2, 3, 0.1], [0.5, 0.3, 7, np.inf])
    b = pairs(kind, [2.5, 2.5, 3, 0.7], [0.1, 0.3, np.nan, -1])
    c = pairs(kind, [0.01, 1, 2, 3], [9, -1, 1, 1])
    return [a, b, c]


def arithmetic(room: Any) -> Kernel:
    @kernel
    def made(a, b, c, out):
        i = cuda.grid(1)
        v, w = a[i], b[i]
        out[0, i] = room.hadd2(v, w)
        out[1, i] = room.hsub2(v, w)
        out[2, i] = room.hmul2(v, w)
        out[3, i] = room.hfma2(v, w, c[i])
        out[4, i] = room.h2div(v, w)
        out[5, i] = room.hneg2(v)
        out[6, i] = room.habs2(v)
        out[7, i] = room.hmin2(v, w)
        out[8, i] = room.hmax2(v, w)
        out[9, i] = room.lowhigh2highlow(v)
        out[10, i] = room.heq2(v, w)
        out[11, i] = room.hneu2(v, w)
        out[12, i] = room.hlt2(v, w)
        out[13, i] = room.hge2(v, w)
        out[14, i] = room.h2rint(v)
        out[15, i] = room.h2sqrt(room.habs2(c[i]))

    return made


def by_parts(a: Any, b: Any, c: Any) -> list[Any]:
    """The same of one component, which numpy rounds once."""
    own = a.dtype
    wide, other, third = (v.astype(np.float64) for v in (a, b, c))
    return [
        wide + other,
        wide - other,
        wide * other,
        wide * other + third,  # exact before it is rounded, but for the last bit of float64
        wide / other,
        -a,
        abs(a),
        np.fmin(a, b),
        np.fmax(a, b),
        None,
        wide == other,
        wide != other,
        wide < other,
        wide >= other,
        np.rint(wide),
        np.sqrt(abs(third)).astype(np.float32).astype(own),
    ]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_arithmetic(kind: Scalar, target: str) -> None:
    arguments = operands(kind)
    out = np.zeros((16, 4), kind.dtype.numpy)
    with np.errstate(all="ignore"):
        result = run(arithmetic(MODULES[str(kind)]), (1, 4), [*arguments, out], target)[3]
        for name, other in (("x", "y"), ("y", "x")):
            rows = by_parts(*(v[name] for v in arguments))
            rows[9] = arguments[0][other]
            expected = np.stack([np.asarray(r).astype(result[name].dtype) for r in rows])
            np.testing.assert_array_equal(result[name].astype(float), expected.astype(float))


COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu"]


def compared(room: Any, name: str) -> Kernel:
    one, pair, both, mask = (
        getattr(room, form.format(name)) for form in ("h{}", "h{}2", "hb{}2", "h{}2_mask")
    )

    @kernel
    def made(a, b, ones, pairs, masks):
        i = cuda.grid(1)
        ones[0, i], ones[1, i] = one(a[i].x, b[i].x), one(a[i].y, b[i].y)
        ones[2, i] = both(a[i], b[i])
        pairs[i] = pair(a[i], b[i])
        masks[i] = mask(a[i], b[i])

    return made


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_compilers_take_comparisons(kind: Scalar, arch: str) -> None:
    types = (kind[:], kind[:], bool_[:, :], kind[:], uint32[:])
    for name in COMPARISONS:
        made = compared(MODULES[str(kind)], name)
        assert check_warnings(made.inspect("c", types)) == ""
        text = made.inspect("cuda", types)
        assert f"__h{name}2(" in text
        assert nvrtc.compile(text, "made", arch, cache=False).log.strip("\0\n ") == ""


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_say_what_a_nan_answers(name: str, kind: Scalar, target: str) -> None:
    a = pairs(kind, [1, 2, np.nan, 3, np.nan], [2, 2, 2, np.nan, np.nan])
    b = pairs(kind, [2, 1, 1, 3, np.nan], [2, 1, 1, 1, 1])
    outs = [np.zeros((3, 5), np.bool_), np.zeros(5, kind.dtype.numpy), np.zeros(5, np.uint32)]
    made = compared(MODULES[str(kind)], name)
    _, _, ones, both, masks = run(made, (1, 5), [a, b, *outs], target)
    wide = [(a[n].astype(float), b[n].astype(float)) for n in "xy"]
    raised = [getattr(np, NUMPYS[name[:2]])(*w) for w in wide]
    either = [np.isnan(x) | np.isnan(y) for x, y in wide]
    x, y = (t | e if name.endswith("u") else t & ~e for t, e in zip(raised, either))
    np.testing.assert_array_equal(ones, [x, y, x & y])
    np.testing.assert_array_equal(both["x"].astype(bool), x)
    np.testing.assert_array_equal(both["y"].astype(bool), y)
    np.testing.assert_array_equal(masks, x * 0xFFFF + y * 0xFFFF0000)


NUMPYS = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal"}
NUMPYS |= {"gt": "greater", "ge": "greater_equal"}


@kernel
def as_vectors(a, b, out, kind):
    i = cuda.grid(1)
    shared = cuda.shared.array(4, kind)
    v = a[i]
    w = kind(v.y, 2)
    w.x += v.x
    b[i] = w
    b[i].y = v.x * w.y
    shared[i] = w
    cuda.syncthreads()
    other = shared[3 - i]
    sent = cuda.shfl_xor_sync(0xF, w, 1)
    cuda.atomic.add(a, i, kind(1, 2))
    x, y = other
    out[i] = float(x) + 10 * float(y) + 100 * float(sent.x)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_as_other_vectors(kind: Scalar, target: str) -> None:
    a = pairs(kind, [1, 2, 3, 4], [0.5] * 4)
    arguments = [a, np.zeros_like(a), np.zeros(4), kind]
    (sums, b, out, _) = run(as_vectors, (1, 4), arguments, target)
    assert sums["x"].tolist() == [2, 3, 4, 5]
    assert sums["y"].tolist() == [2.5] * 4
    assert b["x"].tolist() == [1.5, 2.5, 3.5, 4.5]
    assert b["y"].tolist() == [2, 4, 6, 8]
    assert out.tolist() == [4.5 + 20 + 250, 3.5 + 20 + 150, 2.5 + 20 + 450, 1.5 + 20 + 350]


@kernel
def converted(a, out):
    i = cuda.grid(1)
    h, b = cuda.fp16, cuda.bf16
    v = h.float22half2_rn(a[i])
    w = b.float22bfloat162_rn(a[i])
    out[0, i] = h.half22float2(v)
    out[1, i] = b.bfloat1622float2(w)
    out[2, i] = float2(h.low2float(v), b.high2float(w))
    pair = h.floats2half2_rn(a[i].y, 3)
    out[3, i] = float2(h.low2half(pair), h.high2half(h.float2half2_rn(7)))
    out[4, i] = float2(h.hbeq2(v, v), h.hblt2(v, pair))
    out[5, i] = h.half22float2(h.halves2half2(1, v.x))


def test_conversions(target: str) -> None:
    a = np.zeros(3, float2.numpy)
    a["x"], a["y"] = [0.1, 1000.5, -3], [2, 0.3, 1e6]
    (_, result) = run(converted, (1, 3), [a, np.zeros((6, 3), float2.numpy)], target)
    (brain,) = {bfloat162.numpy["x"]}
    with np.errstate(over="ignore"):
        half = {n: a[n].astype(np.float16).astype(np.float32) for n in "xy"}
    short = {n: a[n].astype(brain).astype(np.float32) for n in "xy"}
    for name in "xy":
        np.testing.assert_array_equal(result[0][name], half[name])
        np.testing.assert_array_equal(result[1][name], short[name])
    np.testing.assert_array_equal(result[2]["x"], half["x"])
    np.testing.assert_array_equal(result[2]["y"], short["y"])
    np.testing.assert_array_equal(result[3]["x"], half["y"])
    assert result[3]["y"].tolist() == [7] * 3
    assert result[4]["x"].tolist() == [1] * 3
    assert result[4]["y"].tolist() == [1, 0, 0]
    np.testing.assert_array_equal(result[5]["y"], half["x"])


def functions(room: Any) -> Kernel:
    @kernel
    def made(a, out):
        i = cuda.grid(1)
        v = a[i]
        out[0, i] = room.h2exp(v)
        out[1, i] = room.h2log2(v)
        out[2, i] = room.h2sin(v)
        out[3, i] = room.h2rcp(v)
        out[4, i] = room.h2rsqrt(v)
        out[5, i] = room.h2tanh(v)
        out[6, i] = room.h2floor(room.h2exp10(v))

    return made


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_functions(kind: Scalar, target: str) -> None:
    a = pairs(kind, [0.5, 1, 2.25, 3], [0.1, 4, 0.75, 1.5])
    out = np.zeros((7, 4), kind.dtype.numpy)
    (_, result) = run(functions(MODULES[str(kind)]), (1, 4), [a, out], target)
    for name in "xy":
        x = a[name].astype(np.float64)
        rows = [np.exp(x), np.log2(x), np.sin(x), 1 / x, x**-0.5, np.tanh(x)]
        one_bit = 2.0**-10 if kind is half2 else 2.0**-7
        np.testing.assert_allclose(result[name][:6].astype(float), np.stack(rows), rtol=one_bit)
        np.testing.assert_allclose(result[name][6].astype(float), np.floor(10**x), rtol=one_bit)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_compilers_take_the_text(kind: Scalar, arch: str) -> None:
    made = arithmetic(MODULES[str(kind)])
    types = flatten_arguments([*operands(kind), np.zeros((1, 1), kind.dtype.numpy)], [""] * 4).types
    assert check_warnings(made.inspect("c", types)) == ""
    text = made.inspect("cuda", types)
    assert "__hfma2(" in text
    assert nvrtc.compile(text, "made", arch, cache=False).log.strip("\0\n ") == ""


TABLE = pairs(half2, [1, 2, 3], [0.5, 1, 1.5])
BRAIN_TABLE = pairs(bfloat162, [4, 5, 6], [0.5, 1, 1.5])
IN_RECORDS = [("b", "i1"), ("p", half2.dtype.numpy), ("q", bfloat162.dtype.numpy, 2)]


@kernel
def elsewhere(a, v, w, records, out):
    """In tables, as arguments, in records."""
    i = cuda.grid(1)
    a[i] = cuda.fp16.hadd2(TABLE[i], a[i])
    v.x += BRAIN_TABLE[2 - i].x
    records[i].p = v
    records[i].p.y += w.x
    records[i].q[1] = cuda.bf16.hadd2(w, records[i].q[0])
    out[i] = float(records.p.x[i]) + 100 * float(records[i].q[1].y)


@pytest.mark.parametrize("align", [False, True])
def test_pairs_in_arrays_and_records(align: bool, target: str) -> None:
    a, records = pairs(half2, [1] * 3, [2] * 3), np.zeros(3, np.dtype(IN_RECORDS, align=align))
    records["q"]["y"] = 3
    arguments = [a, half2(1, 2), bfloat162(3, 4), records, np.zeros(3)]
    (sums, _, _, result, out) = run(elsewhere, (1, 3), arguments, target)
    assert sums["x"].tolist() == [2, 3, 4]
    assert result["p"]["x"].tolist() == [7, 6, 5]
    assert result["p"]["y"].tolist() == [5] * 3
    assert result["q"]["x"].tolist() == [[0, 3]] * 3
    assert out.tolist() == [707, 706, 705]


def test_one_type_is_not_the_other() -> None:
    @kernel
    def mixed(a, b):
        a[0] = cuda.fp16.hadd2(a[0], b[0])

    with pytest.raises(CompileError, match="bfloat162"):
        mixed.inspect("c", (half2[:], bfloat162[:]))

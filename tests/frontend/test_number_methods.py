"""Methods of Python's and numpy's numbers in kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, float32, kernel
from pycu2c.base.dtypes import BFLOAT16, DTYPES, DType
from pycu2c.base.types import WEAK_INT, Scalar, bool_, int64
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from
from support.launching import run

INTEGERS = [d for d in DTYPES if d.is_integer]
FLOATS = [d for d in DTYPES if d.is_float]
VIEWS = [
    (a, b)
    for a in (*INTEGERS, *FLOATS)
    for b in (*INTEGERS, *FLOATS)
    if a.numpy.itemsize == b.numpy.itemsize
]


def numbers(row: DType) -> Any:
    if row.is_integer:
        return np.array([0, 1, 7, 100, row.minimum, row.maximum, row.maximum - 5], row.numpy)
    values = [0, -0.0, 1, -2.5, 3, 1000, 0.1, np.inf, -np.inf, np.nan]
    return np.array(values, np.float64).astype(row.numpy)


@kernel
def bit_counts(a, n, out):
    i = cuda.grid(1)
    out[0, i] = a[i].bit_count()
    out[1, i] = (n - i).bit_count()
    out[2, i] = (n - i).bit_length()
    out[3, i] = int(a[i]).bit_length()
    out[4, i] = (i > 2).bit_count() + a[i].is_integer()


@pytest.mark.parametrize("row", INTEGERS, ids=str)
def test_bits(row: DType, target: str) -> None:
    a = numbers(row)
    (_, _, out) = run(bit_counts, (1, len(a)), [a, 3, np.zeros((5, len(a)), np.int64)], target)
    counted = [3 - i for i in range(len(a))]
    assert out[0].tolist() == [int(x).bit_count() for x in a]
    assert out[1].tolist() == [n.bit_count() for n in counted]
    assert out[2].tolist() == [n.bit_length() for n in counted]
    wide = [int(np.int64(np.uint64(int(x) % 2**64))) for x in a]  # an int has 64 bits
    assert out[3].tolist() == [x.bit_length() for x in wide]
    assert out[4].tolist() == [1 + (i > 2) for i in range(len(a))]


@kernel
def whole(a, x, out):
    i = cuda.grid(1)
    out[0, i] = a[i].is_integer()
    out[1, i] = (x * i).is_integer() + 2 * (x if a[i].is_integer() and i > 0 else 2.0).is_integer()


@pytest.mark.parametrize("row", [d for d in FLOATS if d is not BFLOAT16], ids=str)
def test_integers(row: DType, target: str) -> None:
    a = numbers(row)
    (_, _, out) = run(whole, (1, len(a)), [a, 0.5, np.zeros((2, len(a)), np.int64)], target)
    raised = [float(x).is_integer() for x in a]
    assert out[0].tolist() == raised
    assert out[1].tolist() == [(i % 2 == 0) + 2 * (not t or i == 0) for i, t in enumerate(raised)]


@pytest.mark.parametrize(("own", "other"), VIEWS, ids=str)
def test_views(own: DType, other: DType, target: str) -> None:
    seen = Scalar(other)

    @kernel
    def viewed(a, out, back):
        i = cuda.grid(1)
        x = a[i]
        out[i] = x.view(seen)
        back[i] = out[i].view(x.dtype)

    a = numbers(own)
    arguments = [a, np.zeros(len(a), other.numpy), np.zeros_like(a)]
    (_, out, back) = run(viewed, (1, len(a)), arguments, target)
    assert out.tobytes() == a.tobytes()
    assert back.tobytes() == a.tobytes()


@kernel
def converted(a, b, out):
    i = cuda.grid(1)
    out[0, i] = a[i].item() * 300  # a Python int
    out[1, i] = a[i].astype(np.int64) * 300
    out[2, i] = (b[i] * 3).astype("int8") + b[i].item()
    out[3, i] = b[i].astype(bool_) + b[i].astype(dtype=float32) + b[i].conj()
    local = cuda.local.array(1, b[i].dtype)
    local[0] = 0.1
    out[4, i] = local[0].item()


def test_conversions(target: str) -> None:
    a, b = np.int8([1, -100, 127]), np.float32([2.5, 0.1, -3])
    (_, _, out) = run(converted, (1, 3), [a, b, np.zeros((5, 3))], target)
    assert out[0].tolist() == out[1].tolist() == [300, -30000, 38100]
    assert out[2].tolist() == [float(np.int8(x * 3)) + float(x) for x in b]
    assert out[3].tolist() == [float(np.float32(1) + x + x) for x in b]
    assert out[4].tolist() == [float(np.float32(0.1))] * 3


def test_compilers_take_the_text() -> None:
    types = (Scalar(INTEGERS[0])[::1], WEAK_INT, int64[:, ::1])
    assert check_warnings(bit_counts.inspect("c", types)) == ""
    text = bit_counts.inspect("cuda", types)
    assert nvrtc.compile(text, "bit_counts", "sm_90", cache=False).log.strip("\0\n ") == ""


WRONG = [
    ("a[i].view(np.int16)", "argument-type", "a type of the same size"),
    ("a[i].bit_count()", "subset", "no attribute `bit_count`"),
    ("np.int32(i).bit_length()", "subset", "int(n)"),
    ("i.item()", "subset", "an element is a number"),
    ("a[i].astype(3)", "dtype", "is not a dtype"),
    ("i.bit_count(3)", "argument-count", ""),
]


@pytest.mark.parametrize(("text", "code", "words"), WRONG, ids=[w[0] for w in WRONG])
def test_missing_methods_of_numbers(text: str, code: str, words: str, tmp_path: Any) -> None:
    lines = ["import numpy as np", "from pycu2c import cuda, kernel", "@kernel"]
    lines += ["def wrong(a):", "    i = cuda.grid(1)", f"    a[i] = {text}"]
    made = module_from("\n".join(lines), tmp_path).wrong
    with pytest.raises(CompileError, match=rf"error\[{code}\]") as caught:
        made.inspect("c", (float32[::1],))
    assert words in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float16, "float64", "i", float32])
def test_dtypes_that_the_kernel_creates(dtype: Any, target: str) -> None:
    @kernel
    def limits(x, out):
        out[0] = np.dtype(dtype).type(2.5) + np.dtype("f").itemsize
        out[1] = np.dtype(x.dtype).itemsize

    numpy_dtype = np.dtype(dtype.dtype.numpy if isinstance(dtype, Scalar) else dtype)
    _, out = run(limits, (1, 1), [np.zeros(1, np.int16), np.zeros(2)], target)
    assert out.tolist() == [numpy_dtype.type(2.5) + 4, 2]


@pytest.mark.parametrize("argument", ["2.5", "None", "'nothing'", "x"])
def test_dtypes_that_do_not_exist(argument: str, tmp_path: Path) -> None:
    module = module_from(
        "import numpy as np\nfrom pycu2c import kernel\n@kernel\n"
        f"def k(x):\n    x[0] = np.dtype({argument}).itemsize\n",
        tmp_path,
    )
    with pytest.raises(CompileError, match=r"numpy\.dtype takes a type of numbers") as result:
        module.k[1, 1](np.zeros(1))
    assert result.value.code == "argument-type"

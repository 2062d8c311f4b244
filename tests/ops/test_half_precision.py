"""float16 and bfloat16: every operation rounds once, in readable C."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pycu2c import bfloat16, cuda, device, float16, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.launching import run
from support.targets import TARGETS

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALVES = [np.dtype(np.float16), BFLOAT16]
NAMES = ["f16", "bf16"]


@kernel
def operated(a, b, out, tests):
    i = cuda.grid(1)
    if i < len(a):
        x, y = a[i], b[i]
        out[0, i] = x + y
        out[1, i] = x - y
        out[2, i] = x * y
        out[3, i] = x / y
        out[4, i] = -x
        out[5, i] = +x
        out[6, i] = x**2
        tests[0, i] = x < y
        tests[1, i] = x == y
        tests[2, i] = x != y
        tests[3, i] = x >= y
        tests[4, i] = not x


def rounded(exact: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """numpy rounds a float64 to float16 at once; bfloat16 is rounded from a float32."""
    return exact.astype(dtype if dtype.name == "float16" else np.float32).astype(dtype)


def expected(a: Any, b: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        exact = [x + y, x - y, x * y, x / y, -x, x, x * x]
        numbers = np.stack([rounded(e, a.dtype) for e in exact])
    return numbers, np.stack([x < y, x == y, x != y, x >= y, x == 0])


def bits_of(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One pattern for every NaN."""
    bits = numbers.view(np.uint16)
    infinity = 0x7C00 if numbers.dtype.name == "float16" else 0x7F80
    return np.where(bits & 0x7FFF > infinity, 0x7FFF, bits)


def check(a: Any, b: Any, target: str) -> None:
    numbers, tests = expected(a, b)
    arguments = [a, b, np.zeros_like(numbers), np.zeros_like(tests)]
    result = run(operated, (-(-len(a) // 256), 256), arguments, target)
    np.testing.assert_array_equal(bits_of(result[2]), bits_of(numbers))
    np.testing.assert_array_equal(result[3], tests)


@pytest.mark.parametrize("dtype", HALVES, ids=NAMES)
def test_selected_pairs(dtype: Any, target: str) -> None:
    edges = [0, 0x8000, 1, 0x8001, 0x3C00, 0x3C01, 0xBC00, 0x3F80, 0x7BFF, 0x7F7F, 0x7C00, 0x7F80]
    pairs = np.array(list(itertools.product(edges, edges)), np.uint16)
    check(pairs[:, 0].copy().view(dtype), pairs[:, 1].copy().view(dtype), target)


@pytest.mark.parametrize("backend", [t for t in TARGETS if t != "python"])
@pytest.mark.parametrize("dtype", HALVES, ids=NAMES)
def test_every_number_with_others(dtype: Any, backend: str) -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    rng = np.random.default_rng(5)
    others = [every[::-1], every ^ 1, every + 0x400, *(rng.permutation(every) for _ in range(12))]
    a = np.concatenate([every for _ in others]).view(dtype)
    check(a, np.concatenate(others).view(dtype), backend)


@kernel
def mixed(a, b, out):
    v = a[0] * b[0] + a[1]
    v -= b[1] / 3
    out[0] = -v


HELPERS = {
    ("c", float16): "v = add_f16(mul_f16(a[0], b[0]), a[1]);",
    ("c", bfloat16): "v = add_bf16(mul_bf16(a[0], b[0]), a[1]);",
    ("cuda", float16): "v = __hadd_rn(__hmul_rn(a[0], b[0]), a[1]);",
    ("cuda", bfloat16): "v = add_bf16(mul_bf16(a[0], b[0]), a[1]);",
}


@pytest.mark.parametrize(("what", "kind"), HELPERS)
def test_the_text_can_be_read(what: Any, kind: Any) -> None:
    assert HELPERS[what, kind] in mixed.inspect(what, (kind[::1], kind[::1], kind[::1]))


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
@pytest.mark.parametrize("kind", [float16, bfloat16], ids=NAMES)
def test_compilers_accept_it_and_contract_nothing(kind: Any, arch: str) -> None:
    types = (kind[::1], kind[::1], kind[::1])
    text = mixed.inspect("cuda", types)
    made = nvrtc.compile(text, "mixed", arch, kind="ptx", cache=False)
    assert made.log.strip("\0\n ") == ""
    ptx = made.data.decode()
    if kind is float16:
        assert "mul.rn.f16" in ptx
        assert "add.rn.f16" in ptx
    elif arch == "sm_90":
        assert "mul.rn.bf16" in ptx
        assert "add.rn.bf16" in ptx
    assert "fma.rn.f16" not in ptx
    assert check_warnings(mixed.inspect("c", types)) == ""


@device
def recorded(log, value):
    log[0] = log[0] * 10 + value
    return float16(value)


def test_operands_are_evaluated_from_left_to_right(target: str) -> None:
    @kernel
    def ordered(log, out):
        out[0] = recorded(log, 1) + recorded(log, 2) * recorded(log, 3) - recorded(log, 4) ** 2
        out[1] = -recorded(log, 5) / recorded(log, 6)

    result = run(ordered, (1, 1), [np.zeros(1, np.int64), np.zeros(2, np.float16)], target)
    assert result[0][0] == 123456
    assert result[1].tolist() == [1 + 2 * 3 - 4**2, np.float16(-5) / np.float16(6)]

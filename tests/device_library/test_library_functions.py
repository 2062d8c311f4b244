"""Functions that are written in the kernel language: their values and types, on every target."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, kernel
from pycu2c.ops.intrinsics.library import LIBRARY
from support.kernels_from_text import module_from
from support.launching import run

NUMBERS = [0.0, -0.0, 0.5, -2.0, 3.75, -1e-310, 5e-324, 1.7e308, math.inf, -math.inf, math.nan]
NUMBERS += [2.0**k * (1 - 2**-53) for k in (-1, 0, 1, 10)] + [2.0**k for k in (-3, 0, 4)]


@kernel
def split(x, out):
    i = cuda.grid(1)
    out[0, i], out[1, i] = math.modf(x[i])
    out[2, i], out[3, i] = math.frexp(x[i])
    out[4, i] = math.ldexp(x[i], i - 4)
    out[5, i] = np.ldexp(x[i], 2000 - 4000 * (i % 2))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_of_floats(dtype: Any, target: str) -> None:
    with np.errstate(over="ignore"):
        x = np.array(NUMBERS, dtype)
    out = np.zeros((6, len(x)))
    result = run(split, (1, len(x)), [x, out], target)[1]
    i = np.arange(len(x))
    with np.errstate(all="ignore"):
        rows = [*np.modf(x), *np.frexp(x), np.ldexp(x, i - 4), np.ldexp(x, 2000 - 4000 * (i % 2))]
    rows[3] = np.where(np.isfinite(x), rows[3], 0)
    for row, (a, b) in enumerate(zip(result, rows)):
        np.testing.assert_array_equal(a, b, err_msg=str(row))
    np.testing.assert_array_equal(np.signbit(result[:2]), np.signbit(rows[:2]))


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("math.modf(f)[0]", "float32"),
        ("math.modf(n)[1]", "float64"),
        ("math.frexp(f)[0]", "float32"),
        ("math.frexp(f)[1]", "int64"),
        ("math.ldexp(f, n)", "float32"),
        ("math.ldexp(n, n)", "float64"),
        ("math.prod((f, 2, 0.5))", "float32"),
        ("math.prod((n, 2))", "int64"),
        ("math.dist((f, 1), (2, f))", "float32"),
        ("math.hypot(f)", "float32"),
        ("math.hypot(n)", "float64"),
        ("math.gcd(n)", "int64"),
        ("math.isclose(f, n)", "bool"),
        ("np.isclose(f, n)", "bool"),
        ("np.clip(f, None, 1)", "float32"),
        ("np.clip(n, 0.5, None)", "float64"),
        ("pow(n, 2)", "int64"),
    ],
)
def test_types(call: str, kind: str, tmp_path: Path) -> None:
    """Of a sum with an array of another type nothing is seen: the C declares it."""
    module = module_from(
        "import math\nimport numpy as np\nfrom pycu2c import cuda, kernel\n\n"
        f"@kernel('void(float32, int, float64[:])')\ndef k(f, n, out):\n"
        f"    y = {call}\n    out[0] = y\n    y = y\n    out[1] = y\n",
        tmp_path,
    )
    weak = {"float64": "float", "int64": "int", "bool": "bool"}.get(kind, kind)
    assert f"y: {weak} =" in module.k.inspect("ir")


@kernel
def close(a, b, out):
    i = cuda.grid(1)
    out[0, i] = math.isclose(a[i], b[i])
    out[1, i] = math.isclose(a[i], b[i], rel_tol=0.1, abs_tol=0.2)
    out[2, i] = np.isclose(a[i], b[i])
    out[3, i] = np.isclose(a[i], b[i], atol=0.3, equal_nan=True)


def test_close(target: str) -> None:
    numbers = [0.0, 1e-9, 1.0, 1.05, 1.1, 1 + 1e-9, 1e300, math.inf, -math.inf, math.nan]
    a, b = (np.ravel(axis) for axis in np.meshgrid(numbers, numbers))
    result = run(close, (len(a), 1), [a, b, np.zeros((4, len(a)))], target)[2]
    rows = [
        [math.isclose(x, y) for x, y in zip(a, b)],
        [math.isclose(x, y, rel_tol=0.1, abs_tol=0.2) for x, y in zip(a, b)],
        np.isclose(a, b),
        np.isclose(a, b, atol=0.3, equal_nan=True),
    ]
    np.testing.assert_array_equal(result, np.array(rows))


@device
def checked_root(z):
    if z == 3:
        raise ValueError("three")
    return 1j * z, z > 2


@kernel
def ends_with_a_complex_number(out):
    i = cuda.grid(1)
    z, above = checked_root(i)
    out[i] = z.imag * 2 + above


def test_a_function_of_complex_numbers_ends_the_thread(target: str) -> None:
    (out,) = run(ends_with_a_complex_number, (2, 4), [np.zeros(8)], target)
    assert out.tolist() == [0, 2, 4, 0, 9, 11, 13, 15]


def test_all_have_a_meaning() -> None:
    assert all(written.__doc__ for _, written in LIBRARY)

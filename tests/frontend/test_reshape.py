"""``.reshape`` and ``.ravel``: contiguous arrays under another shape, on every target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, float32, kernel
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.kernels_from_text import module_from
from support.launching import run

N = 8


@device
def weighted(m):
    s = 0.0
    for r in range(m.shape[0]):
        for c in range(m.shape[1]):
            s += m[r, c] * (r + 10 * c)
    return s


@device
def counted(m):
    """Reshapes what it is given, whatever its shape."""
    s = 0.0
    f = m.reshape(-1)
    for k in range(f.size):
        s += f[k] * k
    return s


@device
def met(m, out, i):
    """Is put into its caller on the CPU."""
    f = m.ravel()
    f[i] += 1
    cuda.syncthreads()
    out[i] += f[-1 - i]
    g = f.reshape(2, -1)[1]
    out[i] += g[i % 4]


@kernel
def elements(a, m, out):
    i = cuda.grid(1)
    r = a.reshape(2, -1)
    out[i] = r[1, i % 4] + r[-1][-2] + r[i % 2 - 1, -1 - i % 4] * 10
    out[i] += r.shape[1] * 100 + r.T[i % 4, 0] * 1000 + r.strides[0] + r[:, ::2].strides[1]
    f = m.reshape(-1)
    out[i] += f[i + 3] + len(f) + f[-i - 1]
    q = m[2:].reshape((3, 2, -1))
    out[i] += q[i % 3, 1, -1] + q[1:][0, 1, 2] + q[1].ravel()[i % 3] + q[:, 1, 0][i % 3]
    for row in r:
        out[i] += row[0]
    for row in a.reshape(4, 2):
        out[i] = out[i] * 2 + row[1]
    for j, x in enumerate(m[2:].ravel()):
        out[i] += x * j


@kernel
def arguments(a, m, out):
    i = cuda.grid(1)
    r = a.reshape(a.shape[0] // 4, 4)
    q = m[2:].reshape(3, 2, m.shape[1])
    out[i] = weighted(r) + weighted(m.reshape(4, m.shape[1], 2)[1]) + weighted(q[1:][i % 2])
    out[i] += counted(m[1:]) * 3 + counted(q) + counted(r[1:]) * i + counted(a.ravel()[i:])


@kernel
def local_and_shared(a, m, out):
    i = cuda.grid(1)
    kept = cuda.local.array((2, 4), float32)
    flat = kept.reshape(8)
    for j in range(8):
        flat[j] = j * i
    out[i] = kept[1, 2] + flat[-1]
    s = cuda.shared.array((2, 2, 2), float32)
    s.ravel()[i] = i
    cuda.syncthreads()
    out[i] += s[1, 0, i % 2] * 7 + flat[2] + kept.reshape(4, 2)[i % 4, 1]
    cuda.syncthreads()
    met(s, out, i)
    cuda.syncthreads()
    cuda.atomic.add(s.reshape(4, 2), (i % 4, 0), 1)
    cuda.syncthreads()
    out[i] += s[i // 4, i // 2 % 2, 0]


def given() -> list[Any]:
    m = np.arange(24, dtype=np.float32).reshape(N, 3)
    return [np.arange(N, dtype=np.float32), m, np.zeros(N)]


@pytest.mark.parametrize("k", [elements, arguments], ids=lambda k: k.name)
def test_as_python_does(k: Kernel[Any], target: str) -> None:
    out = run(k, (1, N), given(), target)[-1]
    expected = given()
    scope = {"cuda": None, "weighted": weighted, "counted": counted}
    for i in range(N):
        scope["cuda"] = type("Machine", (), {"grid": lambda _, i=i: i})  # type: ignore[assignment]
        plain = type(k.python)(k.python.__code__, scope)  # type: ignore[arg-type]
        plain(*expected)
    np.testing.assert_array_equal(out, expected[-1])


def test_shared_and_local_arrays(target: str) -> None:
    expected = run(local_and_shared, (1, N), given(), "python")[-1]
    np.testing.assert_array_equal(run(local_and_shared, (1, N), given(), target)[-1], expected)
    i = 3  # by hand
    before = i * 6 + i * 7 + (4 + i % 2) * 7 + i * 2 + i * (i % 4 * 2 + 1)
    met_here = (7 - i + 1) + (4 + i % 4 + 1)
    after = 4 * (i // 4) + 2 * (i // 2 % 2) + 1 + 2
    assert expected[i] == before + met_here + after


@pytest.mark.parametrize("k", [elements, arguments, local_and_shared], ids=lambda k: k.name)
def test_nvrtc_accepts_it(k: Kernel[Any]) -> None:
    text = k.inspect("cuda", "void(float32[::1], float32[:, ::1], float64[::1])")
    assert nvrtc.compile(text, k.name, "sm_80", cache=False).data


def test_nvrtc_accepts_lengths_at_run_time() -> None:
    text = with_lengths.inspect("cuda", "void(float64[::1], int, int32, float64[::1])")
    assert nvrtc.compile(text, "with_lengths", "sm_80", cache=False).data


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("out[i] = m.T.reshape(-1)[i]", "its elements may not be contiguous"),
        ("out[i] = a[::2].reshape(2, 2)[i, 0]", "its elements may not be contiguous"),
        ("out[i] = cuda.local.array(6, float32).reshape(4, 2)[i, 0]", "6 elements do not fill"),
        ("out[i] = cuda.local.array(6, float32).reshape(4, -1)[i, 0]", "do not fill (4, …)"),
        ("out[i] = a.reshape(-1, -1)[i, 0]", "only one length can be -1"),
        ("out[i] = a.reshape(2.5)[i]", "it must be an integer"),
        ("out[i] = a.reshape(2, 4, order='F')[i, 0]", "takes only the shape"),
        ("out[i] = a.reshape()[i]", "needs a shape"),
        ("out[i] = a.ravel(1)[i]", "ravel() takes no arguments"),
        ("out[i] = n.reshape(1)[0]", "has no attribute `reshape`"),
    ],
)
def test_rejected(body: str, text: str, tmp_path: Path) -> None:
    header = "from pycu2c import cuda, float32, kernel\n\n@kernel\ndef k(a, m, n, out):\n"
    module = module_from(header + f"    i = cuda.grid(1)\n    {body}\n", tmp_path)
    with pytest.raises(CompileError) as caught:
        module.k.inspect("c", "void(float32[::1], float32[:, ::1], int, float64[::1])")
    assert text in str(caught.value)


# ---- lengths that are known at run time --------------------------------------------------------


@device
def corner(m, rows, columns):
    r = m.reshape(rows, columns)
    return r[-1, -1] * 100 + r.shape[0] * 10 + r.shape[1]


@kernel
def with_lengths(a, rows, columns, out):
    i = cuda.grid(1)
    out[i] = -1
    out[i] = corner(a, rows, columns)
    if a.reshape(rows, columns, 1).shape[2] == 1:
        out[i] += a.reshape(columns, -1).T.shape[0]


@kernel
def with_one_length(a, n, out):
    i = cuda.grid(1)
    out[i] = -1
    out[i] = a.reshape(n)[-1] + a.reshape(3, n)[1, 0]


@kernel
def with_one_unknown_length(a, n, out):
    i = cuda.grid(1)
    out[i] = -1
    out[i] = a.reshape(-1, n)[0, 1] + a.reshape(-1, 5).shape[0]


NUMBERS = np.arange(10.0, 16.0)


def result(k: Kernel[Any], lengths: tuple[Any, ...], target: str, *, check: bool) -> float:
    out = np.zeros(2)
    kernel(backend=target, check=check)(k.python)[1, 2](NUMBERS, *lengths, out)
    assert out[0] == out[1]
    return float(out[0])


@pytest.mark.parametrize("checked", [False, True], ids=["unchecked", "checked"])
@pytest.mark.parametrize(
    "lengths",
    [(2, 3), (6, 1), (-1, 3), (np.int32(-1), np.uint8(2)), (np.int64(-7), 6)],
    ids=str,
)
def test_lengths_at_run_time(lengths: tuple[Any, ...], checked: bool, target: str) -> None:
    r = NUMBERS.reshape(lengths)
    expected = r[-1, -1] * 100 + r.shape[0] * 10 + r.shape[1] + 6 // r.shape[1]
    assert result(with_lengths, lengths, target, check=checked) == expected


def test_one_length_may_be_unknown(target: str) -> None:
    assert result(with_one_length, (-1,), target, check=True) == 15 + 12


@pytest.mark.parametrize(
    ("k", "lengths"),
    [
        (with_lengths, (2, 4)),
        (with_lengths, (1, 1)),
        (with_lengths, (4, -1)),
        (with_lengths, (-1, -1)),
        (with_lengths, (0, -1)),
        (with_lengths, (-1, 7)),
        (with_lengths, (1000, 1000)),
        (with_one_length, (7,)),
        (with_one_unknown_length, (2,)),
    ],
    ids=str,
)
def test_a_wrong_shape_ends_the_thread(
    k: Kernel[Any], lengths: tuple[int, ...], target: str
) -> None:
    with pytest.raises(ValueError, match=r"cannot reshape|one unknown dimension"):
        result(k, lengths, target, check=True)
    if target != "python":  # it raises NumPy's errors
        assert result(k, lengths, target, check=False) == -1

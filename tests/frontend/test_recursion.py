"""Device functions that call themselves, and those with a signature: on every target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, float32, int32, kernel, uint8
from pycu2c.declarations.signatures import SignatureError, parse_signature
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.kernels_from_text import module_from
from support.launching import run
from support.plain_python import ThreadEndsError, run_in_python

N = 8


@device
def factorial(n: int32) -> int32:
    return np.int32(1) if n <= 1 else n * factorial(n - 1)


@device
def binomial(n: int, k: int):  # what it gives is found out
    if k == 0 or k == n:
        return 1
    left = binomial(n - 1, k - 1)
    return left + binomial(n - 1, k)


@device
def is_even(n: int) -> bool:
    return True if n == 0 else is_odd(n - 1)


@device
def is_odd(n: int) -> bool:
    if n == 0:
        return False
    return is_even(n - 1)


@device
def down_by_one(n: int) -> int:
    """What the next one gives is found out, as are those of the two after it."""
    if n > 0:
        return up_and_down(n - 1) * 3
    return 1


@device
def up_and_down(n: int):
    if n > 0:
        return down_by_one(n - 1)
    return 0


@device
def whole_or_half(n: int):
    found = 1
    if n > 0:
        found = half_or_whole(n - 1)
    return found


@device
def half_or_whole(n: int):
    if n > 0:
        return whole_or_half(n - 1)
    return 0.5


@device
def euclid(a: int, b: int) -> tuple[int, int, int]:
    if b == 0:
        return a, 1, 0
    g, p, q = euclid(b, a % b)
    return g, q, p - a // b * q


@device
def sift(heap: float32[:], at: int) -> None:
    """Shape and stride are passed on; only one of the two calls uses them."""
    child = 2 * at + 1
    if child >= heap.shape[0]:
        return
    if child + 1 < heap.shape[0] and heap[child + 1] > heap[child]:
        child += 1
    if heap[child] > heap[at]:
        heap[at], heap[child] = heap[child], heap[at]
        sift(heap, child)


@device
def quicksort(a: float32[:], low: int, high: int) -> None:
    if low >= high:
        return
    pivot, store = a[high], low
    for k in range(low, high):
        if a[k] < pivot:
            a[k], a[store] = a[store], a[k]
            store += 1
    a[store], a[high] = a[high], a[store]
    quicksort(a, low, store - 1)
    quicksort(a, store + 1, high)


@device
def depth_of(row: float32[:], level: int) -> int:
    """A view of a view, with fewer elements each time."""
    return level if len(row) <= 1 else depth_of(row[: len(row) // 2], level + 1)


@device
def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))


@device
def checked_depth(n: int) -> int:
    if n == 6:
        raise ThreadEndsError
    return 0 if n <= 0 else 1 + checked_depth(n - 2)


@device
def ping(n: int, out: float32[:]) -> None:
    out[n] += 1
    if n > 0:
        pong(n - 1, out)


@device
def pong(n: int, out: float32[:]) -> None:
    out[n] += 10
    if n > 1:
        ping(n - 2, out)


@device
def counted(n: int, at: int, out: float32[:]) -> int:
    """Calls in the operands of one expression, each with an effect."""
    out[at] = out[at] * 2 + n
    return n if n <= 0 else counted(n - 1, at, out) * 10 + counted(n - 2, at, out)


@device
def power(x, n):
    """Its parameters have the types of each call."""
    if n == 0:
        return np.float32(1)
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


@device
def narrowing(x, n):
    """The call of itself has other arguments: first of float32, then of int64."""
    if n == 0:
        return x
    if n == 1:
        return narrowing(x + np.float64(0.5), 0) * 2
    return narrowing(int(x) + 1, n - 1)


@device
def ones(n):
    return n if n < 2 else zeros(n // 2) + n % 2


@device
def zeros(n):
    if n < 2:
        return 0
    return ones(n // 2) + n % 2


@kernel
def untyped(xs, out):
    i = cuda.grid(1)
    out[i] = power(np.float64(2), i) + power(np.uint8(1), np.int32(3)) / 2
    out[i] += narrowing(xs[i], i % 4) * 100 + ones(i) * 2000 + zeros(np.int32(i)) * 4000


@kernel
def numbers(out):
    i = cuda.grid(1)
    out[i] = factorial(i) + 100000 * binomial(i + 2, 2) + ackermann(2, i) * 0.5


@kernel
def together(out):
    i = cuda.grid(1)
    g, p, q = euclid(12 * i + 4, 18)
    out[i] = is_even(i) + is_odd(i) * 2 + g * 10 + p * 100 + q * 1000


@kernel
def found_out(out):
    i = cuda.grid(1)
    out[i] = up_and_down(i) + down_by_one(i) * 10 + half_or_whole(i) * 2000
    out[i] += whole_or_half(i) * 7000


@kernel
def heaps(rows, out):
    i = cuda.grid(1)
    for k in range(rows.shape[1] // 2 - 1, -1, -1):
        sift(rows[i], k)
    out[i] = rows[i, 0]


@kernel
def sorts(columns, out):
    i = cuda.grid(1)
    quicksort(columns[:, i], 0, columns.shape[0] - 1)
    out[i] = depth_of(columns[:, i], 0)


@kernel
def raising(out):
    i = cuda.grid(1)
    out[i] = checked_depth(i)


@kernel
def effects(places, out):
    i = cuda.grid(1)
    ping(i, places[i])
    out[i] = counted(3, i, out) * 1000 + out[i]


@kernel
def local_arrays(out):
    i = cuda.grid(1)
    kept = cuda.local.array(8, float32)
    for k in range(8):
        kept[k] = (k * 5 + i) % 8
    quicksort(kept, 0, 7)
    out[i] = kept[0] + 10 * kept[3] + 100 * kept[7]


def floats(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return (
        np.random.default_rng(3).permutation(int(np.prod(shape))).astype(np.float32).reshape(shape)
    )


CASES: list[tuple[Kernel[Any], list[Any]]] = [
    (numbers, []),
    (untyped, [floats(N)]),
    (together, []),
    (found_out, []),
    (heaps, [floats(N, 11)]),
    (sorts, [floats(9, N)]),
    (raising, []),
    (effects, [np.zeros((N, N), np.float32)]),
    (local_arrays, []),
]


@pytest.mark.parametrize(("k", "arguments"), CASES, ids=lambda v: getattr(v, "name", ""))
def test_as_python_does(k: Kernel[Any], arguments: list[Any], target: str) -> None:
    out = np.zeros(N, np.float32) if k is effects else np.zeros(N)
    expected = run_in_python(k, [*arguments, out], N)
    result = run(k, (2, N // 2), [*arguments, out], target)
    for a, b in zip(result, expected):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("k", "arguments"), CASES, ids=lambda v: getattr(v, "name", ""))
def test_nvrtc_accepts_it(k: Kernel[Any], arguments: list[Any]) -> None:
    out = np.zeros(N, np.float32) if k is effects else np.zeros(N)
    run(k, (1, N), [*arguments, out], "python")
    kinds = {2: "float32[:, ::1]", 1: "float64[::1]"}
    out_kind = "float32[::1]" if k is effects else kinds[1]
    signature = parse_signature(
        f"void({', '.join([*(kinds[a.ndim] for a in arguments), out_kind])})"
    )
    text = k.inspect("cuda", signature)
    assert nvrtc.compile(text, k.name, "sm_80", cache=False).data


# ---- signatures --------------------------------------------------------------------------------


@device("float32(float32, uint8)")
def mixed(x, n):
    return x * n + n // 2


@device(signature="(float64, int32)((float64, int32))")
def halved(pair):
    return pair[0] / 2, pair[1] // 2


@kernel
def signed(out):
    i = cuda.grid(1)
    wide = mixed(0.1, i) + mixed(np.float64(1) / 3, True)
    a, b = halved((i, i + 5))
    out[i] = wide * 1000 + a * 10 + b


def test_a_signature_converts(target: str) -> None:
    (result,) = run(signed, (1, N), [np.zeros(N)], target)
    for i in range(N):
        x, y = float32(0.1), float32(np.float64(1) / 3)
        n = uint8(i)
        wide = (x * n + n // uint8(2)) + (y * uint8(1) + uint8(1) // uint8(2))
        assert result[i] == np.float64(wide * float32(1000)) + i / 2 * 10 + (i + 5) // 2


def test_annotations_of_other_functions_are_not_a_signature(target: str, tmp_path: Path) -> None:
    module = module_from(
        """
        import numpy as np
        from pycu2c import cuda, device, kernel

        @device
        def half(x: int) -> int:
            return x / 2

        @kernel
        def k(out):
            out[cuda.grid(1)] = half(np.float32(3))
        """,
        tmp_path,
    )
    assert run(module.k, (1, 1), [np.zeros(1)], target)[0][0] == 1.5


def rejected(tmp_path: Path, functions: str, call: str) -> CompileError:
    text = "import numpy as np\nfrom pycu2c import cuda, device, float32, kernel\n\n"
    text += functions + "\n\n@kernel\ndef k(a, out):\n    i = cuda.grid(1)\n    " + call + "\n"
    module = module_from(text, tmp_path)
    with pytest.raises(CompileError) as caught:
        run(module.k, (1, 2), [np.zeros(4, np.float32), np.zeros(4)], "cpu")
    return caught.value


@pytest.mark.parametrize(
    ("functions", "call", "code", "text"),
    [
        (
            "@device\ndef f(n, x):\n    return n if n > 9 else f(n + 1, (x, n))",
            "out[i] = f(i, a[i])",
            "recursion",
            "annotate it: def f(n: int, x: float32) -> …",
        ),
        (
            "@device\ndef f(n, x):\n    if n > 9:\n        return n\n    return f(n + 1, (x, n))",
            "out[i] = f(i, a[i])",
            "recursion",
            "annotate it: def f(n: int, x: float32) -> …",
        ),
        (
            "@device\ndef f(n, x):\n    return f(n, x)",
            "out[i] = f(i, a[i])",
            "recursion",
            "annotate its result",
        ),
        (
            "@device\ndef f(n: int):\n    return 1 if n == 0 else f(n - 1)",
            "out[i] = f(i)",
            "recursion",
            "annotate its result",
        ),
        (
            "@device\ndef f(n: int) -> int:\n    return n * 0.5 if n == 0 else f(n - 1)",
            "out[i] = f(i)",
            "argument-type",
            "the signature has `int`",
        ),
        (
            "@device\ndef f(n: int) -> int:\n    return n if n == 0 else f(n - 1)",
            "out[i] = f(a[i])",
            "argument-type",
            "this is `float32`, the signature has `int`",
        ),
        (
            "@device\ndef f(n: int, a: float32[::1]) -> int:\n"
            "    return n if n == 0 else f(n - 1, a)",
            "out[i] = f(i, a[::2])",
            "argument-type",
            "the signature has `float32[::1]`",
        ),
        (
            "@device\ndef f(n: int) -> None:\n    if n:\n        cuda.syncthreads()\n"
            "        f(n - 1)",
            "f(i)",
            "barrier-recursion",
            "use a loop instead of recursion",
        ),
        (
            "@device\ndef f(n: int) -> int:\n    if n > 3:\n        return f(n - 1)\n",
            "out[i] = f(i)",
            "return-type",
            "the function can end without a return",
        ),
        (
            "@device('int32(int32, int32)')\ndef f(n):\n    return n",
            "out[i] = f(i)",
            "signature",
            "the signature has 2 types",
        ),
        (
            "@device\ndef f(n: 'int33') -> int:\n    return n if n == 0 else f(n - 1)",
            "out[i] = f(i)",
            "signature",
            "int33",
        ),
        (
            "@device('void(int32)')\ndef f(n):\n    return n",
            "f(i)",
            "return-type",
            "by the signature the function returns nothing",
        ),
    ],
)
def test_rejected(functions: str, call: str, code: str, text: str, tmp_path: Path) -> None:
    error = rejected(tmp_path, functions, call)
    assert (error.code, text in str(error)) == (code, True), str(error)


def test_a_signature_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SignatureError, match="f: 'int33'"):
        module_from(
            "from pycu2c import device\n\n@device('int33(int32)')\ndef f(n):\n    return n\n",
            tmp_path,
        )


ENDLESS = [
    "@device\ndef f(n: int) -> int:\n    return f(n - 1)",
    "@device\ndef f(n: int) -> int:\n    if f(n - 1) > 2:\n        return 1\n    return 2",
    "@device\ndef f(n: int) -> int:\n    while f(n) > 1:\n        n += 1\n    return n",
    "@device\ndef f(n: int) -> None:\n    for j in range(n):\n        cuda.syncwarp()\n    f(n)",
]


@pytest.mark.parametrize("functions", ENDLESS)
def test_a_function_that_calls_itself_on_every_path(functions: str, tmp_path: Path) -> None:
    error = rejected(tmp_path, functions, "f(i)" if "None" in functions else "out[i] = f(i)")
    assert error.code == "recursion"
    assert "calls itself on every path" in str(error)


ENDING = [
    "@device\ndef f(n: int) -> int:\n    return n if n < 1 or f(n - 1) == 0 else 3",
    "@device\ndef f(n: int) -> int:\n    return 0 if n < 1 else f(n - 1)",
    "@device\ndef f(n: int) -> int:\n    for j in range(n):\n        n = f(n - 1)\n    return n",
    "@device\ndef f(n: int) -> int:\n    while True:\n        if n < 1: break\n"
    "        n = f(n - 1)\n    return n",
    "@device\ndef f(n: int) -> int:\n    if n < 1:\n        return g(n)\n    return g(n) + f(n - 1)"
    "\n\n@device\ndef g(n: int) -> int:\n    return f(n - 1) if n > 0 else n",
    "@device\ndef f(n: int) -> None:\n    if n > 0:\n        f(n - 1)",
]


@pytest.mark.parametrize("functions", ENDING)
def test_a_function_that_returns_on_some_path(functions: str, tmp_path: Path) -> None:
    call = "f(i)" if "None" in functions else "out[i] = f(i)"
    text = f"from pycu2c import cuda, device, kernel\n\n{functions}\n\n"
    text += f"@kernel\ndef k(out):\n    i = cuda.grid(1)\n    {call}\n"
    run(module_from(text, tmp_path).k, (1, 3), [np.zeros(3)], "cpu")

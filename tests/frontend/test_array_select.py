"""Variables that refer to different arrays on different paths, on every target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, float32, kernel
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.construct_kernels import IMPORTS, N, arguments, run_in_python, text_of
from support.kernels_from_text import module_from
from support.language_constructs import Construct, rows_of
from support.launching import run

ROWS = rows_of(
    "Several arrays",
    """
    # an array in one branch, another one in the other
    if i % 2:
        p = a
    else:
        p = WEIGHTS
    out[i] = p[i % 3] + len(p) + p.shape[0] + p.size + p.ndim

    # of three
    if i % 3 == 0:
        p = a[2:]
    elif i % 3 == 1:
        p = a[::2]
    else:
        p = WEIGHTS[::-1]
    out[i] = p[0] + p[-1] + p[i % 3] + len(p)

    # of two, a view and an array
    p = m[i] if i % 2 else m[:, 1]
    out[i] = p[1] + len(p) + row_sum(p)

    # the last of several
    p = m.T
    for k in range(i % 3):
        p = m
        if k:
            p = m[1:]
    out[i] = p[1, 2] * 10 + p.shape[0]

    # a parameter in one branch
    if i % 2:
        a = a[1:]
    out[i] = a[1] + len(a)

    # parameters in a loop, reshaped
    for k in range(i % 3):
        a = WEIGHTS if k else a
        m = m.reshape(8 * 3)
        m = m.reshape(12, 2)
    out[i] = a[i % 3] + m[2, 1] * 10 + m.shape[0]

    # swapped in a loop
    p, q = a, a[3:]
    for k in range(i):
        p, q = q, p
    out[i] = p[1] * 100 + q[1] + len(p) - len(q)

    # three that go round
    p, q, r = a, a[1:], a[2:]
    for k in range(i):
        p, q, r = q, r, p
    out[i] = p[0] + 10 * q[0] + 100 * r[0]

    # a variable that shrinks
    p = m[i] if i % 2 else m[:, 0]
    while len(p) > 2:
        p = p[1:-1] if len(p) % 2 else p[:-1]
    out[i] = p[0] + p[-1]

    # a view of one of several
    p = m if i % 2 else m[2:, :]
    q = p[1:, 1]
    r = p[i % 3]
    out[i] = q[1] + r[2] + p[-1][0] + p.T[1, 2] + p[1:, :2].shape[0] + r.shape[0]

    # a store through one of several
    p, q = (out, m[i]) if i % 2 else (m[i], out)
    (p if i % 2 else q)[i] = 5
    out[i] += 1
    p[i % 3 if i % 2 == 0 else i] += m[i, 0]
    out[i] += m[i, i % 3]

    # passed to a function
    p = m[1] if i % 2 else m[:, 2]
    out[i] = row_sum(p) + total(p[0], p[1])

    # passed to a function that writes
    p = out if i % 2 else m[i]
    put(p, i if i % 2 else 0, 7)
    out[i] += m[i, 0] * 3

    # read by a function inside of the kernel
    p = m[3] if i % 2 else m[:, 2]
    def at(k):
        return p[k] + k
    out[i] = at(1) + at(i % 3)
    p = m[:, 0]
    out[i] += at(2)

    # in a tuple
    pair = (m[:, 1], m) if i % 2 else (m[0], m[2:])
    out[i] = pair[0][1] + pair[1][i % 2, 0]

    # in a tuple that is made in two ways
    if i % 2:
        pair = m[i], 1
    else:
        pair = m[:, 1], 2
    out[i] = pair[0][pair[1]]

    # what a loop runs over
    s = 0.0
    for v in m[:, 2] if i % 2 else m[i]:
        s += v
    for k, (v, w) in enumerate(zip(m[:, 0] if i % 2 else m[2], a)):
        s += k * v + w
    out[i] = s

    # unpacked
    p, q, r = m[i] if i % 2 else m[:3, 1]
    out[i] = p + 10 * q + 100 * r

    # reshaped
    p = m if i % 2 else m[2:]
    q = p.ravel()
    out[i] = q[i] + p.reshape(-1, 2)[1, 1] + len(q)

    # the choice is made once, the index once
    p = m[1] if i % 2 else m[:, 2]
    k = 0
    out[i] = p[(k := k + 1)] + k * 10
    out[i] += (p if (k := k + 1) else m[0])[k]

    # which one is known while compiling
    p = a if SCALE == 3 else m
    out[i] = p[i]
    """,
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_as_python_does(row: Construct, target: str, tmp_path: Path) -> None:
    module = module_from(IMPORTS + text_of(row), tmp_path)
    result = run(module.k, (2, N // 2), arguments(), target)[-1]
    np.testing.assert_allclose(result, run_in_python(row), rtol=1e-6)


# ---- between threads ---------------------------------------------------------------------------


@device
def step(source, target, t):
    target[t] = source[t] + source[(t + 1) % 8] * 0.5


@device("float32(float32[:], int)")
def last(array, by):
    return array[-by]


@kernel
def ping_pong(a, rounds, out):
    """Two tiles in shared memory, and barriers between the rounds."""
    t = cuda.threadIdx.x
    source = cuda.shared.array(8, float32)
    target = cuda.shared.array(8, float32)
    source[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    for _ in range(rounds):
        step(source, target, t)
        source, target = target, source
        cuda.syncthreads()
    out[cuda.grid(1)] = source[t] * 100 + last(target, 2)


@kernel
def own_choice(a, rounds, out):
    """Each thread has its own array, across barriers."""
    t = cuda.threadIdx.x
    tile = cuda.shared.array((2, 8), float32)
    kept = cuda.local.array(8, float32)
    kept[t] = t
    tile[0, t] = a[t]
    tile[1, t] = -a[t]
    mine = kept if t % 4 == 3 else tile[t % 2]
    for k in range(rounds):
        cuda.syncthreads()
        if t == k:
            mine = tile[0]
    cuda.syncthreads()
    mine[t] += 1
    cuda.syncthreads()
    out[cuda.grid(1)] = mine[t]


@pytest.mark.parametrize("k", [ping_pong, own_choice], ids=lambda k: k.name)
@pytest.mark.parametrize("rounds", [0, 1, 4, 5])
def test_between_threads(k: Kernel[Any], rounds: int, target: str) -> None:
    a = np.arange(16, dtype=np.float32)
    inputs = [a, rounds, np.zeros(16)]
    result = run(k, (2, 8), inputs, target)[-1]
    if k is ping_pong:
        source = a.reshape(2, 8).copy()
        target_ = np.zeros_like(source)
        for _ in range(rounds):
            target_ = source + np.roll(source, -1, axis=1) * np.float32(0.5)
            source, target_ = target_, source
        if rounds:
            expected = source * 100 + target_[:, -2:-1]
            np.testing.assert_allclose(result, expected.ravel(), rtol=1e-6)
    else:
        t = np.arange(8)
        values = np.where(t % 4 == 3, t, np.where(t % 2, -a[:8], a[:8]))
        values = np.where(t < rounds, a[:8], values) + 1
        np.testing.assert_allclose(result, np.tile(values, 2), rtol=1e-6)


@pytest.mark.parametrize("k", [ping_pong, own_choice], ids=lambda k: k.name)
def test_nvrtc_accepts_it(k: Kernel[Any]) -> None:
    text = k.inspect("cuda", "void(float32[::1], int, float64[::1])")
    assert nvrtc.compile(text, k.name, "sm_80", cache=False).data


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        ("p = a if i else b", "array-assign", "this is `int32[::1]`"),
        ("p = a if i else m", "array-assign", "and this `float32[::1]`"),
        ("p = a\nif i:\n    p = m\nout[i] = p[0]", "array-assign", "or use two names"),
        ("p = a\nif i:\n    p = 1.5\nout[i] = p", "join", "use two names"),
        ("p = a if i else a[::2]\nout[i] = p", "type-needed", "an array `float32[::1]`"),
        ("p = a if i else a[::2]\nout[i] = p + 1", "type-needed", "index it"),
        ("p = a if i else a[::2]\np[0, 1] = 1", "index-count", "write one for each axis"),
        ("p = m if i else m[::2]\nfor x, y in p.T:\n    out[i] = z", "name", "`z`"),
    ],
)
def test_rejected(body: str, code: str, text: str, tmp_path: Path) -> None:
    header = "from pycu2c import cuda, float32, kernel\n\n@kernel\ndef k(a, b, m, out):\n"
    lines = "\n    ".join(["i = cuda.grid(1)", *body.splitlines()])
    module = module_from(header + f"    {lines}\n", tmp_path)
    with pytest.raises(CompileError) as caught:
        module.k.inspect("c", "void(float32[::1], int32[::1], float32[:, ::1], float64[::1])")
    assert (caught.value.code, text in str(caught.value)) == (code, True), str(caught.value)

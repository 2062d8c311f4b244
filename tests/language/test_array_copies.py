"""``array.copy()`` in kernels: a local array."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import CompileError, cuda, kernel
from support.kernels_from_text import module_from
from support.launching import run

TABLE = np.arange(12, dtype=np.int16).reshape(4, 3)
RECORDS = np.zeros(3, [("x", "f4"), ("n", "i8")])
RECORDS["n"] = 5, 6, 7
REVERSED = np.array([1, 2, 3])[::-1]


@kernel
def copies(out):
    i = cuda.grid(1)
    table = TABLE[1:, ::2].copy()
    table[0, 0] += i
    again = table.T.copy()
    table[0, 0] = 100
    records = RECORDS.copy()
    records[1].n -= i
    out[i] = again[0, 0] + 10 * again[1, 2] + 1000 * records[1].n + REVERSED.copy()[0]


def test_copies(target: str) -> None:
    (result,) = run(copies, (2, 2), [np.zeros(4)], target)
    assert result.tolist() == [3 + i + 110 + 1000 * (6 - i) + 3 for i in range(4)]


@pytest.mark.parametrize("text", ["a.copy()", "a[:2, :n].copy()"])
def test_the_shape_is_known(text: str, tmp_path) -> None:
    head = "from pycu2c import kernel\n\n@kernel\ndef k(a, n, out):\n"
    made = module_from(f"{head}    b = {text}\n    out[0] = b[0, 0]\n", tmp_path).k
    with pytest.raises(CompileError, match="is not known at compile time"):
        made.inspect("c", "void(float32[:, ::1], int64, float32[::1])")

"""Shapes of shared and local arrays: constants and ranges."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pycu2c import CompileError
from support.kernels_from_text import module_from
from support.launching import run

HEAD = "from pycu2c import cuda, float32, kernel\n\n@kernel\ndef k(a, n, out):\n"
BODY = """    TILE = 4
    HALO = 1
    tile = cuda.shared.array((TILE + 2 * HALO, TILE // 2), float32)
    kept = cuda.local.array(-(-TILE // 3), float32)
    t = cuda.threadIdx.x
    kept[1] = t
    tile[t + HALO, 1] = a[t]
    cuda.syncthreads()
    out[t] = tile[(t + 1) % TILE + HALO, 1] + TILE * kept[1] + tile.shape[0] * 100 + kept.size
"""


def test_variables_that_are_given_one_number(target: str, tmp_path: Path) -> None:
    a = np.arange(4, dtype=np.float32)
    result = run(module_from(HEAD + BODY, tmp_path).k, (1, 4), [a, 3, np.zeros(4)], target)[2]
    assert result.tolist() == [(i + 1) % 4 + 4 * i + 602 for i in range(4)]


@pytest.mark.parametrize(
    "body",
    [
        "t = 4\n    if n:\n        t = 8\n    s = cuda.shared.array(t, float32)",
        "t = n\n    s = cuda.shared.array(t, float32)",
        "for t in range(2, 4):\n        s = cuda.local.array(t, float32)\n        s[0] = 1.0",
        "t = 4\n    t += 1\n    s = cuda.shared.array(t, float32)",
    ],
)
def test_variables_that_may_have_several(body: str, tmp_path: Path) -> None:
    text = f"{HEAD}    {body}\n    s[0] = 1.0\n    out[0] = s[0]\n"
    with pytest.raises(CompileError) as caught:
        module_from(text, tmp_path).k.inspect("c", "void(float32[:], int, float64[:])")
    assert caught.value.diagnostics[0].code == "shape"

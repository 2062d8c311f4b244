"""Live ranges of one Python name: where CUDA C declares them."""

from __future__ import annotations

import textwrap

from pycu2c import float32, int32, kernel


@kernel((float32[::1], float32[::1], int32))
def assign(a, b, n):
    for j in range(n):
        y = a[j] * 2
        b[j] = y
    for j in range(n):
        y = a[j] * 3
        b[j] += y
    x = a[0]
    b[0] += x
    x = a[1]
    if n > 1:
        y = a[2]
        x = y
        b[1] = x
    y = x
    b[2] = y


def test_each_block_declares_its_variables() -> None:
    expected = """\
        for (int j = 0; j < n; ++j) {
            float y = a[j] * 2.0f;
            b[j] = y;
        }
        for (int j = 0; j < n; ++j) {
            float y = a[j] * 3.0f;
            b[j] += y;
        }
        float x = a[0];
        b[0] += x;
        x = a[1];
        if (n > 1) {
            float y = a[2];
            x = y;
            b[1] = x;
        }
        float y = x;
        b[2] = y;
    }
    """
    assert assign.inspect("cuda").endswith(textwrap.dedent(expected))

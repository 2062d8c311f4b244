"""If a compiler rejects generated code, the error names the line of Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.toolchain.toolchain_errors import RejectedCodeError


def branches(a, n):
    i = cuda.grid(1)
    if i >= n:
        return
    x = a[i]
    for k in range(n):
        if x > 7:
            x -= 111
            continue
        if x > 6:
            x += 222
        elif x > 5:
            while x < 5:
                x *= 333
        else:
            x = 444 * x
            a[k] = 555 + x
    a[i] = 666 * x


LINES = Path(__file__).read_text().splitlines()


@pytest.mark.parametrize("number", [111, 222, 333, 444, 555, 666])
def test_the_line_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Each number stands in one line of the kernel; a compiler refuses the C made of it."""
    spoiled = tmp_path / "spoiled"
    spoiled.write_text(
        "#!/bin/sh\n"
        '[ "$1" = --version ] && exec gcc "$@"\n'
        f"sed 's/{number}/missing/' | gcc \"$@\"\n"
    )
    spoiled.chmod(0o700)
    monkeypatch.setenv("PYCU2C_CC", str(spoiled))
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    rejected = kernel(backend="cpu")(branches)
    with pytest.raises(RejectedCodeError) as caught:
        rejected[1, 8](np.zeros(8, np.int64), 8)
    (row,) = (n for n, line in enumerate(LINES, 1) if f" {number}" in line and "x" in line)
    last = str(caught.value).splitlines()[-1].strip()
    assert last.startswith(f"generated from {__file__}:{row}:")
    assert last.endswith(f": {LINES[row - 1].strip()}")
    assert "missing" in str(caught.value)

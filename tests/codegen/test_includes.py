"""Generated C includes the headers and links the libraries that it needs, and no others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pycu2c.codegen.includes import headers_of
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.cc.discovery import find_compiler


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("double f(double x) { return x; }", ()),
        ("int64_t n = INT32_MAX;", ("stdint.h",)),
        ("float y = sqrtf(x);  // of an int64_t", ("math.h",)),
        ("double y = NAN;", ("math.h",)),
        ("bool b = true;", ("stdbool.h",)),
        ("void *p = NULL; memcpy(a, b, 4); uint8_t c;", ("stddef.h", "stdint.h", "string.h")),
    ],
)
def test_headers(text: str, headers: tuple[str, ...]) -> None:
    assert headers_of(text) == headers


WIDE = "__int128 f(__int128 a, __int128 b) { return a / b; }\n"
ROOT = "#include <math.h>\n#include <stdint.h>\ndouble f(int64_t x) { return cbrt((double)x); }\n"
OF_ALL = "#include <stdlib.h>\nvoid *f(void) { return malloc(1); }\n"


@pytest.mark.parametrize(("text", "needs"), [(WIDE, set()), (ROOT, {"libm.so.6"})])
def test_linked_with(text: str, needs: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What gcc has functions of its own for, such as wide numbers, is put into the library."""
    path = _compiled_by_gcc(text, monkeypatch)
    assert _needed(path) == needs
    words = ("nm", "-D", "--undefined-only", path)
    missing = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "__divti3" not in missing


def test_linked_with_all_of_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not generated."""
    assert "libc.so.6" in _needed(_compiled_by_gcc(OF_ALL, monkeypatch))


def _compiled_by_gcc(text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYCU2C_CC", "gcc")
    assert "clang" not in find_compiler().version.lower()
    path = cc.compile(text, "f").path
    assert path is not None
    return Path(path)


def _needed(library: Path) -> set[str]:
    words = ("objdump", "-p", library)
    raised = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return {line.split()[1] for line in raised.splitlines() if line.split()[:1] == ["NEEDED"]}

"""The generated files of a library, as they are in golden/libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.paths import ROOT

GOLDEN = ROOT / "golden/libraries/finance"
NAMES = (
    "CMakeLists.txt",
    "include/finance.h",
    "include/finance.hpp",
    "pyproject.toml",
    "python/finance/__init__.py",
    "src/finance.c",
    "src/finance_avx512.c",
    "src/finance.cu",
    "src/finance_launch.c",
)


@pytest.mark.golden
@pytest.mark.parametrize("name", NAMES)
def test_generated_files(library: Path, name: str, request: pytest.FixtureRequest) -> None:
    path, text = GOLDEN / name, (library / name).read_text()
    old = path.read_text() if path.exists() else None
    if request.config.getoption("--update-golden") and old != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        pytest.fail(f"{path.relative_to(ROOT)} is rewritten: read the difference")
    assert old == text

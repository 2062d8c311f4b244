"""Random wrong programs compile or raise a CompileError; nothing else happens."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from pycu2c import CompileError, CompileWarning
from pycu2c.base.diagnostics import Diagnostic, render
from support.kernels_from_text import module_from
from support.random_wrong_programs import programs


def mistakes(text: str, folder: Path) -> tuple[Diagnostic, ...]:
    """What a program is refused for; else its kernel has text for both targets."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompileWarning)
            warnings.simplefilter("ignore", SyntaxWarning)
            k = module_from(text, folder).k
        assert all("k(" in k.inspect(target) for target in ("c", "cuda"))
    except CompileError as error:
        return error.diagnostics
    return ()


@pytest.mark.parametrize("seed", range(12))
def test_each_mistake_has_a_location_and_a_hint(seed: int, tmp_path: Path) -> None:
    rejected = 0
    for text in programs(seed, 25):
        result = mistakes(text, tmp_path)
        rejected += bool(result)
        for diagnostic in result:
            assert diagnostic.labels, text
            assert diagnostic.labels[0].text, text
            assert diagnostic.hint, text
            assert " object at 0x" not in render(diagnostic)
    assert 5 < rejected < 25

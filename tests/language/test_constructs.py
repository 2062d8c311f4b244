"""Each construct of ``docs/guide/language.md``, on every target, compared with plain Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.construct_kernels import IMPORTS, N, arguments, run_in_python, text_of
from support.kernels_from_text import module_from
from support.language_constructs import CONSTRUCTS, Construct
from support.launching import run


@pytest.mark.parametrize("row", CONSTRUCTS, ids=lambda row: row.title)
def test_construct(row: Construct, target: str, tmp_path: Path) -> None:
    module = module_from(IMPORTS + text_of(row), tmp_path)
    result = run(module.k, (2, N // 2), arguments(), target)[-1]
    np.testing.assert_allclose(result, run_in_python(row), rtol=1e-6)


def test_the_collection_is_not_empty() -> None:
    titles = [row.title for row in CONSTRUCTS]
    assert len(titles) == len(set(titles))
    assert len(titles) >= 75

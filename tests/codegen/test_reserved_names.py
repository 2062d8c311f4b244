"""Names that C, CUDA and the helpers of generated text have taken."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycu2c.base.dtypes import DTYPES
from pycu2c.codegen.helpers.catalog import HELPERS
from pycu2c.codegen.reserved_names import _PATTERN, is_reserved


@given(st.from_regex(re.compile(_PATTERN.pattern, re.ASCII), fullmatch=True))
def test_every_name_of_a_pattern(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("helper", HELPERS)
def test_helpers(helper: str) -> None:
    assert all(is_reserved(f"{helper}_{dtype.short}") for dtype in DTYPES)
    if HELPERS[helper].fixed:
        assert is_reserved(helper)


@pytest.mark.parametrize(
    "name", ["double", "main", "char16_t", "intptr_t", "float4", "make_float4", "sqrt", "malloc"]
)
def test_words(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize(
    "name", ["out", "x", "block_size", "floordiv_of_mine", "_i32", "i32", "M", "é"]
)
def test_names_of_users(name: str) -> None:
    assert not is_reserved(name)

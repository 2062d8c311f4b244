"""What notebooks show of errors and findings."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from pycu2c import CheckError, CompileError, cuda, kernel


class _Balance(HTMLParser):
    """Checks that each element is closed where it must be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown(value: object) -> str:
    """Return the text of the HTML of a value, with one space between cells."""
    html = value._repr_html_()  # type: ignore[attr-defined]
    parser = _Balance()
    parser.feed(html)
    assert not parser.open
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_messages() -> None:
    with pytest.raises(CompileError) as caught:

        @kernel
        def k(a):
            a[0] = {1 < 2}

    html = caught.value._repr_html_()
    assert "&lt;" in html
    assert html.count("<span") >= 4
    assert shown(caught.value) == " ".join(str(caught.value).split())


def test_findings() -> None:
    @kernel(check=True, backend="cpu")
    def k(a):
        a[cuda.grid(1)] = 1

    with pytest.raises(CheckError) as caught:
        k[1, 32](np.zeros(4, np.float32))
    assert shown(caught.value) == " ".join(str(caught.value).split())
    assert "font-weight: bold" in caught.value.findings[0]._repr_html_()

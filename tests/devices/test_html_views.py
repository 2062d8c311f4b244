"""Tables that notebooks show of arrays, streams, events, devices, resources and messages."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from pycu2c import CheckError, CompileError, cuda, kernel
from pycu2c.base.output.html_tables import grid, properties
from pycu2c.devices.cpu_device import CPU
from pycu2c.toolchain.nvrtc.occupancy import occupancy
from pycu2c.toolchain.nvrtc.resource_usage import KernelAttributes


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


@pytest.mark.parametrize(
    ("shape", "values"),
    [
        ((), "0.0"),
        ((3,), "0.0 1.0 2.0"),
        ((6,), "0.0 1.0 2.0 3.0 4.0 5.0"),
        ((7,), "0.0 1.0 2.0 … 4.0 5.0 6.0"),
        ((2, 2), "0.0 1.0 2.0 3.0"),
        ((7, 1), "0.0 1.0 2.0 … 4.0 5.0 6.0"),
        ((2, 7), "0.0 1.0 2.0 … 4.0 5.0 6.0 7.0 8.0 9.0 … 11.0 12.0 13.0"),
    ],
)
def test_values_of_an_array(shape: tuple[int, ...], values: str) -> None:
    array = cuda.to_device(np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape))
    text = shown(array)
    assert f"shape {shape} dtype float32" in text
    assert text.endswith(f" values {values}")


def test_first_matrix_of_an_array_with_more_axes() -> None:
    text = shown(cuda.to_device(np.arange(8).reshape(2, 1, 2, 2)))
    assert text.endswith("values of [0, 0, …] 0 1 2 3")


@pytest.mark.parametrize(
    ("array", "layout"),
    [
        (np.zeros((4, 4)), "C-contiguous"),
        (np.asfortranarray(np.zeros((4, 4))), "F-contiguous"),
        (np.zeros((2, 0)), "C-contiguous"),
    ],
)
def test_layout(array: np.ndarray, layout: str) -> None:
    assert f"layout {layout} bytes {array.nbytes}" in shown(cuda.to_device(array))


def test_layout_and_values_of_views_and_records() -> None:
    view = cuda.to_device(np.arange(16.0).reshape(4, 4))[::2, ::3]
    assert "strides of (64, 24) bytes" in shown(view)
    assert shown(view).endswith("0.0 3.0 8.0 11.0")
    records = np.zeros(8, [("<b>", np.int32), ("x", np.float32)])
    assert shown(cuda.to_device(records)).endswith("(0, 0.0) … (0, 0.0) (0, 0.0) (0, 0.0)")


def test_events_streams_and_devices() -> None:
    event = cuda.event()
    assert shown(event) == "Event timing True state not recorded"
    event.record()
    event.synchronize()
    assert "state completed recorded" in shown(event)
    assert shown(cuda.default_stream()).endswith("kind blocking work completed")
    assert "compute capability 9.0" in shown(CPU)
    assert "GiB used" in shown(cuda.get_current_device())


def test_nothing_is_copied_or_waited_for_during_graph_capture() -> None:
    array, event = cuda.to_device(np.zeros(4)), cuda.event()
    event.record()
    with cuda.graph() as graph:
        array[...] = 1
        assert shown(array).endswith("values not copied during graph capture")
        assert "state graph capture" in shown(event)
        assert shown(cuda.default_stream()).endswith("work graph capture")
    graph()
    assert shown(array).endswith("1.0 1.0 1.0 1.0")


def test_resources() -> None:
    attributes = KernelAttributes("sm_90", 32, 1024, 0, 0, 0, 1024)
    assert shown(attributes).startswith("KernelAttributes arch sm_90 registers 32 shared bytes")
    assert "limited by" in shown(occupancy(attributes, 256))


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


def test_text_is_escaped() -> None:
    assert "<b>" not in properties("<b>", {"<b>": "<b>"}) + grid([["<b>"]])

"""The page of ``pycu2c annotate`` in a browser, from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pycu2c.annotate.annotation import Request, annotate
from pycu2c.annotate.page import page
from pycu2c.declarations.signatures import parse_signature
from support.golden_kernels import kernel_of, module_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PYTHON, GENERATED, INSTRUCTIONS = (f"section:nth-of-type({n})" for n in (1, 2, 3))


@pytest.fixture(scope="module")
def matmul_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    kernel = kernel_of("matmul_tiled")
    signature = parse_signature(module_of("matmul_tiled").SIGNATURES["f32"])
    file = tmp_path_factory.mktemp("annotated") / "matmul_tiled.html"
    file.write_text(page(annotate(kernel, Request(signature, kernel.block, "sm_90"))))
    return file


@pytest.fixture
def tab(browser: Browser, matmul_page: Path) -> Page:
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda message: errors.append(message.text))
    tab.on(
        "request",
        lambda request: errors.append(request.url) if ".html" not in request.url else None,
    )
    tab.goto(matmul_page.as_uri())
    yield tab
    assert errors == []
    tab.close()


def lit(tab: Page, section: str) -> list[str]:
    return [
        text.strip() for text in tab.locator(f"{section} .lit > span:last-child").all_inner_texts()
    ]


def test_pointing_at_python_lights_up_generated_lines(tab: Page, screenshots: Path) -> None:
    tab.hover(f'{PYTHON} .line:has-text("total += tile_a")')
    tab.screenshot(path=screenshots / "annotated_matmul.png")
    assert lit(tab, PYTHON) == ["total += tile_a[ty, k] * tile_b[k, tx]"]
    assert lit(tab, f'{GENERATED} [data-name="CUDA C"]') == [
        "total += tile_a[ty][k] * tile_b[k][tx];"
    ]
    instructions = lit(tab, f'{INSTRUCTIONS} [data-name="SASS"]')
    assert sum("FFMA" in text for text in instructions) == 16
    visible = tab.locator(f"{INSTRUCTIONS} .lit").first.bounding_box()
    assert visible is not None
    assert 0 < visible["y"] < 900, "the listing scrolls to the lines"


def test_pointing_at_an_instruction_lights_up_python(tab: Page) -> None:
    tab.click(f'{INSTRUCTIONS} button:has-text("PTX")')
    tab.hover(f'{INSTRUCTIONS} [data-name="PTX"] .line:has-text("fma.rn.f32") >> nth=0')
    assert lit(tab, PYTHON) == ["total += tile_a[ty, k] * tile_b[k, tx]"]
    assert lit(tab, f'{GENERATED} [data-name="CUDA C"]') == [
        "total += tile_a[ty][k] * tile_b[k][tx];"
    ]


def test_another_line_lights_up_after_the_first(tab: Page) -> None:
    tab.hover(f'{PYTHON} .line:has-text("total += tile_a")')
    tab.hover(f'{GENERATED} .line:has-text("= a[row * inner")')
    assert lit(tab, PYTHON) == ["tile_a[ty, tx] = a[row, start + tx]"]


def test_costs_color_the_lines_of_python(tab: Page) -> None:
    tab.select_option("#metric", "shared memory")
    counts = tab.locator(f"{PYTHON} .line .count").all_inner_texts()
    numbers = [int(text or 0) for text in counts]
    hottest = tab.locator(f"{PYTHON} .line").nth(numbers.index(max(numbers)))
    assert "total += tile_a" in hottest.inner_text()
    assert max(numbers) >= 16


def test_small_screens(browser: Browser, matmul_page: Path, screenshots: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    tab = context.new_page()
    tab.goto(matmul_page.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    tab.screenshot(path=screenshots / "annotated_matmul_390.png")
    context.close()

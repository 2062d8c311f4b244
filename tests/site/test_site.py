"""The site in a browser: links, search, pictures, small and wide screens, light and dark."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = (
    "index.html",
    "get_started/install.html",
    "get_started/first_kernels.html",
    "coming_from/numba.html",
    "coming_from/warp.html",
    "guide/launching.html",
    "guide/language.html",
    "guide/finding_mistakes.html",
    "guide/shipping.html",
    "gallery/index.html",
    "gallery/heat.html",
    "reference/api/kernels.html",
    "reference/api/arrays.html",
    "reference/intrinsics/warps.html",
    "reference/intrinsics/math.html",
    "reference/command_line.html",
    "reference/environment.html",
    "reference/errors.html",
    "how_it_works/architecture.html",
    "how_it_works/cpu.html",
    "benchmarks/index.html",
    "release_notes.html",
    "glossary.html",
)


class _Links(HTMLParser):
    """The links of a page, and the anchors that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := values.get(name))}
        target = values.get("href") if tag in ("a", "link") else values.get("src")
        if target and not urlsplit(target).scheme:
            self.links.append(target)


def test_links_and_anchors(site: Path) -> None:
    files = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    pages = {path: _Links(path.read_text()) for path in files}
    assert len(pages) > 80
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            known = pages.get(target)
            if not target.exists() or (
                parts.fragment and known and unquote(parts.fragment) not in known.anchors
            ):
                broken.append((str(path.relative_to(site)), link))
    assert broken == []


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("shared memory", "guide/"),
        ("shfl_down_sync", "reference/intrinsics/warps"),
        ("to_device", "reference/api/arrays"),
        ("PYCU2C_THREADS", "reference/environment"),
        ("index-type", "reference/errors"),
    ],
)
def test_search(browser: Browser, address: str, query: str, page: str) -> None:
    tab = browser.new_page()
    tab.goto(f"{address}/search.html?q={query.replace(' ', '+')}")
    tab.wait_for_selector("#search-results ul.search li a", timeout=30_000)
    tab.wait_for_selector(f'#search-results li a[href*="{page}"]', timeout=30_000)
    tab.close()


def test_gallery_has_pictures(browser: Browser, address: str, screenshots: Path) -> None:
    tab = browser.new_page(viewport={"width": 1440, "height": 1180})
    tab.goto(f"{address}/gallery/index.html")
    tab.wait_for_load_state("networkidle")
    widths = tab.eval_on_selector_all(
        ".sphx-glr-thumbcontainer img",
        "images => images.map(i => (i.loading = 'eager', i.naturalWidth))",
    )
    assert len(widths) >= 16
    assert min(widths) >= 160
    tab.screenshot(path=screenshots / "gallery.png")
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_pages_are_readable(
    browser: Browser, address: str, screenshots: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    tab = context.new_page()
    errors = _errors(tab)
    for name in PAGES:
        tab.goto(f"{address}/{name}")
        tab.wait_for_load_state("networkidle")
        assert tab.evaluate("document.documentElement.scrollWidth") == width, name
        assert tab.evaluate("document.documentElement.dataset.theme") == scheme, name
        tab.screenshot(
            path=screenshots
            / f"{name.removesuffix('.html').replace('/', '_')}_{width}_{scheme}.png"
        )
    assert errors == []
    context.close()


def _errors(tab: Page) -> list[str]:
    """Return a list that collects what goes wrong in a tab."""
    found: list[str] = []
    tab.on("pageerror", lambda error: found.append(f"{tab.url}: {error}"))
    tab.on("requestfailed", lambda request: found.append(f"{tab.url}: {request.url}"))
    tab.on(
        "console",
        lambda message: (
            found.append(f"{tab.url}: {message.text}") if message.type == "error" else None
        ),
    )
    return found

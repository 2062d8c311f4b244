"""The built site, a server for it, and a browser. ``make test-site`` builds it first."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SITE = Path(__file__).parents[2] / "build" / "site"
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").exists():
        assert "CI" not in os.environ
        pytest.skip("make site builds the site")
    return SITE


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The address of a server of the site."""
    handler = functools.partial(_QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api") if "CI" not in os.environ else None
    if api is None:
        from playwright import sync_api as api
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        assert "CI" not in os.environ
        pytest.skip("there is no Chromium")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def screenshots() -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS

"""The page of a kernel: listings, origins of lines, types, costs and notes."""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from pycu2c import CompileWarning, cuda, device, kernel
from pycu2c.annotate import annotation as annotations
from pycu2c.annotate.annotation import Annotation, Request, annotate
from pycu2c.annotate.listings import Listing
from pycu2c.annotate.page import page
from pycu2c.cli.main import main
from pycu2c.declarations.signatures import parse_signature
from pycu2c.toolchain.nvrtc import disassembly
from pycu2c.toolchain.toolchain_errors import ToolchainError
from support.golden_kernels import CASES, GOLDEN, kernel_of, module_of

MATMUL = "matmul_tiled"


def annotation_of(name: str, variant: str) -> Annotation:
    own = kernel_of(name)
    signature = parse_signature(module_of(name).SIGNATURES[variant])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        return annotate(own, Request(signature, own.block, "sm_90"))


@pytest.fixture(scope="module")
def matmul() -> Annotation:
    return annotation_of(MATMUL, "f32")


def with_text(listing: Listing, text: str) -> list[int]:
    """Return the lines of Python that lines with a text belong to."""
    return [line.origin[1] for line in listing.lines if text in line.text and line.origin]


def line_of(text: str) -> int:
    source = (GOLDEN / MATMUL / "kernel.py").read_text().splitlines()
    (number,) = (k for k, line in enumerate(source, 1) if text in line)
    return number


def test_lines_of_all_languages_lead_to_python(matmul: Annotation) -> None:
    product, load = line_of("total += tile_a"), line_of("= a[row, start + tx]")
    cuda_c, c = matmul.generated
    assert with_text(cuda_c, "total += tile_a") == [product]
    assert with_text(cuda_c, "= a[row * inner") == [load]
    assert set(with_text(c, "total[t] +=") or with_text(c, "tile_b[k]")) == {product}
    sass, ptx, cpu = matmul.instructions
    assert set(with_text(ptx, "fma.rn.f32")) == {product}
    assert product in {line.origin[1] for line in cpu.lines if line.origin}
    if sass.missing:
        assert "nvdisasm" in sass.missing
        assert "CI" not in os.environ
    else:
        assert set(with_text(sass, "FFMA")) == {product}
        assert load in with_text(sass, "LDG")
        assert matmul.costs[str(GOLDEN / MATMUL / "kernel.py"), product]["shared memory"] > 10


def test_names_have_their_types(matmul: Annotation) -> None:
    ((_, types),) = matmul.types.items()
    assert list(types["total"]) == ["float32"]
    assert list(types["a"]) == ["float32[:, ::1]"]
    assert 'title="total: float32"' in page(matmul)


def test_costs_count_each_instruction_once(matmul: Annotation) -> None:
    sass = matmul.instructions[0]
    if sass.missing:
        pytest.skip("there is no nvdisasm")
    located = [line for line in sass.lines if line.origin and re.match(r"[0-9a-f]{4} ", line.text)]
    without_padding = [line for line in located if "NOP" not in line.text]
    assert sum(c["instructions"] for c in matmul.costs.values()) == len(without_padding) > 50


class _Text(HTMLParser):
    """The text of the lines of a page, without line numbers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.shown: list[str] = []
        self.is_line = self.is_number = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("class") or ""
        if kind == "line":
            self.shown.append("")
            self.is_line = True
        self.is_number = kind in ("gutter", "count")

    def handle_endtag(self, tag: str) -> None:
        self.is_number = False
        self.is_line &= tag != "div"

    def handle_data(self, data: str) -> None:
        if self.is_line and not self.is_number:
            self.shown[-1] += data


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_golden_kernels(name: str, variant: str) -> None:
    """All lines are shown unchanged, and what is generated leads to lines that are shown."""
    result = annotation_of(name, variant)
    text = page(result)
    assert "http://www.w3.org" not in text
    assert not re.search(r"(src|href)=.(?!data:)", text)
    assert str(GOLDEN) not in text, "a page names no folder of the machine"
    listings = (result.python, *result.generated, *result.instructions)
    lines = [line.text.expandtabs(4) for listing in listings for line in listing.lines]
    assert _Text(text).shown == lines
    python = {line.origin for line in result.python.lines}
    for listing in result.generated:
        origins = {line.origin for line in listing.lines if line.origin}
        assert len(origins) >= 2, listing.name
        own = {origin for origin in origins if Path(origin[0]) == GOLDEN / name / "kernel.py"}
        assert own
        assert own <= python
        assert all(Path(origin[0]).exists() for origin in origins)


@device
def halved(value):
    return value / 2


@kernel(block=64)
def halves(out, values):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = halved(values[i])


def test_device_functions_are_shown() -> None:
    values = np.arange(64, dtype=np.float64)
    halves(np.zeros(64), values)
    signature = parse_signature("float64[::1], float64[::1]")
    result = annotate(halves, Request(signature, halves.block, "sm_90"))
    shown = "\n".join(line.text for line in result.python.lines)
    assert shown.index("def halves") < shown.index("def halved")
    assert "@device" in shown
    assert any(note.kind == "float64" for note in result.notes)
    assert '<div class="note">▸ float64' in page(result)


def test_notebooks_show_the_page() -> None:
    @kernel(block=32)
    def unused(out):
        out[cuda.grid(1)] = 1

    assert unused._repr_html_() is None, "a kernel without types has no page"
    unused[1, 32](np.zeros(32, np.float32))
    shown = unused._repr_html_()
    assert shown is not None
    inner = unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    assert "out[cuda.grid(1)] = 1" in re.sub(r"<[^>]*>", "", inner)


def test_a_listing_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(cubin: bytes) -> None:
        raise ToolchainError("nvdisasm <was> not found")

    monkeypatch.setattr(disassembly, "instructions", missing)
    result = annotation_of(MATMUL, "f32")
    assert result.costs == {}
    assert '<p class="missing">nvdisasm &lt;was&gt; not found</p>' in page(result)


def test_command(tmp_path: Path) -> None:
    file = tmp_path / "matmul_kernels.py"
    shutil.copy(GOLDEN / MATMUL / "kernel.py", file)
    output = tmp_path / "page.html"
    types = "float32[:, ::1], float32[:, ::1], float32[:, ::1]"
    arguments = ["annotate", str(file), "--signature", types, "-o", str(output)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert output.read_text().startswith("<!DOCTYPE html>")
    costs = re.findall(r'data-costs="([^"]*)"', output.read_text())
    assert all(json.loads(unescape(c))["instructions"] > 0 for c in costs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.py"], "absent.py"),
        (["matmul_kernels.py:absent", "--signature", "float32[:]"], "absent"),
        (["matmul_kernels.py"], "pass --signature"),
        (["matmul_kernels.py", "--signature", "float32[:,:]"], "3"),
        (["matmul_kernels.py", "--signature", "float99"], "float99"),
        (["matmul_kernels.py", "--signature", "SIGNATURE", "--block", "x"], "--block"),
        (["matmul_kernels.py", "--signature", "SIGNATURE", "--arch", "sm_1"], "sm_1"),
        (["matmul_kernels.py", "--signature", "SIGNATURE", "-o", "absent/page.html"], "absent"),
    ],
)
def test_wrong_arguments(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(GOLDEN / MATMUL / "kernel.py", tmp_path / "matmul_kernels.py")
    monkeypatch.chdir(tmp_path)
    types = "float32[:, ::1], float32[:, ::1], float32[:, ::1]"
    done = CliRunner().invoke(
        main, ["annotate", *(types if a == "SIGNATURE" else a for a in arguments)]
    )
    assert done.exit_code != 0
    assert message in done.output
    assert "Traceback" not in done.output
    assert isinstance(done.exception, SystemExit)


def test_default_architecture_is_documented() -> None:
    assert annotations.DEFAULT_ARCH in CliRunner().invoke(main, ["annotate", "--help"]).output

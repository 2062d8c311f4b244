"""Draw the report of a race, as a terminal shows it, for ``finding_mistakes.md``.

The report is the one on that page, which ``tests/cli/test_check.py`` compares with that of the
program before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

PAGE = Path(__file__).parents[1] / "guide" / "finding_mistakes.md"
CHARACTER, LINE, MARGIN = 8.4, 20, 20  # in pixels, of a font of 14 pixels
TEXT, DIM, RED, BLUE, GREEN = "#d4d4d4", "#858585", "#f47067", "#6cb6ff", "#8ddb8c"
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
     aria-label="Report of a data race">
  <rect width="{width}" height="{height}" rx="8" fill="#1e1e1e"/>
  <g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14"
     style="white-space: pre" xml:space="preserve" fill="{color}">
{lines}
  </g>
</svg>
"""


def picture() -> str:
    """Return the report as SVG."""
    section = PAGE.read_text().partition("### Races in shared memory\n")[2]
    report = section.partition("```text\n")[2].partition("\n```")[0]
    command = [("$ ", DIM), ("pycu2c check script.py", TEXT)]
    lines = [command, *(list(_parts(line)) for line in report.split("\n"))]
    width = max(sum(len(text) for text, _ in line) for line in lines) * CHARACTER + 2 * MARGIN
    texts = "\n".join(_text(line, MARGIN + LINE * n) for n, line in enumerate(lines, 1))
    height = LINE * len(lines) + 2 * MARGIN
    return SVG.format(width=round(width), height=height, color=TEXT, lines=texts)


def _parts(line: str) -> Iterator[tuple[str, str]]:
    """Yield pieces of a line with their colors."""
    patterns = {
        r"([a-z-]+: )(thread .*)": (RED, TEXT),
        r"( *--> )(.*)": (BLUE, TEXT),
        r"( *\d+ \| )(.*)": (BLUE, TEXT),
        r"( *\| )( *\^+ .*)": (BLUE, RED),
        r"( *= help: )(.*)": (BLUE, GREEN),
        r"()(.*)": (TEXT, TEXT),
    }
    for pattern, colors in patterns.items():
        found = re.fullmatch(pattern, line)
        if found:
            yield from zip(found.groups(), colors)
            return


def _text(line: list[tuple[str, str]], y: int) -> str:
    spans = (f'<tspan fill="{color}">{escape(text)}</tspan>' for text, color in line if text)
    return f'    <text x="{MARGIN}" y="{y}">{"".join(spans)}</text>'

"""The screenshots in README.md and the guide: those of ``make test-site``, with fewer colours."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]


def write() -> None:
    """Write the pictures of docs/static. Each has less than 100 KB."""
    for name in ("annotated_matmul", "gallery"):
        picture = Image.open(ROOT / f"build/screenshots/{name}.png").convert("RGB")
        small = picture.quantize(56, dither=Image.Dither.NONE)
        small.save(ROOT / f"docs/static/{name}.png", optimize=True)


if __name__ == "__main__":
    write()

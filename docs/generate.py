"""Writes docs/errors.md and docs/intrinsics.md from the rows that they describe."""

from __future__ import annotations

from pathlib import Path

from pycu2c.diagnostics import RULES
from pycu2c.intrinsics.all import REGISTRY

HERE = Path(__file__).parent


def errors() -> str:
    rows = [f"| `{code}` | {title} |" for code, title in sorted(RULES.items())]
    return "# Compile errors\n\n| code | rule |\n|---|---|\n" + "\n".join(rows) + "\n"


def intrinsics() -> str:
    rows = []
    for name, row in sorted(REGISTRY.items()):
        if name.startswith("block."):  # the compiler's own
            continue
        takes = ", ".join(f"{n}: {kind}" for n, kind in row.parameters)
        dtypes = " ".join(map(str, row.dtypes))
        doc = row.doc.splitlines()[0].replace("|", "\\|") if row.doc else ""
        rows.append(f"| `{name}` | {takes} | {row.result} | {dtypes} | {doc} |")
    head = "# Intrinsics\n\n| name | takes | gives | dtypes | meaning |\n|---|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


PAGES = {"errors.md": errors, "intrinsics.md": intrinsics}

if __name__ == "__main__":
    for name, text in PAGES.items():
        (HERE / name).write_text(text())

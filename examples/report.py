"""What every example does besides its kernels: options, the CUDA C, the check, the picture."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

BACKENDS = ("auto", "cuda", "cpu", "python")


def parser(
    description: str | None, *, size: int, meaning: str, out: str | None = None
) -> argparse.ArgumentParser:
    """The options that the examples share."""
    lines = (description or "").splitlines()
    options = argparse.ArgumentParser(description=lines[0] if lines else None)
    options.add_argument("--backend", choices=BACKENDS, default="auto", help="where kernels run")
    options.add_argument("--size", type=int, default=size, help=f"{meaning} (default: {size})")
    if out is not None:
        options.add_argument("-o", "--out", type=Path, default=Path(out), help=f"default: {out}")
    return options


def show(*kernels: Any) -> None:
    """Print the CUDA C that each kernel became."""
    for shown in kernels:
        print(f"---- CUDA C of {shown.__name__} ----")
        print(shown.inspect("cuda").strip())
        print()


def checked(what: str, difference: float, allowed: float) -> None:
    """Say how far a result is from numpy's, and stop if that is too far."""
    if not difference <= allowed:  # so that NaN fails
        raise SystemExit(f"FAILED: {what}: {difference:.3g} away from numpy, {allowed:.3g} allowed")
    print(f"checked: {what}: {difference:.3g} away from numpy at most, {allowed:.3g} allowed")


def save_figure(out: Path, draw: Callable[[Any], None]) -> None:
    """Write a picture that a function draws on a figure, if Matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no picture: install Matplotlib, pip install '.[plot]'")
        return
    figure = Figure(figsize=(8, 5), layout="constrained")
    draw(figure)
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=150)
    print(f"wrote {out}")


def blocks(extent: int, block: int) -> int:
    """How many blocks cover an extent."""
    return (extent + block - 1) // block

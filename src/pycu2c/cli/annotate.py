"""Implement ``pycu2c annotate``: write a page with a kernel in all languages, line by line."""

from __future__ import annotations

from pathlib import Path

import click

from pycu2c.annotate.annotation import DEFAULT_ARCH, Request
from pycu2c.annotate.annotation import annotate as collect
from pycu2c.annotate.page import page
from pycu2c.base.diagnostics import CompileError, LaunchError
from pycu2c.cli.kernel_file import (
    load_kernels,
    parse_extent,
    parse_location,
    report_error,
    select_kernel,
    signature_of,
)
from pycu2c.declarations.signatures import SignatureError
from pycu2c.toolchain.toolchain_errors import ToolchainError


@click.command()
@click.argument("location", metavar="FILE[:KERNEL]")
@click.option("--signature", help='The parameters\' types: "float32[::1], float32[::1], int32".')
@click.option("--arch", default=DEFAULT_ARCH, show_default=True, help="The GPU's architecture.")
@click.option("--block", help="The block shape, such as 256 or 16,16; by default the declared one.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="The page; by default KERNEL.html."
)
def annotate(
    location: str,
    signature: str | None,
    arch: str,
    block: str | None,
    output: str | None,
) -> None:
    """Write a page that shows the kernel in FILE as Python, CUDA C, C and instructions.

    Point at a line to highlight its lines in the other languages. The page also shows inferred
    types, costs, registers and occupancy. Requires no GPU.
    """
    try:
        path, name = parse_location(location)
        kernel = select_kernel(load_kernels(path), path, name)
        shape = parse_extent(block, "block", kernel.name) if block else kernel.block
        text = page(collect(kernel, Request(signature_of(kernel, signature), shape, arch)))
    except CompileError as error:
        report_error(error)
    except (SignatureError, LaunchError, ToolchainError) as error:
        raise click.ClickException(str(error)) from None
    target = Path(output or f"{kernel.name}.html")
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}") from None
    click.echo(f"{target}: {len(text) // 1024} KiB")

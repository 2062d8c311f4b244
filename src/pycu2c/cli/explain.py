"""Implement ``pycu2c explain``: print cost notes for a kernel's source lines."""

from __future__ import annotations

import sys

import click

from pycu2c.base.diagnostics import CompileError
from pycu2c.base.output.message_styles import for_stream
from pycu2c.cli.diagnostic_formats import FORMATS, note_objects
from pycu2c.cli.kernel_file import (
    load_kernels,
    parse_location,
    report_error,
    select_kernel,
    signature_of,
)
from pycu2c.declarations.signatures import SignatureError
from pycu2c.explain.notes import format_notes


@click.command()
@click.argument("location", metavar="FILE[:KERNEL]")
@click.option("--signature", help='The parameters\' types: "float32[::1], float32[::1], int32".')
@click.option("--format", "output_format", type=click.Choice(("text", *FORMATS)), default="text")
def explain(location: str, signature: str | None, output_format: str) -> None:
    """Print which lines of the kernel in FILE are expensive on a GPU, and what to change."""
    try:
        path, name = parse_location(location)
        kernel = select_kernel(load_kernels(path), path, name)
        notes = kernel.launcher.compiler.notes(signature_of(kernel, signature))
    except CompileError as error:
        report_error(error, output_format)
    except SignatureError as error:
        raise click.ClickException(str(error)) from None
    if output_format in FORMATS:
        click.echo(FORMATS[output_format](note_objects(notes)))
    else:
        click.echo(for_stream(format_notes(notes).rstrip(), sys.stdout), color=True)

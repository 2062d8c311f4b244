"""Implement ``pycu2c explain``: print cost notes for a kernel's source lines."""

from __future__ import annotations

import sys

import click

from pycu2c.base.output.message_styles import for_stream
from pycu2c.cli.diagnostic_formats import FORMATS, note_objects, set_error_format
from pycu2c.cli.kernel_file import kernel_at, signature_of
from pycu2c.explain.notes import format_notes


@click.command()
@click.argument("location", metavar="FILE[:KERNEL]")
@click.option("--signature", help='The parameters\' types: "float32[::1], float32[::1], int32".')
@click.option("--format", "output_format", type=click.Choice(("text", *FORMATS)), default="text")
def explain(location: str, signature: str | None, output_format: str) -> None:
    """Print which lines of the kernel in FILE are expensive on a GPU, and what to change."""
    set_error_format(output_format)
    kernel = kernel_at(location)
    notes = kernel.launcher.compiler.notes(signature_of(kernel, signature))
    if output_format in FORMATS:
        click.echo(FORMATS[output_format](note_objects(notes)))
    else:
        click.echo(for_stream(format_notes(notes).rstrip(), sys.stdout), color=True)

"""Implement ``pycu2c annotate``: write a page with a kernel in all languages, line by line."""

from __future__ import annotations

import contextlib
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from pycu2c.annotate.annotation import DEFAULT_ARCH, Request
from pycu2c.annotate.annotation import annotate as collect
from pycu2c.annotate.execution_profile import ExecutionProfile, profiling
from pycu2c.annotate.page import page
from pycu2c.cli.kernel_file import kernel_at, parse_block, signature_of
from pycu2c.cli.user_program import program_state, run_program
from pycu2c.kernels.kernel import Kernel


@click.command()
@click.argument("location", metavar="FILE[:KERNEL]")
@click.option("--signature", help='The parameters\' types: "float32[::1], float32[::1], int32".')
@click.option("--arch", default=DEFAULT_ARCH, show_default=True, help="The GPU's architecture.")
@click.option("--block", help="The block shape, such as 256 or 16,16; by default the declared one.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="The page; by default KERNEL.html."
)
@click.option(
    "--run",
    "command",
    metavar="SCRIPT",
    help='A program that launches the kernel, with its arguments: "heat.py --steps 10".',
)
def annotate(
    location: str,
    signature: str | None,
    arch: str,
    block: str | None,
    output: str | None,
    command: str | None,
) -> None:
    """Write a page that shows the kernel in FILE as Python, CUDA C, C and instructions.

    Point at a line to highlight its lines in the other languages. The page also shows inferred
    types, costs, registers and occupancy. Requires no GPU.

    With --run, the command runs a program, and interprets sample blocks of its launches. The page
    then shows how often lines and branches are executed, and the memory traffic of each access.
    """
    kernel = kernel_at(location)
    profile = None if command is None else _profile(kernel, command)
    measured = profile.signature if profile else None
    types = signature_of(kernel, signature) if signature or not measured else measured
    shape = parse_block(block, kernel.name) if block else kernel.block
    shape = shape or (profile.block if profile else None)
    text = page(collect(kernel, Request(types, shape, arch, profile)))
    target = Path(output or f"{kernel.name}.html")
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror}") from None
    click.echo(f"{target}: {len(text) // 1024} KiB")


def _profile(kernel: Kernel[Any], command: str) -> ExecutionProfile:
    """Run a program on the CPU, and return what was measured of the kernel."""
    program = tuple(shlex.split(command))
    if not program or not Path(program[0]).exists():
        raise click.UsageError(f"there is no file {program[0] if program else command!r}")
    source = kernel.source
    with (
        profiling(source.file, source.name) as profile,
        program_state(program, False, {"PYCU2C_BACKEND": "cpu"}),
        contextlib.redirect_stdout(sys.stderr),
    ):
        error = run_program(program[0], False)
    if error is not None and not (isinstance(error, SystemExit) and not error.code):
        raise click.ClickException(f"{program[0]} has failed")
    if profile.signature is None:
        raise click.ClickException(f"{program[0]} does not launch {source.name} of {source.file}")
    return profile

"""Define the command line ``pycu2c``: one module per command."""

from __future__ import annotations

import io
import sys

import click

from pycu2c import __version__
from pycu2c.cli.build import build
from pycu2c.cli.cache import cache
from pycu2c.cli.check import check
from pycu2c.cli.doctor import doctor
from pycu2c.cli.emit import emit
from pycu2c.cli.errors import errors
from pycu2c.cli.explain import explain
from pycu2c.cli.migrate import migrate


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Python kernels as CUDA C and C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path may have bytes of no encoding


for command in (emit, build, explain, check, errors, doctor, cache, migrate):
    main.add_command(command)

"""Define the command line ``pycu2c``: one module per command, which is imported if it runs."""

from __future__ import annotations

import io
import sys

import click

from pycu2c import __version__
from pycu2c.base.diagnostics import CompileError
from pycu2c.base.errors import Error
from pycu2c.base.lazy_imports import import_module

COMMANDS = ("emit", "build", "annotate", "explain", "check", "errors", "doctor", "cache", "migrate")


class _LazyGroup(click.Group):
    """A group of commands, each in the module of its name. It reports the errors of the package."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except CompileError as error:
            import_module("pycu2c.cli.diagnostic_formats").report_error(error)
            sys.exit(1)
        except Error as error:
            raise click.ClickException(str(error)) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"pycu2c.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Python kernels as CUDA C and C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path may have bytes of no encoding

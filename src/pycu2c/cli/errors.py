"""Implement ``pycu2c errors``: list error codes and print their catalog pages."""

from __future__ import annotations

import sys

import click

from pycu2c.base.diagnostics import error_codes, rule
from pycu2c.base.output.message_styles import for_stream
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.cli.error_catalog import as_text


@click.command()
@click.argument("code", required=False)
def errors(code: str | None) -> None:
    """Show programs that cause the error CODE, and corrected versions; list all codes."""
    codes = error_codes()
    if code is not None and code not in codes:
        hint = did_you_mean(code, codes, "`pycu2c errors` lists all")
        raise click.BadParameter(f"there is no code `{code}`: {hint}")
    if code is not None:
        click.echo(for_stream(as_text(code), sys.stdout), color=True)
        return
    width = max(map(len, codes))
    for name in codes:
        click.echo(f"{name:{width}}  {rule(name)}")

"""Implement ``pycu2c cache``: show or clear the disk cache."""

from __future__ import annotations

import time

import click

from pycu2c.toolchain.cache import eviction

_KINDS = {
    ".so": "C for the CPU",
    ".cubin": "CUDA C for GPUs",
    ".ptx": "PTX",
    ".pickle": "metadata",
    ".txt": "compiler versions",
}


@click.group()
def cache() -> None:
    """Show or clear the disk cache of compiled code."""


@cache.command()
def info() -> None:
    """Print the location, the size and the limit of the cache."""
    usage = eviction.usage()
    click.echo(f"location {usage.directory}")
    if usage.problem:
        click.echo(f"problem  {usage.problem}")
    click.echo(f"limit    {_format_size(usage.limit)}")
    columns = "{:32}{:>8}{:>12}   {}"
    click.echo(f"\n{columns.format('kind', 'entries', 'size', 'last used')}")
    for kind in usage.kinds:
        name = _KINDS.get(kind.suffix, kind.suffix)
        click.echo(
            columns.format(name, kind.entries, _format_size(kind.size), _age(kind.last_used))
        )
    click.echo(columns.format("all", usage.entries, _format_size(usage.size), "").rstrip())


@cache.command()
@click.option(
    "--older-than",
    type=float,
    default=0.0,
    metavar="DAYS",
    help="Only entries that were not used for this number of days.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also entries of other versions of pycu2c, CUDA headers, and rejected code.",
)
def clear(older_than: float, everything: bool) -> None:
    """Remove compiled code. Running processes keep what they have loaded."""
    count, size = eviction.clear(unused_for=older_than, everything=everything)
    click.echo(f"removed {count} {'file' if count == 1 else 'files'}, {_format_size(size)}")


def _format_size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} bytes" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def _age(last_used: float) -> str:
    hours = (time.time() - last_used) / 3600
    if hours < 1:
        return "within the hour"
    return f"{hours:.0f} hours ago" if hours < 48 else f"{hours / 24:.0f} days ago"

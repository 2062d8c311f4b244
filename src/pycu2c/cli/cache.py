"""``pycu2c cache``: what is kept on disk, and removing it."""

from __future__ import annotations

import time

import click

from pycu2c.toolchain.cache import eviction

_KINDS = {
    ".so": "C for the CPU",
    ".cubin": "CUDA C for GPUs",
    ".ptx": "PTX",
    ".txt": "facts of kernels and compilers",
}


@click.group()
def cache() -> None:
    """Show or remove the compiled code that is kept on disk."""


@cache.command()
def info() -> None:
    """Say where compiled code is kept, how much of it there is, and how much there may be."""
    found = eviction.usage()
    click.echo(f"place    {found.directory}")
    if found.problem:
        click.echo(f"problem  {found.problem}")
    click.echo(f"limit    {_size(found.limit)}")
    row = "{:32}{:>8}{:>12}   {}"
    click.echo(f"\n{row.format('kind', 'entries', 'size', 'last used')}")
    for kind in found.kinds:
        name = _KINDS.get(kind.suffix, kind.suffix)
        click.echo(row.format(name, kind.entries, _size(kind.size), _since(kind.last_used)))
    click.echo(row.format("all", found.entries, _size(found.size), "").rstrip())


@cache.command()
@click.option("--older-than", type=float, default=0.0, metavar="DAYS", help="Not used since then.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also what other versions of pycu2c keep, CUDA's headers, and code that was refused.",
)
def clear(older_than: float, everything: bool) -> None:
    """Remove compiled code. Processes that have loaded some go on with it."""
    count, size = eviction.clear(unused_for=older_than, everything=everything)
    click.echo(f"removed {count} {'file' if count == 1 else 'files'}, {_size(size)}")


def _size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} bytes" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def _since(then: float) -> str:
    hours = (time.time() - then) / 3600
    if hours < 1:
        return "within the hour"
    return f"{hours:.0f} hours ago" if hours < 48 else f"{hours / 24:.0f} days ago"

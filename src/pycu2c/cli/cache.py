"""Implement ``pycu2c cache``: show, fill, copy or clear the disk cache."""

from __future__ import annotations

import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import click

from pycu2c.cli.build import kernels_at, requests_of
from pycu2c.kernels import cache_warming
from pycu2c.toolchain.cache import archive, eviction

_KINDS = {
    ".so": "C for the CPU",
    ".cubin": "CUDA C for GPUs",
    ".ptx": "PTX",
    ".pickle": "metadata",
    ".txt": "compiler versions",
}


@click.group()
def cache() -> None:
    """Show, fill, copy or clear the disk cache of compiled code."""


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


@cache.command()
@click.argument("locations", nargs=-1, required=True, metavar="FILE[:KERNEL]...")
@click.option(
    "--arch",
    "archs",
    multiple=True,
    metavar="SM",
    help="A GPU architecture, such as sm_90; may be repeated. No GPU is required.",
)
@click.option(
    "--signature",
    "signatures",
    multiple=True,
    metavar="[KERNEL=]TYPES",
    help="The types of a kernel's arguments; may be repeated. By default the declared ones.",
)
@click.option(
    "--block",
    "blocks",
    multiple=True,
    metavar="[KERNEL=]SHAPE",
    help="The threads of a block for which C is compiled. By default the declared ones.",
)
def warm(
    locations: tuple[str, ...],
    archs: tuple[str, ...],
    signatures: tuple[str, ...],
    blocks: tuple[str, ...],
) -> None:
    """Compile the kernels in FILE for this CPU and for GPUs, as their usual launches need them."""
    kernels = kernels_at(locations)
    for request in requests_of(kernels, signatures, blocks):
        for signature in request.signatures:
            launcher = request.kernel.launcher
            targets = ", ".join(cache_warming.warm(launcher, signature, request.block, archs))
            shown = targets or "nothing: pass --block or --arch"
            click.echo(f"{request.kernel.name}{signature}: {shown}")


@cache.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def pack(file: Path) -> None:
    """Copy all entries to FILE, a tar archive, for other machines and container images."""
    _echo_count("packed", archive.pack, file)


@cache.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def unpack(file: Path) -> None:
    """Add the entries of FILE to the cache. Entries contain code, so FILE must be trusted."""
    _echo_count("unpacked", archive.unpack, file)


def _echo_count(verb: str, copy: Callable[[Path], int], file: Path) -> None:
    try:
        count = copy(file)
    except (OSError, tarfile.TarError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{verb} {count} {'entry' if count == 1 else 'entries'}")


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

"""Implement ``pycu2c migrate``: rewrite numba.cuda programs for pycu2c."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from pycu2c.base.records import replace
from pycu2c.compat.migrate.migrate_file import MigratedFile, migrate_file
from pycu2c.compat.migrate.remarks import Severity, merge_by_topic


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--write", is_flag=True, help="Rewrite the files instead of printing a diff.")
@click.option(
    "--check",
    is_flag=True,
    help="Print remarks only, and no diff; exit with code 1 also if a file would change.",
)
@click.option("--quiet", is_flag=True, help="Print only remarks that require manual changes.")
def migrate(files: tuple[str, ...], write: bool, check: bool, quiet: bool) -> None:
    """Rewrite the imports of numba-cuda and numba-cuda-mlir programs, and report differences.

    The command prints a diff to stdout and remarks to stderr. FILE may be a directory. The exit
    code is 1 if you must change something by hand, such as a name that is missing.
    """
    paths = list(_python_files(files))
    files_migrated = [file for path in paths if (file := _read(path))]
    for file in files_migrated:
        if file.is_changed and check:
            click.echo(f"{file.path} would change", err=True)
        elif file.is_changed and write:
            file = _write(file)
        elif file.is_changed:
            click.echo(file.diff(), nl=False)
        _print_remarks(file, quiet=quiet)
    _print_summary(files_migrated)
    has_failed = any(m.needs_manual_change or (check and m.is_changed) for m in files_migrated)
    sys.exit(1 if has_failed or len(files_migrated) < len(paths) else 0)


def _python_files(names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        path = Path(name)
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _read(path: Path) -> MigratedFile | None:
    try:
        return migrate_file(path)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        click.echo(f"{path} cannot be read: {error}", err=True)
        return None


def _write(file: MigratedFile) -> MigratedFile:
    """Rewrite the file and migrate it again, so that remarks refer to its new lines."""
    file.path.write_bytes(file.new.encode(file.old.encoding))
    linecache.checkcache(str(file.path))
    return replace(migrate_file(file.path), new=file.new, old=file.old)


def _print_remarks(file: MigratedFile, *, quiet: bool) -> None:
    for remark in merge_by_topic(file.remarks):
        if remark.kind.severity is Severity.MANUAL or not quiet:
            click.echo(f"{remark}\n", err=True)


def _print_summary(files_migrated: list[MigratedFile]) -> None:
    severities = [r.kind.severity for m in files_migrated for r in m.remarks]
    counts = {severity: severities.count(severity) for severity in Severity}
    changed = sum(m.is_changed for m in files_migrated)
    click.echo(
        f"{_count(len(files_migrated), 'file')}, {changed} with imports of numba.cuda; "
        f"{_count(counts[Severity.MANUAL], 'place')} by hand, "
        f"{_count(counts[Severity.DIFFERS], 'place')} with other types",
        err=True,
    )


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"

"""``pycu2c migrate``: programs for numba.cuda, rewritten for this package."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from pycu2c.base.records import replace
from pycu2c.base.types import Signature
from pycu2c.compat.migrate.migrate_file import Migrated, Types, migrated
from pycu2c.compat.migrate.remarks import Weight, gathered
from pycu2c.declarations.signatures import BadSignature, parse_signature


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--write", is_flag=True, help="Rewrite the files, instead of showing a diff.")
@click.option(
    "--check",
    is_flag=True,
    help="Show and write nothing; the exit code is 1 if a file would change, too.",
)
@click.option(
    "--types",
    "typed",
    metavar="KERNEL=TYPES",
    multiple=True,
    help='What a kernel without a signature is launched with: "step=f4[:, :], i4".',
)
@click.option("--quiet", is_flag=True, help="Say what needs a hand, and nothing else.")
def migrate(
    files: tuple[str, ...], write: bool, check: bool, typed: tuple[str, ...], quiet: bool
) -> None:
    """Rewrite the imports of programs for numba.cuda, and say what will differ.

    A diff goes to the output, remarks to the error output. FILE may be a folder. The exit code is 1
    if something needs a hand: a name that is not here, a kernel that does not compile, integers
    that would wrap.
    """
    types, paths = _types(typed), list(_files(files))
    looked_at = [found for path in paths if (found := _read(path, types))]
    for found in looked_at:
        if found.is_changed and check:
            click.echo(f"{found.path} would change", err=True)
        elif found.is_changed and write:
            found = _written(found, types)
        elif found.is_changed:
            click.echo(found.diff(), nl=False)
        _say(found, quiet=quiet)
    _sum_up(looked_at)
    is_wrong = any(m.needs_a_hand or (check and m.is_changed) for m in looked_at)
    sys.exit(1 if is_wrong or len(looked_at) < len(paths) else 0)


def _types(given: Iterable[str]) -> dict[str, list[Signature]]:
    """``step=f4[:], i4`` by its kernel."""
    found: dict[str, list[Signature]] = {}
    for word in given:
        name, equals, types = word.partition("=")
        if not equals:
            raise click.ClickException(f"--types is {word!r}; write KERNEL=f4[:], i4")
        try:
            found.setdefault(name.strip(), []).append(parse_signature(types.strip()))
        except BadSignature as error:
            raise click.ClickException(str(error)) from None
    return found


def _files(given: Iterable[str]) -> Iterator[Path]:
    for name in given:
        path = Path(name)
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _read(path: Path, types: Types) -> Migrated | None:
    try:
        return migrated(path, types)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        click.echo(f"{path} cannot be read: {error}", err=True)
        return None


def _written(found: Migrated, types: Types) -> Migrated:
    """The file is rewritten, and looked at as it is now: so remarks name its lines."""
    found.path.write_bytes(found.new.encode(found.old.encoding))
    linecache.checkcache(str(found.path))
    return replace(migrated(found.path, types), new=found.new, old=found.old)


def _say(found: Migrated, *, quiet: bool) -> None:
    for remark in gathered(found.remarks):
        if remark.kind.weight is Weight.HAND or not quiet:
            click.echo(f"{remark}\n", err=True)


def _sum_up(looked_at: list[Migrated]) -> None:
    weights = [r.kind.weight for m in looked_at for r in m.remarks]
    counts = {weight: weights.count(weight) for weight in Weight}
    changed = sum(m.is_changed for m in looked_at)
    click.echo(
        f"{_amount(len(looked_at), 'file')}, {changed} with imports of numba.cuda; "
        f"{_amount(counts[Weight.HAND], 'place')} by hand, "
        f"{_amount(counts[Weight.DIFFERS], 'place')} with other types",
        err=True,
    )


def _amount(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"

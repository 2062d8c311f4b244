"""The exception that a launch raises for one of a thread. Knows nothing of how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchError


def raised_by(
    kind: type[BaseException] | BaseException, given: Sequence[Any], where: str, who: str
) -> BaseException:
    """An exception that says where a thread has raised it, and which thread: in its message, or
    behind it where its first argument is no text.

    where: the file and the line. who: "thread (0, 0, 0) of block (0, 0, 0)".
    """
    made = kind if isinstance(kind, type) else type(kind)
    arguments = tuple(given) if isinstance(kind, type) else kind.args
    error = _made(made, _placed(arguments, where, who))
    if error is None:
        error = _made(made, arguments) or LaunchError(f"{made.__name__}{arguments}")
        error.add_note(f"{where}: in {who}")
    return error


def _placed(arguments: tuple[Any, ...], where: str, who: str) -> tuple[Any, ...] | None:
    """Arguments that say where; None if the first is no text."""
    if not arguments:
        return (f"{where}: in {who}",)
    if isinstance(arguments[0], str):
        return f"{where}: {arguments[0]}, in {who}", *arguments[1:]
    return None


def _made(kind: type[BaseException], arguments: tuple[Any, ...] | None) -> BaseException | None:
    """None where there are no arguments, or the class wants others."""
    if arguments is None:
        return None
    try:
        return kind(*arguments)
    except Exception:
        return None

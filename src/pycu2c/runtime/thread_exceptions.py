"""Build the exception that a launch raises for an exception of a GPU or CPU thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchError


def exception_of_thread(
    kind: type[BaseException] | BaseException, values: Sequence[Any], where: str, who: str
) -> BaseException:
    """Return an exception with the location and the thread that raised it.

    They are part of its message, or a note if its first argument is not a string.

    where: the file and the line. who: "thread (0, 0, 0) of block (0, 0, 0)".
    """
    cls = kind if isinstance(kind, type) else type(kind)
    arguments = tuple(values) if isinstance(kind, type) else kind.args
    error = _construct(cls, _with_location(arguments, where, who))
    if error is None:
        error = _construct(cls, arguments) or LaunchError(f"{cls.__name__}{arguments}")
        error.add_note(f"{where}: in {who}")
    return error


def _with_location(arguments: tuple[Any, ...], where: str, who: str) -> tuple[Any, ...] | None:
    """Return arguments that contain the location; None if the first is not a string."""
    if not arguments:
        return (f"{where}: in {who}",)
    if isinstance(arguments[0], str):
        return f"{where}: {arguments[0]}, in {who}", *arguments[1:]
    return None


def _construct(
    kind: type[BaseException], arguments: tuple[Any, ...] | None
) -> BaseException | None:
    """Construct an exception; None if there are no arguments or the class rejects them."""
    if arguments is None:
        return None
    try:
        return kind(*arguments)
    except Exception:
        return None

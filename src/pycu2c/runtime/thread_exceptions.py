"""Build the exception that a launch raises for an exception of a GPU or CPU thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.runtime.findings import check_error_class


def exception_of_thread(
    exception: type[BaseException] | BaseException,
    values: Sequence[Any],
    location: str,
    thread: str,
) -> BaseException:
    """Return an exception with the location and the thread that raised it, also a CheckError.

    Location and thread are part of its message, or a note if its first argument is not a string.

    location: the file and the line. thread: "thread (0, 0, 0) of block (0, 0, 0)".
    """
    cls = exception if isinstance(exception, type) else type(exception)
    arguments = tuple(values) if isinstance(exception, type) else exception.args
    error = _construct(cls, _with_location(arguments, location, thread))
    if error is None:
        error = _construct(cls, arguments) or LaunchError(f"{cls.__name__}{arguments}")
        error.add_note(f"{location}: in {thread}")
    return error


def _with_location(
    arguments: tuple[Any, ...], location: str, thread: str
) -> tuple[Any, ...] | None:
    """Return arguments that contain the location; None if the first is not a string."""
    if not arguments:
        return (f"{location}: in {thread}",)
    if isinstance(arguments[0], str):
        return f"{location}: {arguments[0]}, in {thread}", *arguments[1:]
    return None


def _construct(cls: type[BaseException], arguments: tuple[Any, ...] | None) -> BaseException | None:
    """Construct an exception; None if there are no arguments or the class rejects them."""
    if arguments is None:
        return None
    try:
        error_class: type[BaseException] = check_error_class(cls)
        return error_class(*arguments)
    except Exception:
        return None

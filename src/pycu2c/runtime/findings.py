"""Findings: what the checks of a launch have found, and the errors that report them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from pycu2c.base.diagnostics import Label, LaunchError, render_excerpts
from pycu2c.base.lazy_imports import lazy_method
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span

CheckKind: TypeAlias = Literal[
    "out-of-bounds",
    "uninitialized",
    "arithmetic",
    "race",
    "divergent-barrier",
    "warp-sync",
    "deadlock",
    "assertion",
]


class Coordinates(NamedTuple):
    """The coordinates of a thread in its block, or of a block in the grid."""

    x: int
    y: int
    z: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake in a kernel, with one thread that made it.

    Attributes
    ----------
    kind : str
        "out-of-bounds", "uninitialized", "arithmetic", "race", "divergent-barrier", "warp-sync",
        "deadlock" or "assertion".
    span : Span
        The source of the mistake; ``file``, ``line`` and ``column`` are those of its start.
    calls : tuple of Span
        The calls that lead to it, the outermost first; empty in the kernel itself.
    other_span : Span or None
        The other access of a race, or the other barrier; None for other kinds.
    other_thread, other_block : Coordinates or None
        Its thread and block; None if several threads read the element.
    other_access : str
        "read", "written" or "changed by an atomic operation", for a race; "continues" for a
        thread that skips a barrier.
    array : str
        The name of the array or variable; empty if there is none.
    index, shape : tuple of int
        The index that is out of bounds, and the shape of the array.
    thread, block : Coordinates
        A thread that made the mistake, and its block: x, y, z.
    count : int
        How often threads made it in the launch.
    message, hint : str
        What is wrong, and what to do.
    """

    kind: CheckKind
    span: Span
    message: str
    hint: str
    count: int
    thread: Coordinates
    block: Coordinates
    array: str = ""
    index: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    calls: tuple[Span, ...] = ()
    other_span: Span | None = None
    other_thread: Coordinates | None = None
    other_block: Coordinates | None = None
    other_access: str = ""

    @property
    def file(self) -> str:
        """Return the file of the mistake."""
        return self.span.file

    @property
    def line(self) -> int:
        """Return the line of the mistake, from 1."""
        return self.span.line

    @property
    def column(self) -> int:
        """The column, from 1."""
        return self.span.column + 1

    @property
    def other_line(self) -> int | None:
        """The line of the other access of a race, or of the other barrier."""
        return self.other_span.line if self.other_span else None

    def __str__(self) -> str:
        where = f"thread {tuple(self.thread)} of block {tuple(self.block)}"
        times = "" if self.count == 1 else f", {self.count:,} times in the launch"
        labels = (
            *(Label(call, "called here") for call in self.calls),
            Label(self.span, self.message),
            *self.other_labels(),
        )
        title = f"{self.kind}: {where}{times}"
        return "\n".join(render_excerpts(title, labels, self.hint))

    _repr_html_ = lazy_method("pycu2c.base.output.message_styles", "as_html")

    def other_labels(self) -> Iterator[Label]:
        """Yield the other access of a race.

        Yields
        ------
        Label
            The text of the other access, with its span.
        """
        if self.other_span:
            thread = "another thread"
            if self.other_thread and self.other_block:
                thread = f"thread {tuple(self.other_thread)} of block {tuple(self.other_block)}"
            text = f"and {thread} {self.other_access}".rstrip() + " here"
            if self.kind == "race":
                text = f"and {self.other_access} here, by {thread}"
            yield Label(self.other_span, text)


class CheckError(LaunchError):
    """A checked launch has findings; it is raised after the launch has ended.

    Attributes
    ----------
    findings : tuple of Finding
        At most one for each place and kind, in the order of the source.
    """

    _findings: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return what the checks of the launch have found."""
        return self._findings

    @findings.setter
    def findings(self, findings: tuple[Finding, ...]) -> None:
        self._findings = findings
        for recorder in _RECORDERS:
            recorder.add(findings)

    _repr_html_ = lazy_method("pycu2c.base.output.message_styles", "as_html")


class FindingRecorder:
    """Records the findings of all launches in a ``with`` block, even if the program catches them.

    It keeps the first finding of each kind for a span.
    """

    def __init__(self) -> None:
        self._findings: dict[object, Finding] = {}

    def take(self) -> tuple[Finding, ...]:
        """Return the findings since the last call."""
        findings = tuple(self._findings.values())
        self._findings.clear()
        return findings

    def add(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            self._findings.setdefault((finding.kind, finding.span, finding.calls), finding)

    def __enter__(self) -> FindingRecorder:
        _RECORDERS.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _RECORDERS.remove(self)


_RECORDERS: list[FindingRecorder] = []


class DeadlockError(CheckError):
    """A launch was aborted because its threads wait for each other."""


def check_error(name: str, findings: Sequence[Finding]) -> CheckError:
    """Return the error of a launch of the kernel ``name``."""
    count = len(findings)
    title = f"{name}: {count} finding{'s' if count > 1 else ''}"
    error = CheckError("\n\n".join((title, *map(str, findings))))
    error.findings = tuple(findings)
    return error


def check_error_class(exception: type[BaseException]) -> type[BaseException]:
    """Return the class of an exception that a thread raises, which is also a CheckError.

    An exception with another memory layout, such as OSError, does not change.
    """
    bases = (CheckError,) if issubclass(CheckError, exception) else (exception, CheckError)
    try:
        return type(exception.__name__, bases, {"__module__": __name__})
    except TypeError:
        return exception


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

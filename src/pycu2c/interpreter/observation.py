"""What an observer of the interpreter sees of each thread: statements, branches, accesses."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from pycu2c.base.spans import Span
from pycu2c.base.types import MemorySpace


class AccessSite(NamedTuple):
    """An access in the source: where it is, the array's name and memory, and what it does."""

    span: Span
    array: str
    space: MemorySpace
    what: str  # "load", "store" or the name of an atomic function
    size: int  # bytes


class Observer(Protocol):
    """Receives the events of the running thread, which ``REFERENCE_STATE`` has."""

    def statement(self, span: Span) -> None: ...

    def branch(self, span: Span, taken: Any) -> Any:
        """Return ``taken``."""

    def access(self, site: AccessSite, array: Any, indices: tuple[Any, ...]) -> None: ...

"""Check sites: the expressions of an instrumented kernel that may record a finding."""

from __future__ import annotations

from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.runtime.findings import CheckKind


@dataclass(frozen=True, slots=True)
class CheckSite:
    """An expression of a kernel, and what is checked there.

    subject: the Python name of the array or variable, or the operation.
    calls: the calls through which a thread reaches a device function, the outermost first.
    access: of a race: "read", "written" or "changed by an atomic operation".
    field: what of an element is accessed: ".position", or "".
    values: what the record of a finding holds: for "out-of-bounds", an index and a length for each
        axis.
    """

    kind: CheckKind
    span: Span
    subject: str
    calls: tuple[Span, ...] = ()
    values: tuple[str, ...] = ()
    access: str = ""
    field: str = ""

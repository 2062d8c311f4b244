"""Define the result of a compilation."""

from __future__ import annotations

from typing import Literal

from pycu2c.base.records import dataclass, field
from pycu2c.declarations.link_files import Link


@dataclass(frozen=True)
class CompiledBinary:
    """Compiled code.

    entry: the symbol of the kernel.
    text: the compiled source; may be empty if an earlier process compiled it.
    path: the file that contains ``data``, if there is one.
    log: the output of the compiler.
    links: the files and libraries that it was linked with.
    """

    kind: Literal["so", "cubin", "ptx", "ltoir"]
    entry: str
    text: str = field(repr=False)
    data: bytes = field(repr=False)
    path: str | None
    log: str = field(repr=False)
    links: tuple[Link, ...] = ()

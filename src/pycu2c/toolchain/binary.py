"""What a toolchain makes of generated text. Knows no compiler."""

from __future__ import annotations

from typing import Literal

from pycu2c.base.records import dataclass, field
from pycu2c.declarations.link_files import Link


@dataclass(frozen=True)
class Binary:
    """Compiled code: ``entry`` is the kernel's symbol, ``text`` the source that was compiled.

    ``path`` is where ``data`` lies on disk, if it does, and ``key`` what the cache calls it;
    ``log`` what the compiler said. A text that an earlier process has compiled may be left empty.
    """

    kind: Literal["so", "cubin", "ptx", "ltoir"]
    entry: str
    text: str = field(repr=False)
    data: bytes = field(repr=False)
    path: str | None
    log: str = field(repr=False)
    links: tuple[Link, ...] = ()  # what it was linked with
    key: str = ""

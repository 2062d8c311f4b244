"""What linkers of CUDA are given, and what their refusals mean. Links nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple, NoReturn, Protocol, TypeAlias

from pycu2c.options import Options
from pycu2c.toolchain.binary import LinkError, Unlinked, missing_in

InputKind: TypeAlias = Literal["cubin", "ptx", "ltoir", "fatbin", "object", "library"]


class Input(NamedTuple):
    """Something to link, and what messages call it."""

    kind: InputKind
    data: bytes
    name: str


class Linker(Protocol):
    """``takes``: what the kernel and CUDA C are best compiled to for it."""

    @property
    def takes(self) -> Literal["ltoir", "cubin"]: ...

    def link(self, inputs: Sequence[Input], arch: str, options: Options) -> tuple[bytes, str]:
        """A cubin and the log. Raises LinkError."""


def refused(log: str, inputs: Sequence[Input], arch: str) -> NoReturn:
    """Raise what a linker's log means."""
    missing = missing_in(log)
    if missing:
        raise Unlinked(missing)
    given = next((i.name for i in inputs if os.path.isabs(i.name) and i.name in log), "")
    what = f"{given} cannot be linked" if given else "the files cannot be linked"
    raise LinkError(
        f"{what} into code for {arch}: is it of the kind that its name says, and for that "
        f"architecture?\n{log.strip()}"
    )

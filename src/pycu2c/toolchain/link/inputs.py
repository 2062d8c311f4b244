"""What linkers of CUDA are given, and what their refusals mean. Links nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, NoReturn, Protocol, TypeAlias

from pycu2c.base.records import NamedTuple
from pycu2c.declarations.options import Options
from pycu2c.toolchain.toolchain_errors import LinkError, Unlinked, missing_in

_MACHINE = 190  # of ELF: CUDA
_MOVED = 8  # the version of the interface since which the architecture is in the second byte

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
    for given in inputs:
        own = _arch_of(given.data) if given.kind == "cubin" else ""
        if own and own != arch.rstrip("af"):
            raise LinkError(
                f"{given.name} is code for {own}, and the kernel for {arch}: make it again for "
                f"{arch}, or link PTX or CUDA C, which is compiled for any\n{log.strip()}"
            )
    name = next((i.name for i in inputs if os.path.isabs(i.name) and i.name in log), "")
    what = f"{name} cannot be linked" if name else "the files cannot be linked"
    raise LinkError(
        f"{what} into code for {arch}: is it of the kind that its name says?\n{log.strip()}"
    )


def _arch_of(data: bytes) -> str:
    """What a cubin was made for; empty if it is none."""
    if data[:4] != b"\x7fELF" or len(data) < 52 or data[18] != _MACHINE:
        return ""
    return f"sm_{data[49] if data[8] >= _MOVED else data[48]}"

"""Define the inputs of nvJitLink, and turn its logs into exceptions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple, NoReturn, TypeAlias

from pycu2c.toolchain.toolchain_errors import (
    LinkError,
    UndefinedFunctionError,
    undefined_functions_in,
)

_EM_CUDA = 190  # e_machine of ELF files
_ABI_WITH_ARCH_IN_BYTE_1 = 8  # since this ABI version, byte 1 of e_flags is the architecture

InputKind: TypeAlias = Literal["cubin", "ptx", "ltoir", "fatbin", "object", "library"]


class LinkInput(NamedTuple):
    """A file to link, and its name in messages."""

    kind: InputKind
    data: bytes
    name: str


def raise_link_error(log: str, inputs: Sequence[LinkInput], arch: str) -> NoReturn:
    """Raise the exception that explains a linker's log."""
    missing = undefined_functions_in(log)
    if missing:
        raise UndefinedFunctionError(missing)
    for item in inputs:
        item_arch = _cubin_arch(item.data) if item.kind == "cubin" else ""
        if item_arch and item_arch != arch.rstrip("af"):
            raise LinkError(
                f"{item.name} is code for {item_arch}, and the kernel for {arch}: compile it again "
                f"for {arch}, or link PTX or CUDA C, which work on any GPU\n{log.strip()}"
            )
    name = next((i.name for i in inputs if os.path.isabs(i.name) and i.name in log), "")
    subject = f"{name} cannot be linked" if name else "the files cannot be linked"
    raise LinkError(
        f"{subject} into code for {arch}: is its content of the kind that its suffix says?\n"
        f"{log.strip()}"
    )


def _cubin_arch(data: bytes) -> str:
    """Return the architecture of a cubin; empty if the data are no cubin."""
    if data[:4] != b"\x7fELF" or len(data) < 52 or data[18] != _EM_CUDA:
        return ""
    return f"sm_{data[49] if data[8] >= _ABI_WITH_ARCH_IN_BYTE_1 else data[48]}"

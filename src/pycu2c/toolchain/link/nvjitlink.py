"""Link code for GPUs with nvJitLink, which requires no GPU and optimizes across files."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from pycu2c.base.forks import delaying_forks
from pycu2c.declarations.options import Options
from pycu2c.toolchain.toolchain_errors import (
    LinkError,
    ToolchainError,
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


KIND_BY_SUFFIX: dict[str, InputKind] = {
    ".cubin": "cubin",
    ".ptx": "ptx",
    ".ltoir": "ltoir",
    ".fatbin": "fatbin",
    ".o": "object",
    ".a": "library",
}


@functools.cache
def nvjitlink() -> Any:
    """Return the bindings of nvJitLink; None if they are not installed."""
    try:
        with delaying_forks():
            from cuda.bindings import nvjitlink as found

            found.version()  # the bindings look for the library at their first call
    except (ImportError, RuntimeError, AttributeError):
        return None
    return found


def require() -> None:
    """Raise ToolchainError if nvJitLink is not installed."""
    if nvjitlink() is None:
        raise ToolchainError(
            "files for a GPU are linked by nvJitLink, which is not installed: pip install "
            "'pycu2c[link]' (cuda-toolkit[nvjitlink]==13.*)"
        )


def link(inputs: Sequence[LinkInput], arch: str, options: Options) -> tuple[bytes, str]:
    """Return a cubin and the log. Raises LinkError."""
    library = nvjitlink()
    flags = [f"-arch={arch}", "-verbose", "-no-cache", *_flags(inputs, options)]
    handle = library.create(len(flags), flags)
    try:
        for item in inputs:
            kind = getattr(library.InputType, item.kind.upper())
            library.add_data(handle, kind, item.data, len(item.data), item.name)
        library.complete(handle)
        size = library.get_linked_cubin_size(handle)
        cubin = bytearray(size)
        library.get_linked_cubin(handle, cubin)
        return bytes(cubin), _log(library.get_info_log_size, library.get_info_log, handle)
    except library.nvJitLinkError as error:
        log = _log(library.get_error_log_size, library.get_error_log, handle)
        raise_link_error(log or str(error), inputs, arch)
    finally:
        library.destroy(handle)


def _flags(inputs: Sequence[LinkInput], options: Options) -> list[str]:
    """Return the compiler flags that apply to code that is compiled at link time."""
    flags = [f"-fma={int(options.fmad)}"]
    if any(item.kind == "ltoir" for item in inputs):
        flags.append("-lto")
    if options.fastmath:
        flags += ["-ftz=1", "-prec-div=0", "-prec-sqrt=0"]
    if options.max_registers is not None:
        flags.append(f"-maxrregcount={options.max_registers}")
    if options.lineinfo:
        flags.append("-lineinfo")
    return flags


def _log(size: Any, read: Any, handle: Any) -> str:
    data = bytearray(size(handle))
    if len(data) > 1:
        read(handle, data)
    return data.rstrip(b"\0").decode(errors="replace").strip()

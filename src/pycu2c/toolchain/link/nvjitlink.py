"""Link code for GPUs with nvJitLink, which requires no GPU and optimizes across files."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from pycu2c.base.forks import delaying_forks
from pycu2c.declarations.options import Options
from pycu2c.toolchain.link.inputs import InputKind, LinkInput, raise_link_error
from pycu2c.toolchain.toolchain_errors import ToolchainError

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

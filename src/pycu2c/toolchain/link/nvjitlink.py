"""Relocatable code and files of the user's -> one cubin: by nvJitLink where it is installed, which
needs no GPU and optimises across files; else by the linker in the GPU's driver."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

from pycu2c.declarations.options import Options
from pycu2c.toolchain.link import driver_linker
from pycu2c.toolchain.link.inputs import Input, InputKind, Linker, refused
from pycu2c.toolchain.toolchain_errors import ToolchainError

OF_SUFFIX: dict[str, InputKind] = {
    ".cubin": "cubin",
    ".ptx": "ptx",
    ".ltoir": "ltoir",
    ".fatbin": "fatbin",
    ".o": "object",
    ".a": "library",
}


def find_linker() -> Linker:
    """The best that there is. Raises ToolchainError if there is none."""
    if nvjitlink() is not None:
        return _NVJITLINK
    found: Linker | None = driver_linker.find()
    if found is None:
        raise ToolchainError(
            "files are linked for a GPU by nvJitLink, which is not installed, or by the GPU's "
            "driver, which is not there: pip install 'pycu2c[link]' brings the former "
            "(cuda-toolkit[nvjitlink]==13.*)"
        )
    return found


@functools.cache
def nvjitlink() -> Any:
    """Its bindings; None where it is not installed."""
    try:
        from cuda.bindings import nvjitlink as found

        found.version()  # the bindings look for the library at their first call
    except (ImportError, RuntimeError, AttributeError):
        return None
    return found


class _NvJitLink:
    takes: Literal["ltoir", "cubin"] = "ltoir"

    def link(self, inputs: Sequence[Input], arch: str, options: Options) -> tuple[bytes, str]:
        library = nvjitlink()
        flags = [f"-arch={arch}", "-verbose", "-no-cache", *_flags(inputs, options)]
        handle = library.create(len(flags), flags)
        try:
            for given in inputs:
                kind = getattr(library.InputType, given.kind.upper())
                library.add_data(handle, kind, given.data, len(given.data), given.name)
            library.complete(handle)
            size = library.get_linked_cubin_size(handle)
            made = bytearray(size)
            library.get_linked_cubin(handle, made)
            return bytes(made), _log(library.get_info_log_size, library.get_info_log, handle)
        except library.nvJitLinkError as error:
            log = _log(library.get_error_log_size, library.get_error_log, handle)
            refused(log or str(error), inputs, arch)
        finally:
            library.destroy(handle)


def _flags(inputs: Sequence[Input], options: Options) -> list[str]:
    """What the compiler would be told, for that which is compiled only now."""
    flags = [f"-fma={int(options.fmad)}"]
    if any(given.kind == "ltoir" for given in inputs):
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


_NVJITLINK = _NvJitLink()

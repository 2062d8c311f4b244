"""The linker in a GPU's driver, for where nvJitLink is not installed. Needs a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Literal

from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import Options
from pycu2c.toolchain.link.inputs import Input, refused

_LOG = 1 << 14  # bytes
_KINDS = {
    "cubin": "CUBIN",
    "ptx": "PTX",
    "fatbin": "FATBINARY",
    "object": "OBJECT",
    "library": "LIBRARY",
    "ltoir": "NVVM",
}


class DriverLinker:
    """It optimises nothing across files."""

    takes: Literal["ltoir", "cubin"] = "cubin"

    def link(self, inputs: Sequence[Input], arch: str, options: Options) -> tuple[bytes, str]:
        """A cubin for the device of this thread, and no log. Raises LinkError."""
        driver.make_current()
        api, log = driver.api(), bytearray(_LOG)
        names = api.CUjit_option
        given = {
            names.CU_JIT_ERROR_LOG_BUFFER: log,
            names.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: _LOG,
        }
        state = driver.check(
            api.cuLinkCreate(len(given), [*given], [*given.values()]), "start to link"
        )
        try:
            for part in inputs:
                kind = getattr(api.CUjitInputType, f"CU_JIT_INPUT_{_KINDS[part.kind]}")
                data, name = part.data, part.name.encode()
                (code,) = api.cuLinkAddData(state, kind, data, len(data), name, 0, [], [])
                _check(code, log, part.name, inputs, arch)
            code, *made = api.cuLinkComplete(state)
            _check(code, log, "", inputs, arch)
            return ctypes.string_at(int(made[0]), int(made[1])), ""
        finally:
            api.cuLinkDestroy(state)


def _check(code: Any, log: bytearray, name: str, inputs: Sequence[Input], arch: str) -> None:
    if code:
        said = bytes(log).split(b"\0")[0].decode(errors="replace")
        refused(f"{said}\n{code.name} {name}".strip(), inputs, arch)


def find() -> DriverLinker | None:
    """Where there is a GPU."""
    return DriverLinker() if driver.available() else None

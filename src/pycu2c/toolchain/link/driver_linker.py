"""Link with the linker of the CUDA driver, if nvJitLink is not installed. Requires a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Literal

from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import Options
from pycu2c.toolchain.link.inputs import LinkInput, raise_link_error

_LOG_BYTES = 1 << 14
_KINDS = {
    "cubin": "CUBIN",
    "ptx": "PTX",
    "fatbin": "FATBINARY",
    "object": "OBJECT",
    "library": "LIBRARY",
    "ltoir": "NVVM",
}


class DriverLinker:
    """A linker without optimization across files."""

    input_kind: Literal["ltoir", "cubin"] = "cubin"

    def link(self, inputs: Sequence[LinkInput], arch: str, options: Options) -> tuple[bytes, str]:
        """Link a cubin for the device of this thread; the log is empty. Raises LinkError."""
        driver.make_current()
        api, log = driver.api(), bytearray(_LOG_BYTES)
        names = api.CUjit_option
        link_options = {
            names.CU_JIT_ERROR_LOG_BUFFER: log,
            names.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: _LOG_BYTES,
        }
        state = driver.check(
            api.cuLinkCreate(len(link_options), [*link_options], [*link_options.values()]),
            "start to link",
        )
        try:
            for item in inputs:
                kind = getattr(api.CUjitInputType, f"CU_JIT_INPUT_{_KINDS[item.kind]}")
                data, name = item.data, item.name.encode()
                (code,) = api.cuLinkAddData(state, kind, data, len(data), name, 0, [], [])
                _check(code, log, item.name, inputs, arch)
            code, *result = api.cuLinkComplete(state)
            _check(code, log, "", inputs, arch)
            return ctypes.string_at(int(result[0]), int(result[1])), ""
        finally:
            api.cuLinkDestroy(state)


def _check(code: Any, log: bytearray, name: str, inputs: Sequence[LinkInput], arch: str) -> None:
    if code:
        message = bytes(log).split(b"\0")[0].decode(errors="replace")
        raise_link_error(f"{message}\n{code.name} {name}".strip(), inputs, arch)


def find() -> DriverLinker | None:
    """Return the driver's linker if there is a GPU."""
    return DriverLinker() if driver.available() else None

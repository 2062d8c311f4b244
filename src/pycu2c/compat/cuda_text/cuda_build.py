"""CUDA C text -> a cubin with several kernels, loaded. Through NVRTC and the disk's cache."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text import parameters
from pycu2c.compat.cuda_text.compiled import Form
from pycu2c.compat.cuda_text.diagnostics import refuse
from pycu2c.compat.cuda_text.options import Options, included
from pycu2c.compat.cuda_text.parameters import Parameter
from pycu2c.compat.cuda_text.source_text import Text
from pycu2c.cuda_driver import driver
from pycu2c.cuda_driver.cuda_errors import CudaError
from pycu2c.runtime.cuda import foreign_code
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.runtime.cuda.cuda_runner import CudaRunner
from pycu2c.runtime.runner import Runner
from pycu2c.toolchain.binary import Binary
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.nvrtc import program
from pycu2c.toolchain.nvrtc.cuda_headers import header_settings
from pycu2c.toolchain.nvrtc.identity import installed, loaded


@dataclass(frozen=True, slots=True)
class Cubin:
    """Compiled code: a cubin, or PTX where no architecture of a GPU was asked for. ``heads``: of
    its kernels, as in PTX; ``names``: what they are called in it, by expressions."""

    data: bytes
    path: str | None
    heads: str
    names: dict[str, str]
    log: str


def compiled(text: Text, options: Options, expressions: Sequence[str], arch: str) -> Cubin:
    """From the disk, or by NVRTC. Raises CompileError, ToolchainError."""
    flags, code = options.for_nvrtc(arch), options.with_macros(text)
    wanted = tuple(expressions)

    def make() -> tuple[bytes, str]:
        made = program.whole(code, text.name, flags, wanted)
        if isinstance(made, str):
            refuse(made, text, "NVRTC")
        heads = parameters.heads_in(made.ptx.decode())
        told = json.dumps({"heads": heads, "names": made.names, "log": made.log})
        return made.cubin or made.ptx + b"\0", told

    parts = (code, text.name, "module", *flags, "", *wanted, header_settings(text.code))
    parts = (*parts, *included(text.code, options.folders))
    believed = installed()
    found = (
        artifact_store.load(artifact_store.key_of(*parts, believed), ".cubin") if believed else None
    )
    if found is None:
        program.bindings()
        found = artifact_store.made(artifact_store.key_of(*parts, loaded()), ".cubin", make)
    told = json.loads(found.log)
    return Cubin(found.data, found.path, told["heads"], told["names"], told["log"])


def of_file(data: bytes, path: str) -> Cubin:
    """What somebody has compiled: a cubin, a fatbin, or PTX."""
    if not path.endswith(".ptx"):
        return Cubin(data, path, "", {}, "")
    return Cubin(data + b"\0", path, parameters.heads_in(data.decode()), {}, "")


class GpuCode:
    """A text's kernels on the GPU that the calling thread is on."""

    def __init__(self, cubin: Cubin) -> None:
        self._cubin, self.log = cubin, cubin.log
        self._entries = parameters.entries(cubin.heads)
        self._library = driver.load_library(cubin.data, "load CUDA C")
        self._loaded: dict[str, CudaKernel] = {}

    @property
    def kernels(self) -> Sequence[str]:
        return [*self._cubin.names, *self._entries]

    def entry(self, name: str) -> str | None:
        if not self._entries:  # of a cubin, which the driver knows
            return name if foreign_code.has_kernel(self._library, name) else None
        return entry_named(name, self._cubin, self._entries)

    def parameters(self, entry: str) -> tuple[Parameter, ...] | None:
        if entry not in self._entries:
            places = foreign_code.parameter_places(self._kernel(entry).loaded)
            return self._entries.setdefault(entry, parameters.at_places(places))
        return self._entries[entry]

    def _kernel(self, entry: str, together: bool = False) -> CudaKernel:
        key = f"{entry} together" if together else entry
        if key not in self._loaded:
            binary = Binary("cubin", entry, "", b"", None, "")
            kernel = driver.kernel_of(self._library, entry)
            self._loaded[key] = CudaKernel(binary, together, loaded=kernel)
        return self._loaded[key]

    def runner(self, entry: str, form: Form) -> Runner:
        kernel = self._kernel(entry, form.together)
        return CudaRunner(kernel.name, form.written, form.layout, kernel)

    def attribute(self, entry: str, name: str) -> int:
        return foreign_code.attribute_of(self._kernel(entry).loaded, name)

    def set_attribute(self, entry: str, name: str, value: int) -> None:
        foreign_code.set_attribute(self._kernel(entry).loaded, name, value)

    def variable(self, name: str) -> tuple[int, int] | None:
        try:
            return driver.variable_of(self._library, self._cubin.names.get(name, name))
        except CudaError as error:
            if error.name == "CUDA_ERROR_NOT_FOUND":
                return None
            raise


def entry_named(name: str, cubin: Cubin, entries: dict[str, tuple[Parameter, ...]]) -> str | None:
    """What the cubin calls a kernel: as an expression names it, as it is; or by C++'s rule for a
    name outside of classes, if there is only one."""
    found = cubin.names.get(name, name)
    if found in entries:
        return found
    *scopes, last = name.split("::")
    length = f"{len(last)}{last}"
    mangled = f"_ZN{''.join(f'{len(s)}{s}' for s in scopes)}{length}" if scopes else f"_Z{length}"
    like = [entry for entry in entries if entry.startswith(mangled)]
    return like[0] if len(like) == 1 else None

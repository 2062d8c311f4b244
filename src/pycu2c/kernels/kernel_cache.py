"""Cache on disk what the compiler generates for a kernel, so that later processes need no compiler.

Kernels that depend on objects without a fingerprint (``cache_key.Unhashable``) are compiled in each
process.
"""

from __future__ import annotations

import contextlib
from typing import Literal

from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.index_bounds import WrittenArray
from pycu2c.base.output import tracing
from pycu2c.base.parameters import Parameter
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Source
from pycu2c.base.types import Signature
from pycu2c.cuda_driver import driver
from pycu2c.declarations.link_files import Link
from pycu2c.declarations.options import Options
from pycu2c.kernels.cache_key import Unhashable, cache_key
from pycu2c.runtime.arguments.arguments import layout_of
from pycu2c.runtime.cpu.cpu_kernel import CpuKernel
from pycu2c.runtime.cpu.cpu_runner import CpuRunner
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.runtime.cuda.cuda_runner import CudaRunner
from pycu2c.runtime.runner import KernelMetadata, Runner, SpecializationKey
from pycu2c.toolchain.cache import artifact_store, value_store
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.nvrtc import nvrtc


@dataclass(frozen=True, slots=True)
class GeneratedCode:
    """The generated code of a kernel, and the properties of it that a runner needs.

    cooperative: whether it needs a cooperative launch. written: positions of the arrays that it may
    write. overwritten: arrays that it may write completely. GPU only.
    """

    text: str
    entry: str
    parameters: tuple[Parameter, ...]
    links: tuple[Link, ...]
    cooperative: bool = False
    written: frozenset[int] = frozenset()
    overwritten: tuple[WrittenArray, ...] = ()


class KernelCacheEntry:
    """The cached metadata and code of a kernel for one signature.

    ``key`` is empty if the kernel has none; then nothing is loaded or stored.
    """

    def __init__(self, source: Source, signature: Signature, options: Options) -> None:
        self._name, self._options, self.key = source.name, options, ""
        if not value_store.ENABLED:
            return
        with contextlib.suppress(Unhashable):
            self.key = cache_key(source, signature, options)

    def load_metadata(self) -> KernelMetadata | None:
        """Return the metadata that another process has stored."""
        found: KernelMetadata | None = (
            value_store.load(self._part_key("metadata")) if self.key else None
        )
        return found

    def store_metadata(self, metadata: KernelMetadata) -> None:
        if self.key:
            value_store.store(self._part_key("metadata"), metadata)

    def process_lock(
        self, part: SpecializationKey | Literal["metadata"]
    ) -> contextlib.AbstractContextManager[None]:
        """Let one process of this machine compile in a ``with``."""
        if not self.key:
            return contextlib.nullcontext()
        return value_store.process_lock(self._part_key(part))

    def load_runner(self, key: SpecializationKey, names: tuple[str, ...]) -> Runner | None:
        """Load the kernel for a specialization; None if its code is not cached."""
        code: GeneratedCode | None = value_store.load(self._part_key(key)) if self.key else None
        if code is None:
            return None
        tracing.log("cache", "%s: generated code is cached", self._name)
        return load_code(code, key, self._name, names, self._options)

    def store_runner(self, key: SpecializationKey, runner: Runner) -> None:
        """Store the code of a CpuRunner or CudaRunner; other runners are not cached."""
        if isinstance(runner, (CpuRunner, CudaRunner)):
            self.store_code(key, _code_of(runner))

    def store_code(self, key: SpecializationKey, code: GeneratedCode) -> None:
        if self.key:
            value_store.store(self._part_key(key), code)

    def _part_key(self, part: SpecializationKey | str) -> str:
        """Return the key of the metadata, or of a specialization on any device."""
        if isinstance(part, SpecializationKey):
            part = repr(replace(part, device=0))
        return artifact_store.key_of(self.key, part)


def load_code(
    code: GeneratedCode,
    key: SpecializationKey,
    name: str,
    names: tuple[str, ...],
    options: Options,
    cache: bool = True,
) -> CpuRunner | CudaRunner:
    """Compile the code of the kernel ``name`` and load it. Raises ToolchainError, CudaError.

    names: those of the arguments' leaves in errors.
    """
    layout, options = layout_of(code.parameters), options.with_links(code.links)
    if key.backend in CPU_BACKENDS:
        binary = cc.compile(code.text, code.entry, options=options, cache=cache)
        has_private_accumulators = bool(key.assumptions.unaliased_accumulators)
        return CpuRunner(names, layout, CpuKernel(binary, has_private_accumulators))
    arch = driver.native_arch()
    binary = nvrtc.compile(code.text, code.entry, arch, options=options, cache=cache)
    kernel = CudaKernel(
        binary, code.cooperative, options.cluster, options.programmatic_stream_serialization
    )
    return CudaRunner(name, code.written, layout, kernel, code.overwritten)


def _code_of(runner: CpuRunner | CudaRunner) -> GeneratedCode:
    binary = runner.kernel.binary
    code = GeneratedCode(binary.text, binary.entry, runner.layout.parameters, binary.links)
    if isinstance(runner, CpuRunner):
        return code
    return replace(
        code,
        cooperative=runner.kernel.cooperative,
        written=runner.written,
        overwritten=runner.overwritten,
    )

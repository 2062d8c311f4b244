"""What was generated for a kernel in an earlier process, found without typing it again.

The key is made of everything that the compiler may look at: the text of the kernel's file and of
those of the functions that it names, the value of each global and closure that it names, the types
of the arguments, the options. It takes in more than the compiler reads, never less; a kernel that
names something whose value cannot be told here is not remembered.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any

import numpy as np

from pycu2c.base import index_bounds
from pycu2c.base.dtypes import EncodedDType, decode_dtype
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.base.types import Array, Scalar, Signature
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.kernels import cache_codec
from pycu2c.kernels.fingerprint import NotTold, surroundings
from pycu2c.runtime.arguments.arguments import layout_of
from pycu2c.runtime.cpu import cpu_kernel, cpu_runner
from pycu2c.runtime.cuda import cuda_kernel, cuda_runner
from pycu2c.runtime.runner import KernelMetadata, Runner, SpecializationKey
from pycu2c.toolchain import toolchain_errors
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cache import artifact_store, cache_directory, value_store
from pycu2c.toolchain.cc import cc, discovery
from pycu2c.toolchain.link import file_identity
from pycu2c.toolchain.nvrtc import nvrtc

_BACKENDS = ("cpu", "cuda")
_FIRST = "metadata"  # the entry with what is known of a kernel


def find_pool() -> None:
    """Find the thread pool's library in the cache, for launches on the CPU."""
    if value_store.ENABLED and not cpu_kernel.has_pool():
        found = _known_pool()
        if found is not None:
            cpu_kernel.use_prebuilt_pool(found)


def _known_pool() -> CompiledBinary | None:
    """The pool's library; None where it is still to be compiled, or cannot be. By the state of its
    files it is found without reading and hashing them: a tenth of a known kernel's first launch."""
    try:
        found = _kept(value_store.load(_key_of_pool()), cpu_kernel.POOL, "", DEFAULT_OPTIONS)
        if found is None:
            found = cc.load_compiled(cpu_kernel.pool_text(), cpu_kernel.POOL)
            if found:
                _keep_pool(found.key)
    except toolchain_errors.ToolchainError:  # it is said when there is something to compile
        return None
    return found


@functools.cache
def _keep_pool(name: str) -> None:
    """Let later processes find it, by its name in the cache."""
    if not cache_directory.locate().problem:
        value_store.store(_key_of_pool(), name, cache_codec.files_of_pool())


def _key_of_pool() -> str:
    return artifact_store.key_of(
        "pool", discovery.compiler_identity(), value_store.PACKAGE_DIRECTORY, sys.version
    )


def _kept(key: str | None, entry: str, text: str, options: Options) -> CompiledBinary | None:
    """A library by its name in the cache, if it is there."""
    found = artifact_store.load(key, ".so") if key else None
    if found is None:
        return None
    return CompiledBinary(
        "so", entry, text, found.data, found.path, found.log, options.link, key or ""
    )


class KernelCacheEntry:
    """What is remembered of a kernel for one signature. ``key`` is empty if nothing can be."""

    def __init__(self, source: Source, signature: Signature, options: Options) -> None:
        self._options, self.key = options, ""
        if not value_store.ENABLED:
            return
        with contextlib.suppress(NotTold):
            told = surroundings(source, signature)
            files = (file_identity.file_identity(path) for _, path in options.link)
            rest = (
                value_store.PACKAGE_DIRECTORY,
                sys.version,
                np.__version__,
                repr(options),
                *files,
            )
            self.key = artifact_store.key_of(told, *rest)

    @functools.cached_property
    def _first(self) -> dict[str, Any]:
        """What a launch needs to know first, and the first runner that was made: one file has what
        most launches need."""
        return self._load(_FIRST) or {}

    @functools.cached_property
    def metadata(self) -> KernelMetadata | None:
        """What a launch needs to know first."""
        found = self._first.get("metadata")
        if not found:
            return None
        return KernelMetadata(**{**found, "written": frozenset(found["written"])})

    def keep_metadata(self, metadata: KernelMetadata) -> None:
        self._first["metadata"] = cache_codec.encode_metadata(metadata)
        self._store(_FIRST, self._first)

    def runner(self, key: SpecializationKey, names: tuple[str, ...]) -> Runner | None:
        """The kernel for a kind of launch, compiled and loaded."""
        found = self._facts(_encoded_key(key)) if key.backend in _BACKENDS else None
        if found is None:
            return None
        layout = layout_of([_parameter(*row) for row in found["parameters"]])
        text, entry = found["text"], found["entry"]
        options = self._options.with_links(tuple(found["links"]))
        if key.backend == "cpu":
            name = found["keys"].get(discovery.compiler_identity())
            binary = _kept(name, entry, text, options) or cc.compile(text, entry, options=options)
            on_cpu = cpu_kernel.CpuKernel(binary, bool(key.assumptions.unaliased_accumulators))
            return cpu_runner.CpuRunner(names, layout, on_cpu)
        binary = nvrtc.compile(text, entry, driver.arch(), options=options)
        kernel = cuda_kernel.CudaKernel(binary, found["together"], self._options.cluster)
        written = frozenset(found["written"]), tuple(map(_overwritten, found["overwritten"]))
        return cuda_runner.CudaRunner(found["name"], written[0], layout, kernel, written[1])

    def _facts(self, told: str) -> Any:
        return self._first[told] if told in self._first else self._load(told)

    def keep_runner(self, key: SpecializationKey, runner: Runner) -> None:
        """Only of kernels that take no more than a call."""
        facts = cache_codec.encode_runner(key.backend, runner)
        if not facts:
            return
        told = _encoded_key(key)
        if len(self._first) == 1:  # what is known, and nothing else
            self._first[told] = facts
            self._store(_FIRST, self._first)
        else:
            self._store(told, facts)
        if key.backend == "cpu" and cpu_kernel.pool().compiled_key:
            _keep_pool(cpu_kernel.pool().compiled_key)

    def _load(self, what: str) -> Any:
        return value_store.load(artifact_store.key_of(self.key, what)) if self.key else None

    def _store(self, what: str, content: object) -> None:
        if self.key:
            value_store.store(artifact_store.key_of(self.key, what), content)


def _encoded_key(key: SpecializationKey) -> str:
    """Return a key as text: the same for every device."""
    return repr(replace(key, device=0))


def _overwritten(row: Any) -> index_bounds.WrittenArray:
    argument, axes = row
    return index_bounds.WrittenArray(argument, tuple(_place(*axis) for axis in axes))


def _place(
    axis: int, strided: bool, bounds: list[tuple[int, int | None]]
) -> index_bounds.AxisIndex:
    return index_bounds.AxisIndex(
        axis, strided, frozenset(index_bounds.ArgumentExtent(*bound) for bound in bounds)
    )


def _parameter(
    name: str, dtype: EncodedDType, weak: bool, argument: int, part: str, axis: int
) -> Parameter:
    row = decode_dtype(dtype)
    kind = Array(row, 1) if part == ArgumentPart.DATA.value else Scalar(row, weak)
    return Parameter(name, kind, argument, ArgumentPart(part), axis)

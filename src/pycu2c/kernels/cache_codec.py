"""What later processes are told of a kernel, as plain values. Opened where something is new."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pycu2c.base import index_bounds
from pycu2c.base.dtypes import encode_dtype
from pycu2c.base.parameters import Parameter
from pycu2c.base.records import field_names
from pycu2c.base.types import Scalar
from pycu2c.runtime.cpu import cpu_kernel, cpu_runner
from pycu2c.runtime.cuda import cuda_runner
from pycu2c.runtime.runner import KernelMetadata, Runner
from pycu2c.toolchain.cache import value_store
from pycu2c.toolchain.cc import discovery


def encode_metadata(metadata: KernelMetadata) -> dict[str, object]:
    """Return the fields of the metadata as plain values."""
    fields = {name: getattr(metadata, name) for name in field_names(KernelMetadata)}
    return {**fields, "written": sorted(metadata.written)}


def encode_runner(backend: str, runner: Runner) -> dict[str, object]:
    """What makes a runner again; nothing of one that takes more than a call."""
    facts: dict[str, object] = {}
    if backend == "cuda" and type(runner) is cuda_runner.CudaRunner:
        facts = {"name": runner.name, "together": runner.kernel.cooperative}
        facts["written"] = sorted(runner.written)
        facts["overwritten"] = [_axes_of(found) for found in runner.overwritten]
    elif type(runner) is not cpu_runner.CpuRunner:
        return {}
    parameters = runner.layout.parameters
    if any(p.type.dtype.handle for p in parameters):  # textures
        return {}
    binary = runner.kernel.binary
    rows = [_row(p) for p in parameters]
    facts |= {"text": binary.text, "entry": binary.entry, "parameters": rows}
    facts["links"] = binary.links
    if backend == "cpu":  # the user's own files may be others by then
        facts["keys"] = {} if binary.links else {discovery.compiler_identity(): binary.key}
    return facts


def _axes_of(found: index_bounds.WrittenArray) -> tuple[object, ...]:
    axes = [(p.grid_axis, p.strided, [tuple(bound) for bound in p.bounds]) for p in found.axes]
    return found.argument, axes


def _row(p: Parameter) -> tuple[object, ...]:
    weak = isinstance(p.type, Scalar) and p.type.weak
    return p.name, encode_dtype(p.type.dtype), weak, p.argument, p.part.value, p.axis


def files_of_pool() -> Iterator[str]:
    """What the pool's library depends on: its text, and who knows how texts are compiled."""
    yield from (f"runtime{os.sep}{name}" for name in cpu_kernel.POOL_FILES)
    yield from (f for f in value_store.imported_files() if f.startswith(("toolchain", "options")))

"""Compile CUDA C to cubins or PTX with NVRTC and the disk cache. Requires no driver and no device.

Text that does not compile is reported as a bug of its generator; callers with text of the user
translate the exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pycu2c.declarations.link_files import links_for_target
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.link import file_identity, relocatable
from pycu2c.toolchain.nvrtc import program
from pycu2c.toolchain.nvrtc.cuda_headers import header_settings
from pycu2c.toolchain.nvrtc.identity import installed_identity, loaded_identity
from pycu2c.toolchain.nvrtc.program import BinaryKind as BinaryKind
from pycu2c.toolchain.nvrtc.program import NvrtcJob
from pycu2c.toolchain.nvrtc.program import supported_archs as supported_archs
from pycu2c.toolchain.nvrtc.program import version as version


def compile(
    text: str,
    entry: str,
    arch: str,
    *,
    kind: BinaryKind = "cubin",
    options: Options = DEFAULT_OPTIONS,
    cache: bool = True,
    extra_flags: tuple[str, ...] = (),
) -> CompiledBinary:
    """Compile CUDA C for ``arch`` (``sm_90``; for PTX ``compute_90`` means the same).

    The cubin is linked with the files that ``options`` names. ``extra_flags``: flags of NVRTC.
    """
    program.check_launch_options(entry, arch, options)
    job = NvrtcJob(text, f"{entry}.cu", arch, kind, options, extra_flags)
    if cache:
        return _cached(job, entry)
    data, log = _compile_job(job)
    return CompiledBinary(kind, entry, text, data, None, log, options.link)


def _cached(job: NvrtcJob, entry: str) -> CompiledBinary:
    """Load a binary from the disk cache, or compile and store it."""
    files = map(file_identity.file_identity, links_for_target(job.options.link, "cuda"))
    parts = (job.text, "nvrtc", entry, *job.flags, header_settings(job.text), *files)
    found = cached(parts, f".{job.kind}", lambda: _compile_job(job))
    return CompiledBinary(
        job.kind, entry, job.text, found.data, found.path, found.log, job.options.link
    )


def cached(
    parts: Iterable[str], suffix: str, make: Callable[[], tuple[bytes, str]]
) -> artifact_store.Entry:
    """Return the entry that ``parts`` and NVRTC determine; call ``make`` if it is not cached."""
    parts, identity = tuple(parts), installed_identity()
    if identity:
        found = artifact_store.load(artifact_store.key_of(*parts, identity), suffix)
        if found:
            return found
    program.bindings()  # raises ToolchainError if NVRTC is not installed
    return artifact_store.load_or_make(
        artifact_store.key_of(*parts, loaded_identity()), suffix, make
    )


def _compile_job(job: NvrtcJob) -> tuple[bytes, str]:
    """Return the binary and the log."""
    program.check_arch(job.arch)
    files = links_for_target(job.options.link, "cuda")
    if files and job.kind == "cubin":
        return relocatable.link(job, files)
    if files:
        job = job._replace(extra_flags=(*job.extra_flags, *relocatable.FLAGS))
    return program.compile_job(job)

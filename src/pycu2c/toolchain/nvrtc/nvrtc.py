"""CUDA C text -> cubin or PTX, through NVRTC. Needs no driver and no device.

Knows nothing of kernels in Python: a text that does not compile is an error of whoever wrote it.
"""

from __future__ import annotations

from pycu2c.declarations.link_files import for_target
from pycu2c.declarations.options import DEFAULT, Options
from pycu2c.toolchain.binary import Binary
from pycu2c.toolchain.cache import artifact_store as disk
from pycu2c.toolchain.link import file_identity, relocatable
from pycu2c.toolchain.nvrtc import program
from pycu2c.toolchain.nvrtc.cuda_headers import header_settings
from pycu2c.toolchain.nvrtc.identity import installed, loaded
from pycu2c.toolchain.nvrtc.program import Job
from pycu2c.toolchain.nvrtc.program import Kind as Kind
from pycu2c.toolchain.nvrtc.program import supported_archs as supported_archs
from pycu2c.toolchain.nvrtc.program import version as version


def compile(
    text: str,
    entry: str,
    arch: str,
    *,
    kind: Kind = "cubin",
    options: Options = DEFAULT,
    cache: bool = True,
    more: tuple[str, ...] = (),
) -> Binary:
    """Compile CUDA C for ``arch`` (``sm_90``; for PTX ``compute_90`` means the same), and link it
    with what the options name. ``more``: flags of NVRTC's."""
    program.check_clusters(entry, arch, options)
    job = Job(text, f"{entry}.cu", arch, kind, options, more)
    if cache:
        return _kept(job, kind, entry)
    data, log = _compiled(job)
    return Binary(kind, entry, text, data, None, log, options.link)


def assembler_log(text: str, entry: str, arch: str, options: Options = DEFAULT) -> str:
    """What the assembler says of each function: its registers, its memory."""
    program.check_clusters(entry, arch, options)
    job = Job(text, f"{entry}.cu", arch, "cubin", options, ("--ptxas-options=-v",))
    return _kept(job, "cubin", entry).log


def _kept(job: Job, kind: Kind, entry: str) -> Binary:
    """From the disk, or made and put there."""
    files = map(file_identity.identity, for_target(job.options.link, "cuda"))
    parts = (job.text, "nvrtc", entry, *job.flags, header_settings(job.text), *files)
    suffix, believed = f".{kind}", installed()
    found = disk.load(disk.key_of(*parts, believed), suffix) if believed else None
    if found is None:
        program.bindings()  # says what to do if there is none
        key = disk.key_of(*parts, loaded())
        found = disk.made(key, suffix, lambda: _compiled(job))
    return Binary(kind, entry, job.text, found.data, found.path, found.log, job.options.link)


def _compiled(job: Job) -> tuple[bytes, str]:
    """The binary and the log."""
    program.check_arch(job.arch)
    files = for_target(job.options.link, "cuda")
    if files and job.kind == "cubin":
        return relocatable.linked(job, files)
    return program.compiled(job._replace(more=(*job.more, *relocatable.FLAGS)) if files else job)

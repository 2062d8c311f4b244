"""CUDA C text -> cubin or PTX, through NVRTC. Needs no driver and no device.

Knows nothing of kernels in Python: a text that does not compile is an error of whoever wrote it.
"""

from __future__ import annotations

import functools
from typing import Any, Literal, NamedTuple, TypeAlias

from pycu2c.options import DEFAULT, Options
from pycu2c.toolchain import cache as disk
from pycu2c.toolchain import ptxas_lines
from pycu2c.toolchain.binary import Binary, ToolchainError
from pycu2c.toolchain.cuda_headers import header_flags, header_settings
from pycu2c.toolchain.nvrtc_identity import installed, loaded
from pycu2c.toolchain.refusing import refused

Kind: TypeAlias = Literal["cubin", "ptx"]

_HOW_TO_INSTALL = (
    "NVRTC, the compiler of CUDA C, cannot be loaded: pip install 'pycu2c[gpu]' brings it "
    "(cuda-toolkit[nvrtc]==13.*). GPUs, PTX and SASS need it; CUDA C as text and the CPU do not."
)


@functools.cache
def _bindings() -> Any:
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()  # the bindings look for the library at their first call
    except (ImportError, RuntimeError) as error:
        raise ToolchainError(f"{_HOW_TO_INSTALL}\n\n{str(error).strip()}") from error
    return nvrtc


def version() -> tuple[int, int]:
    """NVRTC's own: (13, 4)."""
    _, major, minor = _bindings().nvrtcVersion()
    return major, minor


@functools.cache
def supported_archs() -> tuple[str, ...]:
    """What cubins can be made for: ``("sm_75", "sm_80", …)``."""
    return tuple(f"sm_{number}" for number in _checked(_bindings().nvrtcGetSupportedArchs()))


def compile(
    text: str,
    entry: str,
    arch: str,
    *,
    kind: Kind = "cubin",
    options: Options = DEFAULT,
    cache: bool = True,
) -> Binary:
    """Compile CUDA C for ``arch`` (``sm_90``; for PTX ``compute_90`` means the same)."""
    _check_clusters(entry, arch, options)
    job = _Job(text, entry, arch, kind, (_target(arch, kind), *_flags(options)))
    return _kept(job) if cache else _binary(job, *_compiled(job))


def assembler_log(text: str, entry: str, arch: str, options: Options = DEFAULT) -> str:
    """What the assembler says of each function: its registers, its memory."""
    _check_clusters(entry, arch, options)
    flags = (_target(arch, "cubin"), *_flags(options), "--ptxas-options=-v")
    return _kept(_Job(text, entry, arch, "cubin", flags)).log


class _Job(NamedTuple):
    """What NVRTC is asked for."""

    text: str
    entry: str
    arch: str
    kind: Kind
    flags: tuple[str, ...]


def _binary(job: _Job, data: bytes, log: str, path: str | None = None) -> Binary:
    return Binary(job.kind, job.entry, job.text, data, path, log)


def _kept(job: _Job) -> Binary:
    """From the disk, or made and put there."""
    parts = (job.text, "nvrtc", job.entry, *job.flags, header_settings(job.text))
    suffix, believed = f".{job.kind}", installed()
    found = disk.load(disk.key_of(*parts, believed), suffix) if believed else None
    if found is None:
        _bindings()  # says what to do if there is none
        key = disk.key_of(*parts, loaded())
        found = disk.made(key, suffix, lambda: _compiled(job))
    return _binary(job, found.data, found.log, found.path)


def _target(arch: str, kind: Kind) -> str:
    target = "sm" if kind == "cubin" else "compute"
    return f"--gpu-architecture={target}_{_number(arch)}"


def _number(arch: str) -> str:
    return arch.removeprefix("sm_").removeprefix("compute_")


def _check_arch(arch: str) -> None:
    family = _number(arch).rstrip("af")  # sm_90a: the features of one architecture alone
    if f"sm_{family}" not in supported_archs():
        known = ", ".join(supported_archs())
        raise ToolchainError(
            f"NVRTC {'.'.join(map(str, version()))} does not compile for {arch!r}; it knows {known}"
        )


_FIRST_WITH_CLUSTERS = 90


def _check_clusters(entry: str, arch: str, options: Options) -> None:
    number = _number(arch).rstrip("af")
    if options.cluster and number.isdigit() and int(number) < _FIRST_WITH_CLUSTERS:
        raise ToolchainError(
            f"{entry} has cluster={options.cluster}, and sm_{number} has no clusters: they came "
            f"with sm_{_FIRST_WITH_CLUSTERS}. Run it on such a GPU or with backend='cpu', or leave "
            "cluster out"
        )


def _flags(options: Options) -> tuple[str, ...]:
    # the user's own C has functions that are for the CPU, too, and say nothing of a device
    flags = [f"--fmad={str(options.fmad).lower()}", "--device-as-default-execution-space"]
    if options.fastmath:
        flags.insert(0, "--use_fast_math")
    if options.max_registers is not None:
        flags.append(f"--maxrregcount={options.max_registers}")
    if options.lineinfo:
        flags.append("--generate-line-info")
    return tuple(flags)


def _compiled(job: _Job) -> tuple[bytes, str]:
    """The binary and the log."""
    _check_arch(job.arch)
    made, log = _tried(job)
    if made is not None:
        return made, log
    if ptxas_lines.are_in(log):
        log = ptxas_lines.in_source(log, lambda kind: _tried(_with_lines(job, kind)))
    raise refused(f"NVRTC {' '.join(job.flags)}", f"{job.entry}.cu", job.text, log)


def _with_lines(job: _Job, kind: Kind) -> _Job:
    return job._replace(
        kind=kind, flags=(_target(job.arch, kind), *job.flags[1:], "--generate-line-info")
    )


def _tried(job: _Job) -> tuple[bytes | None, str]:
    """The binary, if there is one, and the log."""
    nvrtc, name, text = _bindings(), f"{job.entry}.cu", job.text
    flags = (*job.flags, *header_flags(text, version()))
    program = _checked(nvrtc.nvrtcCreateProgram(text.encode(), name.encode(), 0, [], []))
    try:
        (code,) = nvrtc.nvrtcCompileProgram(program, len(flags), [f.encode() for f in flags])
        log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        return (
            (None, log or code.name) if int(code) != 0 else (_result(nvrtc, job.kind, program), log)
        )
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _result(nvrtc: Any, kind: Kind, program: Any) -> bytes:
    if kind == "cubin":
        return _read(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    return _read(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program).rstrip(b"\0")


def _read(size: Any, read: Any, program: Any) -> bytes:
    data = bytearray(_checked(size(program)))
    _checked(read(program, data))
    return bytes(data)


def _text(size: Any, read: Any, program: Any) -> str:
    return _read(size, read, program).rstrip(b"\0").decode(errors="replace").strip()


def _checked(answer: tuple[Any, ...]) -> Any:
    code, *values = answer
    if int(code) != 0:
        raise ToolchainError(f"NVRTC failed: {code.name}")
    return values[0] if values else None

"""Call NVRTC to compile one text, without cache and without linking."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from pycu2c.base.diagnostics import CompileWarning, warn
from pycu2c.base.forks import delaying_forks
from pycu2c.base.output.progress import reporting_slow_compilation
from pycu2c.base.output.tracing import INFO, span
from pycu2c.declarations.options import Options
from pycu2c.toolchain.nvrtc import lost_negation, ptxas_errors
from pycu2c.toolchain.nvrtc.cuda_headers import c_header_sources, feature_flags, header_flags
from pycu2c.toolchain.toolchain_errors import (
    ToolchainError,
    UndefinedFunctionError,
    rejected_code_error,
    undefined_functions_in,
)

BinaryKind: TypeAlias = Literal["cubin", "ptx", "ltoir"]


_HOW_TO_INSTALL = (
    "NVRTC, the compiler of CUDA C, cannot be loaded: install it with pip install 'pycu2c[gpu]' "
    "(cuda-toolkit[nvrtc]>=13.4,<14). GPUs, PTX and SASS need it; "
    "CUDA C as text and the CPU do not."
)


@functools.cache
def bindings() -> Any:
    try:
        with delaying_forks():
            from cuda.bindings import nvrtc

            nvrtc.nvrtcVersion()  # the bindings look for the library at their first call
    except (ImportError, RuntimeError) as error:
        raise ToolchainError(f"{_HOW_TO_INSTALL}\n\n{str(error).strip()}") from error
    return nvrtc


def version() -> tuple[int, int]:
    """Return the version of NVRTC, such as (13, 4)."""
    _, major, minor = bindings().nvrtcVersion()
    return major, minor


@functools.cache
def supported_archs() -> tuple[str, ...]:
    """Return the targets of cubins: ``("sm_75", "sm_80", …)``."""
    return tuple(f"sm_{number}" for number in _checked(bindings().nvrtcGetSupportedArchs()))


def architecture_flag(arch: str, kind: BinaryKind) -> str:
    """Return the flag of an architecture: real for cubins (sm_90), virtual for PTX and LTO IR."""
    target = "sm" if kind == "cubin" else "compute"
    return f"--gpu-architecture={target}_{architecture_number(arch)}"


def architecture_number(arch: str) -> str:
    """Return ``"90a"`` for ``"sm_90a"`` and ``"compute_90a"``."""
    return arch.removeprefix("sm_").removeprefix("compute_")


def flags_of(options: Options) -> tuple[str, ...]:
    """Return the flags of a kernel's options."""
    # inline C functions have no execution space specifier, because they also compile for the CPU
    flags = [f"--fmad={str(options.fmad).lower()}", "--device-as-default-execution-space"]
    if options.fastmath:
        flags.insert(0, "--use_fast_math")
    if options.max_registers is not None:
        flags.append(f"--maxrregcount={options.max_registers}")
    if options.lineinfo:
        flags.append("--generate-line-info")
    return tuple(flags)


class NvrtcJob(NamedTuple):
    """The arguments of a compilation. ``name`` is the file name in messages."""

    text: str
    name: str
    arch: str
    kind: BinaryKind
    options: Options
    extra_flags: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        return (
            architecture_flag(self.arch, self.kind),
            *flags_of(self.options),
            *self.extra_flags,
        )

    @property
    def with_lines(self) -> NvrtcJob:
        """Return this job with line information."""
        return self._replace(extra_flags=(*self.extra_flags, "--generate-line-info"))


def check_arch(arch: str) -> None:
    family = architecture_number(arch).rstrip("af")  # sm_90a: with architecture-specific features
    if f"sm_{family}" not in supported_archs():
        known = ", ".join(supported_archs())
        raise ToolchainError(
            f"NVRTC {'.'.join(map(str, version()))} does not compile for {arch!r}; it knows {known}"
        )


_HOPPER_OPTIONS = "cluster", "programmatic_stream_serialization"
_HOPPER = 90


def check_launch_options(entry: str, arch: str, options: Options) -> None:
    """Raise ToolchainError if the architecture does not support an option of launches."""
    number = architecture_number(arch).rstrip("af")
    if not number.isdigit() or int(number) >= _HOPPER:
        return
    for name in _HOPPER_OPTIONS:
        if setting := getattr(options, name):
            raise ToolchainError(
                f"{entry} has {name}={setting}, which requires sm_{_HOPPER} or newer, not "
                f"sm_{number}. Run it on such a GPU or with backend='cpu', or leave {name} out"
            )


def compile_job(job: NvrtcJob) -> tuple[bytes, str]:
    """Return the binary and the log. Raises RejectedCodeError, ToolchainError."""
    with (
        reporting_slow_compilation(lambda: f"compiling {job.name} for {job.arch} …"),
        span("compile", f"NVRTC: {job.name} for {job.arch}", INFO, flags=" ".join(job.flags)),
    ):
        binary, log = try_compile(job)
    if binary is not None:
        return binary, log
    missing = undefined_functions_in(log)
    if missing:
        raise UndefinedFunctionError(missing)
    if instruction := ptxas_errors.unsupported_instruction(log):
        raise ToolchainError(
            f"{job.name} uses {instruction}, which {job.arch} does not support: compile it for "
            "another architecture, such as --arch sm_90a, or run it with backend='cpu'"
        )
    if ptxas_errors.has_ptxas_errors(log):
        job_with_lines = job.with_lines
        log = ptxas_errors.map_to_source(
            log, job.name, job.text, lambda kind: try_compile(job_with_lines._replace(kind=kind))
        )
    raise rejected_code_error(f"NVRTC {' '.join(job.flags)}", job.name, job.text, log)


def try_compile(job: NvrtcJob) -> tuple[bytes | None, str]:
    """Return the binary, or None if the text does not compile, and the log."""
    flags = (*job.flags, *header_flags(job.text, version()), *feature_flags(job.text))
    with _program(job.text, job.name, flags) as (program, log, failed):
        return (None, log or failed) if failed else (_result(job.kind, program), log)


@contextlib.contextmanager
def _program(
    text: str, name: str, flags: tuple[str, ...], expressions: tuple[str, ...] = ()
) -> Iterator[tuple[Any, str, str]]:
    """Compile a text in a ``with``; yield the program, the log and the name of the error."""
    nvrtc = bindings()
    headers = c_header_sources(text)
    names = [name.encode() for name in headers]
    program = _checked(
        nvrtc.nvrtcCreateProgram(
            text.encode(), name.encode(), len(headers), [*headers.values()], names
        )
    )
    try:
        for expression in expressions:
            _checked(nvrtc.nvrtcAddNameExpression(program, expression.encode()))
        (code,) = nvrtc.nvrtcCompileProgram(program, len(flags), [f.encode() for f in flags])
        log = _read("ProgramLog", program).rstrip(b"\0").decode(errors="replace").strip()
        if int(code) == 0 and lost_negation.FLAG not in flags and _may_lose_negation(program):
            warn(lost_negation.WARNING.format(*version(), name), CompileWarning)
            with _program(text, name, (*flags, lost_negation.FLAG), expressions) as unoptimized:
                yield unoptimized
            return
        yield program, log, code.name if int(code) else ""
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _may_lose_negation(program: Any) -> bool:
    if not lost_negation.is_affected(version()):
        return False
    cubin = _cubin(program)
    return bool(cubin) and lost_negation.may_lose_negation(cubin, _result("ptx", program))


def _cubin(program: Any) -> bytes:
    """Return the cubin; empty for virtual architectures."""
    error, *size = bindings().nvrtcGetCUBINSize(program)
    return _result("cubin", program) if int(error) == 0 and size[0] else b""


class CompiledModule(NamedTuple):
    """A module of several kernels: its cubin (empty for virtual architectures), PTX, the lowered
    names of its name expressions, and the log."""

    cubin: bytes
    ptx: bytes
    names: dict[str, str]
    log: str


def compile_module(
    text: str, name: str, flags: tuple[str, ...], expressions: tuple[str, ...]
) -> CompiledModule | str:
    """Compile a module with ``flags`` and the flags of its headers; return the log if it fails."""
    nvrtc = bindings()
    flags = (*flags, *header_flags(text, version()))
    with _program(text, name, flags, expressions) as (program, log, failed):
        if failed:
            return log or failed
        lowered = (nvrtc.nvrtcGetLoweredName(program, e.encode()) for e in expressions)
        names = {e: _checked(name_result).decode() for e, name_result in zip(expressions, lowered)}
        return CompiledModule(_cubin(program), _result("ptx", program), names, log)


def _result(kind: BinaryKind, program: Any) -> bytes:
    data = _read(kind.upper(), program)
    return data.rstrip(b"\0") if kind == "ptx" else data


def _read(result: str, program: Any) -> bytes:
    """Return a result of a program: ``CUBIN``, ``PTX``, ``LTOIR`` or ``ProgramLog``."""
    nvrtc = bindings()
    data = bytearray(_checked(getattr(nvrtc, f"nvrtcGet{result}Size")(program)))
    _checked(getattr(nvrtc, f"nvrtcGet{result}")(program, data))
    return bytes(data)


def _checked(call_result: tuple[Any, ...]) -> Any:
    code, *values = call_result
    if int(code) != 0:
        raise ToolchainError(f"NVRTC failed: {code.name}")
    return values[0] if values else None

"""The flags of NVRTC: the GPU architecture, and the flags that the options of a kernel select."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pycu2c.declarations.options import Options

BinaryKind: TypeAlias = Literal["cubin", "ptx", "ltoir"]


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

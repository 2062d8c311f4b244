"""Convert options of nvcc for NVRTC, which compiles in its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_DROPPED = (  # options of the host compiler and the linker, and defaults of NVRTC
    *("-g", "--debug", "-m64", "-m32", "--keep", "-k", "-c", "-w", "-v", "--verbose", "--shared"),
    *("--resource-usage", "-res-usage", "-Wno-deprecated-gpu-targets"),
    *("--expt-relaxed-constexpr", "-expt-relaxed-constexpr"),
    *("--expt-extended-lambda", "--extended-lambda", "-extended-lambda"),
)
_DROPPED_PREFIXES = (
    *("-O", "-l", "-L", "-ccbin=", "--compiler-bindir=", "-Xcompiler=", "--threads"),
    *("-gencode=", "--generate-code=", "--default-stream="),
)
_DROPPED_PAIRS = (  # with a value in the next argument
    *("-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir", "-Xlinker", "-odir"),
    *("-L", "-gencode", "--generate-code", "--default-stream", "-default-stream"),
)
_WITH_VALUE = {  # options with a value in the next argument, and their form in one argument
    "-Xptxas": "--ptxas-options=",
    "--ptxas-options": "--ptxas-options=",
    "-maxrregcount": "--maxrregcount=",
    "--maxrregcount": "--maxrregcount=",
    "-std": "--std=",
    "--std": "--std=",
    "-arch": "-arch=",
    "--gpu-architecture": "-arch=",
    "-code": "-code=",
    "--gpu-code": "-code=",
    "-I": "-I",
    "-D": "-D",
    "-U": "-U",
    "-include": "--pre-include=",
}
_RELOCATABLE = ("-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c")
_RENAMED = {"-Xptxas=": "--ptxas-options=", "-maxrregcount=": "--maxrregcount="}


def _join_values(options: Iterable[str]) -> list[str]:
    """Return options with their values in the same argument; drop those of _DROPPED_PAIRS."""
    joined: list[str] = []
    remaining = iter(options)
    for option in remaining:
        if option in _WITH_VALUE:
            joined.append(_WITH_VALUE[option] + next(remaining, ""))
        elif option in _DROPPED_PAIRS:
            next(remaining, "")
        else:
            joined.append(option)
    return joined


def nvrtc_options(options: Sequence[str]) -> tuple[list[str], str | None, str | None]:
    """Return the options without the architecture, the architecture, and the code target."""
    arch = code = None
    kept = []
    for option in _join_values(options):
        name, _, value = option.partition("=")
        if name in ("-arch", "--gpu-architecture"):
            arch = value
        elif name in ("-code", "--gpu-code"):
            code = value
        elif not _is_dropped(option):
            kept.append(_rename(option))
    return kept, arch, code


def is_relocatable(options: Sequence[str]) -> bool:
    """Return whether the code will be linked with other code."""
    return any(option in _RELOCATABLE for option in options)


def _is_dropped(option: str) -> bool:
    if option.startswith("-lineinfo"):  # not an option "-l" of the linker
        return False
    return option in (*_DROPPED, *_RELOCATABLE) or option.startswith(_DROPPED_PREFIXES)


def _rename(option: str) -> str:
    prefix = next((old for old in _RENAMED if option.startswith(old)), None)
    return option if prefix is None else _RENAMED[prefix] + option.removeprefix(prefix)

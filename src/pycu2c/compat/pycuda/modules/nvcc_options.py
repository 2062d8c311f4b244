"""Convert options of nvcc to options of NVRTC; drop those of the host compiler and linker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_DROPPED = (  # options of the host compiler and the linker, and defaults of NVRTC
    *("-g", "--debug", "-m64", "-m32", "--keep", "-k", "-c", "-w", "-v", "--verbose", "--shared"),
    *("--resource-usage", "-res-usage", "-Wno-deprecated-gpu-targets"),
    *("--expt-relaxed-constexpr", "-expt-relaxed-constexpr"),
    *("--expt-extended-lambda", "--extended-lambda", "-extended-lambda"),
)
_DROPPED_STARTS = (
    *("-O", "-l", "-L", "-ccbin=", "--compiler-bindir=", "-Xcompiler=", "--threads"),
    *("-gencode=", "--generate-code=", "--default-stream="),
)
_DROPPED_PAIRS = (
    *("-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir", "-Xlinker", "-odir"),
    *("-L", "-gencode", "--generate-code", "--default-stream", "-default-stream"),
)
_JOINED = {  # options with a value in the next word
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
_RENAMED = {"-Xptxas=": "--ptxas-options=", "-maxrregcount=": "--maxrregcount="}


def split(options: Iterable[str]) -> list[str]:
    """Join options and their values."""
    found: list[str] = []
    waiting = iter(options)
    for word in waiting:
        if word in _JOINED:
            found.append(_JOINED[word] + next(waiting, ""))
        elif word in _DROPPED_PAIRS:
            next(waiting, "")
        else:
            found.append(word)
    return found


def for_nvrtc(options: Sequence[str]) -> tuple[list[str], str | None, str | None]:
    """Return the options without architecture, the architecture, and the code targets."""
    arch = code = None
    kept = []
    for word in split(options):
        name, _, value = word.partition("=")
        if name in ("-arch", "--gpu-architecture"):
            arch = value
        elif name in ("-code", "--gpu-code"):
            code = value
        elif not _is_dropped(word):
            kept.append(_renamed(word))
    return kept, arch, code


_RELOCATABLE = ("-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c")


def is_relocatable(options: Sequence[str]) -> bool:
    """Return whether the code will be linked with other code."""
    return any(word in _RELOCATABLE for word in options)


def _is_dropped(word: str) -> bool:
    if word.startswith("-lineinfo"):
        return False
    return word in (*_DROPPED, *_RELOCATABLE) or word.startswith(_DROPPED_STARTS)


def _renamed(word: str) -> str:
    start = next((old for old in _RENAMED if word.startswith(old)), None)
    return word if start is None else _RENAMED[start] + word.removeprefix(start)

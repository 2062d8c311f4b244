"""What becomes of a CUDA C text, to be looked at: PTX, SASS, the C++ of the CPU."""

from __future__ import annotations

from typing import Any

from pycu2c.compat.cuda_text import cpu_build
from pycu2c.compat.cuda_text.diagnostics import refuse
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.nvrtc import disassembly, program

LANGUAGES = ("cuda", "ptx", "sass", "c")
_USUAL_ARCH = "sm_90"  # what is shown where there is no GPU


def shown(module: Any, language: str) -> str:
    """A module in a language. Raises CompileError, ToolchainError."""
    match language:
        case "cuda":
            code: str = module.text.code
            return code
        case "c":
            return cpu_build.generate(module.text, module.options, module.name_expressions).text
        case "ptx":
            return ptx_of(module, arch())
        case "sass":
            return disassembly.disassemble(module.cubin(arch()).data)
    raise ValueError(f"there is {', '.join(LANGUAGES)} to look at, not {language!r}")


def arch() -> str:
    return driver.arch() if driver.available() else _USUAL_ARCH


def ptx_of(module: Any, arch: str) -> str:
    text, flags = module.text, module.options.for_nvrtc(arch)
    code = module.options.with_macros(text)
    made = program.whole(code, text.name, flags, module.name_expressions)
    if isinstance(made, str):
        refuse(made, text, "NVRTC")
    return made.ptx.decode()

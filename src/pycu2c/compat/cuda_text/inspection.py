"""Return the generated code of a CUDA C text: PTX, SASS, or C++ for the CPU."""

from __future__ import annotations

from typing import Any

from pycu2c.compat.cuda_text import cpu_build
from pycu2c.compat.cuda_text.diagnostics import raise_compile_error
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.nvrtc import disassembly, program

LANGUAGES = ("cuda", "ptx", "sass", "c")
DEFAULT_ARCH = "sm_90"  # without a GPU


def inspect_module(module: Any, language: str) -> str:
    """Return the code of a module in a language. Raises CompileError, ToolchainError."""
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
    raise ValueError(f"the language is one of {', '.join(LANGUAGES)}, not {language!r}")


def arch() -> str:
    return driver.arch() if driver.available() else DEFAULT_ARCH


def ptx_of(module: Any, arch: str) -> str:
    text, flags = module.text, module.options.for_nvrtc(arch)
    code = module.options.with_macros(text)
    made = program.compile_module(code, text.name, flags, module.name_expressions)
    if isinstance(made, str):
        raise_compile_error(made, text, "NVRTC")
    return made.ptx.decode()

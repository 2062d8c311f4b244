"""Link a text and compiled code into one module."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base import diagnostics
from pycu2c.compat.cuda_text.diagnostics import raise_compile_error
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.compat.pycuda.errors import RuntimeError
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules.modules import LoadedModule, Module, refusal
from pycu2c.compat.pycuda.modules.source_text import SourceText
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import DEFAULT_OPTIONS
from pycu2c.toolchain.link import nvjitlink
from pycu2c.toolchain.link.inputs import LinkInput
from pycu2c.toolchain.nvrtc import program
from pycu2c.toolchain.toolchain_errors import ToolchainError


def linked(source: SourceText, options: Sequence[str], inputs: Sequence[LinkInput]) -> Module:
    """Return the module. Raises CompileError; RuntimeError without a GPU."""
    if not on_gpu():
        raise RuntimeError(
            f"linking requires a GPU: {driver.unavailable_reason()}. Texts that are added by "
            "add_source run on the CPU"
        )
    try:
        return _linked(source, options, inputs)
    except (diagnostics.CompileError, ToolchainError) as error:
        raise refusal(error, options) from None


def _linked(source: SourceText, options: Sequence[str], inputs: Sequence[LinkInput]) -> Module:
    text, arch = CudaSource(source.code, "", source.shown), driver.arch()
    flags = (f"--gpu-architecture={arch}", "--relocatable-device-code=true", *options)
    made = program.compile_module(text.code, text.name, flags, ())
    if isinstance(made, str):
        raise_compile_error(made, text, "NVRTC")
    own = LinkInput("cubin", made.cubin, text.name)
    data, _ = nvjitlink.find_linker().link([own, *inputs], arch, DEFAULT_OPTIONS)
    heads = made.ptx.decode()
    return Module(LoadedModule(data, heads), source.textures, source.surfaces)

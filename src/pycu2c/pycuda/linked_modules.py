"""A text and code for a GPU that somebody else has compiled, linked into one module."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c import diagnostics
from pycu2c.cudac.refusals import refuse
from pycu2c.cudac.texts import Text
from pycu2c.options import DEFAULT
from pycu2c.pycuda.allocations import on_gpu
from pycu2c.pycuda.errors import RuntimeError
from pycu2c.pycuda.modules import LoadedModule, Module, refusal
from pycu2c.pycuda.source_text import SourceText
from pycu2c.runtime import driver
from pycu2c.toolchain import linking, nvrtc_program
from pycu2c.toolchain.failures import ToolchainError
from pycu2c.toolchain.linking_inputs import Input


def linked(source: SourceText, options: Sequence[str], inputs: Sequence[Input]) -> Module:
    """The module. Raises CompileError; RuntimeError where there is no GPU."""
    if not on_gpu():
        raise RuntimeError(
            f"code for a GPU is linked, and there is none: {driver.why_not()}. Texts that are "
            "added by add_source run on the CPU"
        )
    try:
        return _linked(source, options, inputs)
    except (diagnostics.CompileError, ToolchainError) as error:
        raise refusal(error, options) from None


def _linked(source: SourceText, options: Sequence[str], inputs: Sequence[Input]) -> Module:
    text, arch = Text(source.code, "", source.shown), driver.arch()
    flags = (f"--gpu-architecture={arch}", "--relocatable-device-code=true", *options)
    made = nvrtc_program.whole(text.code, text.name, flags, ())
    if isinstance(made, str):
        refuse(made, text, "NVRTC")
    own = Input("cubin", made.cubin, text.name)
    data, _ = linking.find_linker().link([own, *inputs], arch, DEFAULT)
    heads = made.ptx.decode()
    return Module(LoadedModule(data, heads), source.textures, source.surfaces)

"""Implement PyCUDA's modules: kernels and variables of compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base import diagnostics
from pycu2c.compat.cuda_text.module import TextModule
from pycu2c.compat.pycuda.errors import CompileError, LogicError, RuntimeError, translate_errors
from pycu2c.compat.pycuda.memory import bounds_checks
from pycu2c.compat.pycuda.memory.allocations import PointerHolderBase, on_gpu
from pycu2c.compat.pycuda.modules.function import Function
from pycu2c.compat.pycuda.modules.source_text import SourceText
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.toolchain_errors import ToolchainError


class GlobalPointer(PointerHolderBase):
    """The address of a module's variable. It keeps the module alive."""

    __slots__ = ("_address", "_module", "size")

    def __init__(self, address: int, size: int, module: object) -> None:
        self._address, self.size, self._module = address, size, module
        if not on_gpu():
            bounds_checks.add(address, size)

    def get_pointer(self) -> int:
        return self._address

    def free(self) -> None:
        """Do nothing: a variable lives as long as its module."""


class Module:
    """Compiled code: ``get_function``, ``get_global``."""

    def __init__(self, text_module: Any) -> None:
        self.text_module = text_module
        self._functions: dict[str, Function] = {}

    def get_function(self, name: str) -> Function:
        """Return a kernel.

        Raises
        ------
        LogicError
            If the module does not have it.
        """
        if name not in self._functions:
            try:
                kernel = self.text_module.function(name)
            except LookupError as error:
                raise LogicError(f"cuModuleGetFunction failed: {error.args[0]}") from None
            self._functions[name] = Function(kernel)
        return self._functions[name]

    @translate_errors
    def get_global(self, name: str) -> tuple[GlobalPointer, int]:
        """Return address and size of a variable.

        Returns
        -------
        tuple
            The address, and the size in bytes.

        Raises
        ------
        LogicError
            If the module does not have it.
        """
        try:
            address, size = self.text_module.variable(name)
        except LookupError as error:
            raise LogicError(f"cuModuleGetGlobal failed: {error.args[0]}") from None
        return GlobalPointer(address, size, self), size

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        code: str = self.text_module.inspect(language)
        return code


def compile_text(source: SourceText, options: Sequence[str]) -> TextModule:
    """Compile CUDA C for the device of the calling thread. Raises CompileError."""
    backend = "cuda" if on_gpu() else "cpu"
    text_module = TextModule(
        source.code, options=options, backend=backend, quoted_sources=source.quoted_sources
    )
    try:
        text_module.compile()
    except (diagnostics.CompileError, ToolchainError) as error:
        raise compile_error(error, options) from None
    return text_module


def compile_error(error: Exception, options: Sequence[str]) -> CompileError:
    """Return PyCUDA's exception for an error of a compiler."""
    translated = CompileError(str(error), ["nvrtc" if on_gpu() else "c++", *options])
    if isinstance(error, diagnostics.CompileError):
        translated.diagnostics = error.diagnostics
        translated.file, translated.line = error.file, error.line
    return translated


@translate_errors
def module_from_buffer(buffer: Any, options: Any = (), message_handler: Any = None) -> Module:
    """Load a cubin, PTX or fatbin as a module for a GPU.

    Returns
    -------
    Module
        The module.
    """
    if not on_gpu():
        raise RuntimeError(
            f"compiled code requires a GPU: {driver.unavailable_reason()}. SourceModule compiles "
            "CUDA C for the CPU"
        )
    return Module(TextModule(data=bytes(buffer), name="the loaded module", backend="cuda"))


def module_from_file(filename: str) -> Module:
    """Load a file with a cubin, PTX or fatbin as a module.

    Returns
    -------
    Module
        The module.
    """
    with open(filename, "rb") as file:
        return module_from_buffer(file.read())

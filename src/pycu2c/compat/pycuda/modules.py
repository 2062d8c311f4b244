"""Implement ``SourceModule``: compile CUDA C with NVRTC, or with a C++ compiler for the CPU."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycu2c.compat.cuda_text.device_headers import with_complex_functions
from pycu2c.compat.cuda_text.module import TextModule
from pycu2c.compat.pycuda.errors import LogicError
from pycu2c.compat.pycuda.function import Function
from pycu2c.compat.pycuda.memory import DeviceAllocation
from pycu2c.cuda_driver import driver
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import gpu_selection
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.cuda.memory import ExternalMemory

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()
HEADERS = os.path.join(os.path.dirname(__file__), "headers")
_COMPLEX_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]pycuda-complex\.hpp[>\"]", re.M)


class Module:
    """Compiled code: ``get_function``, ``get_global``."""

    def __init__(self, text_module: TextModule) -> None:
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
                self._functions[name] = Function(self.text_module.function(name))
            except LookupError as error:
                raise LogicError(f"cuModuleGetFunction failed: {error.args[0]}") from None
        return self._functions[name]

    def get_global(self, name: str) -> tuple[DeviceAllocation, int]:
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
        memory = ExternalMemory(self, address, size, gpu_selection.ordinal_of(None))
        array = DeviceArray(memory, address, (size,), (1,), np.dtype(np.uint8))
        return DeviceAllocation(array), size

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        code: str = self.text_module.inspect(language)
        return code


def module_from_buffer(buffer: Any, options: Any = (), message_handler: Any = None) -> Module:
    """Return a cubin, PTX or fatbin as a module for a GPU."""
    return Module(TextModule(data=bytes(buffer), name="the loaded module", backend="cuda"))


def module_from_file(filename: str) -> Module:
    """Return a file with a cubin, PTX or fatbin as a module."""
    with open(filename, "rb") as file:
        return module_from_buffer(file.read())


class SourceModule(Module):
    """A module of CUDA C: ``SourceModule(text).get_function(name)``, as PyCUDA's.

    ``nvcc``, ``keep``, ``no_extern_c``, ``code`` and ``cache_dir`` have no effect: NVRTC or a C++
    compiler compiles for the current device, and the cache is that of this package.

    Raises
    ------
    CompileError
        If the text does not compile.

    Examples
    --------
    >>> import numpy as np
    >>> import pycu2c.pycuda.autoinit
    >>> from pycu2c.pycuda import driver
    >>> from pycu2c.pycuda.compiler import SourceModule
    >>> module = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
    >>> x = np.float32([1, 2])
    >>> module.get_function("twice")(driver.InOut(x), block=(2, 1, 1))
    >>> x
    array([2., 4.], dtype=float32)
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
    ) -> None:
        flags = nvrtc_options(DEFAULT_NVCC_FLAGS if options is None else options)
        flags += [f"-I{folder}" for folder in include_dirs or ()]
        backend = "cuda" if driver.available() else "cpu"
        text_module = TextModule(_with_complex_class(source), options=flags, backend=backend)
        text_module.compile()
        super().__init__(text_module)


def _with_complex_class(source: Any) -> str:
    """Return the text of a module, with the class of ``pycuda-complex.hpp`` if it is included."""
    text = source.decode() if isinstance(source, bytes) else str(source)  # C generators have str()
    without_header, count = _COMPLEX_HEADER.subn("", text)
    if not count:
        return text
    with open(os.path.join(HEADERS, "pycuda-complex.hpp"), encoding="utf-8") as file:
        return f"{with_complex_functions(file.read())}\n#line 1\n{without_header}"


# ---- options of nvcc ---------------------------------------------------------------------------

_WITH_VALUE = {  # options with a value in the next argument, and their form in one argument
    "-Xptxas": "--ptxas-options=",
    "--ptxas-options": "--ptxas-options=",
    "-maxrregcount": "--maxrregcount=",
    "--maxrregcount": "--maxrregcount=",
    "-std": "--std=",
    "--std": "--std=",
    "-I": "-I",
    "-D": "-D",
    "-U": "-U",
    "-include": "--pre-include=",
}
_DROPPED_PAIRS = (
    *("-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir", "-Xlinker", "-odir", "-L"),
    *("-gencode", "--generate-code", "--default-stream", "-arch", "-code"),
    *("--gpu-architecture", "--gpu-code"),
)
_DROPPED = re.compile(  # options of the host compiler and the linker, and defaults of NVRTC
    r"-g|--debug|-m64|-m32|--keep|-k|-c|-w|-v|--verbose|--shared|--?resource-usage|-res-usage|"
    r"-Wno-deprecated-gpu-targets|--?expt-relaxed-constexpr|-(?:-expt)?-?extended-lambda|-dc|"
    r"--device-c|-rdc=.*|--relocatable-device-code=.*|-[OLl](?!ineinfo).*|--threads.*|"
    rf"(?:{'|'.join(_DROPPED_PAIRS)})=.*"
)


def nvrtc_options(options: Sequence[str]) -> list[str]:
    """Return options of nvcc for NVRTC, without an architecture."""
    kept: list[str] = []
    remaining = iter(options)
    for option in remaining:
        name, equals, value = option.partition("=")
        if option in _DROPPED_PAIRS:
            next(remaining, "")
        elif option in _WITH_VALUE:
            kept.append(_WITH_VALUE[option] + next(remaining, ""))
        elif equals and name in _WITH_VALUE:
            kept.append(_WITH_VALUE[name] + value)
        elif not _DROPPED.fullmatch(option):
            kept.append(option)
    return kept


document_parameters(
    globals(),
    """
source : str | CUDA C.
nvcc, keep, no_extern_c, arch, code, cache_dir : object | Ignored.
options : sequence of str | Options of nvcc.
include_dirs : sequence of str | Folders of headers.
name : str | The name in the text.
language : str | "cuda", "ptx", "sass" or "c".
buffer : bytes | The code.
message_handler : object | Ignored.
filename : str | The path.
""",
)

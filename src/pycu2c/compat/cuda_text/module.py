"""Represent a CUDA C source text as a module, compiled on first use for a GPU or the CPU."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from pycu2c.base.backends import CPU_BACKENDS, default_backend
from pycu2c.base.diagnostics import CompileError, LaunchError
from pycu2c.base.forks import ForkSafeLock
from pycu2c.base.spelling_suggestions import closest_name
from pycu2c.compat.cuda_text import cpu_build, cuda_build, name_mangling
from pycu2c.compat.cuda_text.diagnostics import raise_compile_error
from pycu2c.compat.cuda_text.function import CompiledText, TextFunction
from pycu2c.compat.cuda_text.options import CompilerOptions, options_of
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.nvrtc import disassembly, program
from pycu2c.toolchain.toolchain_errors import ToolchainError

_NAME = re.compile(r"[A-Za-z_][\w:]*")

DEFAULT_ARCH = "sm_90"  # without a GPU


class TextModule:
    """The kernels and variables of a CUDA C source text.

    Parameters
    ----------
    text
        The source. Exactly one of ``text`` and ``path`` is required.
    options
        Options of NVRTC or nvcc, such as ``-DN=3`` and ``--use_fast_math``.
    backend
        "cuda", "cpu", or "auto": a GPU if one is available, else the CPU.
    name_expressions
        C++ names of template instances and variables, as for ``nvrtcAddNameExpression``.
    path
        A file that contains the source, a cubin, a fatbin or PTX.
    name
        The name of the source in messages.
    quoted_sources
        Other sources that ``#line`` directives name, by name; error messages quote their lines.

    Raises
    ------
    TypeError
        If both or neither of ``text`` and ``path`` are passed.
    ValueError
        If the back end is unknown.
    """

    def __init__(
        self,
        text: str | None = None,
        *,
        options: Iterable[str] | str | None = (),
        backend: str = "auto",
        name_expressions: Iterable[str] = (),
        path: str | None = None,
        data: bytes | None = None,
        name: str = "",
        quoted_sources: dict[str, str] | None = None,
    ) -> None:
        if (text, path, data).count(None) != 2:
            raise TypeError("a module needs a text, a path or data: pass exactly one of them")
        if path is not None:
            with open(path, "rb") as file:
                data = file.read()
            name = path
            directory = os.path.dirname(os.path.abspath(path))  # for #include "…"
            options = (*options_of(options).words, f"-I{directory}")
        self.binary = b""  # compiled code
        if data is not None:
            is_compiled = cuda_build.is_compiled(data)
            text, self.binary = ("", data) if is_compiled else (data.decode(), b"")
        assert text is not None
        self.text = CudaSource(text, name, quoted_sources)
        self.options: CompilerOptions = options_of(options)
        self.backend = _validated_backend(backend)
        self.name_expressions = tuple(name_expressions)
        self._compiled_texts: dict[tuple[str, int], CompiledText] = {}
        self._functions: dict[str, TextFunction] = {}
        self._lock = ForkSafeLock()

    def __repr__(self) -> str:
        return f"<CUDA C module {self.text.name}>"

    # ---- contents ----

    def function(self, name: str) -> TextFunction:
        """Return a kernel by source name, mangled name or name expression.

        Raises
        ------
        LookupError
            If the module has no such kernel.
        """
        with self._lock:
            if name not in self._functions:
                self._functions[name] = TextFunction(self, self._resolve_kernel(name))
            return self._functions[name]

    def _resolve_kernel(self, name: str) -> str:
        """Return the source name of a kernel. Raises LookupError."""
        code = self.code()
        on_cpu = self.chosen_backend() == "cpu"
        demangled = name_mangling.demangled_name(name) if on_cpu else None
        source_name = demangled or name
        if code.entry(source_name) is None and (demangled or _NAME.fullmatch(name)):
            code = self._compile_with_name(source_name) or code
        if code.entry(source_name) is None:
            raise LookupError(self._missing_message(name, code.kernels, "kernel"))
        return source_name

    def _compile_with_name(self, name: str) -> CompiledText | None:
        """Recompile for the CPU with one more name expression, for a kernel that a macro defines.

        Returns None once a kernel is in use: recompiling would duplicate its variables.
        """
        if self._functions or self.chosen_backend() == "cuda":
            return None
        names = (*self.name_expressions, name)
        try:
            code: CompiledText = cpu_build.compile_text(self.text, self.options, names)
        except (CompileError, ToolchainError):
            return None
        self._compiled_texts["cpu", 0] = code
        return code

    def variable(self, name: str) -> tuple[int, int]:
        """Return the address and size in bytes of a ``__device__`` or ``__constant__`` variable.

        The address is valid on the device that the calling thread currently uses.

        Raises
        ------
        LookupError
            If the module has no such variable.
        """
        address_and_size = self.code().variable(name)
        if address_and_size is None:
            raise LookupError(self._missing_message(name, (), "variable"))
        return address_and_size

    def _missing_message(self, name: str, compiled_names: Sequence[str], noun: str) -> str:
        names = list(dict.fromkeys((*compiled_names, *(f.path for f in self.kernels))))
        suggestion = closest_name(name, names)
        hint = (
            f": did you mean {suggestion}?"
            if suggestion
            else f": it has {', '.join(names)}" * bool(names)
        )
        if any(f.is_template and f.path == name.partition("<")[0] for f in self.kernels):
            hint = f": it is a template; name its instances with name_expressions=('{name}',)"
        return f"{self.text.name} has no {noun} {name}{hint}"

    @property
    def kernels(self) -> list[FunctionDefinition]:
        """Return the kernels that the parser finds in the source."""
        return [f for f in self.text.functions if f.is_kernel]

    # ---- compilation ----

    def chosen_backend(self) -> str:
        """Return the back end of the next launch. Raises LaunchError if it is unavailable."""
        return driver.available_backend(self.backend, self.text.name)

    def code(self) -> CompiledText:
        """Return the code for the calling thread's device, compiled on first use.

        Raises CompileError, ToolchainError.
        """
        backend = self.chosen_backend()
        key = backend, driver.current_ordinal() if backend == "cuda" else 0
        code = self._compiled_texts.get(key)
        if code is None:
            with self._lock:
                code = self._compiled_texts.get(key) or self._compile_for(backend)
                self._compiled_texts[key] = code
        return code

    def inspect(self, language: str = "cuda") -> str:
        """Return the source ("cuda") or generated code: "ptx", "sass" (GPU) or "c" (CPU).

        Raises
        ------
        CompileError, ToolchainError
            If the text is not compiled.
        ValueError
            If the language is unknown.
        """
        arch = driver.arch() if driver.available() else DEFAULT_ARCH
        match language:
            case "cuda":
                return self.text.code
            case "c":
                return cpu_build.generate(self.text, self.options, self.name_expressions).text
            case "ptx":
                return self.ptx(arch)
            case "sass":
                return disassembly.disassemble(self.cubin(arch).data)
        raise ValueError(f"the language is cuda, ptx, sass or c, not {language!r}")

    def compile(self) -> str:
        """Compile the module if needed and return the compiler's log."""
        return self.code().log

    def _compile_for(self, backend: str) -> CompiledText:
        if backend == "cuda":
            return cuda_build.GpuCode(self.cubin(driver.arch()))
        if self.binary:
            raise LaunchError(f"{self.text.name} is GPU code: the CPU runs only source text")
        return cpu_build.compile_text(self.text, self.options, self.name_expressions)

    def cubin(self, arch: str = DEFAULT_ARCH) -> cuda_build.CompiledCubin:
        """Compile the source for a GPU architecture. No GPU is required."""
        if self.binary:
            return cuda_build.precompiled_code(self.binary)
        return cuda_build.compile_text(self.text, self.options, self.name_expressions, arch)

    def ptx(self, arch: str) -> str:
        """Return the PTX for a GPU architecture. No GPU is required."""
        flags, code = self.options.for_nvrtc(arch), self.options.with_macros(self.text)
        result = program.compile_module(code, self.text.name, flags, self.name_expressions)
        if isinstance(result, str):
            raise_compile_error(result, self.text, "NVRTC")
        return result.ptx.decode()


def _validated_backend(backend: str) -> str:
    if backend not in ("auto", "cuda", "cpu"):
        raise ValueError(f"backend is 'auto', 'cuda' or 'cpu', not {backend!r}")
    is_cpu_default = default_backend() in (*CPU_BACKENDS, "python")
    return "cpu" if backend == "auto" and is_cpu_default else backend

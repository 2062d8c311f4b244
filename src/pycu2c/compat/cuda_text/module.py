"""CUDA C text as a module: compiled where it is first asked for something, for a GPU or the CPU."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from pycu2c.base.backends import ON_CPU, usual_backend
from pycu2c.base.diagnostics import CompileError, LaunchError
from pycu2c.base.spelling_suggestions import nearest
from pycu2c.compat.cuda_text import cpu_build, cuda_build, inspection, name_mangling
from pycu2c.compat.cuda_text.compiled import CompiledText
from pycu2c.compat.cuda_text.function import TextFunction
from pycu2c.compat.cuda_text.options import CompilerOptions, options_of
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.toolchain_errors import ToolchainError

Backend: TypeAlias = Literal["auto", "cuda", "cpu"]
Language: TypeAlias = Literal["cuda", "ptx", "sass", "c"]

BINARY_SUFFIXES = (".cubin", ".ptx", ".fatbin")  # files

_NAME = re.compile(r"[A-Za-z_][\w:]*")

DEFAULT_ARCH = "sm_90"  # what is shown where there is no GPU


class TextModule:
    """Kernels and variables of a CUDA C text.

    options: words of NVRTC's or nvcc's, such as ``-DN=3`` and ``--use_fast_math``.
    backend: "cuda", "cpu", or "auto": a GPU if there is one.
    name_expressions: kernels that are instances of templates, and variables, as C++ names them.
    path: a file with the text, instead of the text; or with a cubin or PTX.
    name: what messages call the text.
    shown: other texts that ``#line`` in this one names, by their names.
    """

    def __init__(
        self,
        text: str | None = None,
        *,
        options: Iterable[str] | str | None = (),
        backend: str = "auto",
        name_expressions: Iterable[str] = (),
        path: str | None = None,
        name: str = "",
        shown: dict[str, str] | None = None,
    ) -> None:
        if (text is None) == (path is None):
            raise TypeError("a module is made of a text or of a path: one of them")
        self.binary = b""  # of a file that is compiled already
        if path is not None:
            with open(path, "rb") as file:
                self.binary = file.read()
            text, name = "", path
            if not path.endswith(BINARY_SUFFIXES):
                text, self.binary = self.binary.decode(), b""
            beside = os.path.dirname(os.path.abspath(path))  # where it may include files from
            options = (*options_of(options).words, f"-I{beside}")
        assert text is not None
        self.text = CudaSource(text, name, shown)
        self.options: CompilerOptions = options_of(options)
        self.backend = _validated_backend(backend)
        self.name_expressions = tuple(name_expressions)
        self._compiled_texts: dict[tuple[str, int], CompiledText] = {}
        self._functions: dict[str, TextFunction] = {}
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<CUDA C module {self.text.name}>"

    # ---- what is in it ----

    def function(self, name: str) -> TextFunction:
        """A kernel, by its name, as linkers have it, too, or by one of the name expressions. Raises
        LookupError."""
        with self._lock:
            if name not in self._functions:
                self._functions[name] = TextFunction(self, self._resolve_kernel(name))
            return self._functions[name]

    def _resolve_kernel(self, name: str) -> str:
        """The name by which the code knows a kernel. Raises LookupError."""
        code = self.code()
        written = None if self.chosen_backend() == "cuda" else name_mangling.demangled_name(name)
        if code.entry(written or name) is None and (written or _NAME.fullmatch(name)):
            code = self._compile_with_name(written or name) or code
        if code.entry(written or name) is None:
            raise LookupError(self._missing_message(name, code.kernels, "kernel"))
        return written or name

    def _compile_with_name(self, name: str) -> CompiledText | None:
        """The text compiled for the CPU with one more name, which a macro may have made: unless
        some kernel is in use, whose variables would be others."""
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
        """The address of a ``__device__`` or ``__constant__`` variable, where the calling thread
        launches now, and how many bytes it has. Raises LookupError."""
        found = self.code().variable(name)
        if found is None:
            raise LookupError(self._missing_message(name, (), "variable"))
        return found

    def _missing_message(self, name: str, known: Sequence[str], what: str) -> str:
        names = list(dict.fromkeys((*known, *(f.path for f in self.kernels))))
        near = nearest(name, names)
        hint = f": did you mean {near}?" if near else f": it has {', '.join(names)}" * bool(names)
        if any(f.is_template and f.path == name.partition("<")[0] for f in self.kernels):
            hint = f": it is a template, whose instances are named by name_expressions=('{name}',)"
        return f"{self.text.name} has no {what} {name}{hint}"

    @property
    def kernels(self) -> list[FunctionDefinition]:
        """Those that the words of the text tell."""
        return [f for f in self.text.functions if f.is_kernel]

    # ---- compiled ----

    def chosen_backend(self) -> str:
        """Where a launch runs now. Raises LaunchError."""
        if self.backend == "auto":
            return "cuda" if driver.available() else "cpu"
        if self.backend == "cuda" and not driver.available():
            raise LaunchError(
                f"{self.text.name} has backend='cuda', and there is no GPU to use: "
                f"{driver.unavailable_reason()}. Use backend='auto' to run on the CPU then"
            )
        return self.backend

    def code(self) -> CompiledText:
        """What the calling thread would run. Raises CompileError, ToolchainError."""
        backend = self.chosen_backend()
        key = backend, driver.current_ordinal() if backend == "cuda" else 0
        found = self._compiled_texts.get(key)
        if found is None:
            with self._lock:
                found = self._compiled_texts.get(key) or self._compile_for(backend)
                self._compiled_texts[key] = found
        return found

    def inspect(self, language: str = "cuda") -> str:
        """The text; or what is made of it: "ptx" and "sass" for GPUs, "c" for the CPU."""
        return inspection.inspect_module(self, language)

    def compile(self) -> str:
        """Compile it, unless that is done; what the compiler said."""
        return self.code().log

    def _compile_for(self, backend: str) -> CompiledText:
        if backend == "cuda":
            return cuda_build.GpuCode(self.cubin(driver.arch()))
        if self.binary:
            raise LaunchError(f"{self.text.name} is code for a GPU: the CPU runs texts")
        return cpu_build.compile_text(self.text, self.options, self.name_expressions)

    def cubin(self, arch: str = DEFAULT_ARCH) -> cuda_build.CompiledCubin:
        """The text compiled for a GPU, which need not be here."""
        if self.binary:
            return cuda_build.of_file(self.binary, self.text.name)
        return cuda_build.compile_text(self.text, self.options, self.name_expressions, arch)


def _validated_backend(backend: str) -> str:
    if backend not in ("auto", "cuda", "cpu"):
        raise ValueError(f"backend is 'auto', 'cuda' or 'cpu', not {backend!r}")
    usual = usual_backend()
    return "cpu" if backend == "auto" and usual in (*ON_CPU, "python") else backend

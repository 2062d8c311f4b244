"""Implement ``RawKernel`` and ``RawModule``: kernels in CUDA C, with CuPy's interface.

``backend`` accepts CuPy's values and "cuda", "cpu" or "auto": numpy arrays run on the CPU if there
is no GPU.
"""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TextIO

from pycu2c.base.hashing import digest_of
from pycu2c.compat.cuda_text import TextFunction, TextModule
from pycu2c.compat.cuda_text.variables import ModuleVariable
from pycu2c.compat.cupy import preamble
from pycu2c.compat.cupy.raw_errors import ModuleFileNotFoundError, SymbolNotFoundError
from pycu2c.declarations.parameter_docs import document_parameters

_CUPY_BACKENDS = ("nvrtc", "nvcc")  # both mean NVRTC here
_SETTABLE_ATTRIBUTES = ("max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout")
_ATTRIBUTES = (  # in lower case, unlike the driver's
    *("max_threads_per_block", "shared_size_bytes", "const_size_bytes", "local_size_bytes"),
    *("num_regs", "ptx_version", "binary_version", "cache_mode_ca"),
    *_SETTABLE_ATTRIBUTES,
)


_COMPLEX = re.compile(r"(?m)^[ \t]*#[ \t]*include[ \t]*<cupy/complex\.cuh>")
_CUCOMPLEX = re.compile(r"(?m)^[ \t]*#[ \t]*include[ \t]*<[ \t]*cuComplex\.h[ \t]*>")
_THRUST_COMPLEX = "namespace thrust { template <class T> using complex = ::complex<T>; }"


def _with_complex(code: str, name: str, *, translate_cucomplex: bool) -> str:
    """Replace the includes of complex numbers by the texts of ``complex.h`` and ``cucomplex.h``."""
    headers = [preamble.header("complex.h"), _THRUST_COMPLEX]
    code = _COMPLEX.sub("", code)
    if translate_cucomplex:
        headers.append(preamble.header("cucomplex.h"))
        code = _CUCOMPLEX.sub("", code)
    return "\n".join([*headers, f'#line 1 "{name}"', code])


@contextmanager
def _missing_symbols(name: str) -> Iterator[None]:
    """Translate a LookupError to SymbolNotFoundError."""
    try:
        yield
    except LookupError as error:
        raise SymbolNotFoundError(name, str(error)) from None


class RawModule:
    """Kernels and variables of a CUDA C text, as ``cupy.RawModule``.

    Parameters
    ----------
    code : str, optional
        The source text.
    path : str, optional
        A file in place of the text: .cu, .cubin or .ptx.
    options : sequence of str, optional
        Options of NVRTC, such as ``-DN=3``.
    backend : str, optional
        "nvrtc" and "nvcc" select the device automatically; or "cpu" or "cuda".
    translate_cucomplex : bool, optional
        Whether the types of ``cuComplex.h`` are ``complex<T>``, with operators.
    enable_cooperative_groups : bool, optional
        Whether to launch all blocks at the same time, so that they can synchronize.
    name_expressions : sequence of str, optional
        Template instances that ``get_function`` may return.
    jitify : bool, optional
        Ignored.

    Raises
    ------
    ValueError
        If compiled code is given name expressions.
    """

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | None = None,
        options: Iterable[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Iterable[str] | None = None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("pass either code or path")
        if code is None and name_expressions is not None and not str(path).endswith(".cu"):
            raise ValueError("name_expressions require source text: compiled code has no templates")
        self.code, self.file_path = code, path
        self.options, self.backend = tuple(options), backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self.translate_cucomplex, self.jitify = translate_cucomplex, jitify
        self.name_expressions = tuple(name_expressions) if name_expressions is not None else None
        self._kernels: weakref.WeakValueDictionary[str, RawKernel] = weakref.WeakValueDictionary()
        quoted_sources = None
        translates = translate_cucomplex and code is not None and _CUCOMPLEX.search(code)
        if code is not None and (translates or _COMPLEX.search(code)):
            name = f"raw-{digest_of(code.encode())[:8]}.cu"
            quoted_sources = {name: code}
            code = _with_complex(code, name, translate_cucomplex=bool(translates))
        if path is not None and not os.path.exists(path):
            raise ModuleFileNotFoundError(path)
        self.module = TextModule(
            code,
            quoted_sources=quoted_sources,
            path=self.file_path,
            options=self.options,
            backend="auto" if backend in _CUPY_BACKENDS else backend,
            name_expressions=self.name_expressions or (),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: getattr(self, name) for name in _CONSTRUCTOR_ATTRIBUTES}
        return partial(RawModule, path=state.pop("file_path"), **state), ()

    def get_function(self, name: str) -> RawKernel:
        """Return a kernel by its name or name expression.

        Raises
        ------
        SymbolNotFoundError
            If the module does not have the kernel.
        """
        with _missing_symbols(name):
            self.module.function(name)
        return RawKernel._from_module(self, name)

    def get_global(self, name: str) -> ModuleVariable:
        """Return a ``__device__`` or ``__constant__`` variable.

        Its address is ``ptr``; ``view(shape, dtype)`` returns an array over it.

        Raises
        ------
        SymbolNotFoundError
            If the module does not have the variable.
        """
        with _missing_symbols(name):
            return ModuleVariable(self.module, name)

    def get_global_var(self, name: str) -> int:
        """Return the address of a variable.

        Raises
        ------
        SymbolNotFoundError
            If the module does not have the variable.
        """
        with _missing_symbols(name):
            return self.module.variable(name)[0]

    def compile(self, log_stream: TextIO | None = None) -> None:
        """Compile the module, and write the compiler's log.

        Raises
        ------
        CompileError
            If the text does not compile.
        """
        log = self.module.compile()
        if log_stream is not None:
            log_stream.write(log)

    def inspect(self, language: str = "cuda") -> str:
        """Return the source text, "ptx" or "sass" for GPUs, or "c" for the CPU."""
        if language == "cuda" and self.code is not None:
            return self.code
        return self.module.inspect(language)


class RawKernel:
    """A kernel in CUDA C, as ``cupy.RawKernel``: ``kernel((blocks,), (threads,), (arguments, …))``.

    Parameters
    ----------
    code : str
        The source text.
    name : str
        The name of the kernel, or a template instance.
    options : sequence of str, optional
        Options of NVRTC, such as ``-DN=3``.
    backend : str, optional
        As for ``RawModule``.
    translate_cucomplex, enable_cooperative_groups, jitify : bool, optional
        As for ``RawModule``.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c.cupy import RawKernel
    >>> text = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
    >>> twice, x = RawKernel(text, "twice"), np.float32([1, 2])
    >>> twice((1,), (2,), (x,))
    >>> x
    array([2., 4.], dtype=float32)
    """

    def __init__(
        self,
        code: str,
        name: str,
        options: Iterable[str] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        self._owner = RawModule(
            code=code,
            options=options,
            backend=backend,
            translate_cucomplex=translate_cucomplex,
            enable_cooperative_groups=enable_cooperative_groups,
            name_expressions=(name,) if "<" in name else None,
            jitify=jitify,
        )
        self.name = self.__name__ = name
        self._launch: Callable[..., None] | None = None

    @classmethod
    def _from_module(cls, module: RawModule, name: str) -> RawKernel:
        kernel = cls.__new__(cls)
        kernel._owner, kernel._launch = module, None
        kernel.name = kernel.__name__ = name
        return kernel

    def __repr__(self) -> str:
        return f"<RawKernel {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return RawKernel._from_module, (self._owner, self.name)

    def __getattr__(self, name: str) -> Any:
        if name in _CONSTRUCTOR_ATTRIBUTES:
            return getattr(self._owner, name)
        raise AttributeError(f"a RawKernel has no {name}", name=name, obj=self)

    @property
    def text_module(self) -> TextModule:
        """Return the module of this package that compiles the text."""
        return self._owner.module

    @property
    def kernel(self) -> TextFunction:
        """Return the compiled kernel for the current device of the calling thread."""
        with _missing_symbols(self.name):
            return self._owner.module.function(self.name)

    def __call__(
        self,
        grid: Any,
        block: Any,
        args: Any,
        *,
        shared_mem: int = 0,
        stream: object = None,
    ) -> None:
        """Launch the kernel.

        Raises
        ------
        LaunchError
            If arguments or the configuration are invalid.
        """
        launch = self._launch
        if launch is None:
            launch = self._launch = self.kernel.launch
        launch(grid, block, args, shared_mem, stream, self._owner.enable_cooperative_groups)

    def compile(self, log_stream: TextIO | None = None) -> None:
        """Compile the kernel, and write the compiler's log.

        Raises
        ------
        CompileError
            If the text does not compile.
        """
        self._owner.compile(log_stream)

    def inspect(self, language: str = "cuda") -> str:
        """Return the source text, "ptx" or "sass" for GPUs, or "c" for the CPU."""
        return self._owner.inspect(language)

    @property
    def attributes(self) -> dict[str, int]:
        """Return all attributes by name."""
        return {name: getattr(self, name) for name in _ATTRIBUTES}


def _attribute(name: str) -> property:
    def get(self: RawKernel) -> int:
        return self.kernel.attribute(name.upper())

    def set_value(self: RawKernel, value: int) -> None:
        self.kernel.set_attribute(name.upper(), value)

    doc = f"The driver's {name.upper()}; on the CPU mostly 0."
    return property(get, set_value if name in _SETTABLE_ATTRIBUTES else None, doc=doc)


for _name in _ATTRIBUTES:
    setattr(RawKernel, _name, _attribute(_name))


def compile_with_cache(source: str, *positional: Any, **options: Any) -> RawModule:
    """Compile a text, with the disk cache, as ``cupy.cuda.compile_with_cache``.

    Returns
    -------
    RawModule
        The module.

    Raises
    ------
    CompileError
        If the text does not compile.
    """
    flags = next((tuple(m) for m in positional if isinstance(m, (tuple, list))), ())
    module = RawModule(
        code=source,
        options=tuple(options.get("options", flags)),
        backend=options.get("backend", "nvrtc"),
        enable_cooperative_groups=options.get("enable_cooperative_groups", False),
        name_expressions=options.get("name_expressions"),
    )
    module.compile(options.get("log_stream"))
    return module


_CONSTRUCTOR_ATTRIBUTES = (
    "code",
    "file_path",
    "options",
    "backend",
    "translate_cucomplex",
    "enable_cooperative_groups",
    "name_expressions",
    "jitify",
)


document_parameters(
    globals(),
    """
source : str | The text.
*positional : object | The arguments of CuPy's function, which have no effect.
**options : object | The arguments of RawModule.
grid, block : tuple of int | Blocks of the grid and threads of a block, along up to three axes.
args : tuple | The arguments: arrays, numbers with the dtypes of the parameters.
shared_mem : int | Bytes of dynamic shared memory.
stream : Stream or int | The stream; by default the current one.
log_stream : file | The file that receives the log.
language : {"cuda", "ptx", "sass", "c"} | The language.
name : str | The name, or a name expression.
""",
)

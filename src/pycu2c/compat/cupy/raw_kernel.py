"""``RawKernel`` and ``RawModule``: kernels in CUDA C, launched as CuPy's are.

Names and parameters are CuPy's. ``backend`` may also be "cuda", "cpu" or "auto": numpy's arrays run
on the CPU where there is no GPU.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from pycu2c.base.hashing import digest_of
from pycu2c.compat.cuda_text import TextFunction, TextModule
from pycu2c.compat.cuda_text.variables import ModuleVariable
from pycu2c.compat.cupy import preamble

_OF_CUPY = ("nvrtc", "nvcc")  # compilers; here it is always NVRTC
_ATTRIBUTES = {  # CuPy's name, the driver's
    "max_threads_per_block": "MAX_THREADS_PER_BLOCK",
    "shared_size_bytes": "SHARED_SIZE_BYTES",
    "const_size_bytes": "CONST_SIZE_BYTES",
    "local_size_bytes": "LOCAL_SIZE_BYTES",
    "num_regs": "NUM_REGS",
    "ptx_version": "PTX_VERSION",
    "binary_version": "BINARY_VERSION",
    "cache_mode_ca": "CACHE_MODE_CA",
    "max_dynamic_shared_size_bytes": "MAX_DYNAMIC_SHARED_SIZE_BYTES",
    "preferred_shared_memory_carveout": "PREFERRED_SHARED_MEMORY_CARVEOUT",
}


_COMPLEX = re.compile(r"(?m)^[ \t]*#[ \t]*include[ \t]*<cupy/complex\.cuh>")
_AS_IN_THRUST = "namespace thrust { template <class T> using complex = ::complex<T>; }"


def _with_complex(code: str, name: str) -> str:
    """A text behind this package's complex numbers, in the place of CuPy's file."""
    rest = _COMPLEX.sub("", code)
    return f'{preamble.header("complex.h")}\n{_AS_IN_THRUST}\n#line 1 "{name}"\n{rest}'


class RawModule:
    """Kernels and variables of a CUDA C text.

    code, path: the text, or a file: .cu with a text, .cubin or .ptx with what it was compiled to.
    options: words for NVRTC, such as ``-DN=3``.
    name_expressions: instances of templates that ``get_function`` will be asked for.
    enable_cooperative_groups: blocks of a launch run at the same time, and may wait for each other.
    jitify, translate_cucomplex: taken, and not needed.
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: Iterable[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Iterable[str] | None = None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("exactly one of code and path is given")
        if code is None and name_expressions is not None and not str(path).endswith(".cu"):
            raise ValueError("name_expressions need a text: compiled code has its instances")
        self.code, self.file_path = code, path
        self.options, self.backend = tuple(options), backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self.translate_cucomplex, self.jitify = translate_cucomplex, jitify
        self.name_expressions = tuple(name_expressions) if name_expressions is not None else None
        self._kernels: weakref.WeakValueDictionary[str, RawKernel] = weakref.WeakValueDictionary()
        self._make()

    def _make(self) -> None:
        code, shown = self.code, None
        if code is not None and _COMPLEX.search(code):
            name = f"raw-{digest_of(code.encode())[:8]}.cu"
            code, shown = _with_complex(code, name), {name: code}
        self.module = TextModule(
            code,
            shown=shown,
            path=self.file_path,
            options=self.options,
            backend="auto" if self.backend in _OF_CUPY else self.backend,
            name_expressions=self.name_expressions or (),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (_state(self),)

    def get_function(self, name: str) -> RawKernel:
        """A kernel by its name, or by one of the name expressions. Raises LookupError."""
        self.module.function(name)
        return RawKernel._of(self, name)

    def get_global(self, name: str) -> ModuleVariable:
        """A ``__device__`` or ``__constant__`` variable: its address is ``ptr``, and
        ``view(shape, dtype)`` an array over it. Raises LookupError."""
        return ModuleVariable(self.module, name)

    def get_global_var(self, name: str) -> int:
        """The address of a variable. Raises LookupError."""
        return self.module.variable(name)[0]

    def compile(self, log_stream: TextIO | None = None) -> None:
        """Compile it now, and write what the compiler says."""
        said = self.module.compile()
        if log_stream is not None:
            log_stream.write(said)

    def inspect(self, language: str = "cuda") -> str:
        """The text; or what is made of it: "ptx" and "sass" for GPUs, "c" for the CPU."""
        if language == "cuda" and self.code is not None:
            return self.code
        return self.module.inspect(language)


class RawKernel:
    """A kernel of a CUDA C text: ``kernel((blocks,), (threads,), (arguments, …))``. Its parameters
    are those of RawModule."""

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
        self._begin(name)

    @classmethod
    def _of(cls, module: RawModule, name: str) -> RawKernel:
        made = cls.__new__(cls)
        made._owner = module
        made._begin(name)
        return made

    def _begin(self, name: str) -> None:
        self.name = self.__name__ = name
        self._launch: Callable[..., None] | None = None

    def __repr__(self) -> str:
        return f"<RawKernel {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (_state(self._owner), self.name)

    def __getattr__(self, name: str) -> Any:
        if name in ("code", "options", "backend", "file_path", "name_expressions"):
            return getattr(self._owner, name)
        if name in ("translate_cucomplex", "jitify"):
            return getattr(self._owner, name)
        raise AttributeError(f"a RawKernel has no {name}", name=name, obj=self)

    @property
    def enable_cooperative_groups(self) -> bool:
        return self._owner.enable_cooperative_groups

    @property
    def kernel(self) -> TextFunction:
        """Compiled, where the calling thread would launch it."""
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
        """Launch it: on a grid of blocks of threads, with arguments in a tuple, and so many bytes
        of dynamic shared memory."""
        launch = self._launch
        if launch is None:
            launch = self._launch = self.kernel.launch
        launch(grid, block, args, shared_mem, stream, self._owner.enable_cooperative_groups)

    def compile(self, log_stream: TextIO | None = None) -> None:
        """Compile it now, and write what the compiler says."""
        self._owner.compile(log_stream)

    def inspect(self, language: str = "cuda") -> str:
        """The text; or what is made of it: "ptx" and "sass" for GPUs, "c" for the CPU."""
        return self._owner.inspect(language)

    @property
    def attributes(self) -> dict[str, int]:
        """All attributes, by their names."""
        return {name: getattr(self, name) for name in _ATTRIBUTES}


def _attribute(name: str, said: str) -> property:
    def get(self: RawKernel) -> int:
        return self.kernel.attribute(_ATTRIBUTES[name])

    return property(get, doc=said)


def _settable(name: str, said: str) -> property:
    def put(self: RawKernel, value: int) -> None:
        self.kernel.set_attribute(_ATTRIBUTES[name], value)

    return _attribute(name, said).setter(put)


for _name in _ATTRIBUTES:
    _kind = _settable if _name.startswith(("max_dynamic", "preferred")) else _attribute
    setattr(
        RawKernel, _name, _kind(_name, f"The driver's {_ATTRIBUTES[_name]}; on the CPU mostly 0.")
    )


def compile_with_cache(source: str, *more: Any, **options: Any) -> RawModule:
    """A text compiled, from the disk if it was before. ``options``: words for the compiler; a
    file's name and a folder are taken, and not needed: the cache is this package's."""
    words = next((tuple(m) for m in more if isinstance(m, (tuple, list))), ())
    words = tuple(options.get("options", words))
    names = options.get("name_expressions")
    backend = options.get("backend", "nvrtc")
    together = options.get("enable_cooperative_groups", False)
    made = RawModule(
        code=source,
        options=words,
        backend=backend,
        enable_cooperative_groups=together,
        name_expressions=names,
    )
    made.compile(options.get("log_stream"))
    return made


_KEPT = (
    "code",
    "file_path",
    "options",
    "backend",
    "translate_cucomplex",
    "enable_cooperative_groups",
    "name_expressions",
    "jitify",
)


def _state(module: RawModule) -> dict[str, Any]:
    return {name: getattr(module, name) for name in _KEPT}


def _unpickled(state: dict[str, Any], name: str | None = None) -> Any:
    given = {"path" if key == "file_path" else key: value for key, value in state.items()}
    module = RawModule(**given)
    return module if name is None else RawKernel._of(module, name)

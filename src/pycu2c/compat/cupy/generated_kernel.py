"""Implement what elementwise and reduction kernels share: launches, graph capture, inspection.

The spec of a call is the part of it that the generated text depends on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Signature
from pycu2c.compat.cuda_text.captured_launch import CapturedLaunch, resolved_launch
from pycu2c.compat.cuda_text.options import CompilerOptions
from pycu2c.compat.cupy import operands
from pycu2c.compat.cupy.bound_parameters import BoundParameter, StrideKind, dtypes_of, pointer_names
from pycu2c.compat.cupy.call_arguments import CallArguments, KernelDeclaration
from pycu2c.compat.cupy.compiled_kernel import (
    DEFAULT_ARCH,
    GeneratedText,
    LoadedKernelText,
    cuda_binary,
    load_text,
    translate_errors,
)
from pycu2c.compat.cupy.fast_calls import (
    CallCache,
    Key,
    OutputAllocator,
    PreparedLaunch,
    output_allocator,
)
from pycu2c.compat.cupy.operands import Operand
from pycu2c.cuda_driver import driver
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.kernels.launcher import ResolvedLaunch
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape
from pycu2c.runtime.launch_configuration import LaunchRequest
from pycu2c.toolchain.nvrtc import disassembly

Language: TypeAlias = Literal["cuda", "c", "ptx", "sass"]
LANGUAGES = ("cuda", "c", "ptx", "sass")
C = TypeVar("C", bound="KernelCall")


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A checked call.

    shape: the broadcast shape of the arrays that are not raw.
    operands: the inputs, then the outputs. results: the outputs as arrays of the user's package.
    """

    shape: Shape
    operands: tuple[Operand, ...]
    results: tuple[Any, ...]
    arguments: CallArguments

    @property
    def gpu(self) -> int:
        """Return the ordinal of the GPU; -1 for the CPU."""
        return driver.current_ordinal() if self.arguments.backend == "cuda" else -1

    @property
    def is_empty(self) -> bool:
        """Return whether the kernel would compute nothing."""
        return 0 in self.shape

    def without_memory(self: C) -> C:
        """Return a copy that keeps no array alive."""
        call_operands = tuple(map(operands.without_memory, self.operands))
        return replace(
            self, operands=call_operands, results=(), arguments=self.arguments.without_memory()
        )

    def with_backend(self: C, backend: str) -> C:
        """Return a copy of this call for another backend."""
        return replace(self, arguments=replace(self.arguments, backend=backend))


Check: TypeAlias = Callable[[tuple[Any, ...]], Any]  # arguments -> KernelCall
Prepare: TypeAlias = Callable[[Any, Any], PreparedLaunch]  # KernelCall, stream -> launch


class GeneratedKernel:
    """A kernel that is generated from the user's expressions for the types of each call."""

    def __init__(self, declaration: KernelDeclaration, name: str, options: CompilerOptions) -> None:
        self._declaration = declaration
        self.name = self.__name__ = name
        self.in_params, self.out_params = declaration.inputs, declaration.outputs
        self.parameters = declaration.parameters
        self.nin, self.nout = len(declaration.inputs), len(declaration.outputs)
        self.nargs = self.nin + self.nout
        self.options = options.words
        self._kernels: dict[tuple[Any, str, int], LoadedKernelText] = {}
        self._codes: dict[tuple[Any, ...], str] = {}
        self._latest_call: KernelCall | None = None
        raw_positions = frozenset(k for k, p in enumerate(declaration.parameters) if p.raw)
        self._call_cache = CallCache(name, self.nin, raw_positions)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def cached_codes(self) -> dict[tuple[Any, ...], str]:
        """Return the generated texts, by the dtypes of the arrays."""
        return dict(self._codes)

    @property
    def cached_code(self) -> str:
        """Return the first generated text."""
        return next(iter(self._codes.values()))

    def inspect(self, language: Language = "cuda", arch: str | None = None) -> str:
        """Return the code of the kernel of the last call."""
        if language not in LANGUAGES:
            raise ValueError(f"the language is one of {', '.join(LANGUAGES)}, not {language!r}")
        if self._latest_call is None:
            raise ValueError(f"{self.name} has no types yet: call it")
        backend = "cpu" if language == "c" else "cuda"
        text = self.text(self._latest_call, backend)
        if language in ("cuda", "c"):
            return text.text
        arch = arch or (driver.arch() if driver.available() else DEFAULT_ARCH)
        with translate_errors(text.user_texts, text.name):
            if language == "ptx":
                return cuda_binary(text, arch, self.options, "ptx").data.decode()
            return disassembly.disassemble(cuda_binary(text, arch, self.options).data)

    # ---- text ----

    def text(self, call: KernelCall, backend: str, **changes: object) -> GeneratedText:
        """Return the text for a call.

        Raises
        ------
        CompileError
            If the text of the user is not supported.
        """
        spec = self._plan(call.with_backend(backend))[0]
        return self._text(replace(spec, **changes), backend)

    def _plan(self, call: Any) -> tuple[Any, ...]:
        """Return the spec of a call, and its sizes."""
        raise NotImplementedError

    def _text(self, spec: Any, backend: str) -> GeneratedText:
        """Generate the text for a spec. Raises CompileError."""
        raise NotImplementedError

    def _load_kernel(self, spec: Any, call: KernelCall) -> LoadedKernelText:
        """Return the compiled kernel of a spec. Raises CompileError, ToolchainError."""
        backend = call.arguments.backend
        key = spec, backend, call.gpu
        kernel = self._kernels.get(key)
        if kernel is None:
            text = self._text(spec, backend)
            self._codes.setdefault(dtypes_of(spec.bound_parameters), text.text)
            kernel = load_text(text, backend, self._declaration.error_names, self.options)
            self._kernels[key] = kernel
        return kernel

    def _bind(
        self, call: KernelCall, stride_kinds: Callable[[str, int, DType], tuple[StrideKind, ...]]
    ) -> tuple[BoundParameter, ...]:
        """Return the parameters with the types of a call.

        ``stride_kinds`` classifies the strides of an array, by its name, position and dtype.
        """
        types = (*call.arguments.types.inputs, *call.arguments.types.outputs)
        pointers = pointer_names(self.in_params, self.out_params)
        bound_parameters = []
        for k, (info, operand) in enumerate(zip(self._declaration.parameters, call.operands)):
            if not isinstance(operand, ArrayArgument):
                bound_parameters.append(BoundParameter(info, types[k], "number"))
            elif info.raw:
                raw_array = BoundParameter(
                    info, types[k], "raw", pointers[k], (), len(operand.shape), operand.contiguous
                )
                bound_parameters.append(raw_array)
            else:
                kinds = stride_kinds(info.name, k, types[k])
                bound_parameters.append(BoundParameter(info, types[k], "array", pointers[k], kinds))
        return tuple(bound_parameters)

    # ---- launch ----

    def _launch(
        self,
        args: tuple[Any, ...],
        key: Key | None,
        stream: Any,
        check: Check,
        preparer: Callable[[Any], Prepare],
    ) -> tuple[Any, ...]:
        """Run a call, or capture it in a graph; return its outputs.

        key: the key in the cache of calls; None if the call cannot be cached.
        preparer: returns the function that prepares the launch of a call in a stream.
        """
        call: KernelCall = check(args)
        self._latest_call = call.without_memory()
        if call.is_empty:
            return call.results
        values, prepare = (*args[: self.nin], *call.results), preparer(call)
        stream = call.arguments.stream(stream)
        capture = graph_capture.current()
        if capture is not None:
            kernel = CapturedLaunch(
                self.name, partial(self._resolve, check, prepare), self._leaf_names
            )
            capture.launch(kernel, LaunchRequest(None, None, stream, 0), values)
            return call.results
        prepared = prepare(call, stream)
        prepared.runner.run(prepared.launch, prepared.arguments())
        if key is not None:
            self._call_cache.add(key, values, prepared, self._output_allocator(call))
        return call.results

    def _resolve(
        self, check: Check, prepare: Prepare, request: LaunchRequest, values: tuple[object, ...]
    ) -> ResolvedLaunch:
        """Prepare a launch of a captured graph. Raises LaunchError."""
        if len(values) != self.nargs:
            raise LaunchError(
                f"{self.name}: a graph node takes all {self.nargs} arguments by position, with the "
                "outputs"
            )
        call = check(values)
        if any(a is not b for a, b in zip(call.operands, call.arguments.inputs)):
            graph_capture.reject(
                f"{self.name} would copy an argument, which an output overlaps: pass the copy"
            )
        prepared = prepare(call, request.stream)
        return resolved_launch(
            prepared.launch,
            prepared.runner,
            values,
            prepared.arguments(),
            writable=frozenset(range(self.nin, self.nargs)),
            backend=call.arguments.backend,
        )

    def _leaf_names(self, _: Signature) -> tuple[str, ...]:
        """Return the names of the arguments in errors; further arguments are internal."""
        return self._declaration.error_names

    def _output_allocator(self, call: KernelCall) -> OutputAllocator:
        """Return what allocates the outputs of further calls like this one."""
        arguments, outputs = call.arguments, call.operands[self.nin :]
        arrays = (k for k, a in enumerate(arguments.inputs) if isinstance(a, ArrayArgument))
        shape = next((a.shape for a in outputs if isinstance(a, ArrayArgument)), call.shape)
        return output_allocator(
            arguments.package, shape, arguments.types.outputs, next(arrays, None)
        )


document_parameters(
    globals(),
    """
language : {"cuda", "ptx", "sass", "c"} | The language.
arch : str | The GPU architecture, such as "sm_90".
call : KernelCall | The checked arguments of a call.
backend : {"cuda", "cpu"} | The back end.
**changes : object | Properties of the kernel to replace.
""",
)

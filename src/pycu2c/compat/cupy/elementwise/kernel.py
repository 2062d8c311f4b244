"""Implement ``ElementwiseKernel``: an operation on each element of its arrays.

A call determines a form, the text and the compiled kernel depend on the form, and the launch on
both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass, replace
from pycu2c.compat.cuda_text.options import options_of
from pycu2c.compat.cupy import inspection, iteration_space, operands
from pycu2c.compat.cupy.bound_parameters import BoundParameter, dtypes_of, pointer_names
from pycu2c.compat.cupy.call_arguments import CallArguments, KernelDeclaration
from pycu2c.compat.cupy.captured_launch import CapturableKernel, PreparedLaunch
from pycu2c.compat.cupy.compiled_kernel import GeneratedText, load_text
from pycu2c.compat.cupy.elementwise.cpu_source import CHUNK, cpu_text
from pycu2c.compat.cupy.elementwise.cuda_source import cuda_text, elements_of_thread
from pycu2c.compat.cupy.elementwise.source_parts import ElementwiseForm, ElementwiseOperation
from pycu2c.compat.cupy.fast_calls import CallCache, CompletedCall, key_of, new_outputs
from pycu2c.compat.cupy.operands import Operand
from pycu2c.compat.cupy.parameter_declarations import ArgumentValueError, ParameterInfo
from pycu2c.compat.cupy.python_functions import SourceOrFunction
from pycu2c.compat.cupy.python_operations import PythonOperation
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.arguments.strides import Shape
from pycu2c.runtime.launch_configuration import Launch, LaunchRequest
from pycu2c.runtime.runner import Runner

_USUAL_BLOCK = 256


@dataclass(frozen=True, slots=True)
class ElementwiseCall:
    """A checked call. ``leaves``: inputs, then outputs; the arrays that are not raw have the shape
    ``shape``."""

    shape: Shape
    leaves: tuple[Operand, ...]
    results: tuple[Any, ...]
    arguments: CallArguments

    def without_memory(self) -> ElementwiseCall:
        """Return a copy that keeps no array alive."""
        leaves = tuple(map(operands.without_memory, self.leaves))
        return replace(self, leaves=leaves, results=(), arguments=self.arguments.without_memory())

    def at(self, backend: str) -> ElementwiseCall:
        """Return this call for another backend."""
        return replace(self, arguments=replace(self.arguments, backend=backend))


@dataclass(frozen=True, slots=True)
class CompiledElementwise:
    """A loaded kernel; ``share``: elements per thread on a GPU, per chunk on the CPU."""

    runner: Runner
    share: int


class ElementwiseKernel:
    """An operation on each element of broadcast arrays.

    ``k(x, y)`` returns new arrays, ``k(x, y, out)`` writes to ``out``.

    in_params, out_params: ``"T x, raw float32 y"``. A letter is a placeholder for a type. ``raw``
    arrays are indexed by the operation, ``y[i]``.
    operation: CUDA C++ text, or a Python function of the inputs that returns the output, or a tuple
    of the outputs.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: SourceOrFunction,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        loop_prep: str = "",
        after_loop: str = "",
        options: Sequence[str] = (),
        type_preamble: str = "",
    ) -> None:
        self._declared = KernelDeclaration(name, in_params, out_params)
        self.in_params, self.out_params = self._declared.inputs, self._declared.outputs
        self.params = self._declared.all
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.operation, self.name, self.__name__ = operation, name, name
        self.reduce_dims, self.preamble = reduce_dims, preamble
        self.no_return, self.return_tuple = no_return, return_tuple
        told = options_of(options)
        self.options = told.words
        top = "\n".join(part for part in (type_preamble, preamble) if part)
        text = operation if isinstance(operation, str) else ""
        self._operation = ElementwiseOperation(name, text, top, loop_prep, after_loop, told.macros)
        self._python = None if isinstance(operation, str) else self._read(operation)
        self._ready: dict[tuple[ElementwiseForm, str, int], CompiledElementwise] = {}
        self._latest: ElementwiseCall | None = None
        self._codes: dict[tuple[Any, ...], str] = {}
        self._quick = CallCache(name)
        self._raw = frozenset(k for k, p in enumerate(self.params) if p.raw)

    def _read(self, function: Any) -> PythonOperation:
        return PythonOperation(function, self.name, self.in_params, self.out_params)

    @property
    def _names(self) -> frozenset[str]:
        """Return the names in the operation."""
        return self._python.names if self._python else self._operation.names

    def __repr__(self) -> str:
        return f"<ElementwiseKernel {self.name}>"

    def __call__(
        self, *args: Any, size: int | None = None, stream: Any = None, block_size: int | None = None
    ) -> Any:
        """Run the kernel.

        size: the number of elements, if all arrays are raw.
        block_size: threads per block on a GPU.
        """
        if block_size is not None and block_size <= 0:
            raise ValueError("block_size must be greater than zero")
        key = key_of(args, size, block_size) if stream is None else None
        outputs = self._quick.outputs(key, args, self.nin) if key else None
        if outputs is None:
            call = self.checked(args, size)
            self._latest = call.without_memory()
            capture, threads = graph_capture.current(), block_size or _USUAL_BLOCK
            count = math.prod(call.shape)
            if count and capture is not None:
                values = (*args[: self.nin], *call.results)
                wanted = LaunchRequest(None, None, call.arguments.stream(stream), 0)
                capture.launch(self._noted(size, threads), wanted, values)
            elif count:
                ran = self._run(call, call.arguments.stream(stream), threads)
                if key:
                    self._quick.learn(key, replace(ran, values=(*args[: self.nin], *call.results)))
            outputs = call.results
        if self.no_return:
            return None
        return outputs if self.return_tuple or self.nout != 1 else outputs[0]

    def _noted(self, size: int | None, threads: int) -> CapturableKernel:
        return CapturableKernel(
            self._declared,
            self.name,
            lambda values: self.checked(values, size),
            lambda call, stream: self.prepared(call, stream, threads),
        )

    def inspect(self, what: inspection.Language = "cuda", arch: str | None = None) -> str:
        """Return the kernel of the last call in a language: "cuda", "c", or, for an architecture
        such as "sm_90", "ptx" or "sass"."""
        backend = inspection.backend_of(what)
        if self._latest is None:
            raise ValueError(f"{self.name} has no types yet: call it")
        form, _ = self._form(self._latest.at(backend))
        return inspection.inspect_text(self._text(form, backend), what, arch, self.options)

    @property
    def cached_codes(self) -> dict[tuple[Any, ...], str]:
        """Return the compiled texts, by the dtypes of the arrays."""
        return dict(self._codes)

    @property
    def cached_code(self) -> str:
        """Return the compiled text, if there is exactly one."""
        return next(iter(self._codes.values()))

    # ---- arguments ----

    def checked(self, args: tuple[Any, ...], size: int | None) -> ElementwiseCall:
        """Check the arguments of a call. Raises LaunchError."""
        arguments = self._declared.parse(args)
        shape = self._shape((*arguments.given, *arguments.out), size)
        raw = [p.name for p in self.out_params if p.raw]
        if raw and not arguments.out and size is None:
            raise ArgumentValueError(
                f"{self.name}: Output array size is Undecided: pass an array for {raw[0]}, or size"
            )
        targets = arguments.out or self._declared.new(arguments, shape)
        leaves = (*self._declared.apart(arguments, targets), *targets)
        return ElementwiseCall(shape, leaves, tuple(a.owner for a in targets), arguments)

    def _shape(self, leaves: Sequence[Operand], size: int | None) -> Shape:
        """Return the shape of the iteration space. Raises ArgumentValueError."""
        filling = [
            (name, a)
            for p, name, a in zip(self.params, self._declared.shown, leaves)
            if isinstance(a, ArrayArgument) and not p.raw
        ]
        if size is not None:
            if filling:
                raise ArgumentValueError(
                    f"{filling[0][0]} decides how many elements there are: Specified 'size' can be "
                    "used only if all of the ndarray are 'raw'"
                )
            return (int(size),)
        if not filling:
            raise ArgumentValueError(f"{self.name}: Loop size is undecided: pass size=…")
        shape = operands.common_shape(filling)
        for name, array in filling:
            if name in self._declared.output_names and array.shape != shape:
                raise ArgumentValueError(
                    f"Out shape is mismatched: {name} has {array.shape}, and the result {shape}"
                )
        return shape

    # ---- launch ----

    def _run(self, call: ElementwiseCall, stream: Any, threads: int) -> CompletedCall:
        found = self.prepared(call, stream, threads)
        found.runner.run(found.launch, found.passed)
        return self._ran(call, found.passed, found.runner, found.launch)

    def prepared(self, call: ElementwiseCall, stream: Any, threads: int) -> PreparedLaunch:
        """Prepare the launch of a call."""
        form, walked = self._form(call)
        backend, size = call.arguments.backend, math.prod(call.shape)
        gpu = driver.current_ordinal() if backend == "cuda" else -1
        ready = self._ready.get((form, backend, gpu))
        if ready is None:
            ready = self._ready[form, backend, gpu] = self._compiled(form, backend)
        block = 1 if backend == "cpu" else threads
        launch = Launch((-(-size // (block * ready.share)), 1, 1), (block, 1, 1), stream, 0)
        passed = (*_reordered_arguments(call, form, walked), size, *walked.shape[1:])
        return PreparedLaunch(launch, passed, ready.runner)

    def _ran(
        self, call: ElementwiseCall, passed: tuple[Any, ...], runner: Runner, launch: Launch
    ) -> CompletedCall:
        """Return what the cache of calls needs."""
        arguments = call.arguments
        like = next(k for k, a in enumerate(arguments.given) if isinstance(a, ArrayArgument))
        outputs = new_outputs(arguments.family, call.shape, arguments.types.outputs, like)
        return CompletedCall(
            (), call.leaves, passed, self.nin, self._raw, runner, launch, outputs, tuple
        )

    def _form(
        self, call: ElementwiseCall
    ) -> tuple[ElementwiseForm, iteration_space.IterationSpace]:
        """Return the form of a call, and its iteration space."""
        filling = [
            a
            for p, a in zip(self.params, call.leaves)
            if isinstance(a, ArrayArgument) and not p.raw
        ]
        names = self._names
        any_raw = any(p.raw for p in self.params)
        walked = iteration_space.iteration_space(
            call.shape,
            [operands.broadcast_strides(a, call.shape) for a in filling],
            in_order=any_raw or bool(names & {"i", "_ind"}),
            join=self.reduce_dims,
        )
        strides = iter(walked.strides)
        rows = (*call.arguments.types.inputs, *call.arguments.types.outputs)
        pointers = pointer_names(self.in_params, self.out_params)
        bounds = tuple(
            _bind(self._operation, p, row, leaf, pointer, strides)
            for p, row, leaf, pointer in zip(self.params, rows, call.leaves, pointers)
        )
        wide = call.arguments.backend == "cuda" and iteration_space.needs_64_bit_index(
            walked, [a.dtype.size for a in filling], math.prod(call.shape)
        )
        return ElementwiseForm(
            bounds, call.arguments.types.placeholders, len(walked.shape), wide
        ), walked

    def _compiled(self, form: ElementwiseForm, backend: str) -> CompiledElementwise:
        text = self._text(form, backend)
        self._codes.setdefault(dtypes_of(form.bounds), text.text)
        share = CHUNK if backend == "cpu" else elements_of_thread(form, self._operation_of(form))
        return CompiledElementwise(
            load_text(text, backend, self._declared.shown, self.options).runner, share
        )

    def _text(self, form: ElementwiseForm, backend: str) -> GeneratedText:
        make = cuda_text if backend == "cuda" else cpu_text
        return make(form, self._operation_of(form))

    def _operation_of(self, form: ElementwiseForm) -> ElementwiseOperation:
        return self._python.operation(form, self._operation) if self._python else self._operation


def _bind(
    operation: ElementwiseOperation,
    info: ParameterInfo,
    row: DType,
    leaf: Any,
    pointer: str,
    strides: Any,
) -> BoundParameter:
    if not isinstance(leaf, ArrayArgument):
        return BoundParameter(info, row, "number")
    if info.raw:
        axes, packed = len(leaf.shape), leaf.contiguous
        return BoundParameter(info, row, "raw", pointer, (), axes, packed)
    own = next(strides)
    return BoundParameter(
        info, row, "array", pointer, iteration_space.stride_kinds(own, row.size, len(own) - 1)
    )


def _reordered_arguments(
    call: ElementwiseCall, form: ElementwiseForm, walked: iteration_space.IterationSpace
) -> list[Argument]:
    """Return the arguments, with the axes of the iteration space."""
    strides = iter(walked.strides)
    return [
        leaf._replace(shape=walked.shape, strides=next(strides), contiguous=False)
        if isinstance(leaf, ArrayArgument) and bound.kind == "array"
        else leaf
        for leaf, bound in zip(call.leaves, form.bounds)
    ]

"""Implement ``ElementwiseKernel``: an operation on each element of its arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pycu2c.base.dtypes import DType
from pycu2c.compat.cuda_text.options import options_of
from pycu2c.compat.cupy import iteration_space, operands
from pycu2c.compat.cupy.bound_parameters import (
    Sizes,
    StrideKind,
    extent_name,
    raw_array_sizes,
    stride_sizes,
)
from pycu2c.compat.cupy.call_arguments import KernelDeclaration
from pycu2c.compat.cupy.compiled_kernel import GeneratedText
from pycu2c.compat.cupy.elementwise.source import (
    ElementwiseOperation,
    ElementwiseSpec,
    elementwise_text,
)
from pycu2c.compat.cupy.fast_calls import PreparedLaunch, key_of
from pycu2c.compat.cupy.generated_kernel import GeneratedKernel, KernelCall, Prepare
from pycu2c.compat.cupy.operands import Operand
from pycu2c.compat.cupy.parameter_declarations import ArgumentValueError, require_c_text
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape
from pycu2c.runtime.launch_configuration import Launch

_DEFAULT_BLOCK = 256


class ElementwiseKernel(GeneratedKernel):
    """An operation on each element of broadcast arrays, as ``cupy.ElementwiseKernel``.

    ``k(x, y)`` returns new arrays, ``k(x, y, out)`` writes to ``out``.

    Parameters
    ----------
    in_params, out_params : str
        Declarations: ``"T x, raw float32 y"``. A letter is a placeholder for a type. The operation
        indexes ``raw`` arrays itself, ``y[i]``.
    operation : str
        CUDA C++ text.
    name : str, optional
        The name of the kernel.
    reduce_dims : bool, optional
        Whether contiguous axes are merged to fewer ones.
    preamble : str, optional
        CUDA C++ before the kernel.
    no_return : bool, optional
        Whether calls return None.
    return_tuple : bool, optional
        Whether calls return a tuple of one output, too.
    loop_prep, after_loop : str, optional
        CUDA C++ before and after the loop over elements.
    options : sequence of str, optional
        Options of the compiler.
    type_preamble : str, optional
        CUDA C++ before ``preamble``.

    Raises
    ------
    CompileError
        By the first call, if the text does not compile.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
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
        require_c_text(operation=operation)
        parsed = options_of(options)
        super().__init__(KernelDeclaration(name, in_params, out_params), name, parsed)
        self.params = self._declaration.parameters
        self.operation, self.reduce_dims, self.preamble = operation, reduce_dims, preamble
        self.no_return, self.return_tuple = no_return, return_tuple
        preambles = "\n".join(part for part in (type_preamble, preamble) if part)
        self._operation = ElementwiseOperation(
            name, operation, preambles, loop_prep, after_loop, parsed.macros
        )

    def __call__(
        self, *args: Any, size: int | None = None, stream: Any = None, block_size: int | None = None
    ) -> Any:
        """Run the kernel.

        size: the number of elements, if all arrays are raw.
        block_size: threads per block on a GPU.

        Returns
        -------
        array or tuple of array
            The outputs.

        Raises
        ------
        LaunchError
            If arguments do not match the declarations.
        """
        if block_size is not None and block_size <= 0:
            raise ValueError("block_size must be greater than zero")
        key = key_of(args, size, block_size) if stream is None else None
        outputs = self._call_cache.launch(key, args) if key else None
        if outputs is None:
            threads = block_size or _DEFAULT_BLOCK
            outputs = self._launch(
                args,
                key,
                stream,
                lambda values: self.check_call(values, size),
                lambda _: self._preparer(threads),
            )
        if self.no_return:
            return None
        return outputs if self.return_tuple or self.nout != 1 else outputs[0]

    # ---- arguments ----

    def check_call(self, args: tuple[Any, ...], size: int | None = None) -> KernelCall:
        """Check the arguments of a call, and allocate its outputs.

        Returns
        -------
        KernelCall
            The checked call.

        Raises
        ------
        LaunchError
            If arguments do not match the declarations.
        """
        arguments = self._declaration.parse(args)
        shape = self._shape((*arguments.inputs, *arguments.out), size)
        raw = [p.name for p in self.out_params if p.raw]
        if raw and not arguments.out and size is None:
            raise ArgumentValueError(
                f"{self.name}: Output array size is Undecided: pass an array for {raw[0]}, or size"
            )
        targets = arguments.out or self._declaration.new_outputs(arguments, shape)
        call_operands = (*self._declaration.unaliased_inputs(arguments, targets), *targets)
        return KernelCall(shape, call_operands, tuple(a.owner for a in targets), arguments)

    def _shape(self, call_operands: Sequence[Operand], size: int | None) -> Shape:
        """Return the shape of the iteration space. Raises ArgumentValueError."""
        arrays = [
            (name, a)
            for p, name, a in zip(self.params, self._declaration.error_names, call_operands)
            if isinstance(a, ArrayArgument) and not p.raw
        ]
        if size is not None:
            if arrays:
                raise ArgumentValueError(
                    "Specified 'size' can be used only if all of the ndarray are 'raw', and "
                    f"{arrays[0][0]} is not"
                )
            return (int(size),)
        if not arrays:
            raise ArgumentValueError(
                f"Loop size is undecided. {self.name} has no argument that decides it: pass size=…"
            )
        shape = operands.common_shape(arrays)
        for name, array in arrays:
            if name in self._declaration.output_names and array.shape != shape:
                raise ArgumentValueError(
                    f"Out shape is mismatched: {name} has {array.shape}, and the result {shape}"
                )
        return shape

    # ---- launch ----

    def _preparer(self, threads: int) -> Prepare:
        """Return the function that prepares launches with this number of threads per block."""

        def prepare(call: KernelCall, stream: Any) -> PreparedLaunch:
            spec, sizes = self._plan(call)
            kernel, size = self._load_kernel(spec, call), sizes["_size"]
            block = 1 if call.arguments.backend == "cpu" else threads
            blocks = -(-size // (block * kernel.elements_per_thread))
            launch = Launch((blocks, 1, 1), (block, 1, 1), stream, 0)
            passed = tuple(sizes[name] for name in kernel.sizes)
            return PreparedLaunch(launch, call.operands, passed, kernel.runner)

        return prepare

    def _plan(self, call: KernelCall) -> tuple[ElementwiseSpec, Sizes]:
        """Return what the text depends on, and the sizes that it may use."""
        arrays = [
            a
            for p, a in zip(self.params, call.operands)
            if isinstance(a, ArrayArgument) and not p.raw
        ]
        names = self._operation.names
        any_raw = any(p.raw for p in self.params)
        space = iteration_space.iteration_space(
            call.shape,
            [operands.broadcast_strides(a, call.shape) for a in arrays],
            in_order=any_raw or bool(names & {"i", "_ind"}),
            merge_axes=self.reduce_dims,
        )
        strides, last = iter(space.strides), len(space.shape) - 1
        sizes = {"_size": math.prod(call.shape)}
        sizes |= {extent_name(axis): n for axis, n in enumerate(space.shape)}

        def stride_kinds(name: str, _: int, dtype: DType) -> tuple[StrideKind, ...]:
            array_strides = next(strides)
            sizes.update(stride_sizes(name, array_strides, dtype.size))
            return iteration_space.stride_kinds(array_strides, dtype.size, last)

        bound_parameters = self._bind(call, stride_kinds)
        sizes |= raw_array_sizes(bound_parameters, call.operands)
        needs_index64 = call.arguments.backend == "cuda" and iteration_space.needs_64_bit_index(
            space, [a.dtype.size for a in arrays], sizes["_size"]
        )
        placeholders = call.arguments.types.placeholders
        spec = ElementwiseSpec(bound_parameters, placeholders, len(space.shape), needs_index64)
        return spec, sizes

    def _text(self, spec: ElementwiseSpec, backend: str) -> GeneratedText:
        return elementwise_text(spec, self._operation, backend)


document_parameters(
    globals(),
    """
*args : array or number | The inputs, then optionally the outputs, of any shapes that broadcast.
args : tuple | The inputs, then optionally the outputs.
size : int | The number of elements, if no argument determines it.
stream : Stream or int | The stream; by default the current one.
block_size : int | Threads of a block.
""",
)

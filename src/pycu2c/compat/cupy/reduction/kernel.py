"""Implement ``ReductionKernel``: map elements, reduce them along axes, and map the results."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from pycu2c.base import graph_capture
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass, replace
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
from pycu2c.compat.cupy.fast_calls import PreparedLaunch, key_of
from pycu2c.compat.cupy.generated_kernel import GeneratedKernel, KernelCall, Prepare
from pycu2c.compat.cupy.parameter_declarations import ArgumentValueError
from pycu2c.compat.cupy.reduction.iteration_space import (
    Partition,
    partition_for_cpu,
    partition_for_gpu,
    reduces_columns,
    reduction_axes,
    vector_width,
)
from pycu2c.compat.cupy.reduction.source import (
    LAUNCH_SIZES,
    THREADS,
    ReductionSpec,
    reduction_text,
    user_source,
)
from pycu2c.compat.cupy.reduction.workspace import GraphWorkspace, Workspace, workspace_for
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.strides import Shape
from pycu2c.runtime.launch_configuration import Launch

_DEFAULT_PROCESSORS = 132  # multiprocessors, without a GPU
_INDEX_NAMES = frozenset(("_J", "_i", "_j"))


@dataclass(frozen=True, slots=True)
class ReductionCall(KernelCall):
    """A checked call of a reduction.

    output_strides: the strides of each output along the axes that are not reduced.
    """

    reduced_axes: tuple[int, ...]
    output_strides: tuple[Shape, ...]

    @property
    def is_empty(self) -> bool:
        """Return whether there are no elements to reduce."""
        outputs = self.operands[len(self.arguments.inputs) :]
        return not any(a.size for a in outputs if isinstance(a, ArrayArgument))


def _normalize_axes(axis: Any, count: int, name: str) -> tuple[int, ...]:
    """Return the reduced axes in order. Raises ArgumentValueError."""
    if axis is None:
        return tuple(range(count))
    axes = []
    for item in axis if isinstance(axis, (tuple, list)) else (axis,):
        index = operator.index(item)
        if not -count <= index < count:
            raise np.exceptions.AxisError(index, count, name)
        axes.append(index % count)
    if len(set(axes)) != len(axes):
        raise ArgumentValueError(f"{name}: duplicate value in 'axis': {axis}")
    return tuple(sorted(axes))


class ReductionKernel(GeneratedKernel):
    """A reduction of arrays along axes, as ``cupy.ReductionKernel``: ``k(x, y, axis=1)``.

    Parameters
    ----------
    in_params, out_params : str
        Declarations, as for ``ElementwiseKernel``.
    map_expr : str
        Maps the elements.
    reduce_expr : str
        Combines two values ``a`` and ``b``, in any order.
    post_map_expr : str, optional
        Maps a result ``a`` to the outputs: ``"out = sqrt(a)"``.
    identity : number or str, optional
        The result for no elements; without it, empty reductions are errors.
    name : str, optional
        The name of the kernel.
    reduce_type : str, optional
        The type of intermediate values, if it is not that of the first output.
    reduce_dims : bool, optional
        Whether contiguous axes are merged to fewer ones.
    preamble : str, optional
        CUDA C++ before the kernel.
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
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str = "",
        identity: object = None,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
        type_preamble: str = "",
    ) -> None:
        declaration = KernelDeclaration(name, in_params, out_params)
        if not declaration.outputs:
            raise ValueError(f"{name}: a reduction has an output: 'float32 out'")
        expressions = (map_expr, reduce_expr, post_map_expr)
        preambles = "\n".join(part for part in (type_preamble, preamble) if part)
        parsed = options_of(options)
        source = user_source(declaration, expressions, identity, reduce_type, preambles)
        self._source = replace(source, macros=parsed.macros)
        super().__init__(declaration, self._source.name, parsed)
        self.map_expr, self.reduce_expr = map_expr, reduce_expr
        self.post_map_expr, self.identity = self._source.post_map_expr, self._source.identity
        self.reduce_type = self._source.reduce_type
        self.reduce_dims, self.preamble = reduce_dims, preamble

    def __call__(
        self,
        *args: Any,
        axis: int | Sequence[int] | None = None,
        out: Any = None,
        keepdims: bool = False,
        stream: Any = None,
    ) -> Any:
        """Reduce along axes.

        Returns
        -------
        array or tuple of array
            The outputs.

        Raises
        ------
        LaunchError
            If arguments do not match the declarations.
        """
        if out is not None:
            if len(args) > self.nin:
                raise ArgumentValueError(
                    "cannot specify 'out' as both a positional and keyword argument"
                )
            args = (*args, *(out if isinstance(out, tuple) else (out,)))
        axis = tuple(axis) if isinstance(axis, list) else axis
        key = key_of(args, axis, keepdims) if stream is None else None
        outputs = self._call_cache.launch(key, args) if key else None
        if outputs is None:
            outputs = self._launch(
                args,
                key,
                stream,
                lambda values: self.check_call(values, axis, keepdims=keepdims),
                self._preparer,
            )
        return outputs[0] if self.nout == 1 else outputs

    # ---- arguments ----

    def check_call(self, args: Sequence[Any], axis: Any, *, keepdims: bool) -> ReductionCall:
        """Check the arguments of a call, and allocate its outputs.

        Returns
        -------
        ReductionCall
            The checked call.

        Raises
        ------
        LaunchError
            If arguments do not match the declarations.
        """
        arguments = self._declaration.parse(args)
        arrays = [
            (name, a)
            for p, name, a in zip(self.in_params, self._declaration.error_names, arguments.inputs)
            if isinstance(a, ArrayArgument) and not p.raw
        ]
        if not arrays:
            raise ArgumentValueError(
                f"Loop size is undecided. {self.name} reduces arrays that are not raw: pass one"
            )
        shape = operands.common_shape(arrays)
        reduced = _normalize_axes(axis, len(shape), self.name)
        result = tuple(
            1 if k in reduced else n for k, n in enumerate(shape) if keepdims or k not in reduced
        )
        for p, name, array in zip(self.out_params, self._declaration.output_names, arguments.out):
            if array.shape != result and not p.raw:
                raise ArgumentValueError(
                    f"Out shape is mismatched: {name} has {array.shape}, and the result {result}"
                )
        out = arguments.out or self._declaration.new_outputs(arguments, result)
        if not self._source.identity and 0 in shape and 0 not in result:
            raise ArgumentValueError(
                f"zero-size array to reduction operation {self.name} which has no identity"
            )
        kept = [k for k in range(len(result)) if not (keepdims and k in reduced)]
        output_strides = tuple(tuple(a.strides[k] for k in kept if a.shape) for a in out)
        call_operands = (*self._declaration.unaliased_inputs(arguments, out), *out)
        results = tuple(a.owner for a in out)
        return ReductionCall(shape, call_operands, results, arguments, reduced, output_strides)

    # ---- launch ----

    def _preparer(self, call: ReductionCall) -> Prepare:
        """Return the function that prepares a launch.

        Launches in a graph use a workspace of their own, which this function allocates.
        """
        gpu = call.gpu
        graph_workspace = GraphWorkspace(gpu) if graph_capture.current() is not None else None

        def prepare(call: ReductionCall, stream: Any) -> PreparedLaunch:
            spec, sizes, partition = self._plan(call)
            kernel = self._load_kernel(spec, call)
            threads = 1 if gpu < 0 else THREADS
            launch = Launch((partition.blocks, 1, 1), (threads, 1, 1), stream, 0)
            partials = sizes["_row_count"] * partition.splits if partition.splits > 1 else 0
            make_workspace = partial(
                _allocate_workspace, kernel.partial_size * partials, gpu, stream, graph_workspace
            )
            passed = tuple(sizes[name] for name in kernel.sizes)
            return PreparedLaunch(launch, call.operands, passed, kernel.runner, make_workspace)

        return prepare

    def _plan(self, call: ReductionCall) -> tuple[ReductionSpec, Sizes, Partition]:
        """Return the spec, the sizes that the text may use, and the partition into blocks."""
        arrays = [
            a
            for p, a in zip(self.in_params, call.operands)
            if isinstance(a, ArrayArgument) and not p.raw
        ]
        axes = reduction_axes(
            call.shape,
            [operands.broadcast_strides(a, call.shape) for a in arrays],
            call.output_strides,
            call.reduced_axes,
            in_order=bool(self._source.names & _INDEX_NAMES),
            merge_axes=self.reduce_dims,
        )
        by_columns = reduces_columns(axes, len(arrays))
        on_cpu = call.arguments.backend == "cpu"
        if on_cpu:
            partition = partition_for_cpu(axes, by_columns)
        else:
            itemsize = min(a.dtype.size for a in arrays)
            pack = 1 if by_columns else vector_width(axes, arrays)
            partition = partition_for_gpu(axes, by_columns, pack, itemsize, _processors())
        launch_sizes = axes.rows, axes.length, partition.splits, partition.piece, partition.group
        sizes = dict(zip(LAUNCH_SIZES, launch_sizes))
        extents = (*axes.kept.shape, *axes.reduced.shape)
        sizes |= {extent_name(axis): n for axis, n in enumerate(extents)}
        kept, reduced = iter(axes.kept.strides), iter(axes.reduced.strides)

        def stride_kinds(name: str, position: int, dtype: DType) -> tuple[StrideKind, ...]:
            is_input = position < self.nin
            strides = (*next(kept), *(next(reduced) if is_input else ()))
            sizes.update(stride_sizes(name, strides, dtype.size))
            last = len(strides) - 1 if is_input and not by_columns else len(axes.kept.shape) - 1
            return iteration_space.stride_kinds(strides, dtype.size, last)

        bound_parameters = self._bind(call, stride_kinds)
        sizes |= raw_array_sizes(bound_parameters, call.operands)
        units = [1] * len(arrays)  # offsets in a row are counted in bytes
        spec = ReductionSpec(
            bound_parameters,
            self.nin,
            call.arguments.types.placeholders,
            len(axes.kept.shape),
            len(axes.reduced.shape),
            by_columns,
            partition.lanes,
            partition.pack,
            not on_cpu and iteration_space.needs_64_bit_index(axes.reduced, units, axes.length),
        )
        return spec, sizes, partition

    def _text(self, spec: ReductionSpec, backend: str) -> GeneratedText:
        return reduction_text(spec, self._source, backend)


def _allocate_workspace(
    size: int, gpu: int, stream: Any, graph_workspace: GraphWorkspace | None
) -> Workspace:
    if graph_workspace is not None:
        return graph_workspace.with_size(size)
    return workspace_for(size, gpu, stream)


def _processors() -> int:
    return kernel_api.multiprocessor_count() if driver.available() else _DEFAULT_PROCESSORS


document_parameters(
    globals(),
    """
*args : array or number | The inputs, then optionally the output, of any shapes that broadcast.
args : sequence | The inputs, then optionally the output.
axis : int or tuple of int | The axes to reduce; by default all.
out : array | The array for the result.
keepdims : bool | Whether reduced axes remain, with the length 1.
stream : Stream or int | The stream; by default the current one.
""",
)

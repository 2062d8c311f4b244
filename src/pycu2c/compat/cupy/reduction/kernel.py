"""Implement ``ReductionKernel``: map elements, reduce them along axes, and map the results.

A call determines a form, the text and the compiled kernel depend on the form, and the launch on
both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.limits import INDEX32_LIMIT
from pycu2c.compat.cuda_text.options import options_of
from pycu2c.compat.cupy import inspection, iteration_space, operands
from pycu2c.compat.cupy.bound_parameters import BoundParameter, dtypes_of, pointer_names
from pycu2c.compat.cupy.call_arguments import CallArguments, KernelDeclaration
from pycu2c.compat.cupy.captured_launch import CapturableKernel, PreparedLaunch
from pycu2c.compat.cupy.compiled_kernel import LoadedKernelText, load_text
from pycu2c.compat.cupy.fast_calls import CallCache, CompletedCall, Key, key_of, new_outputs
from pycu2c.compat.cupy.parameter_declarations import ArgumentValueError
from pycu2c.compat.cupy.python_functions import SourceOrFunction
from pycu2c.compat.cupy.reduction.calls import ReductionCall, normalize_axes, reordered_arguments
from pycu2c.compat.cupy.reduction.cpu_source import cpu_reduction
from pycu2c.compat.cupy.reduction.cuda_source import THREADS, cuda_reduction
from pycu2c.compat.cupy.reduction.iteration_space import (
    Partition,
    ReductionAxes,
    partition_for_cpu,
    partition_for_gpu,
    reduces_columns,
    reduction_axes,
    vector_width,
)
from pycu2c.compat.cupy.reduction.operation import ReductionSource
from pycu2c.compat.cupy.reduction.source_parts import Expressions, ReductionForm
from pycu2c.compat.cupy.reduction.workspace import GraphWorkspace, Workspace, workspace_for
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.launch_configuration import Launch, LaunchRequest

_USUAL_PROCESSORS = 132  # without a GPU
_PLACES = frozenset(("_J", "_i", "_j"))


class ReductionKernel:
    """A reduction of arrays along axes: ``k(x, y, axis=1)``.

    map_expr: maps the elements. reduce_expr: combines two values ``a`` and ``b``, in any order.
    post_map_expr: maps a result ``a`` to the outputs, ``"out = sqrt(a)"``. Each is text, or a
    Python function of the same values.
    identity: the result for no elements; without it, empty reductions are errors.
    reduce_type: the type of intermediate values, if it is not that of the first output.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: SourceOrFunction,
        reduce_expr: SourceOrFunction,
        post_map_expr: SourceOrFunction = "",
        identity: object = None,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
        type_preamble: str = "",
    ) -> None:
        self._declared = KernelDeclaration(name, in_params, out_params)
        if not self._declared.outputs:
            raise ValueError(f"{name}: a reduction has an output: 'float32 out'")
        given = (map_expr, reduce_expr, post_map_expr)
        top = "\n".join(part for part in (type_preamble, preamble) if part)
        told = options_of(options)
        self._words = ReductionSource(
            self._declared, given, identity, reduce_type, top, told.macros
        )
        self.name = self.__name__ = self._words.name
        self.in_params, self.out_params = self._declared.inputs, self._declared.outputs
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.map_expr, self.reduce_expr = map_expr, reduce_expr
        self.post_map_expr, self.identity = self._words.finished, self._words.identity
        self.reduce_type = self._words.reduce_type
        self.reduce_dims, self.preamble = reduce_dims, preamble
        self.options = told.words
        self._kernels: dict[tuple[ReductionForm, str, int], LoadedKernelText] = {}
        self._latest: ReductionCall | None = None
        self._codes: dict[tuple[Any, ...], str] = {}
        self._quick = CallCache(self.name)
        self._raw = frozenset(k for k, p in enumerate(self._declared.all) if p.raw)

    def __repr__(self) -> str:
        return f"<ReductionKernel {self.name}>"

    def __call__(
        self,
        *args: Any,
        axis: int | Sequence[int] | None = None,
        out: Any = None,
        keepdims: bool = False,
        stream: Any = None,
    ) -> Any:
        """Reduce along ``axis``, or all axes.

        out: the array for the result. keepdims: keep reduced axes with length 1.
        """
        if out is not None:
            if len(args) > self.nin:
                raise ArgumentValueError(
                    "cannot specify 'out' as both a positional and keyword argument"
                )
            args = (*args, *(out if isinstance(out, tuple) else (out,)))
        along = tuple(axis) if isinstance(axis, list) else axis
        key = key_of(args, along, keepdims) if stream is None else None
        outputs = self._quick.outputs(key, args, self.nin) if key else None
        if outputs is None:
            call = self._checked(args, axis, keepdims=keepdims)
            self._latest = call.without_memory()
            values = (*args[: self.nin], *call.results)
            if any(a.size for a in call.leaves[self.nin :] if isinstance(a, ArrayArgument)):
                self._launch(call, values, call.arguments.stream(stream), key, (axis, keepdims))
            outputs = call.results
        return outputs[0] if self.nout == 1 else outputs

    def inspect(self, what: inspection.Language = "cuda", arch: str | None = None) -> str:
        """Return the kernel of the last call in a language: "cuda", "c", or, for an architecture
        such as "sm_90", "ptx" or "sass"."""
        backend = inspection.backend_of(what)
        if self._latest is None:
            raise ValueError(f"{self.name} has no types yet: call it")
        _, form, _ = self._planned(self._latest.at(backend))
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

    def _checked(self, args: Sequence[Any], axis: Any, *, keepdims: bool) -> ReductionCall:
        arguments = self._declared.parse(args)
        filling = [
            (name, a)
            for p, name, a in zip(self.in_params, self._declared.shown, arguments.given)
            if isinstance(a, ArrayArgument) and not p.raw
        ]
        if not filling:
            raise ArgumentValueError(f"{self.name}: Loop size is undecided: all arrays are raw")
        shape = operands.common_shape(filling)
        reduced = normalize_axes(axis, len(shape), self.name)
        result = tuple(
            1 if k in reduced else n for k, n in enumerate(shape) if keepdims or k not in reduced
        )
        for p, name, array in zip(self.out_params, self._declared.output_names, arguments.out):
            if array.shape != result and not p.raw:
                raise ArgumentValueError(
                    f"Out shape is mismatched: {name} has {array.shape}, and the result {result}"
                )
        out = arguments.out or self._declared.new(arguments, result)
        if not self._words.identity and 0 in shape and 0 not in result:
            raise ArgumentValueError(
                f"zero-size array to reduction operation {self.name} which has no identity"
            )
        kept = [k for k in range(len(result)) if not (keepdims and k in reduced)]
        targets = tuple(tuple(a.strides[k] for k in kept if a.shape) for a in out)
        leaves = (*self._declared.apart(arguments, out), *out)
        return ReductionCall(
            shape, reduced, leaves, targets, tuple(a.owner for a in out), arguments
        )

    # ---- launch ----

    def _launch(
        self, call: ReductionCall, values: tuple[Any, ...], stream: Any, key: Key | None, how: Any
    ) -> None:
        """Run or capture a call; ``how``: the axis, and whether axes are kept."""
        capture = graph_capture.current()
        if capture is not None:
            capture.launch(self._noted(call, *how), LaunchRequest(None, None, stream, 0), values)
            return
        gpu = _gpu_of(call)
        found = self._prepared(call, stream, lambda size: workspace_for(size, gpu, stream))
        found.runner.run(found.launch, found.passed)
        if key:
            self._quick.learn(key, self._ran(call, found, values))

    def _noted(self, call: ReductionCall, axis: Any, keepdims: bool) -> CapturableKernel:
        workspace = GraphWorkspace(_gpu_of(call))
        return CapturableKernel(
            self._declared,
            self.name,
            lambda values: self._checked(values, axis, keepdims=keepdims),
            lambda call, stream: self._prepared(call, stream, workspace.of),
        )

    def _prepared(
        self, call: ReductionCall, stream: Any, workspace_of: Callable[[int], Workspace]
    ) -> PreparedLaunch:
        """Prepare the launch of a call; ``workspace_of`` allocates bytes and counters."""
        backend, gpu = call.arguments.backend, _gpu_of(call)
        axes, form, cut = self._planned(call)
        kernel = self._kernels.get((form, backend, gpu))
        if kernel is None:
            kernel = self._kernels[form, backend, gpu] = self._loaded(form, call.arguments)
        on_cpu = backend == "cpu"
        launch = Launch((cut.blocks, 1, 1), (1 if on_cpu else THREADS, 1, 1), stream, 0)
        count = axes.rows * cut.splits if cut.splits > 1 else 0
        numbers = (axes.rows, axes.length, cut.splits, cut.piece, cut.group)
        extents = (*axes.kept.shape, *axes.reduced.shape)
        make_workspace = partial(workspace_of, kernel.size_of_part * count)
        passed = (
            *reordered_arguments(call, form, axes),
            *numbers,
            *extents,
            *map(describe, make_workspace()),
        )
        return PreparedLaunch(launch, passed, kernel.runner, make_workspace)

    def _ran(
        self, call: ReductionCall, found: PreparedLaunch, values: tuple[Any, ...]
    ) -> CompletedCall:
        """Return what the cache of calls needs."""
        arguments = call.arguments
        like = next(k for k, a in enumerate(arguments.given) if isinstance(a, ArrayArgument))
        first = call.leaves[self.nin]
        assert isinstance(first, ArrayArgument)
        outputs = new_outputs(arguments.family, first.shape, arguments.types.outputs, like)
        how = (
            found.passed,
            self.nin,
            self._raw,
            found.runner,
            found.launch,
            outputs,
            found.make_workspace,
        )
        return CompletedCall(values, call.leaves, *how)

    def _planned(self, call: ReductionCall) -> tuple[ReductionAxes, ReductionForm, Partition]:
        """Return the iteration spaces, the form, and the partition into blocks."""
        arrays = [
            a
            for p, a in zip(self.in_params, call.leaves)
            if isinstance(a, ArrayArgument) and not p.raw
        ]
        axes = reduction_axes(
            call.shape,
            [operands.broadcast_strides(a, call.shape) for a in arrays],
            call.targets,
            call.reduced,
            in_order=bool(self._words.names & _PLACES),
            join=self.reduce_dims,
        )
        columns = reduces_columns(axes, len(arrays))
        if call.arguments.backend == "cpu":
            cut = partition_for_cpu(axes, columns)
        else:
            least = min(a.dtype.size for a in arrays)
            pack = 1 if columns else vector_width(axes, arrays)
            cut = partition_for_gpu(axes, columns, pack, least, _processors())
        return axes, self._form(call, axes, cut, columns=columns), cut

    def _form(
        self, call: ReductionCall, axes: ReductionAxes, cut: Partition, *, columns: bool
    ) -> ReductionForm:
        kept, reduced = iter(axes.kept.strides), iter(axes.reduced.strides)
        rows = (*call.arguments.types.inputs, *call.arguments.types.outputs)
        pointers = pointer_names(self.in_params, self.out_params)
        bounds = []
        infos = (*self.in_params, *self.out_params)
        for k, (info, row, leaf) in enumerate(zip(infos, rows, call.leaves)):
            if not isinstance(leaf, ArrayArgument):
                bounds.append(BoundParameter(info, row, "number"))
            elif info.raw:
                axes_of_raw = len(leaf.shape)
                bounds.append(
                    BoundParameter(info, row, "raw", pointers[k], (), axes_of_raw, leaf.contiguous)
                )
            else:
                strides = (*next(kept), *(next(reduced) if k < self.nin else ()))
                last = len(axes.kept.shape) - 1 if columns or k >= self.nin else len(strides) - 1
                steps = iteration_space.stride_kinds(strides, row.size, last)
                bounds.append(BoundParameter(info, row, "array", pointers[k], steps))
        wide = call.arguments.backend == "cuda" and self._is_wide(axes)
        return ReductionForm(
            tuple(bounds),
            self.nin,
            call.arguments.types.placeholders,
            len(axes.kept.shape),
            len(axes.reduced.shape),
            columns,
            cut.lanes,
            cut.pack,
            wide,
        )

    @staticmethod
    def _is_wide(axes: ReductionAxes) -> bool:
        """Return whether indices in a row exceed 32 bits."""
        reach = [
            sum((n - 1) * abs(s) for n, s in zip(axes.reduced.shape, strides))
            for strides in axes.reduced.strides
        ]
        return max(axes.length, *reach, 0) >= INDEX32_LIMIT

    def _loaded(self, form: ReductionForm, arguments: CallArguments) -> LoadedKernelText:
        text = self._text(form, arguments.backend)
        self._codes.setdefault(dtypes_of(form.bounds), text.text)
        return load_text(text, arguments.backend, self._declared.shown, self.options)

    def _text(self, form: ReductionForm, backend: str) -> Any:
        written: Expressions = self._words.expressions(form)
        return cuda_reduction(form, written) if backend == "cuda" else cpu_reduction(form, written)


def _gpu_of(call: ReductionCall) -> int:
    """Return the ordinal of the GPU; -1 for the CPU."""
    return driver.current_ordinal() if call.arguments.backend == "cuda" else -1


def _processors() -> int:
    return driver.multiprocessor_count() if driver.available() else _USUAL_PROCESSORS

"""Export elementwise and reduction kernels of ``pycu2c.cupy``, for C-contiguous arrays.

The kernel classes generate the texts for a call with small arrays of the types. The launch function
computes the grid from the shapes of its arrays (``runtime/inferred_grids.h``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from pycu2c.aot.cuda_text_kernels import cpp_flags, isolated_cpp
from pycu2c.aot.exported_library import (
    ExportedArgument,
    ExportedKernel,
    ExportedSignature,
    ExportError,
    InferredGrid,
    KernelFunction,
    KernelRequest,
    TargetName,
    TranslationUnit,
    Variant,
    c_name,
    check_arguments,
)
from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.parameters import ArgumentPart, OverlapRule, Parameter
from pycu2c.base.records import replace
from pycu2c.base.types import Array, Scalar, Signature
from pycu2c.compat.cuda_text.options import options_of
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.compat.cupy import parameter_declarations
from pycu2c.compat.cupy.compiled_kernel import (
    GeneratedText,
    cpu_binary,
    cuda_binary,
    translate_errors,
)
from pycu2c.compat.cupy.elementwise.kernel import ElementwiseKernel
from pycu2c.compat.cupy.parameter_declarations import ParameterInfo
from pycu2c.compat.cupy.reduction.kernel import ReductionKernel
from pycu2c.compat.cupy.reduction.source import LAUNCH_SIZES, WORKSPACE
from pycu2c.toolchain.nvrtc.flags import BinaryKind

ElementwiseOrReduction: TypeAlias = ElementwiseKernel | ReductionKernel
_Typed: TypeAlias = list[tuple[ParameterInfo, Array | Scalar]]
_Texts: TypeAlias = Mapping[TargetName, GeneratedText]
_NUMBER = Scalar(dtypes.INT64)
_GPU_THREADS = 256
_FIELDS = {  # of struct reduction, for the parameters of the text
    "_row_count": "rows",
    "_row_length": "length",
    "_part_count": "parts",
    "_part_length": "part_length",
    "_rows_per_group": "rows_of_group",
    "_partials": "values",
    "_finished_blocks": "counters",
    "_n0": "rows",
    "_n1": "length",
    "_size": "size",  # of struct elementwise
}
_REDUCTION = tuple(dict.fromkeys(_FIELDS[name] for name in [*LAUNCH_SIZES, *WORKSPACE]))
# an example length, and the GPU threads, for the three row lengths of runtime/inferred_grids.h
_ROWS = ((8, 8), (100, 32), (1000, 256))


def export_elementwise_or_reduction(
    library: str,
    unit_count: int,
    requests: Sequence[KernelRequest[ElementwiseOrReduction]],
    targets: Sequence[TargetName],
) -> tuple[list[TranslationUnit], list[ExportedKernel]]:
    """Export one kernel.

    The parameters are those of ``export_cuda_text``. Raises ExportError, CompileError.
    """
    kernel = requests[0].kernel
    typed = _with_types(kernel, requests[0].signatures)
    arguments = [
        ExportedArgument(
            c_name(p.name), t, not p.is_const, has_any_axes=isinstance(t, Array) and not p.raw
        )
        for p, t in typed
    ]
    check_arguments(kernel.name, arguments)
    texts = [
        {target: _text(kernel, typed, rows, target) for target in targets}
        for rows in (_ROWS if isinstance(kernel, ReductionKernel) else _ROWS[:1])
    ]
    launch = _launch(kernel, typed, texts[0])
    names = [f"{library}_{kernel.name}{f'__{k}' if k else ''}" for k in range(len(texts))]
    units = [_unit(library, name, kernel, each) for name, each in zip(names, texts)]
    variants = [
        Variant(
            LaunchAssumptions(), _functions(kernel, f"{name}_run", each, unit_count + k, launch)
        )
        for k, (name, each) in enumerate(zip(names, texts), 1)
    ]
    implicit = [ExportedArgument(f, _NUMBER, False, is_implicit=True) for f in launch.implicit]
    exported = ExportedKernel(
        kernel.name,
        kernel.operation
        if isinstance(kernel, ElementwiseKernel)
        else f"map: {kernel.map_expr}\nreduce: {kernel.reduce_expr}\npost: {kernel.post_map_expr}",
        "an ElementwiseKernel" if isinstance(kernel, ElementwiseKernel) else "a ReductionKernel",
        (ExportedSignature(kernel.name, (*arguments, *implicit), tuple(variants)),),
        tuple(_overlap_rules(kernel, arguments)),
        inferred_grid=launch,
    )
    return units, [exported]


def _with_types(kernel: ElementwiseOrReduction, signatures: Sequence[Signature]) -> _Typed:
    """Return the parameters with their types: of the signature, or of the declaration."""
    types: list[Array | Scalar] = [
        replace(t, ndim=1, layout="C") if isinstance(t, Array) else t
        for signature in signatures
        for t in signature.parameters
        if isinstance(t, Array | Scalar)
    ]
    if not signatures:
        declared = (p.dtype for p in kernel.parameters if p.dtype is not None)
        types = [Array(parameter_declarations.number_dtype(d), 1, "C") for d in declared]
    if len(signatures) > 1 or len(types) != len(kernel.parameters):
        names = ", ".join(p.name for p in kernel.parameters)
        raise ExportError(
            f"{kernel.name} takes one --signature '{kernel.name}=...', with a type for each of "
            f'({names}), such as "float32[:], float32"'
        )
    if not any(isinstance(t, Array) and not p.raw for p, t in zip(kernel.parameters, types)):
        raise ExportError(f"{kernel.name} has only raw arrays, which do not determine its size")
    return list(zip(kernel.parameters, types))


def _overlap_rules(
    kernel: ElementwiseOrReduction, arguments: Sequence[ExportedArgument]
) -> Iterator[OverlapRule]:
    """Yield the rules for overlap: only an elementwise kernel may have an input as its output."""
    may_be_same = isinstance(kernel, ElementwiseKernel)
    arrays = [k for k, argument in enumerate(arguments) if argument.has_any_axes]
    for output in arrays:
        inputs = (k for k in arrays if k < kernel.nin <= output)
        yield from (OverlapRule(output, k, may_be_same) for k in inputs)


def _launch(kernel: ElementwiseOrReduction, typed: _Typed, texts: _Texts) -> InferredGrid:
    if isinstance(kernel, ElementwiseKernel):
        cpu, gpu = (texts[t].elements_per_thread if t in texts else 1 for t in ("cpu", "cuda"))
        state = {"cpu_block_elements": cpu, "gpu_block_elements": gpu * _GPU_THREADS}
        return InferredGrid("elementwise", state, ("size",))
    by_name = {parameter_declarations.c_name(dtype): dtype for dtype in dtypes.DTYPES}
    by_name |= {p.ctype: t.dtype for p, t in typed if p.dtype is None}
    if kernel.reduce_type not in by_name:
        raise ExportError(f"{kernel.name} reduces {kernel.reduce_type}, which is not a number")
    state = {
        "inputs": kernel.nin,
        "outputs_end": kernel.nargs,
        "has_identity": int(bool(kernel.identity)),
        "part_size": 2 * by_name[kernel.reduce_type].size,  # without an identity, with a flag
    }
    return InferredGrid("reduction", state, _REDUCTION)


# ---- texts ----


def _text(
    kernel: ElementwiseOrReduction, typed: _Typed, rows: tuple[int, int], target: TargetName
) -> GeneratedText:
    """Generate the text for arrays of these types. Raises CompileError, ExportError."""
    length, threads = rows
    values: list[object] = []
    for position, (p, t) in enumerate(typed):
        is_matrix = isinstance(kernel, ReductionKernel) and position < kernel.nin and not p.raw
        zeros = np.zeros((2, length) if is_matrix else 2, t.dtype.numpy)
        values.append(zeros if isinstance(t, Array) else zeros[0])
    try:
        if isinstance(kernel, ElementwiseKernel):
            return kernel.text(kernel.check_call(tuple(values)), target)
        call = kernel.check_call(values, 1, keepdims=False)
    except LaunchError as error:
        raise ExportError(str(error)) from None
    changes = {"lanes": threads, "pack": 1, "needs_index64": True} if target == "cuda" else {}
    return kernel.text(call, target, **changes)


def _unit(
    library: str, unit: str, kernel: ElementwiseOrReduction, texts: _Texts
) -> TranslationUnit:
    options, cpp, cuda = options_of(kernel.options), "", texts.get("cuda")
    if options.arch:
        raise ExportError(f"{kernel.name} is compiled for one GPU: pass --arch")
    if "cpu" in texts:
        text = texts["cpu"]
        with translate_errors(text.user_texts, text.name):
            cpu_binary(text, kernel.options)
        preamble = CudaSource(text.user_texts["preamble"])
        symbols = {text.entry: f"{unit}_run", f"{text.entry}_partial": f"{unit}_partial"}
        cpp = isolated_cpp(library, unit, text.text, preamble, symbols)
    if cuda is not None:
        cuda = replace(cuda, text=f"#define {cuda.entry} {unit}_run\n{cuda.text}")

    def compile(arch: str, kind: BinaryKind) -> bytes:
        assert cuda is not None
        with translate_errors(cuda.user_texts, cuda.name):
            return cuda_binary(cuda, arch, kernel.options, kind).data

    return TranslationUnit(unit, cuda.text if cuda else "", cpp, "g++", cpp_flags(options), compile)


def _functions(
    kernel: ElementwiseOrReduction, symbol: str, texts: _Texts, module: int, launch: InferredGrid
) -> dict[TargetName, KernelFunction]:
    """Return the functions of a variant, with the arguments that a launch function passes."""
    raw_sizes = {
        f"_{p.name}_{letter}0": (position, part)
        for position, p in enumerate(kernel.parameters)
        for letter, part in (("n", ArgumentPart.SHAPE), ("s", ArgumentPart.STRIDE))
        if p.raw
    }

    def passed(parameter: Parameter) -> Parameter:
        if parameter.argument < kernel.nargs:
            return parameter
        if parameter.name in raw_sizes:
            position, part = raw_sizes[parameter.name]
            return replace(parameter, argument=position, part=part)
        field = _FIELDS.get(parameter.name, "length")  # the stride of the rows of an input
        position = kernel.nargs + launch.implicit.index(field)
        return replace(parameter, type=_NUMBER, argument=position, part=ArgumentPart.VALUE)

    return {
        target: KernelFunction(
            symbol, tuple(passed(f.parameter) for f in text.fields), module=module
        )
        for target, text in texts.items()
    }

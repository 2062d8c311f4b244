"""Export the kernels of a library: from Python, in CUDA C, and over whole arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from pycu2c.aot.cuda_text_arguments import CudaTextKernel
from pycu2c.aot.cuda_text_kernels import export_cuda_text
from pycu2c.aot.elementwise_and_reduction import (
    ElementwiseOrReduction,
    export_elementwise_or_reduction,
)
from pycu2c.aot.exported_library import ExportedLibrary, ExportError, KernelRequest, TargetName
from pycu2c.aot.python_kernels import export_python
from pycu2c.base.records import replace
from pycu2c.compat.cuda_text.module import TextModule
from pycu2c.compat.cupy.elementwise.kernel import ElementwiseKernel
from pycu2c.compat.cupy.raw_kernel import RawKernel, RawModule
from pycu2c.compat.cupy.reduction.kernel import ReductionKernel
from pycu2c.compat.pycuda.function import Function
from pycu2c.compat.pycuda.modules import SourceModule
from pycu2c.kernels.kernel import Kernel

AnyKernel: TypeAlias = Kernel[object] | CudaTextKernel | ElementwiseOrReduction
CLASSES = (
    Kernel,
    RawKernel,
    RawModule,
    SourceModule,
    Function,
    ElementwiseKernel,
    ReductionKernel,
)


def kernels_of(value: object) -> Iterator[AnyKernel]:
    """Yield the kernels of an object of one of CLASSES."""
    match value:
        case RawKernel():
            yield CudaTextKernel(value.text_module, value.name, value.enable_cooperative_groups)
        case RawModule():
            yield from _kernels_of_text(value.module, value.enable_cooperative_groups)
        case SourceModule():
            yield from _kernels_of_text(value.text_module, False)
        case Function():
            yield CudaTextKernel(value.kernel.module, value.kernel.name)
        case Kernel() | ElementwiseKernel() | ReductionKernel():
            yield value


def _kernels_of_text(module: TextModule, is_cooperative: bool) -> Iterator[CudaTextKernel]:
    names = [f.path for f in module.kernels if not f.is_template]
    for name in (*names, *(n for n in module.name_expressions if not n.startswith("&"))):
        yield CudaTextKernel(module, name, is_cooperative)


def export(
    name: str, requests: Sequence[KernelRequest[Any]], targets: Sequence[TargetName]
) -> ExportedLibrary:
    """Generate the code of kernels with different names for their signatures and targets.

    Raises ExportError if a library cannot have one of the kernels; CompileError, ToolchainError if
    one does not compile.
    """
    groups: dict[int, list[KernelRequest[Any]]] = {}
    for request in requests:
        groups.setdefault(_unit_key(request.kernel), []).append(request)
    library = export_python(name, groups.pop(_PYTHON, []), targets)
    for group in groups.values():
        kernel = group[0].kernel
        if group[0].block:
            raise ExportError(f"{kernel.name} is not a kernel in Python: --block is not supported")
        is_text = isinstance(kernel, CudaTextKernel)
        export_group = export_cuda_text if is_text else export_elementwise_or_reduction
        units, kernels = export_group(name, len(library.units), group, targets)
        library = replace(
            library, units=(*library.units, *units), kernels=(*library.kernels, *kernels)
        )
    if len({unit.flags for unit in library.cpp_units}) > 1:
        raise ExportError(
            "kernels in CUDA C have different options (-std, --fmad, --use_fast_math): build two "
            "libraries"
        )
    return library


_PYTHON = 0


def _unit_key(kernel: AnyKernel) -> int:
    """Return a key that kernels have in common if they are compiled together."""
    if isinstance(kernel, Kernel):
        return _PYTHON
    return id(kernel.module if isinstance(kernel, CudaTextKernel) else kernel)

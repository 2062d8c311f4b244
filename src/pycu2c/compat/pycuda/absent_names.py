"""State what replaces the names of PyCUDA that pycu2c does not have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NoReturn

from pycu2c.compat.cuda_text.diagnostics import TEXTURE_OBJECTS

_GRAPHS = "pycu2c.cuda.graph() captures launches, copies and fills"
_REPLACEMENTS = {
    "Graph GraphExec": _GRAPHS,
    "IPCMemoryHandle": "memory is not shared with other processes",
    "IPCEventHandle": "events are not shared with other processes",
    "DynamicFunction DynamicModule DynamicSourceModule": "pass the whole text to SourceModule",
    "Linker jit_input_type": "SourceModule compiles one text, and links with no other code",
    "SourceModule": "it is in pycu2c.pycuda.compiler",
    "Array ArrayDescriptor ArrayDescriptor3D ArrayFormat SurfaceReference TextureReference "
    "TRSA_OVERRIDE_FORMAT TRSF_NORMALIZED_COORDINATES TRSF_READ_AS_INTEGER TRSF_SRGB address_mode "
    "array3d_flags array_format bind_array_to_texref dtype_to_array_format filter_mode "
    "gpuarray_to_array make_multichannel_2d_array matrix_to_array matrix_to_texref memcpy_atoa "
    "memcpy_atod memcpy_atoh memcpy_dtoa memcpy_htoa np_to_array": TEXTURE_OBJECTS,
    "ScrambledSobol32RandomNumberGenerator ScrambledSobol64RandomNumberGenerator "
    "Sobol32RandomNumberGenerator Sobol64RandomNumberGenerator": "copy points of "
    "scipy.stats.qmc.Sobol with gpuarray.to_gpu",
    "fill_log_normal fill_poisson gen_log_normal gen_poisson": "copy an array of "
    "numpy.random.Generator with gpuarray.to_gpu",
    "get_all_kernel get_any_kernel get_dot_kernel get_minmax_kernel get_subset_dot_kernel "
    "get_subset_minmax_kernel get_subset_sum_kernel get_sum_kernel": "gpuarray has functions of "
    "these names, and ReductionKernel compiles others",
    "sizeof": "numpy.dtype(...).itemsize is the size of a type that numpy has",
}


def getattr_of(module: str) -> Callable[[str], NoReturn]:
    """Return ``__getattr__`` of a module."""
    return functools.partial(reject, f"module {module}")


def reject(owner: str, name: str) -> NoReturn:
    """Raise NotImplementedError for a name of the table, AttributeError for others.

    ``from … import`` replaces an AttributeError by an ImportError, without its text.
    """
    for names, replacement in _REPLACEMENTS.items():
        if name in names.split():
            raise NotImplementedError(f"{owner} has no {name}: {replacement}")
    raise AttributeError(f"{owner} has no attribute {name}", name=name)

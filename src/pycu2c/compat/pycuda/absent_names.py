"""State what replaces the names of PyCUDA that pycu2c does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from pycu2c.compat.cuda_text.diagnostics import TEXTURE_OBJECTS

_GRAPHS = "pycu2c.cuda.graph() captures launches, copies and fills"
_REPLACEMENTS = {
    "Graph GraphExec": _GRAPHS,
    "IPCMemoryHandle": "memory is not shared with other processes",
    "IPCEventHandle": "events are not shared with other processes",
    "Linker": "DynamicModule of pycu2c.pycuda.compiler links",
    "SourceModule": "it is in pycu2c.pycuda.compiler",
    "Array ArrayDescriptor ArrayDescriptor3D ArrayFormat SurfaceReference TextureReference "
    "TRSA_OVERRIDE_FORMAT TRSF_NORMALIZED_COORDINATES TRSF_READ_AS_INTEGER TRSF_SRGB address_mode "
    "array3d_flags array_format bind_array_to_texref dtype_to_array_format filter_mode "
    "gpuarray_to_array make_multichannel_2d_array matrix_to_array matrix_to_texref memcpy_atoa "
    "memcpy_atod memcpy_atoh memcpy_dtoa memcpy_htoa np_to_array": TEXTURE_OBJECTS,
}


def getattr_of(module: str) -> Callable[[str], NoReturn]:
    """Return ``__getattr__`` of a module.

    It raises NotImplementedError for the names of the table, because ``from … import`` replaces an
    AttributeError by an ImportError without a replacement.
    """

    def __getattr__(name: str) -> NoReturn:
        for names, replacement in _REPLACEMENTS.items():
            if name in names.split():
                raise NotImplementedError(f"{module} has no {name}: {replacement}")
        raise AttributeError(f"module {module} has no attribute {name}", name=name)

    return __getattr__

"""Assemble the C++ prelude that defines CUDA's language for a C++ compiler.

It consists of the headers of this package, and of the functions that are generated from the
declarations of intrinsics.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Set

from pycu2c.base.limits import MAX_SHARED_BYTES
from pycu2c.codegen.helpers.templates import c_definition
from pycu2c.compat.cuda_text.scalar_functions import scalar_functions

_COMMON = ("language.h", "vectors.h", "functions.h", "synchronization.h", "atomics.h")
_SPLIT_KERNELS = "split_kernels.h"
_HEADER_BY_IDENTIFIER = {  # identifiers that need a header
    "cooperative_groups": "cooperative_groups.h",
    "cuComplex": "complex.h",
    "cuda_fp16": "half.h",
    "half": "half.h",
    "__half": "half.h",
    "half2": "half.h",
    "__half2": "half.h",
    "cuda_bf16": "bfloat16.h",
    "__nv_bfloat16": "bfloat16.h",
    "__nv_bfloat162": "bfloat16.h",
}
_ATOMIC = re.compile("atomic")  # matches prefixes, because a macro may concatenate the rest
TEXTURE_TYPES = frozenset(("cudaTextureObject_t", "cudaSurfaceObject_t"))
_INCLUDES = ("#include <fenv.h>", "#include <stdbool.h>", "#include <errno.h>")


def prelude(
    identifiers: Set[str],
    *,
    include_all: bool,
    has_split_kernels: bool = False,
) -> str:
    """Return the C++ that precedes a text with these identifiers.

    ``include_all``: include every header, for a text whose includes are not visible.
    ``has_split_kernels``: the text contains kernels that are split at barriers.
    """
    headers = dict.fromkeys((*_COMMON, *([_SPLIT_KERNELS] if has_split_kernels else ())))
    if include_all or any(map(_ATOMIC.match, identifiers)):
        headers["atomic_updates.h"] = None
    headers |= {
        file: None
        for identifier, file in _HEADER_BY_IDENTIFIER.items()
        if include_all or identifier in identifiers
    }
    return "\n".join(
        (
            f"#define PYCU2C_DYNAMIC_SHARED {MAX_SHARED_BYTES}" if "extern" in identifiers else "",
            *_INCLUDES,
            *map(_header, headers),
            *scalar_functions(None if include_all else identifiers),
            *(_textures() if include_all or identifiers & TEXTURE_TYPES else ()),
        )
    )


def _textures() -> tuple[str, ...]:
    """Return the texture functions, which call the texture helpers of ``@kernel``."""
    types = c_definition("texture"), c_definition("surface")
    return ("namespace pycu2c_texels {", *types, "}", _header("textures.h"))


def with_complex_functions(text: str) -> str:
    """Return the text of a class of complex numbers with the functions that it includes."""
    include = '#include "../../cuda_text/headers/complex_functions.h"\n'
    return text.replace(include, _header("complex_functions.h"))


@functools.cache
def _header(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), "headers", name)
    with open(path, encoding="utf-8") as file:
        return file.read()

"""Assemble the C++ prelude that defines CUDA's language for a C++ compiler.

It consists of the headers of this package and the C helpers (``codegen/helpers/catalog.py``)
that the text names.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Set

from pycu2c.base.dtypes import FLOAT32, FLOAT64, UINT32, DType
from pycu2c.base.limits import MAX_SHARED_BYTES
from pycu2c.codegen.helpers.catalog import function_name, texts_of
from pycu2c.codegen.helpers.conversion_helpers import CONVERSION_HELPERS
from pycu2c.codegen.helpers.directed_rounding_helpers import ROUNDING_HELPERS
from pycu2c.codegen.helpers.extended_arithmetic_helpers import WORD_HELPERS
from pycu2c.codegen.helpers.simd_in_word_helpers import PACKED_WORD_HELPERS
from pycu2c.codegen.helpers.special_helpers import SPECIAL_HELPERS
from pycu2c.compat.cuda_text import textures
from pycu2c.compat.cuda_text.collective_functions import collective_functions

_COMMON = ("language.h", "vectors.h", "functions.h", "synchronization.h", "atomics.h")
_SPLIT_KERNELS = "split_kernels.h"
_BY_WORD = {  # identifiers that need a header
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
_INCLUDES = ("#include <fenv.h>", "#include <stdbool.h>", "#include <errno.h>")
_FIXED = (CONVERSION_HELPERS, ROUNDING_HELPERS, WORD_HELPERS, PACKED_WORD_HELPERS)
_NOT_SPECIAL = ("j0", "j1", "y0", "y1", "jn", "yn", "rsqrt", "rcbrt", "exp10", "saturate")


def prelude(words: Set[str], *, include_all: bool, has_split_kernels: bool = False) -> str:
    """Return the C++ that precedes a text with these identifiers.

    ``include_all``: include every header, for a text whose includes are not visible.
    ``has_split_kernels``: the text contains kernels that are split at barriers.
    """
    headers = dict.fromkeys((*_COMMON, *([_SPLIT_KERNELS] if has_split_kernels else ())))
    headers |= {file: None for word, file in _BY_WORD.items() if include_all or word in words}
    wanted = _helpers(frozenset(words) if not include_all else None)
    return "\n".join(
        (
            f"#define PYCU2C_DYNAMIC_SHARED {MAX_SHARED_BYTES}" if "extern" in words else "",
            *_INCLUDES,
            *(text for name in headers for text in _header(name)),
            *wanted,
            textures.declarations() if include_all or words & textures.WORDS else "",
        )
    )


@functools.cache
def _header(name: str) -> tuple[str, ...]:
    """Return the text of a header, and what is generated to follow it."""
    path = os.path.join(os.path.dirname(__file__), "headers", name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return (text, collective_functions()) if name == "synchronization.h" else (text,)


@functools.lru_cache(maxsize=64)
def _helpers(words: frozenset[str] | None) -> tuple[str, ...]:
    """Return C helpers under their CUDA names."""
    found = [
        (cuda_name, name, dtype)
        for cuda_name, name, dtype in _available_helpers()
        if words is None or cuda_name in words
    ]
    if not found:
        return ()
    body = "\n".join(dict.fromkeys(text for _, name, row in found for text in _texts(name, row)))
    wrappers = (_wrapper(cuda_name, name, dtype) for cuda_name, name, dtype in found)
    return ("namespace pycu2c {", body, "} // namespace pycu2c", *wrappers)


def _texts(name: str, dtype: DType) -> list[str]:
    texts = texts_of([(name, dtype)], "c")
    if name not in ROUNDING_HELPERS:
        return texts
    # if inlined, the compiler may move the addition before the change of the rounding mode
    return [
        text.replace("static inline", "static __attribute__((noinline, noipa))") for text in texts
    ]


def _wrapper(cuda_name: str, name: str, dtype: DType) -> str:
    called = f"::pycu2c::{function_name(name, dtype)}"
    return (
        f"template <class... A> static inline auto {cuda_name}(A... a) -> decltype({called}(a...)) "
        f"{{ return {called}(a...); }}"
    )


def _available_helpers() -> Iterator[tuple[str, str, DType]]:
    """Yield (CUDA name, helper, dtype) for every helper."""
    for name in (name for helpers in _FIXED for name in helpers):
        if name not in _OTHERS and not _HALVES.intersection(name.split("_")):
            yield f"__{name}", name, UINT32
    for name in SPECIAL_HELPERS:
        if name not in _NOT_SPECIAL and SPECIAL_HELPERS[name].floating:
            yield f"{name}f", name, FLOAT32
            yield name, name, FLOAT64


_HALVES = frozenset(("half", "bfloat16"))  # half types have headers
_OTHERS = frozenset(("hadd",))  # also a function of half.h

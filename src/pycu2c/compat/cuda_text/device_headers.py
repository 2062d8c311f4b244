"""The C++ that gives a compiler CUDA's words: headers of this package, and of the C functions that
it has (``codegen/helpers/catalog.py``) those that a text names. Knows no text but its words."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Set

from pycu2c.base.dtypes import FLOAT32, FLOAT64, UINT32, DType
from pycu2c.base.limits import MOST_SHARED
from pycu2c.codegen.helpers.catalog import function_name, texts_of
from pycu2c.codegen.helpers.conversion_helpers import CONVERSION_HELPERS
from pycu2c.codegen.helpers.directed_rounding_helpers import ROUNDING_HELPERS
from pycu2c.codegen.helpers.extended_arithmetic_helpers import WORD_HELPERS
from pycu2c.codegen.helpers.simd_in_word_helpers import PACKED_WORD_HELPERS
from pycu2c.codegen.helpers.special_helpers import SPECIAL_HELPERS
from pycu2c.compat.cuda_text import textures

_COMMON = ("language.h", "vectors.h", "functions.h", "synchronization.h", "atomics.h")
_SPLIT_KERNELS = "split_kernels.h"
_BY_WORD = {  # what a text with such a word has, too
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


def prelude(words: Set[str], *, include_all: bool, splits: bool = False) -> str:
    """The C++ in front of a text with these words; with all that there is, if it may use others.
    ``splits``: kernels of it are split where their threads meet."""
    headers = dict.fromkeys((*_COMMON, *([_SPLIT_KERNELS] if splits else ())))
    headers |= {file: None for word, file in _BY_WORD.items() if include_all or word in words}
    wanted = _helpers(frozenset(words) if not include_all else None)
    return "\n".join(
        (
            f"#define PYCU2C_DYNAMIC_SHARED {MOST_SHARED}" if "extern" in words else "",
            *_INCLUDES,
            *map(_header, headers),
            *wanted,
            textures.declarations() if include_all or words & textures.WORDS else "",
        )
    )


@functools.cache
def _header(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), "headers", name)
    with open(path, encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=64)
def _helpers(words: frozenset[str] | None) -> tuple[str, ...]:
    """Helpers by CUDA's names for them."""
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
    # known to a caller, a sum might be done before the processor is told how to round it
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
    """CUDA's names, and of which helper for which dtype each is one."""
    for name in (name for helpers in _FIXED for name in helpers):
        if name not in _OTHERS and not _HALVES.intersection(name.split("_")):
            yield f"__{name}", name, UINT32
    for name in SPECIAL_HELPERS:
        if name not in _NOT_SPECIAL and SPECIAL_HELPERS[name].floating:
            yield f"{name}f", name, FLOAT32
            yield name, name, FLOAT64


_HALVES = frozenset(("half", "bfloat16"))  # as types of C
_OTHERS = frozenset(("hadd",))  # halves have one of that name

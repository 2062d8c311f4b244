"""Generate the classes and definitions that precede a text and that it uses."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable

from pycu2c.base.dtypes import FLOAT32, DType
from pycu2c.codegen import vector_math
from pycu2c.codegen.helpers.catalog import texts_of
from pycu2c.compat.cuda_text import device_headers
from pycu2c.compat.cupy.parameter_declarations import names_in

_HEADERS = {"CArray": "carray.h", "CIndexer": "cindexer.h"}
_NVRTC_NAMES = {  # definitions that NVRTC does not have without headers
    "INFINITY": "#define INFINITY __int_as_float(0x7f800000)",
    "NAN": "#define NAN __int_as_float(0x7fc00000)",
    "int8_t": "typedef signed char int8_t;",
    "int16_t": "typedef short int16_t;",
    "int32_t": "typedef int int32_t;",
    "int64_t": "typedef long long int64_t;",
    "uint8_t": "typedef unsigned char uint8_t;",
    "uint16_t": "typedef unsigned short uint16_t;",
    "uint32_t": "typedef unsigned int uint32_t;",
    "uint64_t": "typedef unsigned long long uint64_t;",
}


@functools.cache
def header(name: str) -> str:
    """Return the text of a header in this folder."""
    path = os.path.join(os.path.dirname(__file__), "headers", name)
    with open(path, encoding="utf-8") as file:
        return device_headers.with_complex_functions(file.read()).strip()


def required_definitions(
    types: Iterable[DType], names: frozenset[str], *, on_cpu: bool
) -> list[str]:
    """Return the definitions that a text with these names and number types requires."""
    dtypes = set(types)
    if any(dtype.handle for dtype in dtypes):
        names |= device_headers.TEXTURE_TYPES
    if on_cpu:
        parts = [device_headers.prelude(names, include_all=False)]
    else:
        definitions = [text for name, text in _NVRTC_NAMES.items() if name in names]
        parts = ["\n".join(definitions)] if definitions else []
    if any(dtype.is_complex for dtype in dtypes) or "complex" in names:
        parts.append(header("complex.h"))
    if any(dtype.is_half for dtype in dtypes) or names & {"float16", "bfloat16"}:
        parts.append(header("halves.h"))
    parts += [header(file) for name, file in _HEADERS.items() if name in names]
    return [*parts, *_simd_functions(names)] if on_cpu else parts


def reduction_functions(names: frozenset[str]) -> list[str]:
    """Return the functions of ``reductions.h`` that are used, and those that these call."""
    parts: list[str] = []
    for part in reversed(header("reductions.h").split("\n\n")):
        if names & _defined_names(part):
            parts.append(part)
            names |= names_in(part)
    return parts[::-1]


def _defined_names(part: str) -> frozenset[str]:
    """Return the name of the class or function that a part defines.

    These names start with one underscore; other names in the line are types.
    """
    head = next(line for line in part.split("\n") if not line.startswith(("//", "template")))
    return frozenset(
        name for name in names_in(head.replace("sizeof(", "")) if name[0] == "_" != name[1]
    )


_INCLUDE = re.compile(r'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"].*\n?')
_CUPY_HEADER = re.compile("cupy/")
_CUPY_OR_CUDA_HEADER = re.compile(r"cupy/|(cuda_\w+|math_constants|math_functions|vector_types)\.h")


def without_headers(text: str, *, on_cpu: bool) -> str:
    """Remove includes of headers that the preamble replaces: CuPy's, and on the CPU CUDA's."""
    replaced = _CUPY_OR_CUDA_HEADER if on_cpu else _CUPY_HEADER
    return _INCLUDE.sub(lambda m: "" if replaced.match(m[1]) else m[0], text).strip()


# ---- SIMD functions on the CPU ---------------------------------------------------------------

_OWN_SIMD_FUNCTIONS = ("exp", "log")  # more accurate than those of the C library
_DEFINITION = """namespace pycu2c {{
{text}
template <typename T> static inline auto vector_{name}(T x) -> decltype(::{name}(x)) {{
    return ::{name}(x);
}}
static inline float vector_{name}(float x) {{ return {name}_f32(x); }}
}} // namespace pycu2c"""
_MACRO = "#define {name}(...) ::pycu2c::vector_{function}(__VA_ARGS__)"


def _simd_functions(names: frozenset[str]) -> list[str]:
    """Declare the SIMD versions of math functions that vectorized loops call."""
    library = [n for name in names for n in (name, f"{name}f") if vector_math.has_vector_variant(n)]
    declarations = vector_math.declarations(library).replace(");", ") noexcept;").strip()
    parts = [f'extern "C" {{\n{declarations}\n}}'] if declarations else []
    for function in _OWN_SIMD_FUNCTIONS:
        called = [name for name in (function, f"{function}f") if name in names]
        if called:
            text = "\n".join(texts_of([(function, FLOAT32)], "c")).strip()
            parts.append(_DEFINITION.format(text=text, name=function))
            parts.append("\n".join(_MACRO.format(name=name, function=function) for name in called))
    return parts

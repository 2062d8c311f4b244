"""Generate the preamble of a text: the classes and definitions that it uses."""

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
        return file.read().strip()


def prelude(types: Iterable[DType], names: frozenset[str], *, on_cpu: bool) -> list[str]:
    """Return the parts of the preamble for the names and number types of a text."""
    rows = set(types)
    if any(row.handle for row in rows):
        names |= device_headers.TEXTURE_TYPES
    if on_cpu:
        plain = [device_headers.prelude(names, include_all=False)]
    else:
        found = [text for name, text in _NVRTC_NAMES.items() if name in names]
        plain = ["\n".join(found)] if found else []
    if any(row.is_complex for row in rows) or "complex" in names:
        plain.append(header("complex.h"))
    if any(row.is_half for row in rows) or names & {"float16", "bfloat16"}:
        plain.append(header("halves.h"))
    plain += [header(file) for name, file in _HEADERS.items() if name in names]
    return [*plain, *_vectors(names)] if on_cpu else plain


def functions_of(name: str, names: frozenset[str]) -> list[str]:
    """Return the functions of a header that are used, with their dependencies, in file order."""
    found: list[str] = []
    for part in reversed(header(name).split("\n\n")):
        if names & _defined(part):
            found.append(part)
            names |= names_in(part)
    return found[::-1]


def _defined(part: str) -> frozenset[str]:
    """Return the names of the class or function that a part defines."""
    head = next(line for line in part.split("\n") if not line.startswith(("//", "template")))
    return frozenset(
        name for name in names_in(head.replace("sizeof(", "")) if name[0] == "_" != name[1]
    )


_INCLUDE = re.compile(r'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"].*\n?')
_OF_CUPY = re.compile("cupy/")
_OF_BOTH = re.compile(r"cupy/|(cuda_\w+|math_constants|math_functions|vector_types)\.h")


def without_headers(text: str, *, on_cpu: bool) -> str:
    """Remove includes of headers that the preamble replaces: CuPy's, and on the CPU CUDA's."""
    own = _OF_BOTH if on_cpu else _OF_CUPY
    return _INCLUDE.sub(lambda m: "" if own.match(m[1]) else m[0], text).strip()


# ---- SIMD functions on the CPU ---------------------------------------------------------------

_OWN_VECTOR_FUNCTIONS = (
    "exp",
    "log",
)  # functions whose SIMD versions in the C library are too inaccurate
_REDIRECTED = """namespace pycu2c {{
{text}
template <typename T> static inline auto vector_{name}(T x) -> decltype(::{name}(x)) {{
    return ::{name}(x);
}}
static inline float vector_{name}(float x) {{ return {name}_f32(x); }}
}} // namespace pycu2c"""
_MACRO = "#define {name}(...) ::pycu2c::vector_{own}(__VA_ARGS__)"


def _vectors(names: frozenset[str]) -> list[str]:
    """Declare the SIMD versions of math functions that vectorized loops call."""
    known = [n for name in names for n in (name, f"{name}f") if vector_math.has_vectors(n)]
    said = vector_math.declarations(known).replace(");", ") noexcept;").strip()
    found = [f'extern "C" {{\n{said}\n}}'] if said else []
    for own in _OWN_VECTOR_FUNCTIONS:
        asked = [name for name in (own, f"{own}f") if name in names]
        if asked:
            text = "\n".join(texts_of([(own, FLOAT32)], "c")).strip()
            found.append(_REDIRECTED.format(text=text, name=own))
            found.append("\n".join(_MACRO.format(name=name, own=own) for name in asked))
    return found

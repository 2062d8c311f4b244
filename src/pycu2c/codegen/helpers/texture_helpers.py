"""Helpers that read textures and surfaces with the arithmetic of a GPU's texture units.

CUDA's programming guide describes the arithmetic ("Texture Fetching"). Unspecified details were
measured on an H100: coordinates have 21 fraction bits, weights are rounded to 1/256, products of
the weights of two axes are rounded to 1/256, and results of 8-bit and 16-bit integers and of
float16 are rounded to 16 bits. ``texture.h`` and ``surface.h`` define the structs, which the host
fills. ``reference/texture_sampling.py`` has the same arithmetic in Python, and the order of the
fields.
"""

from __future__ import annotations

from pycu2c.base.dtypes import DType
from pycu2c.codegen.helpers.templates import Helper

_AXES = "xyz"
_TEXTURES = {"tex1D": 1, "tex2D": 2, "tex3D": 3, "tex1Dfetch": 1}
_SURFACES = {f"surf{axes}D{action}": axes for axes in (1, 2, 3) for action in ("read", "write")}


def texture_text(name: str, dtype: DType, _: str) -> str:
    """Return the template of a function that reads or writes one type of elements."""
    if name == "tex1Dfetch":
        return _fetch(name, dtype, "int64_t i", "(float)i + 0.5f")
    if name in _TEXTURES:
        axes = _AXES[: _TEXTURES[name]]
        return _fetch(name, dtype, ", ".join(f"float {x}" for x in axes), ", ".join(axes))
    axes = _AXES[: _SURFACES[name]]
    parameters = ", ".join(f"int64_t {x}" for x in axes)
    position = ", ".join([*axes, "0", "0"][:3])
    return (_SURFACE_READ if name.endswith("read") else _SURFACE_WRITE).format(
        name=name, parameters=parameters, position=position
    )


def _fetch(name: str, dtype: DType, parameters: str, position: str) -> str:
    if dtype.is_vector:
        parts = [f"({f.dtype.c})numbers[{i}]" for i, f in enumerate(dtype.fields)]
        value = f"($T){{{', '.join(parts)}}}"
    else:
        value = "($T)numbers[0]"
    return _TEXTURE_FETCH.format(name=name, parameters=parameters, position=position, value=value)


_TEXTURE_FETCH = """
// Fetches from a texture.
$q $T {name}_$t(texture t, {parameters}) {{
    const float at[3] = {{{position}}};
    double numbers[4];
    texture_fetch(t, at, numbers);
    return {value};
}}
"""
_SURFACE_READ = """
// An element of a surface; 0 outside.
$q $T {name}_$t(surface s, {parameters}) {{
    const int64_t element = surface_element(s, {position});
    const $T outside = {{0}};
    return element < 0 ? outside : (($T *)s->elements)[element];
}}
"""
_SURFACE_WRITE = """
// Sets an element of a surface; nothing outside.
$q void {name}_$t($T value, surface s, {parameters}) {{
    const int64_t element = surface_element(s, {position});
    if (element >= 0) (($T *)s->elements)[element] = value;
}}
"""


TEXTURE_HELPERS = dict.fromkeys((*_TEXTURES, *_SURFACES), Helper(generate=texture_text))

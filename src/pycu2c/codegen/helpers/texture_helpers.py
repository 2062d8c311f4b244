"""Helpers that read textures and surfaces with the arithmetic of a GPU's texture units.

CUDA's programming guide describes the arithmetic ("Texture Fetching"). Unspecified details were
measured on an H100: coordinates have 21 fraction bits, weights are rounded to 1/256, products of
the weights of two axes are rounded to 1/256, and results of 8-bit and 16-bit integers and of
float16 are rounded to 16 bits. ``texture.h`` and ``surface.h`` define the structs, which the host
fills. ``interpreter/texture_sampling.py`` has the same arithmetic in Python, and the order of the
fields.
"""

from __future__ import annotations

from pycu2c.base.dtypes import DType
from pycu2c.codegen.helpers.templates import Helper, c_definition, helpers_of

_TEMPLATES = helpers_of(c_definition("c/textures"), "fixed")


def texture_text(name: str, dtype: DType, _: str) -> str:
    """Return the template of a function that reads or writes one type of elements."""
    texel = "($T)numbers[0]"
    if dtype.is_vector:
        parts = [f"({f.dtype.c})numbers[{i}]" for i, f in enumerate(dtype.fields)]
        texel = f"($T){{{', '.join(parts)}}}"
    return _TEMPLATES[name].fixed.replace("$texel", texel)


TEXTURE_HELPERS = dict.fromkeys(_TEMPLATES, Helper(generate=texture_text))

"""A user's CUDA C -> the text that is compiled: texture references, ``extern "C"``, and ``#line``,
so that errors show the user's own lines. Knows no compiler."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pycu2c.digests import digest_of
from pycu2c.pycuda import texture_text
from pycu2c.records import dataclass

HEADERS = os.path.join(os.path.dirname(__file__), "headers")  # pycuda-complex.hpp and its kin


@dataclass(frozen=True, slots=True)
class SourceText:
    """``code`` is compiled. ``shown`` has the user's texts by the names that errors call them."""

    code: str
    shown: dict[str, str]
    textures: tuple[str, ...]
    surfaces: tuple[str, ...]


def source_text(sources: Sequence[str], *, extern_c: bool, on_cpu: bool) -> SourceText:
    """Texts of a module, one behind the other."""
    parts, shown = [], {}
    textures: list[str] = []
    surfaces: list[str] = []
    for source in sources:
        name = f"module-{digest_of(source.encode('utf-8', 'surrogatepass'))[:8]}.cu"
        found = texture_text.rewritten(source)
        shown[name] = source
        textures += found.textures
        surfaces += found.surfaces
        body = f'#line 1 "{name}"\n{found.text}\n'
        parts.append(f'extern "C" {{\n{body}}}\n' if extern_c else body)
    code = "".join((_declarations(textures, surfaces, sources, on_cpu), *parts))
    return SourceText(code, shown, tuple(textures), tuple(surfaces))


def _declarations(
    textures: Sequence[str], surfaces: Sequence[str], sources: Sequence[str], on_cpu: bool
) -> str:
    """What stands in front: nothing, unless there are textures."""
    helped = any("pycuda-helpers.hpp" in source for source in sources)
    if not (textures or surfaces or helped):
        return ""
    found = texture_text.texture_declarations()
    if surfaces or helped:
        found += texture_text.surface_declarations()
    return found

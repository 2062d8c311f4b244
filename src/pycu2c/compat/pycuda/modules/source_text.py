"""Prepare the user's CUDA C: texture references, ``extern "C"``, and ``#line`` directives.

The directives let errors refer to the user's lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from pycu2c.base.hashing import digest_of
from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.includes import IncludeExpander
from pycu2c.compat.cuda_text.parse.tokens import Origins, tokens_of
from pycu2c.compat.pycuda.textures import reference_source

HEADERS = os.path.join(  # pycuda-complex.hpp and pycuda-helpers.hpp
    os.path.dirname(os.path.dirname(__file__)), "headers"
)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A prepared text: ``code`` is compiled, ``shown`` maps file names to the user's texts."""

    code: str
    shown: dict[str, str]
    textures: tuple[str, ...]
    surfaces: tuple[str, ...]


def source_text(
    sources: Sequence[str], *, extern_c: bool, before: str = "", folders: Sequence[str] = ()
) -> SourceText:
    """Prepare the texts of a module. ``before``: C++ that precedes them; ``folders``: include
    folders."""
    parts, shown, headers = [], {}, dict[str, None]()
    textures: list[str] = []
    surfaces: list[str] = []
    for source in map(_text_of, sources):
        name = f"module-{digest_of(source.encode('utf-8', 'surrogatepass'))[:8]}.cu"
        shown[name] = source
        source = IncludeExpander(tuple(folders), _declares).whole(source, name)
        headers |= dict.fromkeys(_OURS.findall(source))
        found = reference_source.rewritten(_OURS.sub("", source))
        textures += (each for each in found.textures if each not in textures)
        surfaces += (each for each in found.surfaces if each not in surfaces)
        body = f'#line 1 "{name}"\n{found.text}\n'
        parts.append(_in_extern_c(body, name) if extern_c else body)
    front = _declarations(bool(textures), bool(surfaces), list(headers))
    return SourceText("".join((*front, before, *parts)), shown, tuple(textures), tuple(surfaces))


def _text_of(given: object) -> str:
    """Return a text, or the text of a C generator. Raises TypeError."""
    if isinstance(given, bytes):
        return given.decode()
    if isinstance(given, str) or hasattr(given, "generate"):
        return str(given)
    raise TypeError(f"CUDA C is a text, and a {type(given).__name__} is none")


def _declares(text: str, _: bool) -> bool:
    """Return whether an included text has texture references, which must be rewritten."""
    found = reference_source.rewritten(text)
    return bool(found.textures or found.surfaces)


# these headers are expanded first, so that their texture references are found
_OURS = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](pycuda-(?:complex|helpers)\.hpp)[>\"]", re.M)


_SYSTEMS = re.compile(r"#\s*include\s*<")


def _in_extern_c(body: str, name: str) -> str:
    """Wrap a text in ``extern "C"``, except for includes of system headers, which may be C++."""
    parts, place = ['extern "C" {\n'], 0
    tokens = tokens_of(body)
    origins = Origins(body, name, tokens)
    for token in tokens:
        if token.kind == "directive" and _SYSTEMS.match(token.text):
            file, line, _ = origins.locate(token.end)
            again = f'\n{token.text}\nextern "C" {{\n#line {line + 1} "{file}"'
            parts += [body[place : token.start], "}", again]
            place = token.end
    return "".join((*parts, body[place:], "}\n"))


def _declarations(textures: bool, surfaces: bool, headers: Sequence[str]) -> Iterator[str]:
    """Return the lines that precede the text."""
    helped = "pycuda-helpers.hpp" in headers
    if textures or helped:
        yield reference_source.texture_declarations()
    if surfaces or helped:
        yield reference_source.surface_declarations()
    for name in ("pycuda-complex.hpp", "pycuda-helpers.hpp"):
        if name in headers or helped:
            with open(os.path.join(HEADERS, name), encoding="utf-8") as file:
                yield file.read()

"""Prepare the user's CUDA C: texture references, ``extern "C"``, and ``#line`` directives.

The directives let errors refer to the user's lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from pycu2c.base.hashing import digest_of
from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.device_headers import with_complex_functions
from pycu2c.compat.cuda_text.includes import IncludeExpander
from pycu2c.compat.cuda_text.parse.tokens import Origins, tokens_of
from pycu2c.compat.pycuda.textures import reference_source

HEADERS = os.path.join(  # what is added to texts; users include pycuda-*.hpp
    os.path.dirname(os.path.dirname(__file__)), "headers"
)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A prepared text: ``code`` is compiled, ``quoted_sources`` has the user's texts by file
    name, which errors quote."""

    code: str
    quoted_sources: dict[str, str]
    textures: tuple[str, ...]
    surfaces: tuple[str, ...]


def source_text(
    sources: Sequence[str], *, extern_c: bool, prologue: str = "", folders: Sequence[str] = ()
) -> SourceText:
    """Prepare the texts of a module. ``prologue``: C++ that precedes them; ``folders``: include
    folders."""
    parts, quoted_sources, headers = [], {}, dict[str, None]()
    textures: list[str] = []
    surfaces: list[str] = []
    for source in map(_text_of, sources):
        name = f"module-{digest_of(source.encode('utf-8', 'surrogatepass'))[:8]}.cu"
        quoted_sources[name] = source
        source = IncludeExpander(tuple(folders), _declares_references).expand(source, name)
        headers |= dict.fromkeys(_HELPER_HEADERS.findall(source))
        rewritten = reference_source.rewrite_references(_HELPER_HEADERS.sub("", source))
        textures += (each for each in rewritten.textures if each not in textures)
        surfaces += (each for each in rewritten.surfaces if each not in surfaces)
        body = f'#line 1 "{name}"\n{rewritten.text}\n'
        parts.append(_wrap_in_extern_c(body, name) if extern_c else body)
    preamble = _declarations(bool(textures), bool(surfaces), list(headers))
    return SourceText(
        "".join((*preamble, prologue, *parts)), quoted_sources, tuple(textures), tuple(surfaces)
    )


def _text_of(source: object) -> str:
    """Return a source as a string; C generators have a method ``generate``. Raises TypeError."""
    if isinstance(source, bytes):
        return source.decode()
    if isinstance(source, str) or hasattr(source, "generate"):
        return str(source)
    raise TypeError(f"CUDA C is passed as a string, not as a {type(source).__name__}")


def _declares_references(text: str, _: bool) -> bool:
    """Return whether an included text has texture references, which must be rewritten."""
    rewritten = reference_source.rewrite_references(text)
    return bool(rewritten.textures or rewritten.surfaces)


# these headers are expanded first, so that their texture references are found
_HELPER_HEADERS = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](pycuda-(?:complex|helpers)\.hpp)[>\"]", re.M
)


_SYSTEM_INCLUDE = re.compile(r"#\s*include\s*<")


def _wrap_in_extern_c(body: str, name: str) -> str:
    """Wrap a text in ``extern "C"``, except for includes of system headers, which may be C++."""
    parts, position = ['extern "C" {\n'], 0
    tokens = tokens_of(body)
    origins = Origins(body, name, tokens)
    for token in tokens:
        if token.kind == "directive" and _SYSTEM_INCLUDE.match(token.text):
            file, line, _ = origins.locate(token.end)
            reopened = f'\n{token.text}\nextern "C" {{\n#line {line + 1} "{file}"'
            parts += [body[position : token.start], "}", reopened]
            position = token.end
    return "".join((*parts, body[position:], "}\n"))


def _declarations(textures: bool, surfaces: bool, headers: Sequence[str]) -> Iterator[str]:
    """Yield the declarations and headers that precede the text."""
    has_helpers = "pycuda-helpers.hpp" in headers
    is_used = {
        "texture_references.hpp": textures,
        "surface_references.hpp": surfaces,
        "pycuda-complex.hpp": "pycuda-complex.hpp" in headers,
        "pycuda-helpers.hpp": has_helpers,
    }
    for name in is_used:
        if is_used[name] or has_helpers:
            with open(os.path.join(HEADERS, name), encoding="utf-8") as file:
                yield with_complex_functions(file.read())

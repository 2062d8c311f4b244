"""Prepare the user's CUDA C: ``extern "C"`` and ``#line`` directives.

The directives let errors refer to the user's lines.
"""

from __future__ import annotations

import os
import re

from pycu2c.base.hashing import digest_of
from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.device_headers import with_complex_functions
from pycu2c.compat.cuda_text.parse.tokens import Origins, tokens_of

HEADERS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "headers")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A prepared text: ``code`` is compiled, ``quoted_sources`` has the user's texts by file
    name, which errors quote."""

    code: str
    quoted_sources: dict[str, str]


def source_text(source: object, *, extern_c: bool) -> SourceText:
    """Prepare the text of a module."""
    text = _text_of(source)
    name = f"module-{digest_of(text.encode('utf-8', 'surrogatepass'))[:8]}.cu"
    without_header, is_complex = _COMPLEX_HEADER.subn("", text)
    body = f'#line 1 "{name}"\n{without_header}\n'
    header = _complex_class() if is_complex else ""
    code = f"{header}{_wrap_in_extern_c(body, name) if extern_c else body}"
    return SourceText(code, {name: text})


def _text_of(source: object) -> str:
    """Return a source as a string; C generators have a method ``generate``. Raises TypeError."""
    if isinstance(source, bytes):
        return source.decode()
    if isinstance(source, str) or hasattr(source, "generate"):
        return str(source)
    raise TypeError(f"CUDA C is passed as a string, not as a {type(source).__name__}")


_COMPLEX_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]pycuda-complex\.hpp[>\"]", re.M)
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


def _complex_class() -> str:
    """Return the text of ``pycuda-complex.hpp``."""
    with open(os.path.join(HEADERS, "pycuda-complex.hpp"), encoding="utf-8") as file:
        return with_complex_functions(file.read())

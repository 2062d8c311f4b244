"""Expand ``#include`` directives, so that included code is analyzed and rewritten with the text.

``#line`` directives keep the origin of each line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from pycu2c.base.hashing import digest_of
from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parse.tokens import Origins, Token, tokens_of

_INCLUDE = re.compile(r'#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)')
_PRAGMA_ONCE = re.compile(r"#[ \t]*pragma[ \t]+once")
_MAX_CHARACTERS = 1 << 20  # of a text with an inserted file; larger files stay directives


@dataclass(frozen=True, slots=True)
class IncludeExpander:
    """Expands the includes of a text.

    ``folders`` are the include directories. Quoted names are searched in the directory of the
    including file first and in the working directory last. ``should_inline`` decides, from the
    contents of a file and whether it was quoted, if the file is inserted.
    """

    folders: tuple[str, ...]
    should_inline: Callable[[str, bool], bool]

    def expand(self, code: str, name: str) -> str:
        """Return a text with its includes expanded. Lines keep their numbers."""
        return self._expand_text(code, name, ()) if _INCLUDE.search(code) else code

    def _expand_text(self, code: str, name: str, include_stack: tuple[str, ...]) -> str:
        """Expand a text. ``include_stack`` contains the files that include it."""
        tokens = tokens_of(code)
        origins = Origins(code, name, tokens)
        parts, offset = [], 0
        for token in tokens:
            replacement = self._replacement(token, name, include_stack, len(code))
            if replacement is not None:
                file, line, _ = origins.locate(token.end)
                line_directive = f'\n#line {line + 1} "{file}"' if "\n" in replacement else ""
                parts += [code[offset : token.start], replacement, line_directive]
                offset = token.end
        return "".join((*parts, code[offset:]))

    def _replacement(
        self, token: Token, name: str, include_stack: tuple[str, ...], text_length: int
    ) -> str | None:
        """Return the replacement of a directive; None to keep it."""
        found = _INCLUDE.match(token.text) if token.kind == "directive" else None
        path = self._path(found[1], found[2], name) if found else None
        if found is None or path is None:
            return None
        content = None if path in include_stack else self._read(path)
        if content is not None and text_length + len(content) < _MAX_CHARACTERS:
            content = self._expand_text(
                _with_include_guard(content, path), path, (*include_stack, path)
            )
            if self.should_inline(content, found[1] is not None):
                return f'#line 1 "{path}"\n{content}'
        # the path is relative to a file that is inserted
        return f'#include "{path}"' if include_stack else None

    def _path(self, quoted: str | None, bracketed: str | None, name: str) -> str | None:
        folders = (os.path.dirname(name), *self.folders, ".") if quoted else self.folders
        paths = (os.path.join(folder, quoted or bracketed or "") for folder in folders)
        return next((os.path.abspath(path) for path in paths if os.path.isfile(path)), None)

    @staticmethod
    def _read(path: str) -> str | None:
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except (OSError, UnicodeDecodeError):
            return None


def _with_include_guard(text: str, path: str) -> str:
    """Replace ``#pragma once``, which has no effect in an inserted text, by an include guard."""
    if not _PRAGMA_ONCE.search(text):
        return text
    guard = f"PYCU2C_HAS_{digest_of(path.encode())[:16]}"
    return (
        f'#ifndef {guard}\n#define {guard}\n#line 1 "{path}"\n{_PRAGMA_ONCE.sub("", text)}\n#endif'
    )

"""Files that a text includes, put where it includes them: then they are looked through and edited
with it. ``#line`` says where each line is from. Compiles nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from pycu2c.base.hashing import digest_of
from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.parse.tokens import Origins, Token, tokens_of

_INCLUDE = re.compile(r'#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)')
_ONCE = re.compile(r"#[ \t]*pragma[ \t]+once")
_MAX_CHARACTERS = 1 << 20  # characters: what is longer stays in files


@dataclass(frozen=True, slots=True)
class IncludeExpander:
    """``folders``: where files are looked for; those in quotes beside the text first, and in the
    working folder last. ``should_inline``: whether a text, which was included in quotes or not, is to be a
    part."""

    folders: tuple[str, ...]
    should_inline: Callable[[str, bool], bool]

    def whole(self, code: str, name: str) -> str:
        """A text with what it includes. Lines stay what they were."""
        return self._whole(code, name, ()) if _INCLUDE.search(code) else code

    def _whole(self, code: str, name: str, include_stack: tuple[str, ...]) -> str:
        """``include_stack``: the files in which it stands."""
        tokens = tokens_of(code)
        origins = Origins(code, name, tokens)
        parts, place = [], 0
        for token in tokens:
            instead = self._instead(token, name, include_stack, len(code))
            if instead is not None:
                file, line, _ = origins.locate(token.end)
                back = f'\n#line {line + 1} "{file}"' if "\n" in instead else ""
                parts += [code[place : token.start], instead, back]
                place = token.end
        return "".join((*parts, code[place:]))

    def _instead(
        self, token: Token, name: str, include_stack: tuple[str, ...], before: int
    ) -> str | None:
        """What stands for a directive, if not itself."""
        found = _INCLUDE.match(token.text) if token.kind == "directive" else None
        path = self._path(found[1], found[2], name) if found else None
        if found is None or path is None:
            return None
        inside = None if path in include_stack else self._read(path)
        if inside is not None and before + len(inside) < _MAX_CHARACTERS:
            inside = self._whole(_with_include_guard(inside, path), path, (*include_stack, path))
            if self.should_inline(inside, found[1] is not None):
                return f'#line 1 "{path}"\n{inside}'
        return f'#include "{path}"' if include_stack else None  # whose own folder it was found in

    def _path(self, quoted: str | None, bracketed: str | None, name: str) -> str | None:
        include_stack = (os.path.dirname(name), *self.folders, ".") if quoted else self.folders
        paths = (os.path.join(folder, quoted or bracketed or "") for folder in include_stack)
        return next((os.path.abspath(path) for path in paths if os.path.isfile(path)), None)

    @staticmethod
    def _read(path: str) -> str | None:
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except (OSError, UnicodeDecodeError):
            return None


def _with_include_guard(text: str, path: str) -> str:
    """``#pragma once``, which a part of a text cannot say, in other words."""
    if not _ONCE.search(text):
        return text
    mark = f"PYCU2C_HAS_{digest_of(path.encode())[:16]}"
    return f'#ifndef {mark}\n#define {mark}\n#line 1 "{path}"\n{_ONCE.sub("", text)}\n#endif'

"""Edit a source file by offsets; text outside of edits is unchanged."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from pathlib import Path

from pycu2c.base.records import dataclass
from pycu2c.base.spans import Span


@dataclass(frozen=True, slots=True)
class TextEdit:
    """A replacement of the characters from ``start`` to ``end``."""

    start: int
    end: int
    text: str


class EditableText:
    """The text of a file with its line offsets."""

    def __init__(self, file: str, text: str, encoding: str = "utf-8") -> None:
        self.file, self.text, self.encoding = file, text, encoding
        self.lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))

    @classmethod
    def read(cls, path: Path) -> EditableText:
        """Read a file in its declared encoding. Raises OSError, SyntaxError, UnicodeDecodeError."""
        data = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return cls(str(path), data.decode(encoding), encoding)

    @property
    def newline(self) -> str:
        first = self.lines[0] if self.lines else "\n"
        return first[len(first.rstrip("\r\n")) :] or "\n"

    def offset(self, line: int, utf8_offset: int) -> int:
        """Return the character offset of a position in ``ast`` units (UTF-8 bytes)."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return self._starts[line - 1] + len(text.encode()[:utf8_offset].decode())

    def start(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword) -> Span:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        column = self.offset(node.lineno, node.col_offset) - self._starts[node.lineno - 1]
        end_column = self.offset(end_line, end) - self._starts[end_line - 1]
        return Span(self.file, node.lineno, column, end_line, end_column)

    def line_start(self, offset: int) -> int:
        """Return the offset at which the line of an offset starts."""
        return max(start for start in self._starts if start <= offset)

    def next_line_start(self, offset: int) -> int:
        """Return the offset at which the next line starts."""
        return min((s for s in self._starts if s > offset), default=len(self.text))

    def apply(self, edits: Iterable[TextEdit]) -> str:
        """Return the text with all edits applied; they must not overlap."""
        parts: list[str] = []
        position = 0
        for edit in sorted(set(edits), key=lambda e: (e.start, e.end)):
            assert edit.start >= position, "edits overlap"
            parts += [self.text[position : edit.start], edit.text]
            position = edit.end
        return "".join((*parts, self.text[position:]))

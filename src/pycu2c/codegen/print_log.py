"""Emit the log of a kernel that prints: a buffer, and one C function for each ``print``.

The function appends a record: the number of the print, then the values in 64-bit words. The host
formats the records after the launch (``runtime/print_log.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from string import Template

from pycu2c.base.dtypes import UINT64, DType
from pycu2c.base.records import dataclass, field
from pycu2c.codegen.dialect import Dialect
from pycu2c.codegen.helpers.templates import c_definition
from pycu2c.csyntax import nodes as c
from pycu2c.ir.print_format import PrintFormat, format_text, scalar_types, word_count

_QUALIFIERS = {"c": "static inline", "cuda": "static __device__"}


@dataclass(slots=True)
class Prints:
    """The prints of one file, numbered in order of their first use."""

    dialect: Dialect
    type_name: Callable[[DType], str]
    numbers: dict[PrintFormat, int] = field(default_factory=dict)

    def name(self, print_format: PrintFormat) -> str:
        """Return the name of the C function that appends a record for the format to the log."""
        return f"print_{self.numbers.setdefault(print_format, len(self.numbers))}"

    def definitions(self) -> list[c.Item]:
        """Return the log and its functions; nothing if the kernel does not print."""
        if not self.numbers:
            return []
        log = Template(c_definition(f"c/print_log_{self.dialect.name}").strip("\n"))
        texts = [
            log.substitute(W=self.dialect.type_name(UINT64)),
            *map(self._definition, self.numbers),
        ]
        return [item for text in texts for item in (c.Blank(), c.Verbatim(text))]

    def _definition(self, print_format: PrintFormat) -> str:
        dtypes = [scalar.dtype for scalar in scalar_types(print_format)]
        declarations = [f"{self.type_name(dtype)} v{i}" for i, dtype in enumerate(dtypes)]
        parameters = ", ".join(declarations) or ("void" if self.dialect.name == "c" else "")
        lines = [f'// print "{format_text(print_format)}"']
        lines += [
            f"{_QUALIFIERS[self.dialect.name]} void {self.name(print_format)}({parameters}) {{"
        ]
        record = f"print_record({self.numbers[print_format]}, {sum(map(word_count, dtypes))})"
        if dtypes:
            lines += [f"    {self.dialect.type_name(UINT64)} *const record = {record};"]
            lines += ["    if (!record) return;", *_copies(dtypes)]
        else:
            lines += [f"    {record};"]
        return "\n".join([*lines, "}"])


def _copies(dtypes: list[DType]) -> list[str]:
    """Return the lines that copy the values as bytes, because a word may have any type."""
    lines, offset = [], 0
    for i, dtype in enumerate(dtypes):
        word = f"record + {offset}" if offset else "record"
        lines.append(f"    memcpy({word}, &v{i}, sizeof v{i});")
        offset += word_count(dtype)
    return lines

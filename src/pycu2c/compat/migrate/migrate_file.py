"""Migrate one file: rewrite its imports and collect remarks."""

from __future__ import annotations

import ast
import difflib
import warnings
from pathlib import Path

from pycu2c.base.records import dataclass
from pycu2c.compat.migrate.import_bindings import find_numba_names
from pycu2c.compat.migrate.import_rewrites import migrate_imports
from pycu2c.compat.migrate.name_map import NUMBA, PYCU2C
from pycu2c.compat.migrate.number_types import number_types
from pycu2c.compat.migrate.remarks import Remark, Severity, sort_and_deduplicate
from pycu2c.compat.migrate.string_references import find_string_references
from pycu2c.compat.migrate.text_edits import EditableText


@dataclass(frozen=True, slots=True, eq=False)
class MigratedFile:
    """The result for one file."""

    path: Path
    old: EditableText
    new: str
    remarks: tuple[Remark, ...]

    @property
    def is_changed(self) -> bool:
        return self.new != self.old.text

    @property
    def needs_manual_change(self) -> bool:
        return any(r.kind.severity is Severity.MANUAL for r in self.remarks)

    def diff(self) -> str:
        """Return the changes as a unified diff."""
        old = self.old.text.splitlines(keepends=True)
        new = self.new.splitlines(keepends=True)
        name = str(self.path).lstrip("/\\")
        lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
        terminated_lines = (
            s if s.endswith("\n") else f"{s}\n\\ No newline at end of file\n" for s in lines
        )
        return "".join(terminated_lines)


def migrate_file(path: Path) -> MigratedFile:
    """Migrate a file.

    Raises
    ------
    OSError, SyntaxError, ValueError, RecursionError
        If the file cannot be read or parsed.
    """
    text = EditableText.read(path)
    if NUMBA not in text.text and PYCU2C not in text.text:
        return MigratedFile(path, text, text.text, ())
    with warnings.catch_warnings():  # parsing warns of invalid escape sequences
        warnings.simplefilter("ignore")
        tree = ast.parse(text.text, filename=text.file)
    names = find_numba_names(tree)
    migration = migrate_imports(text, tree, names)
    remarks = list(migration.remarks)
    if migration.has_cuda and names.bindings:
        remarks += find_string_references(text, tree)
        remarks += number_types(text, tree, names)
    return MigratedFile(
        path, text, text.apply(migration.edits), tuple(sort_and_deduplicate(remarks))
    )

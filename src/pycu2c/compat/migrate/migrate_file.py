"""Migrate one file: rewrite its imports and collect remarks."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from pycu2c.base.diagnostics import CompileError
from pycu2c.base.records import dataclass
from pycu2c.base.types import Signature
from pycu2c.compat.migrate.import_bindings import find_numba_names
from pycu2c.compat.migrate.import_rewrites import migrate_imports
from pycu2c.compat.migrate.name_map import NUMBA, PYCU2C
from pycu2c.compat.migrate.remarks import Remark, Severity, sort_and_deduplicate
from pycu2c.compat.migrate.static_env import KernelDefinition, StaticEnvironment
from pycu2c.compat.migrate.string_references import find_string_references
from pycu2c.compat.migrate.text_edits import EditableText
from pycu2c.compat.migrate.type_differences import differences
from pycu2c.compat.migrate.untyped_functions import possible_differences
from pycu2c.ir.nodes import Module

Types: TypeAlias = Mapping[str, Sequence[Signature]]
NO_TYPES: Types = {}


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


def migrate_file(path: Path, types: Types = NO_TYPES) -> MigratedFile:
    """Migrate a file.

    Parameters
    ----------
    path
        The file.
    types
        Signatures for kernels without a declared signature, by kernel name.

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
        remarks += _kernel_remarks(text, StaticEnvironment(text, tree, names), types)
    return MigratedFile(
        path, text, text.apply(migration.edits), tuple(sort_and_deduplicate(remarks))
    )


def _kernel_remarks(
    text: EditableText, environment: StaticEnvironment, types: Types
) -> list[Remark]:
    remarks = list(environment.remarks)
    untyped = {definition.node.name: definition for definition in environment.kernels}
    for definition in environment.kernels:
        for module in _typed_modules(definition, types):
            remarks += differences(module, text.file, environment.global_number)
            for function in (module.kernel, *module.device_functions):
                untyped.pop(function.python_name, None)
    for definition in untyped.values():
        if definition.kernel is not None:
            remarks += possible_differences(
                text, definition.kernel, definition.node, environment.global_number
            )
    return remarks


def _typed_modules(definition: KernelDefinition, types: Types) -> Iterator[Module]:
    """Yield the IR of a kernel for its declared signatures, or for the requested types."""
    if definition.kernel is None:
        return
    for signature in definition.kernel.declared or types.get(definition.node.name, ()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(CompileError):  # a name may be unresolved
                yield definition.kernel.launcher.compiler.build(signature).module

"""Rewrite the imports and uses of numba names to pycu2c names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from pycu2c.base.diagnostics import Label
from pycu2c.base.records import dataclass, field
from pycu2c.compat.migrate import name_map, remarks
from pycu2c.compat.migrate.import_bindings import Binding, NumbaNames, Statement, Use
from pycu2c.compat.migrate.name_map import PYCU2C, is_in_numba_cuda, pycu2c_import_path, pycu2c_path
from pycu2c.compat.migrate.remarks import Remark, RemarkKind
from pycu2c.compat.migrate.text_edits import EditableText, TextEdit

_UFUNCS = ("numba.vectorize", "numba.guvectorize")


@dataclass(frozen=True, slots=True, eq=False)
class ImportMigration:
    """Decides for each name of a file whether it moves, and collects edits and remarks.

    ``host_call_nodes`` contains the nodes inside calls of numba's host functions, such as the types
    in a signature of ``njit``.
    """

    text: EditableText
    names: NumbaNames
    host_call_nodes: frozenset[ast.AST]
    has_cuda: bool
    has_cuda_ufuncs: bool
    edits: list[TextEdit] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)

    def remains_numba(self, path: str) -> bool:
        """Return whether a name is not migrated; pycu2c may have the same name."""
        if path in _UFUNCS:
            return not self.has_cuda_ufuncs
        return path in name_map.HOST_FUNCTIONS or (
            not is_in_numba_cuda(path) and pycu2c_path(path) is None
        )

    def use_remains_numba(self, use: Use) -> bool:
        return not is_in_numba_cuda(use.path) and (
            self.remains_numba(use.path) or use.node in self.host_call_nodes
        )

    def add_remark(
        self, kind: RemarkKind, node: ast.expr | ast.alias, hint: str, topic: str
    ) -> None:
        label = Label(self.text.span(node))
        self.remarks.append(Remark(kind, (label,), hint, topic))


def migrate_imports(text: EditableText, tree: ast.Module, names: NumbaNames) -> ImportMigration:
    """Decide for all names of a file, and edit its imports and uses."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    has_cuda_ufuncs = any(names.path(c.func) in _UFUNCS and _targets_cuda(c) for c in calls)
    paths = [b.imported_path for b in names.bindings] + [u.path for u in names.uses]
    has_host_functions = any(p in name_map.HOST_FUNCTIONS for p in paths) and not has_cuda_ufuncs
    has_cuda = has_cuda_ufuncs or any(map(is_in_numba_cuda, paths)) or not has_host_functions
    without_host_calls = ImportMigration(text, names, frozenset(), has_cuda, has_cuda_ufuncs)
    numba_calls = [
        c for c in calls if (path := names.path(c.func)) and without_host_calls.remains_numba(path)
    ]
    host_call_nodes = frozenset(inner for call in numba_calls for inner in ast.walk(call))
    migration = ImportMigration(text, names, host_call_nodes, has_cuda, has_cuda_ufuncs)
    for statement, bindings in _group_by_statement(names.bindings):
        if isinstance(statement, ast.ImportFrom):
            _FromImport(migration, statement, bindings).edit()
        else:
            _PlainImport(migration, statement, bindings).edit()
    _report_uses(migration)
    return migration


def _targets_cuda(call: ast.Call) -> bool:
    targets = [k.value for k in call.keywords if k.arg == "target"]
    return any(isinstance(t, ast.Constant) and t.value == "cuda" for t in targets)


def _group_by_statement(bindings: Iterable[Binding]) -> list[tuple[Statement, list[Binding]]]:
    groups: dict[Statement, list[Binding]] = {}
    for binding in bindings:
        if binding.is_from_pycu2c:
            continue
        groups.setdefault(binding.statement, []).append(binding)
    return sorted(groups.items(), key=lambda item: (item[0].lineno, item[0].col_offset))


def _report_uses(migration: ImportMigration) -> None:
    for use in migration.names.uses:
        if is_in_numba_cuda(use.path) and pycu2c_path(use.path) is None:
            migration.add_remark(remarks.ABSENT, use.node, name_map.hint_for(use.path), use.path)


# ---- from numba import … -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _FromImport:
    migration: ImportMigration
    statement: ast.ImportFrom
    bindings: list[Binding]

    def edit(self) -> None:
        """Rewrite ``from numba import cuda, njit``: keep ``njit``, import ``cuda`` from pycu2c."""
        target_modules = {
            b.alias: target for b in self.bindings if (target := self._target_module(b))
        }
        if not target_modules:
            return
        modules = sorted(set(target_modules.values()))
        if len(target_modules) == len(self.statement.names) and len(modules) == 1:
            self._replace_module(modules[0])
            return
        self._split_statement(target_modules, modules)

    def _target_module(self, b: Binding) -> str | None:
        """Return the pycu2c module that provides a name; None if the name is not migrated."""
        module = self.statement.module or ""
        if b.alias.name == "*":
            new_module = pycu2c_path(module) if module != name_map.NUMBA else None
            if new_module is None or not name_map.is_module(new_module):
                hint = "import the names explicitly; those of numba.cuda are in pycu2c.cuda"
                self.migration.add_remark(remarks.STAR, b.alias, hint, b.path)
                return None
            return new_module
        if self._remains_numba(b):
            reason = name_map.reason_to_keep(b.path)
            if self.migration.has_cuda and self.migration.remains_numba(b.path):
                self.migration.add_remark(remarks.REMAINS, b.alias, reason, b.path)
            return None
        new_path = pycu2c_import_path(b.path)
        if new_path is None:
            self.migration.add_remark(remarks.ABSENT, b.alias, name_map.hint_for(b.path), b.path)
            return None
        return new_path.rpartition(".")[0]

    def _remains_numba(self, b: Binding) -> bool:
        if is_in_numba_cuda(b.path):
            return False
        if not self.migration.has_cuda or self.migration.remains_numba(b.path):
            return True
        return any(self.migration.use_remains_numba(use) for use in b.uses)

    def _replace_module(self, module: str) -> None:
        text, start = self.migration.text, self.migration.text.start(self.statement)
        old_module = re.compile(r"(from\s+)(.*?)\s+import\b").match(text.text, start)
        assert old_module is not None
        self.migration.edits.append(TextEdit(old_module.start(2), old_module.end(2), module))

    def _split_statement(self, target_modules: dict[ast.alias, str], modules: list[str]) -> None:
        """Write one statement for the names that remain, and one for each module of the others."""
        text, statement = self.migration.text, self.statement
        lines = []
        for module in (None, *modules):
            names = [_import_text(a) for a in statement.names if target_modules.get(a) == module]
            if names:
                lines.append(f"from {module or statement.module} import {', '.join(names)}")
        edit = TextEdit(text.start(statement), text.end(statement), lines[0])
        self.migration.edits.extend((edit, _insert_after(text, statement, lines[1:])))


def _import_text(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _insert_after(text: EditableText, s: Statement, lines: list[str]) -> TextEdit:
    """Return the insertion of statements: each on a line, or on the same line if it is shared."""
    start, end = text.start(s), text.end(s)
    indent = text.text[text.line_start(start) : start]
    rest_of_line = text.text[end : text.next_line_start(end)].strip()
    if indent.strip() or rest_of_line.startswith(";"):
        return TextEdit(end, end, "".join(f"; {line}" for line in lines))
    offset = text.next_line_start(end)
    ends_with_newline = text.text[:offset].endswith(("\n", "\r"))
    prefix, suffix = ("", text.newline) if ends_with_newline else (text.newline, "")
    statements = text.newline.join(indent + line for line in lines)
    return TextEdit(offset, offset, f"{prefix}{statements}{suffix}" if lines else "")


# ---- import numba … ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _PlainImport:
    migration: ImportMigration
    statement: ast.Import
    bindings: list[Binding]

    def edit(self) -> None:
        needs_import = [self._edit_binding(b) for b in self.bindings]
        if any(needs_import):
            self.migration.edits.append(
                _insert_after(self.migration.text, self.statement, [f"import {PYCU2C}"])
            )

    def _edit_binding(self, b: Binding) -> bool:
        """Rename a module, or rewrite its migrated uses; return whether these need an import."""
        remaining_uses = [use for use in b.uses if self._use_remains_numba(use)]
        migrated_uses = [use for use in b.uses if not self._use_remains_numba(use)]
        self._report(remaining_uses if self.migration.has_cuda else [])
        if not is_in_numba_cuda(b.imported_path) and (
            not migrated_uses or not self.migration.has_cuda
        ):
            return False
        module = pycu2c_path(b.imported_path)
        if module is None or not name_map.is_module(module):
            self.migration.add_remark(
                remarks.ABSENT, b.alias, name_map.hint_for(b.imported_path), b.imported_path
            )
            return False
        if not remaining_uses:
            self._rename(b, module)
            return self._rewrite(migrated_uses, b.name if b.alias.asname else PYCU2C, module)
        if b.alias.asname is None and b.imported_path != name_map.NUMBA:
            self._rename(b, name_map.NUMBA)
        self._rewrite(migrated_uses, PYCU2C, PYCU2C)
        return True

    def _use_remains_numba(self, use: Use) -> bool:
        return use.path == name_map.NUMBA or self.migration.use_remains_numba(use)

    def _report(self, remaining_uses: list[Use]) -> None:
        for use in remaining_uses:
            if use.path != name_map.NUMBA and self.migration.remains_numba(use.path):
                self.migration.add_remark(
                    remarks.REMAINS, use.node, name_map.reason_to_keep(use.path), use.path
                )

    def _rename(self, b: Binding, module: str) -> None:
        start = self.migration.text.start(b.alias)
        self.migration.edits.append(TextEdit(start, start + len(b.alias.name), module))

    def _rewrite(self, uses: list[Use], name: str, module: str) -> bool:
        """Rewrite uses to start with ``name``, which is bound to ``module``.

        Return whether some are in another module and need an import.
        """
        needs_import = False
        for use in uses:
            same_path = PYCU2C + use.path.removeprefix(name_map.NUMBA)
            new_path = pycu2c_path(use.path) or same_path
            if name == PYCU2C or not f"{new_path}.".startswith(f"{module}."):
                needs_import |= name != PYCU2C
                self._replace(use, new_path, same_path)
            elif ast.unparse(use.node) != (new_text := name + new_path.removeprefix(module)):
                self._replace(use, new_text, "")
        return needs_import

    def _replace(self, use: Use, new_text: str, same_path: str) -> None:
        """Replace the whole attribute chain, or only its first name if that suffices."""
        text = self.migration.text
        start, end = text.start(use.node), text.end(use.node)
        if new_text == same_path and use.base.id == name_map.NUMBA:
            end, new_text = start + len(name_map.NUMBA), PYCU2C
        self.migration.edits.append(TextEdit(start, end, new_text))

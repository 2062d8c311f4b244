"""Which of a file's names move here, and the edits of its imports and uses that move them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pycu2c.base.diagnostics import Label
from pycu2c.base.records import dataclass, field
from pycu2c.compat.migrate import name_map, remarks
from pycu2c.compat.migrate.import_bindings import Binding, Names, Statement, Use
from pycu2c.compat.migrate.name_map import OURS, is_of_cuda, ours, ours_in_module
from pycu2c.compat.migrate.remarks import Remark
from pycu2c.compat.migrate.text_edits import Edit, Text

_UFUNCS = ("numba.vectorize", "numba.guvectorize")


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """What becomes of the names of a file. ``for_host`` are the places of what numba is given for
    the host: the types in a signature of ``njit``."""

    text: Text
    names: Names
    for_host: frozenset[ast.AST]
    has_cuda: bool
    has_cuda_ufuncs: bool
    edits: list[Edit] = field(default_factory=list)
    found: list[Remark] = field(default_factory=list)

    def stays(self, path: str) -> bool:
        """Whether a name is numba's whatever this package has."""
        if path in _UFUNCS:
            return not self.has_cuda_ufuncs
        return path in name_map.HOST_FUNCTIONS or (not is_of_cuda(path) and ours(path) is None)

    def use_stays(self, use: Use) -> bool:
        return not is_of_cuda(use.path) and (self.stays(use.path) or use.node in self.for_host)

    def note(self, kind: remarks.Kind, node: ast.expr | ast.alias, hint: str, topic: str) -> None:
        label = Label(self.text.span(node))
        self.found.append(Remark(kind, (label,), hint, topic))


def moves_of(text: Text, tree: ast.Module, found: Names) -> Moves:
    """Decide for all names of a file; edit its imports, and uses where that is not enough."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    ufuncs = any(found.path(c.func) in _UFUNCS and _is_for_cuda(c) for c in calls)
    paths = [b.imported for b in found.bindings] + [u.path for u in found.uses]
    hosts = any(p in name_map.HOST_FUNCTIONS for p in paths) and not ufuncs
    has_cuda = ufuncs or any(map(is_of_cuda, paths)) or not hosts
    before = Moves(text, found, frozenset(), has_cuda, ufuncs)
    kept = [c for c in calls if (path := found.path(c.func)) and before.stays(path)]
    for_host = frozenset(inner for call in kept for inner in ast.walk(call))
    moves = Moves(text, found, for_host, has_cuda, ufuncs)
    for statement, bindings in _by_statement(found.bindings):
        if isinstance(statement, ast.ImportFrom):
            _FromImport(moves, statement, bindings).edit()
        else:
            _PlainImport(moves, statement, bindings).edit()
    _report_uses(moves)
    return moves


def _is_for_cuda(call: ast.Call) -> bool:
    targets = [k.value for k in call.keywords if k.arg == "target"]
    return any(isinstance(t, ast.Constant) and t.value == "cuda" for t in targets)


def _by_statement(found: Iterable[Binding]) -> list[tuple[Statement, list[Binding]]]:
    groups: dict[Statement, list[Binding]] = {}
    for binding in found:
        if binding.has_moved:
            continue
        groups.setdefault(binding.statement, []).append(binding)
    return sorted(groups.items(), key=lambda item: (item[0].lineno, item[0].col_offset))


def _report_uses(moves: Moves) -> None:
    for use in moves.names.uses:
        if is_of_cuda(use.path) and ours(use.path) is None:
            moves.note(remarks.ABSENT, use.node, name_map.cure_for(use.path), use.path)


# ---- from numba import … -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _FromImport:
    moves: Moves
    statement: ast.ImportFrom
    bindings: list[Binding]

    def edit(self) -> None:
        """``from numba import cuda, njit`` -> ``from numba import njit``, and the other line."""
        homes = {b.alias: home for b in self.bindings if (home := self._home(b))}
        if not homes:
            return
        modules = sorted(set(homes.values()))
        if len(homes) == len(self.statement.names) and len(modules) == 1:
            self._replace_module(modules[0])
            return
        self._split(homes, modules)

    def _home(self, b: Binding) -> str | None:
        """The module here that has what a binding names; None where that stays numba's."""
        module = self.statement.module or ""
        if b.alias.name == "*":
            found = ours(module) if module != name_map.NUMBA else None
            if found is None or not name_map.is_module(found):
                hint = "write the names that are used; those of numba.cuda are in pycu2c.cuda"
                self.moves.note(remarks.STAR, b.alias, hint, b.path)
                return None
            return found
        if self._stays(b):
            why = name_map.why_it_stays(b.path)
            if self.moves.has_cuda and self.moves.stays(b.path):
                self.moves.note(remarks.STAYS, b.alias, why, b.path)
            return None
        new = ours_in_module(b.path)
        if new is None:
            self.moves.note(remarks.ABSENT, b.alias, name_map.cure_for(b.path), b.path)
            return None
        return new.rpartition(".")[0]

    def _stays(self, b: Binding) -> bool:
        if is_of_cuda(b.path):
            return False
        if not self.moves.has_cuda or self.moves.stays(b.path):
            return True
        return any(self.moves.use_stays(use) for use in b.uses)

    def _replace_module(self, module: str) -> None:
        words = list(self._words())
        first = next(i for i, (_, word) in enumerate(words) if word == "from") + 1
        last = next(i for i, (_, word) in enumerate(words) if word == "import") - 1
        end = words[last][0] + len(words[last][1])
        self.moves.edits.append(Edit(words[first][0], end, module))

    def _words(self) -> Iterator[tuple[int, str]]:
        text = self.moves.text
        return text.tokens(text.start(self.statement), text.end(self.statement))

    def _split(self, homes: dict[ast.alias, str], modules: list[str]) -> None:
        """Take the names that move out of the statement, and import them in others after it."""
        text, edits = self.moves.text, self.moves.edits
        lines = []
        for module in modules:
            taken = [a for a in self.statement.names if homes.get(a) == module]
            lines.append(f"from {module} import {', '.join(map(_written, taken))}")
        if len(homes) == len(self.statement.names):
            edits.append(Edit(text.start(self.statement), text.end(self.statement), lines.pop(0)))
        else:
            edits += self._without(set(homes))
        edits.append(_after(text, self.statement, lines))

    def _without(self, gone: set[ast.alias]) -> Iterator[Edit]:
        """Each name goes with its comma, or with the one before it if it must not end the line;
        and a line with nothing else on it as a whole."""
        text, aliases = self.moves.text, self.statement.names
        words = list(self._words())
        commas = [place for place, word in words if word == ","]
        in_brackets = any(word == "(" for _, word in words)
        last_kept = max(i for i, a in enumerate(aliases) if a not in gone)
        if not in_brackets and last_kept + 1 < len(aliases):
            yield Edit(text.end(aliases[last_kept]), text.end(aliases[-1]), "")
            aliases = aliases[: last_kept + 1]
        for run in _runs(aliases, gone):
            end = text.end(run[-1])
            following = [a for a in self.statement.names if text.start(a) > end]
            bound = text.start(following[0]) if following else len(text.text)
            own = [place for place in commas if end <= place < bound]
            yield _with_its_line(text, text.start(run[0]), own[0] + 1 if own else end)


def _runs(aliases: list[ast.alias], gone: set[ast.alias]) -> list[list[ast.alias]]:
    """Those that are gone, and stand side by side on a line."""
    found: list[list[ast.alias]] = []
    previous: ast.alias | None = None
    for alias in aliases:
        if alias in gone:
            joins = previous in gone and previous and previous.lineno == alias.lineno
            found = [*found[:-1], [*found[-1], alias]] if joins else [*found, [alias]]
        previous = alias
    return found


def _written(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _with_its_line(text: Text, start: int, end: int) -> Edit:
    """The edit that takes a stretch away, with the blanks after it, or with all of its line."""
    line, next_line = text.line_of(start), text.line_end(end)
    if not text.text[line:start].strip() and not text.text[end:next_line].strip():
        return Edit(line, next_line, "")
    while text.text[end : end + 1] in (" ", "\t"):
        end += 1
    return Edit(start, end, "")


def _after(text: Text, s: Statement, lines: list[str]) -> Edit:
    """The edit that puts statements behind one: each on a line, or all on its line if something
    stands before it there."""
    start, end = text.start(s), text.end(s)
    indent = text.text[text.line_of(start) : start]
    rest = text.text[end : text.line_end(end)].strip()
    if indent.strip() or rest.startswith(";"):
        return Edit(end, end, "".join(f"; {line}" for line in lines))
    place = text.line_end(end)
    ends = text.text[:place].endswith(("\n", "\r"))
    first, last = ("", text.newline) if ends else (text.newline, "")
    added = text.newline.join(indent + line for line in lines)
    return Edit(place, place, f"{first}{added}{last}" if lines else "")


# ---- import numba … ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _PlainImport:
    moves: Moves
    statement: ast.Import
    bindings: list[Binding]

    def edit(self) -> None:
        added = [self._edit(b) for b in self.bindings]
        if any(added):
            self.moves.edits.append(_after(self.moves.text, self.statement, [f"import {OURS}"]))

    def _edit(self, b: Binding) -> bool:
        """Move a module, or those of its names that are here; whether these need an import."""
        staying = [use for use in b.uses if self._use_stays(use)]
        moving = [use for use in b.uses if not self._use_stays(use)]
        self._report(staying if self.moves.has_cuda else [])
        if not is_of_cuda(b.imported) and (not moving or not self.moves.has_cuda):
            return False
        new = ours(b.imported)
        if new is None or not name_map.is_module(new):
            self.moves.note(remarks.ABSENT, b.alias, name_map.cure_for(b.imported), b.imported)
            return False
        if not staying:
            self._rename(b, new)
            return self._rewrite(moving, b.name if b.alias.asname else OURS, new)
        if b.alias.asname is None and b.imported != name_map.NUMBA:
            self._rename(b, name_map.NUMBA)
        self._rewrite(moving, OURS, OURS)
        return True

    def _use_stays(self, use: Use) -> bool:
        return use.path == name_map.NUMBA or self.moves.use_stays(use)

    def _report(self, staying: list[Use]) -> None:
        for use in staying:
            if use.path != name_map.NUMBA and self.moves.stays(use.path):
                self.moves.note(remarks.STAYS, use.node, name_map.why_it_stays(use.path), use.path)

    def _rename(self, b: Binding, module: str) -> None:
        start = self.moves.text.start(b.alias)
        self.moves.edits.append(Edit(start, start + len(b.alias.name), module))

    def _rewrite(self, uses: list[Use], name: str, module: str) -> bool:
        """Write uses so that they begin with ``name``, which ``module`` is called; whether some
        are not of that module, and need another import."""
        needs_import = False
        for use in uses:
            swapped = OURS + use.path.removeprefix(name_map.NUMBA)
            new = ours(use.path) or swapped
            if name == OURS or not f"{new}.".startswith(f"{module}."):
                needs_import |= name != OURS
                self._replace(use, new, swapped)
            elif ast.unparse(use.node) != (shown := name + new.removeprefix(module)):
                self._replace(use, shown, "")
        return needs_import

    def _replace(self, use: Use, new: str, swapped: str) -> None:
        """The whole chain, or its first name alone where that is all that changes."""
        text = self.moves.text
        start, end = text.start(use.node), text.end(use.node)
        if new == swapped and use.base.id == name_map.NUMBA:
            end, new = start + len(name_map.NUMBA), OURS
        self.moves.edits.append(Edit(start, end, new))

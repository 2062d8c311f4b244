"""A file -> its text for this package, and what there is to say of it."""

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
from pycu2c.compat.migrate.import_bindings import names_in
from pycu2c.compat.migrate.import_rewrites import moves_of
from pycu2c.compat.migrate.name_map import NUMBA, OURS
from pycu2c.compat.migrate.remarks import Remark, Weight, each_once
from pycu2c.compat.migrate.static_env import Made, Scene
from pycu2c.compat.migrate.string_references import words_in
from pycu2c.compat.migrate.text_edits import Text
from pycu2c.compat.migrate.type_differences import differences
from pycu2c.compat.migrate.untyped_functions import may_differ
from pycu2c.ir.nodes import Module

Types: TypeAlias = Mapping[str, Sequence[Signature]]
NO_TYPES: Types = {}


@dataclass(frozen=True, slots=True, eq=False)
class Migrated:
    """A file that was looked at."""

    path: Path
    old: Text
    new: str
    remarks: tuple[Remark, ...]

    @property
    def is_changed(self) -> bool:
        return self.new != self.old.text

    @property
    def needs_a_hand(self) -> bool:
        return any(r.kind.weight is Weight.HAND for r in self.remarks)

    def diff(self) -> str:
        """What changes, as ``patch`` reads it."""
        old = self.old.text.splitlines(keepends=True)
        new = self.new.splitlines(keepends=True)
        name = str(self.path).lstrip("/\\")
        lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
        ended = (s if s.endswith("\n") else f"{s}\n\\ No newline at end of file\n" for s in lines)
        return "".join(ended)


def migrated(path: Path, types: Types = NO_TYPES) -> Migrated:
    """Look at a file. ``types``: those that kernels without a signature are looked at with. Raises
    OSError, SyntaxError, ValueError, RecursionError."""
    text = Text.of(path)
    if NUMBA not in text.text and OURS not in text.text:
        return Migrated(path, text, text.text, ())
    with warnings.catch_warnings():  # of strings with wrong escapes
        warnings.simplefilter("ignore")
        tree = ast.parse(text.text, filename=text.file)
    names = names_in(tree)
    moves = moves_of(text, tree, names)
    found = list(moves.found)
    if moves.has_cuda and names.bindings:
        found += words_in(text, tree)
        found += _of_kernels(text, Scene(text, tree, names), types)
    return Migrated(path, text, text.edited(moves.edits), tuple(each_once(found)))


def _of_kernels(text: Text, scene: Scene, types: Types) -> list[Remark]:
    found = list(scene.remarks)
    untyped = {made.node.name: made.node for made in scene.made}
    for made in scene.made:
        for module in _typed(made, types):
            found += differences(module, text.file, scene.number)
            for function in (module.kernel, *module.devices):
                untyped.pop(function.python_name, None)
    for node in untyped.values():
        found += may_differ(text, node, scene.number)
    return found


def _typed(made: Made, types: Types) -> Iterator[Module]:
    """A kernel for its signatures, or for the types that were asked for."""
    if made.kernel is None:
        return
    for signature in made.kernel.declared or types.get(made.node.name, ()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(CompileError):  # for want of something that was not looked at
                yield made.kernel.launcher.built(signature).module

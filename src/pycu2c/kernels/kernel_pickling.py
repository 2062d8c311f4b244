"""Pickle kernels and device functions: by name, or by value with their source.

A kernel that another process can import is pickled by its name, as functions are. Others are
pickled by value: kernels of ``__main__``, of notebooks and of functions, and those of modules that
``cloudpickle.register_pickle_by_value`` names. Their pickle contains the Python functions with
their source text, the values of the names that they read, and the arguments of the decorator. The
unpickled kernel has the same key in the cache (``cache_key``), and its errors show source lines.
"""

from __future__ import annotations

import ast
import functools
import io
import linecache
import marshal
import os
import pickle
import sys
import zlib
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Self

from pycu2c.base.lazy_imports import import_module
from pycu2c.base.source import (
    ATTACHED_SOURCE,
    Source,
    SourceUnavailable,
    copy_tree,
    own_lines,
    parse_function,
    source_of,
)

_MAX_UNPICKLED = 128  # kernels that a process keeps
_MAX_PICKLED = 128  # functions whose results are kept
_FUNCTION_ATTRIBUTES = (
    *("__name__", "__qualname__", "__module__", "__doc__"),
    *("__defaults__", "__kwdefaults__", "__annotations__"),
)
# what ``functools.update_wrapper`` copies from an unpickled function
_NOT_PICKLED = (ATTACHED_SOURCE, "__wrapped__")


class Pickled:
    """Base class of kernels and device functions. A copy of one is the object itself."""

    __slots__ = ()

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle by name if another process can import the object, else by value."""
        name: str = getattr(self, "__qualname__", "")
        if _is_importable(self):
            return name
        buffer = io.BytesIO()
        _pickler(buffer).dump(self)
        return _unpickle, (name, sys.implementation.cache_tag, zlib.compress(buffer.getvalue()))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def _pickled_state(self) -> dict[str, Any]:
        """Return what ``_unpickled_from`` needs in another process."""
        return {name: value for name, value in vars(self).items() if name not in _NOT_PICKLED}

    def _unpickled_from(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


def _unpickle(name: str, cache_tag: str, content: bytes) -> Any:
    if cache_tag != sys.implementation.cache_tag:
        raise pickle.UnpicklingError(
            f"{name} was pickled by value in {cache_tag}, and this process is "
            f"{sys.implementation.cache_tag}: use one version of Python"
        )
    return _unpickled(content)


@functools.lru_cache(_MAX_UNPICKLED)
def _unpickled(content: bytes) -> Any:
    """Return one object for equal pickles, so that a worker compiles once for all its tasks."""
    return pickle.loads(zlib.decompress(content))


def _is_importable(value: Any) -> bool:
    """Return whether another process finds this very object by its module and name."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    if module is None or module.__name__ in ("__main__", "__mp_main__"):
        return False
    cloudpickle: Any = sys.modules.get("cloudpickle")
    by_value = cloudpickle.list_registry_pickle_by_value() if cloudpickle else ()
    if any(f"{module.__name__}.".startswith(f"{name}.") for name in by_value):
        return False
    found: Any = module
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


def _pickler(buffer: io.BytesIO) -> pickle.Pickler:
    """Return a pickler of functions by value; cloudpickle's, if imported, for classes too."""
    cloudpickle: Any = sys.modules.get("cloudpickle")
    base: Any = cloudpickle.Pickler if cloudpickle else pickle.Pickler

    class Pickler(base):  # type: ignore[misc]  # the class depends on the process
        def reducer_override(self, value: Any) -> Any:
            match value:
                case Pickled() if not _is_importable(value):
                    state = value._pickled_state()
                    return _new, (type(value),), state, None, None, _restore
                case FunctionType() if not _is_importable(value):
                    return _reduce_function(value)
                case Source():
                    return _reduce_source(value)
                case ModuleType() if not cloudpickle:
                    return import_module, (value.__name__,)
            return super().reducer_override(value) if cloudpickle else NotImplemented

    pickler: pickle.Pickler = Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    return pickler


def _new(cls: type[Pickled]) -> Pickled:
    return cls.__new__(cls)


def _restore(value: Pickled, state: dict[str, Any]) -> None:
    value._unpickled_from(state)


# ---- functions -----------------------------------------------------------------------------


def _reduce_function(function: FunctionType) -> tuple[Any, ...]:
    """Reduce a function; its state follows it, because it may refer to itself."""
    try:
        source = source_of(function)
    except SourceUnavailable:
        source = None
    values = function.__globals__
    names = _names_in_code(function.__code__) if source is None else _names_in(source.tree)
    state = {
        "globals": {name: values[name] for name in sorted(names & values.keys())},
        "cells": [_contents(cell) for cell in function.__closure__ or ()],
        "attributes": {name: getattr(function, name) for name in _FUNCTION_ATTRIBUTES},
        "dict": {n: v for n, v in vars(function).items() if n not in _NOT_PICKLED},
        "source": source and _text_of(source),
    }
    create = _new_function, (marshal.dumps(function.__code__), values.get("__name__", ""))
    return *create, state, None, None, _restore_function


def _new_function(code: bytes, module: str) -> FunctionType:
    loaded = marshal.loads(code)
    closure = tuple(CellType() for _ in loaded.co_freevars)
    return FunctionType(loaded, {"__name__": module}, closure=closure)


def _restore_function(function: FunctionType, state: dict[str, Any]) -> None:
    function.__globals__.update(state["globals"])
    for cell, contents in zip(function.__closure__ or (), state["cells"]):
        for value in contents:
            cell.cell_contents = value
    for name, value in state["attributes"].items():
        setattr(function, name, value)
    vars(function).update(state["dict"])
    if state["source"]:
        vars(function)[ATTACHED_SOURCE] = _new_source(function, *state["source"])


def _contents(cell: CellType) -> tuple[object, ...]:
    """Return the value of a cell in a tuple, which is empty if the cell is."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


@functools.lru_cache(_MAX_PICKLED)
def _names_in(tree: ast.FunctionDef) -> set[str]:
    """Return the names that a function may read, except in its decorators."""
    parts = [*tree.body, tree.args, *([tree.returns] if tree.returns else [])]
    return {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}


def _names_in_code(code: CodeType) -> set[str]:
    """Return the names of a function without source, and of those in it; also of attributes."""
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return {*code.co_names}.union(*map(_names_in_code, inner))


# ---- sources -------------------------------------------------------------------------------


def _reduce_source(source: Source) -> tuple[Any, ...]:
    fields = source.is_async, source.captured, source.signature, source.external_code
    return _new_source, (source.python, *_text_of(source), *fields, source.is_numba)


def _text_of(source: Source) -> tuple[str, int, str, ast.FunctionDef | None]:
    """Return the file, the first line and the text; the tree, if the text does not determine it."""
    first, lines = own_lines(source)
    text = "".join(lines)
    tree = None if _is_parsed_from(source.tree, text, first) else copy_tree(source.tree)
    return source.file, first, text, tree


@functools.lru_cache(_MAX_PICKLED)
def _is_parsed_from(tree: ast.FunctionDef, text: str, first: int) -> bool:
    """Return whether the text determines the tree."""
    parsed = parse_function(text, first)
    return parsed is not None and ast.dump(parsed) == ast.dump(tree)


def _new_source(
    function: FunctionType,
    file: str,
    first: int,
    text: str,
    tree: ast.FunctionDef | None,
    *fields: Any,
) -> Source:
    own = list(io.StringIO(text))
    _show_in_errors(file, first, own)
    tree = tree or parse_function(text, first)
    assert tree is not None
    return Source(function, tree, file, ("\n",) * (first - 1) + tuple(own), *fields)


def _show_in_errors(file: str, first: int, lines: list[str]) -> None:
    """Add lines of a file that does not exist here to ``linecache``."""
    known, end = list(linecache.getlines(file)), first - 1 + len(lines)
    if os.path.exists(file) or known[first - 1 : end] == lines:
        return
    known += ["\n"] * (end - len(known))
    known[first - 1 : end] = lines
    linecache.cache[file] = sum(map(len, known)), None, known, file

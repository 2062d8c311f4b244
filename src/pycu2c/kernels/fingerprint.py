"""Everything outside of a function that its compiled code may depend on, as one text.

Names are taken from the syntax tree, more than are read rather than fewer. What is not known to be
told in full is refused: ``NotTold``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from pycu2c.base.dtypes import encode_dtype
from pycu2c.base.external_code import ExternalCode
from pycu2c.base.hashing import digest_of
from pycu2c.base.source import Source, SourceUnavailable, Unbound, bound_object, source_of
from pycu2c.base.types import Array, Constant, ParameterType, Scalar, Signature, Tuple
from pycu2c.ops.names.numba_names import numba_function
from pycu2c.toolchain.link import file_identity

_MOST_BYTES = 1 << 16  # of an array that is told by its numbers
# packages that change with their versions only
_LIBRARIES = ("builtins", "math", "cmath", "operator", "numpy", "pycu2c", "numba", "ml_dtypes")


class NotTold(Exception):
    """Something that compiled code may depend on, and no text says what it is."""


def surroundings(source: Source, signature: Signature) -> str:
    """What code for a kernel and a signature is made from, beside pycu2c itself."""
    teller = Teller()
    teller.function(source)
    for kind in signature.parameters:
        teller.type(kind)
    return "\n".join(teller.told)


class Teller:
    """Collects what it is shown; each function and module is told once, and named after that."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._seen: set[object] = set()
        self._functions: dict[object, int] = {}

    def function(self, source: Source, *, is_device: bool = False) -> None:
        """A function: its text, and all that it names."""
        number = self._functions.get(source.python)
        if number is not None:
            self.told.append(f"function {number} of these")
            return
        self._functions[source.python] = len(self._functions)
        text = "".join(source.lines)
        digest = digest_of(text.encode("utf-8", "surrogatepass"))
        self.told.append(f"function {source.file} {source.tree.lineno} {source.name} {digest}")
        self.told.append(str(source.signature))
        if source.external_code is not None:
            self.told += _told_of_c(source.external_code)
        parts: list[ast.AST] = [*source.tree.body]
        if is_device:
            parts += [source.tree.args, *([source.tree.returns] if source.tree.returns else [])]
            python = source.python
            defaults = (*(python.__defaults__ or ()), *(python.__kwdefaults__ or {}).values())
            for value in defaults:
                self.value(value, frozenset())
        self._names(source, parts)

    def _names(self, source: Source, parts: list[ast.AST]) -> None:
        nodes = _all_of(parts)
        if any(isinstance(n, _MAY_HIDE) and _is_hidden(n) for n in nodes):
            raise NotTold
        attributes = frozenset(n.attr for n in nodes if isinstance(n, ast.Attribute))
        read = {n.id for n in nodes if isinstance(n, ast.Name)} - set(_locals(source.tree))
        for name in sorted(read):
            found = bound_object(source.python, name)
            self.told.append(f"name {name}")
            if not isinstance(found, Unbound):
                self.value(found, attributes)

    def value(self, found: Any, attributes: frozenset[str]) -> None:
        """A Python object; of a module, what has one of the names of ``attributes``."""
        match found:
            case _ if type(found) in _PLAIN:
                self.told.append(f"{type(found).__name__} {found!r}")
            case np.generic() if not found.dtype.names:
                self.told.append(f"number {found.dtype.str} {found.tobytes().hex()}")
            case np.ndarray() if type(found) is np.ndarray:
                self._array(found)
            case tuple():
                self.told.append(f"tuple {len(found)} {getattr(found, '_fields', ())}")
                for item in found:
                    self.value(item, attributes)
            case ModuleType():
                self._module(found, attributes)
            case _:
                self._other(found, attributes)

    def _array(self, found: np.ndarray[Any, Any]) -> None:
        if found.dtype.hasobject or found.dtype.names or found.nbytes > _MOST_BYTES:
            raise NotTold
        digest = digest_of(found.tobytes())
        self.told.append(f"array {found.dtype.str} {found.shape} {digest}")

    def _module(self, module: ModuleType, attributes: frozenset[str]) -> None:
        name = module.__name__
        self.told.append(f"module {name}")
        if _is_of_library(name):
            home = sys.modules.get(name.partition(".")[0])
            self.told.append(str(getattr(home, "__version__", "")))
            return
        if type(module) is not ModuleType or "__getattr__" in vars(module):
            raise NotTold
        if (name, attributes) in self._seen:
            return
        self._seen.add((name, attributes))
        for attribute in sorted(attributes & vars(module).keys()):
            self.told.append(f"attribute {attribute}")
            self.value(vars(module)[attribute], attributes)

    def _other(self, found: Any, attributes: frozenset[str]) -> None:
        device = getattr(found, "__pycu2c_device__", None) or numba_function(found)
        if not _is_library_object(found):
            self._attributes(found, attributes)
        name = _name_of(found)
        if name:
            self.told.append(name)
        elif isinstance(found, (Scalar, Array)):
            self.type(found)
        elif isinstance(device, Source):
            self.function(device, is_device=True)
        elif isinstance(function := device or found, FunctionType):
            self.function(_found(function), is_device=True)
        else:
            raise NotTold

    def _attributes(self, found: object, attributes: frozenset[str]) -> None:
        """What an object has of its own and a kernel may read: a function was given it by
        ``f.x = …``, or it is where a kernel that is called keeps its grid."""
        own = getattr(found, "__dict__", {})
        if (id(found), attributes) in self._seen:
            return
        self._seen.add((id(found), attributes))
        for attribute in sorted(attributes & own.keys()):
            self.told.append(f"attribute {attribute}")
            self.value(own[attribute], attributes)

    def type(self, kind: ParameterType) -> None:
        """The type of an argument."""
        match kind:
            case Constant(value):
                self.value(value, frozenset())
            case Tuple(items, names):
                self.told.append(f"tuple of {len(items)} {names}")
                for item in items:
                    self.type(item)
            case _:
                self.told.append(f"type {kind} {encode_dtype(kind.dtype)}")


def _told_of_c(external_code: ExternalCode) -> Iterator[str]:
    """C of the user's own, which need not stand in the file of its function."""
    yield f"C pure={external_code.is_pure}"
    for code in external_code.codes:
        yield from map(file_identity.file_identity, code.files)
        yield repr((code.dialect, [x.text for x in code.preamble], [x.text for x in code.lines]))


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


def _name_of(found: Any) -> str:
    """What a thing is whose name tells it; empty for others."""
    if type(found).__module__.startswith("pycu2c.ops."):  # of the names of CUDA
        return f"{found!r}"
    if _is_library_object(found):
        return f"{found.__module__} {found.__qualname__}"
    if isinstance(found, np.dtype) and found.names is None:
        return f"dtype {found.str}"
    is_numpys = isinstance(found, np.ufunc) and vars(np).get(str(found)[8:-2]) is found
    return f"{found}" if is_numpys else ""


def _is_library_object(found: Any) -> bool:
    """Whether its name tells what it is: a library has it there."""
    module, path = getattr(found, "__module__", ""), getattr(found, "__qualname__", None)
    if not isinstance(path, str) or not _is_of_library(f"{module or 'builtins'}"):
        return False
    here: Any = sys.modules.get(module or "builtins")
    for name in path.split("."):
        here = getattr(here, name, None)
    return here is found


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES


def _found(function: FunctionType) -> Source:
    try:
        return source_of(function)
    except SourceUnavailable:
        raise NotTold from None


def _all_of(parts: Iterable[ast.AST]) -> list[ast.AST]:
    """These nodes and those inside of them."""
    found = [*parts]
    for node in found:  # which grows meanwhile
        found += _inside(node)
    return found


def _inside(node: ast.AST) -> list[ast.AST]:
    """As ``ast.iter_child_nodes``, which takes three times as long."""
    found: list[ast.AST] = []
    for value in vars(node).values():
        if isinstance(value, ast.AST):
            found.append(value)
        elif type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


_MAY_HIDE = (ast.Global, ast.Nonlocal, ast.AnnAssign, ast.arg)


def _is_hidden(node: ast.AST) -> bool:
    """Whether names may hide in a node: in an annotation that is text, in ``global x``."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return True
    note = node.annotation if isinstance(node, (ast.AnnAssign, ast.arg)) else None
    texts = _all_of([note]) if note else []
    return any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in texts)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _locals(tree: ast.FunctionDef) -> Iterator[str]:
    """Names that are the function's own, in it and in the functions inside of it."""
    arguments = tree.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    yield from (a.arg for a in (*named, arguments.vararg, arguments.kwarg) if a)
    waiting: list[ast.AST] = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if isinstance(node, ast.FunctionDef):
            yield node.name
        if not isinstance(node, (*_SCOPES, *_COMPREHENSIONS)):
            waiting += _inside(node)

"""Compute the key of a kernel in the cache from everything that its compiled code depends on.

The key is a digest of the options, the version of NumPy, linked files and the fingerprint: a text
with the source of the kernel and of the functions that it calls, the values of the globals
and closure variables that it reads, and the types of its arguments. It may describe more than the
compiler reads, never less.
"""

from __future__ import annotations

import ast
import sys
from collections import deque
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from pycu2c.base.dtypes import encode_dtype
from pycu2c.base.external_code import ExternalCode
from pycu2c.base.hashing import digest_of
from pycu2c.base.records import dataclass
from pycu2c.base.source import (
    Source,
    SourceUnavailable,
    Unbound,
    bound_object,
    own_lines,
    source_of,
)
from pycu2c.base.types import Array, Constant, ParameterType, Scalar, Signature, Tuple
from pycu2c.declarations.options import Options
from pycu2c.ops.names.numba_names import numba_function
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.link import file_identity

_MAX_ARRAY_BYTES = 1 << 16  # larger arrays are not hashed
# packages whose functions and modules are identified by name and version
_LIBRARIES = ("builtins", "math", "cmath", "operator", "numpy", "pycu2c", "numba", "ml_dtypes")
_PLAIN_TYPES = (bool, int, float, complex, str, bytes, type(None), type(...))


class Unhashable(Exception):
    """Compiled code may depend on an object that no text identifies."""


@dataclass(frozen=True, slots=True)
class CapturedBinding:
    """A name that a kernel reads, and the object that it is bound to.

    owner: the dict of the globals, or the object of which ``name`` is an attribute.
    text: the name in messages.
    """

    owner: Any
    name: str
    value: object
    text: str


def cache_key(source: Source, signature: Signature, options: Options) -> str:
    """Return the key of a kernel for a signature. Raises Unhashable."""
    files = [file_identity.file_identity(path) for _, path in options.link]
    return artifact_store.key_of(
        fingerprint(source, signature), np.__version__, repr(options), *files
    )


def fingerprint(source: Source, signature: Signature) -> str:
    """Return the text for a kernel and the types of its arguments. Raises Unhashable."""
    writer = FingerprintWriter()
    writer.add_kernel(source, signature.parameters)
    if not writer.is_complete:
        raise Unhashable
    return "\n".join(writer.lines)


class FingerprintWriter:
    """Describe objects in ``lines``, and list in ``bindings`` what a user may assign later.

    ``sources`` are the kernel and the functions that it refers to.

    Uses of a function refer to its number; functions are described in the order of their numbers.
    A module is described at its first use. ``is_complete`` is False if no text describes an object.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.bindings: list[CapturedBinding] = []
        self.sources: list[Source] = []
        self.is_complete = True
        self._functions: dict[object, int] = {}
        self._undescribed: deque[tuple[Source, bool]] = deque()  # and whether it is a device one
        self._visited: set[object] = set()  # modules and objects, with the attributes described

    def add_kernel(self, source: Source, types: Iterable[ParameterType] = ()) -> None:
        """Describe a kernel, the types of its arguments, and all functions that it refers to."""
        self._refer_to(source, is_device=False)
        for parameter_type in types:
            self.add_type(parameter_type)
        while self._undescribed:  # a loop, because chains of calls may be long
            self._describe_function(*self._undescribed.popleft())

    def _refer_to(self, source: Source, *, is_device: bool) -> None:
        """Write the number of a function, which is the position of its description."""
        if source.python not in self._functions:
            self._functions[source.python] = len(self._functions)
            self._undescribed.append((source, is_device))
            self.sources.append(source)
        self.lines.append(f"function {self._functions[source.python]}")

    def _describe_function(self, source: Source, is_device: bool) -> None:
        """Describe the text of a function and the objects that it names."""
        digest = digest_of("".join(own_lines(source)[1]).encode("utf-8", "surrogatepass"))
        self.lines.append(f"text {source.file} {source.tree.lineno} {source.name} {digest}")
        self.lines.append(str(source.signature))
        if source.external_code is not None:
            self._add_external_code(source.external_code)
        trees: list[ast.AST] = [*source.tree.body]
        if is_device:  # annotations and defaults of a kernel are part of its signature
            trees += [source.tree.args, *([source.tree.returns] if source.tree.returns else [])]
            defaults = source.python.__defaults__ or ()
            keyword_defaults = (source.python.__kwdefaults__ or {}).values()
            for value in (*defaults, *keyword_defaults):
                self.add_value(value, frozenset())
        self._add_names(source.python, [n for tree in trees for n in ast.walk(tree)])

    def _add_external_code(self, external_code: ExternalCode) -> None:
        pure, cooperative = external_code.is_pure, external_code.is_cooperative
        self.lines.append(f"external code, pure={pure}, cooperative={cooperative}")
        for code in external_code.codes:
            self.lines += map(file_identity.file_identity, code.files)
            self.lines.append(repr((code.dialect, code.preamble, code.lines)))

    def _add_names(self, function: FunctionType, nodes: list[ast.AST]) -> None:
        """Describe what the names in these nodes are bound to, except local variables."""
        if any(map(_may_hide_names, nodes)):
            self.is_complete = False
        attributes = frozenset(n.attr for n in nodes if isinstance(n, ast.Attribute))
        code = function.__code__
        local_names = {*code.co_varnames, *code.co_cellvars} - {*code.co_names}
        for name in sorted({n.id for n in nodes if isinstance(n, ast.Name)} - local_names):
            value = bound_object(function, name)
            self.lines.append(f"name {name}")
            if not isinstance(value, Unbound):
                self._add_binding(function, name, value)
                self.add_value(value, attributes)

    def _add_binding(self, function: FunctionType, name: str, value: object) -> None:
        code = function.__code__
        if isinstance(value, ModuleType) or getattr(value, "__name__", "") == name:
            if not isinstance(value, FunctionType) and _is_library_name(value):
                return  # such as ``cuda``, ``np`` or ``float32``
        if name in code.co_freevars:
            assert function.__closure__ is not None
            cell = function.__closure__[code.co_freevars.index(name)]
            self.bindings.append(CapturedBinding(cell, "cell_contents", value, name))
        elif name in function.__globals__:
            self.bindings.append(CapturedBinding(function.__globals__, name, value, name))

    def add_value(self, value: Any, attributes: frozenset[str]) -> None:
        """Describe an object, with those of its attributes that a kernel may read."""
        match value:
            case _ if type(value) in _PLAIN_TYPES:
                self.lines.append(f"{type(value).__name__} {value!r}")
            case np.generic() if not value.dtype.names:
                self.lines.append(f"number {value.dtype.str} {value.tobytes().hex()}")
            case np.ndarray() if type(value) is np.ndarray:
                self._add_array(value)
            case tuple():
                self.lines.append(f"tuple {len(value)} {getattr(value, '_fields', ())}")
                for item in value:
                    self.add_value(item, attributes)
            case ModuleType():
                self._add_module(value, attributes)
            case _:
                self._add_object(value, attributes)

    def _add_array(self, array: np.ndarray[Any, Any]) -> None:
        if array.dtype.hasobject or array.nbytes > _MAX_ARRAY_BYTES:
            self.is_complete = False
            return
        dtype = str(array.dtype) if array.dtype.names else array.dtype.str
        self.lines.append(f"array {dtype} {array.shape} {digest_of(array.tobytes())}")

    def _add_module(self, module: ModuleType, attributes: frozenset[str]) -> None:
        name = module.__name__
        self.lines.append(f"module {name}")
        if _is_in_library(name):
            package = sys.modules.get(name.partition(".")[0])
            self.lines.append(str(getattr(package, "__version__", "")))
            return
        if type(module) is not ModuleType or "__getattr__" in vars(module):
            self.is_complete = False
        self._add_attributes(module, attributes)

    def _add_object(self, value: Any, attributes: frozenset[str]) -> None:
        if not _is_library_object(value):
            self._add_attributes(value, attributes)
        device_function = getattr(value, "__pycu2c_device__", None) or numba_function(value)
        function = device_function or value
        name = _unique_name(value)
        if name:
            self.lines.append(name)
        elif isinstance(value, (Scalar, Array)):
            self.add_type(value)
        elif isinstance(device_function, Source):
            self._refer_to(device_function, is_device=True)
        elif isinstance(function, FunctionType):
            try:
                self._refer_to(source_of(function), is_device=True)
            except SourceUnavailable:
                self.is_complete = False
        else:
            self.is_complete = False

    def _add_attributes(self, owner: object, attributes: frozenset[str]) -> None:
        """Describe attributes that an object itself has, such as ``f.x`` of a function ``f``."""
        if (id(owner), attributes) in self._visited:
            return
        self._visited.add((id(owner), attributes))
        values = getattr(owner, "__dict__", {})
        for attribute in sorted(attributes & values.keys()):
            self.lines.append(f"attribute {attribute}")
            value = values[attribute]
            text = f"{getattr(owner, '__name__', type(owner).__name__)}.{attribute}"
            holder = values if type(values) is dict else owner
            self.bindings.append(CapturedBinding(holder, attribute, value, text))
            self.add_value(value, attributes)

    def add_type(self, parameter_type: ParameterType) -> None:
        """Describe the type of an argument."""
        match parameter_type:
            case Constant(value):
                self.add_value(value, frozenset())
            case Tuple(items, names):
                self.lines.append(f"tuple of {len(items)} {names}")
                for item in items:
                    self.add_type(item)
            case _:
                self.lines.append(f"type {parameter_type} {encode_dtype(parameter_type.dtype)}")


def _unique_name(value: Any) -> str:
    """Return a text that identifies an object of a library, or an empty string."""
    if type(value).__module__.startswith("pycu2c.ops."):  # of the namespace ``cuda``
        return f"{value!r}"
    if _is_library_object(value):
        return f"{value.__module__} {value.__qualname__}"
    if isinstance(value, np.dtype) and value.names is None:
        return f"dtype {value.str}"
    # the text of a ufunc is "<ufunc 'add'>"
    is_numpy_ufunc = isinstance(value, np.ufunc) and vars(np).get(str(value)[8:-2]) is value
    return f"{value}" if is_numpy_ufunc else ""


def _is_library_object(value: Any) -> bool:
    """Return whether the qualified name of an object leads to this object in a library."""
    module, path = getattr(value, "__module__", ""), getattr(value, "__qualname__", None)
    if not isinstance(path, str) or not _is_in_library(f"{module or 'builtins'}"):
        return False
    object_: Any = sys.modules.get(module or "builtins")
    for name in path.split("."):
        object_ = getattr(object_, name, None)
    return object_ is value


def _is_library_name(value: object) -> bool:
    if isinstance(value, ModuleType):
        return _is_in_library(value.__name__)
    return type(value).__module__.startswith("pycu2c.ops.") or _is_library_object(value)


def _is_in_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES


def _may_hide_names(node: ast.AST) -> bool:
    """Return whether a node may refer to names that are no ``ast.Name`` of the function."""
    match node:
        case ast.Global() | ast.Nonlocal():
            return True
        case (
            ast.AnnAssign(annotation=ast.AST() as annotation)
            | ast.arg(annotation=ast.AST() as annotation)
        ):
            constants = (n for n in ast.walk(annotation) if isinstance(n, ast.Constant))
            return any(isinstance(n.value, str) for n in constants)
        case _:
            return False

"""Define the kernels of a file without running it.

Only imports of known modules and assignments of safe expressions (constants, types, functions
without side effects) are evaluated. Names that are not evaluated stay unresolved.
"""

from __future__ import annotations
import __future__

import ast
import copy
import importlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from pycu2c.base.diagnostics import CompileError, Label
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar
from pycu2c.compat.migrate import remarks
from pycu2c.compat.migrate.import_bindings import NumbaNames
from pycu2c.compat.migrate.name_map import is_numba, lookup, numba_path, pycu2c_path
from pycu2c.compat.migrate.remarks import Remark, remarks_of_error
from pycu2c.compat.migrate.text_edits import EditableText
from pycu2c.declarations.options import OptionError
from pycu2c.declarations.signatures import SignatureError
from pycu2c.kernels.kernel import Kernel

JIT_DECORATORS = ("numba.cuda.jit", "numba.cuda.decorators.jit", "pycu2c.cuda.jit")
_DEVICE_DECORATORS = (*JIT_DECORATORS, "numba.njit", "numba.jit")
_EVALUATED_MODULES = ("math", "cmath", "numpy", "operator", "pycu2c")
_SAFE_BUILTINS = frozenset(
    ["bool", "int", "float", "complex", "round", "abs", "min", "max", "len", "tuple", "range"]
)
_SAFE_FUNCTIONS = {
    "numpy": frozenset(["dtype", "array", "asarray", "sqrt", "log", "exp", "deg2rad"]),
    "pycu2c": frozenset(
        ["jit", "njit", "vectorize", "from_dtype", "typeof", "Array", "CPointer", "Tuple"]
    ),
}
# errors that an unresolved name may cause
_UNRESOLVED_CODES = frozenset(
    ("name", "global-value", "call", "constant-needed", "type-needed", "shape", "no-source")
)

_SAFE_NODES = (
    ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict, ast.BinOp, ast.UnaryOp,
    ast.Subscript, ast.Slice, ast.Call, ast.keyword, ast.expr_context, ast.operator, ast.unaryop,
)  # fmt: skip
_MAX_OPERAND = 1000  # of multiplications, shifts and powers


@dataclass(frozen=True, slots=True, eq=False)
class KernelDefinition:
    """A kernel function of a file, and the kernel, if it was defined."""

    node: ast.FunctionDef
    kernel: Kernel[Any] | None


class StaticEnvironment:
    """The kernels and the resolved names of a file."""

    def __init__(self, text: EditableText, tree: ast.Module, names: NumbaNames) -> None:
        self._text, self._names = text, names
        self.globals: dict[str, Any] = {"__name__": "program", "__file__": text.file}
        functions = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        undecorated = dict(_undecorated_kernels(tree, names))
        self._undecorated_kernels = {
            name: d for name, d in undecorated.items() if functions.count(name) == 1
        }
        self.kernels: list[KernelDefinition] = []
        self.remarks: list[Remark] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module_statements = list(_module_statements(tree.body))
            for s in module_statements:
                self._evaluate(s)
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and node not in module_statements:
                    self._define_function(node)

    def global_number(self, name: str) -> object:
        """Return the Python number of a global name; None if it is not a number."""
        first, *rest = name.split(".")
        value = self.globals.get(first)
        for part in rest:
            value = getattr(value, part, None)
        return value if type(value) in (bool, int, float, complex) else None

    # ---- statements ----

    def _evaluate(self, s: ast.stmt) -> None:
        match s:
            case ast.Import() | ast.ImportFrom():
                for alias in s.names:
                    self._import(s, alias)
            case ast.FunctionDef():
                self._define_function(s)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                if self._is_safe(value):
                    with suppress(Exception):  # its names stay unresolved
                        self._execute(s)

    def _import(self, s: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        module = s.module or "" if isinstance(s, ast.ImportFrom) else alias.name
        path = f"{module}.{alias.name}" if isinstance(s, ast.ImportFrom) else module
        if isinstance(s, ast.ImportFrom) and s.level:
            return
        binds_package = isinstance(s, ast.Import) and alias.asname is None
        name = alias.asname or alias.name.split(".")[0]
        path = path.split(".")[0] if binds_package else path
        value = self._resolve(path)
        if value is not None:
            self.globals[name] = value

    def _resolve(self, path: str) -> Any:
        if is_numba(path):
            new_path = pycu2c_path(numba_path(path))
            return lookup(new_path) if new_path else None
        first, *rest = path.split(".")
        if first not in _EVALUATED_MODULES:
            return None
        value: Any = importlib.import_module(first)
        for part in rest:
            value = getattr(value, part, None)
        return value

    def _execute(self, s: ast.stmt) -> None:
        flag = __future__.annotations.compiler_flag  # annotations are not evaluated
        code = compile(ast.Module([s], []), self._text.file, "exec", flags=flag, dont_inherit=True)
        exec(code, self.globals)

    # ---- functions ----

    def decorator(
        self, node: ast.FunctionDef, paths: Sequence[str] = JIT_DECORATORS
    ) -> ast.expr | None:
        """Return the decorator that makes a kernel or device function, if any."""
        for d in node.decorator_list:
            path = self._names.path(d.func if isinstance(d, ast.Call) else d)
            if path in paths:
                return d
        return None if node.decorator_list else self._undecorated_kernels.get(node.name)

    def _define_function(self, node: ast.FunctionDef) -> None:
        jit = self.decorator(node)
        if jit is None and node.decorator_list and self.decorator(node, _DEVICE_DECORATORS) is None:
            return
        if not all(map(self._is_safe, _defaults(node))):
            return
        try:
            self._define(node, jit)
        except CompileError as error:
            self._record_error(node, jit, error)
        except (OptionError, SignatureError) as error:
            assert jit is not None
            label = Label(self._text.span(jit))
            self.remarks.append(Remark(remarks.COMPILE_ERROR, (label,), title=str(error)))
        except Exception:
            self._forget(node, jit)
        else:
            kernel = self.globals.get(node.name)
            if jit is not None:
                self.kernels.append(
                    KernelDefinition(node, kernel if isinstance(kernel, Kernel) else None)
                )

    def _define(self, node: ast.FunctionDef, jit: ast.expr | None) -> None:
        """Define the function with the kernel decorator only."""
        decorators = [
            d for d in (jit or self.decorator(node, _DEVICE_DECORATORS),) if d is not None
        ]
        if not all(map(self._is_safe, decorators)):
            assert jit is not None
            decorators = [_without_types(jit)]
        if not node.decorator_list:  # the first decorator determines the first line
            decorators = [ast.copy_location(copy.copy(d), node) for d in decorators]
        fields = {name: getattr(node, name) for name in node._fields}
        function = ast.FunctionDef(**{**fields, "decorator_list": decorators})
        self._execute(ast.fix_missing_locations(ast.copy_location(function, node)))

    def _record_error(
        self, node: ast.FunctionDef, jit: ast.expr | None, error: CompileError
    ) -> None:
        """Record a compile error, unless an unresolved name may be its cause."""
        if jit is not None and error.code not in _UNRESOLVED_CODES:
            self.remarks += remarks_of_error(error)
        self._forget(node, jit)

    def _forget(self, node: ast.FunctionDef, jit: ast.expr | None) -> None:
        self.globals.pop(node.name, None)
        if jit is not None:
            self.kernels.append(KernelDefinition(node, None))

    # ---- expressions ----

    def _is_safe(self, e: ast.expr) -> bool:
        """Return whether an expression consists of numbers, names, types and safe calls."""
        return all(self._is_safe_node(node) for node in ast.walk(e))

    def _is_safe_node(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=called):
                return self._is_safe_call(called)
            case ast.BinOp(op=ast.Pow() | ast.LShift(), right=right):
                return isinstance(right, ast.Constant) and _is_small(right.value)
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                is_repeat = isinstance(left, (ast.List, ast.Tuple))
                return not is_repeat or _is_small(getattr(right, "value", None))
            case _:
                return isinstance(node, _SAFE_NODES)

    def _is_safe_call(self, called: ast.expr) -> bool:
        """Return whether a call converts a number, makes a type or computes a constant."""
        first, *rest = ast.unparse(called).split(".")
        if not rest and first not in self.globals:
            return first in _SAFE_BUILTINS
        value = self.globals.get(first)
        for part in rest:
            value = getattr(value, part, None)
        module, name = str(getattr(value, "__module__", "")), getattr(value, "__name__", "")
        return (
            isinstance(value, Scalar)
            or module in ("math", "cmath")
            or (module == "numpy" and isinstance(value, type))
            or name in _SAFE_FUNCTIONS.get(module.partition(".")[0], ())
        )


def _module_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements outside of functions, including those in ``if`` and ``try``."""
    for s in body:
        yield s
        if isinstance(s, (ast.If, ast.Try, ast.With)):
            yield from _module_statements(s.body)
        if isinstance(s, ast.If):
            yield from _module_statements(s.orelse)


def _undecorated_kernels(tree: ast.Module, names: NumbaNames) -> Iterator[tuple[str, ast.expr]]:
    """Yield functions that a call makes kernels, with the equivalent decorator.

    Examples: ``k = cuda.jit(f, fastmath=True)``, ``k = cuda.jit("void(f4[:])")(f)``.
    """
    for call in ast.walk(tree):
        match call:
            case ast.Call(func=ast.Call(func=jit) as decorator, args=[ast.Name(id=name)]):
                if names.path(jit) in JIT_DECORATORS:
                    yield name, decorator
            case ast.Call(func=jit, args=[ast.Name(id=name)], keywords=keywords):
                if names.path(jit) in JIT_DECORATORS:
                    yield name, ast.copy_location(ast.Call(jit, [], keywords), call)


def _defaults(node: ast.FunctionDef) -> list[ast.expr]:
    return [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]


def _without_types(jit: ast.expr) -> ast.expr:
    """Remove the signature: ``cuda.jit(types(), device=True)`` -> ``cuda.jit(device=True)``."""
    if not isinstance(jit, ast.Call):
        return jit
    kept = [k for k in jit.keywords if k.arg == "device" and isinstance(k.value, ast.Constant)]
    return ast.copy_location(ast.Call(jit.func, [], kept), jit)


def _is_small(value: object) -> bool:
    return isinstance(value, (int, float)) and abs(value) < _MAX_OPERAND

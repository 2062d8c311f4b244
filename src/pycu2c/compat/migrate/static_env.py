"""The kernels of a file, made without running it: of what stands around them, imports of numpy and
math, constants, types and functions are looked at, and nothing is called that does anything."""

from __future__ import annotations
import __future__

import ast
import copy
import importlib
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from pycu2c.base.diagnostics import CompileError, Label
from pycu2c.base.records import dataclass
from pycu2c.compat.migrate import remarks
from pycu2c.compat.migrate.import_bindings import Names
from pycu2c.compat.migrate.name_map import found, is_numba, ours
from pycu2c.compat.migrate.remarks import Remark, of_error
from pycu2c.compat.migrate.text_edits import Text
from pycu2c.declarations.options import BadOption
from pycu2c.declarations.signatures import BadSignature
from pycu2c.kernels.kernel import Kernel

JIT = ("numba.cuda.jit", "numba.cuda.decorators.jit", "pycu2c.cuda.jit")
_DEVICE = (*JIT, "numba.njit", "numba.jit")
_MODULES = ("math", "cmath", "numpy", "operator", "pycu2c")
_CALLED = frozenset(
    ["bool", "int", "float", "complex", "round", "abs", "min", "max", "len", "tuple", "range"]
)
_OF_NUMPY = frozenset(["dtype", "array", "asarray", "sqrt", "log", "exp", "deg2rad"])
_OF_OURS = frozenset(
    ["jit", "njit", "from_dtype", "typeof", "Tuple", "UniTuple", "Array", "CPointer", "vectorize"]
)
# what an error of a kernel means if a name that it uses was not looked at
_OF_NAMES = frozenset(
    ("name", "global-value", "call", "constant-needed", "type-needed", "shape", "no-source")
)

_PLAIN = (
    ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict, ast.BinOp, ast.UnaryOp,
    ast.Subscript, ast.Slice, ast.Call, ast.keyword, ast.expr_context, ast.operator, ast.unaryop,
)  # fmt: skip
_LONGEST = 1000  # of what is multiplied or raised to a power


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A function that kernels are made of, as a file has it, and the kernel if it became one."""

    node: ast.FunctionDef
    kernel: Kernel[Any] | None


class Scene:
    """What of a file could be made."""

    def __init__(self, text: Text, tree: ast.Module, names: Names) -> None:
        self._text, self._names = text, names
        self.globals: dict[str, Any] = {"__name__": "program", "__file__": text.file}
        functions = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        given = dict(_given(tree, names))
        self._given = {name: d for name, d in given.items() if functions.count(name) == 1}
        self.made: list[Made] = []
        self.remarks: list[Remark] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outer = list(_outer(tree.body))
            for s in outer:
                self._take(s)
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and node not in outer:
                    self._make(node)

    def number(self, name: str) -> object:
        """The Python number that a name outside of kernels stands for; None if it is none."""
        first, *rest = name.split(".")
        value = self.globals.get(first)
        for part in rest:
            value = getattr(value, part, None)
        return value if type(value) in (bool, int, float, complex) else None

    # ---- statements ----

    def _take(self, s: ast.stmt) -> None:
        match s:
            case ast.Import() | ast.ImportFrom():
                for alias in s.names:
                    self._import(s, alias)
            case ast.FunctionDef():
                self._make(s)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                if self._is_plain(value):
                    self._run(s)
            case _:
                pass

    def _import(self, s: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        module = s.module or "" if isinstance(s, ast.ImportFrom) else alias.name
        path = f"{module}.{alias.name}" if isinstance(s, ast.ImportFrom) else module
        if isinstance(s, ast.ImportFrom) and s.level:
            return
        is_first = isinstance(s, ast.Import) and alias.asname is None
        name = alias.asname or alias.name.split(".")[0]
        path = path.split(".")[0] if is_first else path
        value = self._found(path)
        if value is not None:
            self.globals[name] = value

    def _found(self, path: str) -> Any:
        if is_numba(path):
            here = ours(path)
            return found(here) if here else None
        first, *rest = path.split(".")
        if first not in _MODULES:
            return None
        value: Any = importlib.import_module(first)
        for part in rest:
            value = getattr(value, part, None)
        return value

    def _run(self, s: ast.stmt) -> None:
        """Raises nothing: a name that was not looked at leaves another one unknown."""
        try:
            self._execute(s)
        except Exception:
            return

    def _execute(self, s: ast.stmt) -> None:
        flag = __future__.annotations.compiler_flag  # so that none of them is evaluated
        code = compile(ast.Module([s], []), self._text.file, "exec", flags=flag, dont_inherit=True)
        exec(code, self.globals)

    # ---- functions ----

    def decorator(self, node: ast.FunctionDef, paths: Sequence[str] = JIT) -> ast.expr | None:
        """What makes a kernel of a function, or something for kernels."""
        for d in node.decorator_list:
            path = self._names.path(d.func if isinstance(d, ast.Call) else d)
            if path in paths:
                return d
        return None if node.decorator_list else self._given.get(node.name)

    def _make(self, node: ast.FunctionDef) -> None:
        jit = self.decorator(node)
        if jit is None and node.decorator_list and self.decorator(node, _DEVICE) is None:
            return
        if not all(map(self._is_plain, _defaults(node))):
            return
        try:
            self._define(node, jit)
        except CompileError as error:
            self._refused(node, jit, error)
        except (BadOption, BadSignature) as error:
            assert jit is not None
            label = Label(self._text.span(jit))
            self.remarks.append(Remark(remarks.REFUSED, (label,), title=str(error)))
        except Exception:
            self._leave(node, jit)
        else:
            kernel = self.globals.get(node.name)
            if jit is not None:
                self.made.append(Made(node, kernel if isinstance(kernel, Kernel) else None))

    def _define(self, node: ast.FunctionDef, jit: ast.expr | None) -> None:
        """As the file does, but with no other decorator than the one for kernels."""
        decorators = [d for d in (jit or self.decorator(node, _DEVICE),) if d is not None]
        if not all(map(self._is_plain, decorators)):
            assert jit is not None
            decorators = [_without_types(jit)]
        if not node.decorator_list:  # code begins where its first decorator stands
            decorators = [ast.copy_location(copy.copy(d), node) for d in decorators]
        fields = {name: getattr(node, name) for name in node._fields}
        alone = ast.FunctionDef(**{**fields, "decorator_list": decorators})
        self._execute(ast.fix_missing_locations(ast.copy_location(alone, node)))

    def _refused(self, node: ast.FunctionDef, jit: ast.expr | None, error: CompileError) -> None:
        """An error for want of names that were not looked at is none."""
        if jit is not None and error.code not in _OF_NAMES:
            self.remarks += of_error(error)
        self._leave(node, jit)

    def _leave(self, node: ast.FunctionDef, jit: ast.expr | None) -> None:
        self.globals.pop(node.name, None)
        if jit is not None:
            self.made.append(Made(node, None))

    # ---- expressions ----

    def _is_plain(self, e: ast.expr) -> bool:
        """Whether an expression is made of numbers, names and types alone."""
        return all(self._is_plain_node(node) for node in ast.walk(e))

    def _is_plain_node(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=called):
                return self._may_be_called(called)
            case ast.BinOp(op=ast.Pow() | ast.LShift(), right=right):
                return isinstance(right, ast.Constant) and _is_small(right.value)
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                return not isinstance(left, (ast.List, ast.Tuple)) or _is_small_node(right)
            case _:
                return isinstance(node, _PLAIN)

    def _may_be_called(self, called: ast.expr) -> bool:
        path = self._names.path(called)
        if path is not None:
            here = ours(path)
            what = found(here) if here else None
            return path.split(".")[-1] in _OF_OURS or _is_type(what)
        if isinstance(called, ast.Name):
            is_own = called.id in self.globals and _is_type(self.globals[called.id])
            return called.id in _CALLED or is_own or self._is_harmless(called)
        return isinstance(called, ast.Attribute) and self._is_harmless(called)

    def _is_harmless(self, called: ast.expr) -> bool:
        first, *rest = ast.unparse(called).split(".")
        value = self.globals.get(first)
        for part in rest:
            value = getattr(value, part, None)
        home = str(getattr(value, "__module__", ""))
        if home in ("math", "cmath") or (isinstance(value, type) and home == "numpy"):
            return True
        if home.split(".")[0] == "pycu2c":
            return getattr(value, "__name__", "") in _OF_OURS
        return home.startswith("numpy") and getattr(value, "__name__", "") in _OF_NUMPY


def _outer(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a file that stand in no function, also those in ``if`` and ``try``."""
    for s in body:
        yield s
        if isinstance(s, (ast.If, ast.Try, ast.With)):
            yield from _outer(s.body)
        if isinstance(s, ast.If):
            yield from _outer(s.orelse)


def _given(tree: ast.Module, names: Names) -> Iterator[tuple[str, ast.expr]]:
    """The functions that become kernels without a decorator, and what would be theirs:
    ``k = cuda.jit(f, fastmath=True)``, ``k = cuda.jit("void(f4[:])")(f)``."""
    for call in ast.walk(tree):
        match call:
            case ast.Call(func=ast.Call(func=jit) as decorator, args=[ast.Name(id=name)]):
                if names.path(jit) in JIT:
                    yield name, decorator
            case ast.Call(func=jit, args=[ast.Name(id=name)], keywords=keywords):
                if names.path(jit) in JIT:
                    yield name, ast.copy_location(ast.Call(jit, [], keywords), call)
            case _:
                pass


def _defaults(node: ast.FunctionDef) -> list[ast.expr]:
    return [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]


def _without_types(jit: ast.expr) -> ast.expr:
    """``cuda.jit(types_of_it(), device=True)`` -> ``cuda.jit(device=True)``."""
    if not isinstance(jit, ast.Call):
        return jit
    kept = [k for k in jit.keywords if k.arg == "device" and isinstance(k.value, ast.Constant)]
    return ast.copy_location(ast.Call(jit.func, [], kept), jit)


def _is_type(value: object) -> bool:
    return type(value).__module__ == "pycu2c.types"


def _is_small(value: object) -> bool:
    return isinstance(value, (int, float)) and abs(value) < _LONGEST


def _is_small_node(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and _is_small(node.value)

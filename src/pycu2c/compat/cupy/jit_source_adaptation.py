"""Rewrite functions for CuPy's JIT to the functions of this package.

``shared_memory(dtype, size)`` becomes ``shared.array``. Arguments for loop unrolling and for the
alignment of atomics are removed, because compilers determine both. Iterators for ``jit.thrust``
become tuples of an array and an index. Variables that refer to reductions of ``jit.cub`` are
replaced by these: ``reduction = jit.cub.WarpReduce[T](storage)``.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

from pycu2c.base.records import replace
from pycu2c.base.source import Source, bound_object, copy_tree
from pycu2c.ops.intrinsics.memory import allocation


def adapt_source(source: Source) -> Source:
    """Return the function with rewritten calls."""
    rewriter = _CallRewriter(source)
    if not any(map(rewriter.changes, ast.walk(source.tree))):
        return source
    return replace(source, tree=rewriter.visit(copy_tree(source.tree)))


class _CallRewriter(ast.NodeTransformer):
    def __init__(self, source: Source) -> None:
        self._source = source
        self._cub_classes: dict[str, ast.expr] = {}  # of variables that refer to reductions

    def changes(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Subscript):
            return self._cub_class(node) is not None
        if not isinstance(node, ast.Call):
            return False
        has_hints = any(k.arg in ("unroll", "alignment") for k in node.keywords)
        called = self._called(node.func)
        return called is allocation.shared_array or has_hints or _is_of_thrust(called)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = self._called(node.func)
        if _is_of_thrust(called):
            node.args = _with_iterators(node.args, called)
        self.generic_visit(node)
        if (array := _array_of_iterator(node)) is not None:
            return _index_of_iterator(node, array)
        if _is_of_cub(called) and not node.args:
            return node.func  # ``jit.cub.Sum()`` is the function
        if called is range:
            node.keywords = [k for k in node.keywords if k.arg != "unroll"]
        elif _is_atomic(called) or called is allocation.shared_array:
            node.keywords = [k for k in node.keywords if k.arg != "alignment"]
        if called is allocation.shared_array:
            _rename_size_to_shape(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node.targets, self._cub_class(node.value):
            case [ast.Name(id=name)], ast.expr() as cub_class:
                self._cub_classes[name] = cub_class
                return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        node.value = self._cub_class(node.value) or node.value
        return node

    def _cub_class(self, node: ast.expr) -> ast.expr | None:
        """Return ``jit.cub.WarpReduce`` for ``jit.cub.WarpReduce[T](storage)``; None for others."""
        match node:
            case ast.Name(id=name):
                return self._cub_classes.get(name)
            case ast.Call(func=function):
                return self._cub_class(function)
            case ast.Subscript(value=value) if _is_of_cub(self._called(value)):
                return value
            case _:
                return None

    def _called(self, node: ast.expr) -> object:
        """Return the object of a dotted name; None for other expressions."""
        if isinstance(node, ast.Name):
            return bound_object(self._source.python, node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._called(node.value), node.attr, None)
        return None


def _is_atomic(called: object) -> bool:
    return str(getattr(called, "name", "")).startswith("cuda.atomic.")


def _rename_size_to_shape(node: ast.Call) -> None:
    """Replace the arguments ``(dtype, size)`` of a call by ``(shape=size, dtype=dtype)``."""
    arguments = {k.arg: k.value for k in node.keywords}
    arguments |= dict(zip(("dtype", "size"), node.args))
    if arguments.keys() != {"dtype", "size"} or len(arguments) < len(node.args) + len(
        node.keywords
    ):
        return  # the front end rejects it
    renamed = {"shape": _shape(arguments["size"]), "dtype": arguments["dtype"]}
    node.args = []
    node.keywords = [ast.copy_location(ast.keyword(n, v), node) for n, v in renamed.items()]


def _shape(size: ast.expr) -> ast.expr:
    """Return the shape; None becomes 0, which is all dynamic shared memory of the launch."""
    if isinstance(size, ast.Constant) and size.value is None:
        return ast.copy_location(ast.Constant(0), size)
    return size


# ---- iterators of thrust -------------------------------------------------------------------------

_NUMBERS = ("exec_policy", "value", "old_value", "new_value", "init", "step")  # no iterators


def _is_of_cub(called: object) -> bool:
    function = getattr(getattr(called, "__pycu2c_device__", None), "python", called)
    return getattr(function, "__module__", "").endswith(".compat.cupy.cub")


def _is_of_thrust(called: object) -> bool:
    source = getattr(called, "__pycu2c_device__", None)
    return isinstance(source, Source) and ".cupy.thrust." in source.python.__module__


def _with_iterators(arguments: list[ast.expr], function: Any) -> list[ast.expr]:
    """Return arguments with a tuple of an array and an index for each iterator."""
    signature = function.__pycu2c_device__.tree.args
    names = [parameter.arg for parameter in signature.args]
    return [
        argument if name in _NUMBERS and _array_of_iterator(argument) is None else _tuple(argument)
        for name, argument in itertools.zip_longest(names[: len(arguments)], arguments)
    ]


def _tuple(iterator: ast.expr) -> ast.expr:
    """Return the tuple for ``a.begin()``, ``a.end()``, ``a``, or one of these and ``+ n``."""
    return ast.copy_location(ast.Tuple(list(_array_and_index(iterator)), ast.Load()), iterator)


def _array_and_index(iterator: ast.expr) -> tuple[ast.expr, ast.expr]:
    if isinstance(iterator, ast.BinOp) and isinstance(iterator.op, (ast.Add, ast.Sub)):
        array, index = _array_and_index(iterator.left)
        moved = ast.BinOp(index, iterator.op, iterator.right)
        return array, ast.copy_location(moved, iterator)
    array_of_call = _array_of_iterator(iterator)
    if array_of_call is not None:
        return array_of_call, _index_of_iterator(iterator, array_of_call)
    return iterator, ast.copy_location(ast.Constant(0), iterator)


def _array_of_iterator(node: ast.expr) -> ast.expr | None:
    """Return ``a`` of ``a.begin()`` or ``a.end()``; None for other expressions."""
    match node:
        case ast.Call(func=ast.Attribute(value=array, attr="begin" | "end"), args=[], keywords=[]):
            return array
        case _:
            return None


def _index_of_iterator(node: ast.expr, array: ast.expr) -> ast.expr:
    """Return the index of ``a.begin()`` or ``a.end()``."""
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    if node.func.attr == "begin":
        return ast.copy_location(ast.Constant(0), node)
    length = ast.Call(ast.Name("len", ast.Load()), [copy_tree(array)], [])
    return ast.fix_missing_locations(ast.copy_location(length, node))

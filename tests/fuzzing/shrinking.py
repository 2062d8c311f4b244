"""A failing case made small: its syntax tree loses nodes while it still fails in the same way.

Every edit is tried blindly. One that gives the kernel no meaning is Undefined, and so no failure.
"""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

from fuzzing.parallel import run_alone
from fuzzing.running import Outcome

Edit = Callable[[], None]


def shrunk(outcome: Outcome, target: str, seconds: float) -> str:
    """The smallest text found in that time that fails as ``outcome`` did."""

    def fails(text: str) -> bool:
        result = run_alone(text, target)
        # a name that lost its assignment would be another failure
        return result.failed and result.kind == outcome.kind and result.warned <= outcome.warned

    return smallest(outcome.text, fails, seconds)


def smallest(text: str, fails: Callable[[str], bool], seconds: float) -> str:
    deadline = time.monotonic() + seconds
    best = ast.unparse(ast.parse(text)) + "\n"
    if not fails(best):
        return text
    improved = True
    while improved:
        improved = False
        position = 0
        while time.monotonic() < deadline:
            candidate = _edited(best, position)
            if candidate is None:
                break
            if candidate != best and len(candidate) <= len(best) and fails(candidate):
                best, improved = candidate, True
            else:
                position += 1
    return best


def _edited(text: str, position: int) -> str | None:
    """The text after the edit that stands at a position; None behind the last."""
    tree = ast.parse(text)
    for number, edit in enumerate(_edits(tree)):
        if number == position:
            edit()
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return None


def _edits(tree: ast.Module) -> Iterator[Edit]:
    """Every way to make a case smaller, the big ones first."""
    yield from _module_edits(tree)
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name != "arguments"]
    for function in functions:
        yield from _block_edits(function)
    for function in functions:
        yield from _parameter_edits(tree, function)
    for function in functions:
        yield from _expression_edits(function)
    yield from _value_edits(tree)


# ---- the module --------------------------------------------------------------------------------


def _module_edits(tree: ast.Module) -> Iterator[Edit]:
    for node in tree.body:
        device = isinstance(node, ast.FunctionDef) and node.name not in ("arguments", "fuzzed")
        constant = isinstance(node, ast.Assign) and ast.unparse(node.targets[0])[0] == "K"
        if device or constant:
            yield lambda node=node: tree.body.remove(node)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            yield lambda node=node: _replace(
                node, "value", ast.parse("(1, 1, 1), (1, 1, 1)", mode="eval").body
            )


def _replace(node: ast.AST, field: str, value: Any) -> None:
    setattr(node, field, value)


def _parameter_edits(tree: ast.Module, function: ast.FunctionDef) -> Iterator[Edit]:
    """A parameter goes, with its argument in every call."""
    used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
    for position, parameter in enumerate(function.args.args):
        if parameter.arg not in used:
            yield lambda position=position: _without_parameter(tree, function, position)


def _without_parameter(tree: ast.Module, function: ast.FunctionDef, position: int) -> None:
    del function.args.args[position]
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=given) if name == function.name:
                del given[position : position + 1]
            case ast.FunctionDef(name="arguments", body=[ast.Return(value=ast.Tuple(elts=given))]):
                if function.name == "fuzzed":
                    del given[position]
            case ast.Assign(targets=[ast.Name(id="APPROXIMATE")]) if function.name == "fuzzed":
                old = ast.literal_eval(node.value)
                new = [p - (p > position) for p in old if p != position]
                node.value = ast.Constant(new)


# ---- statements --------------------------------------------------------------------------------


def _block_edits(owner: ast.AST) -> Iterator[Edit]:
    for field in ("body", "orelse"):
        block = getattr(owner, field, None)
        if not isinstance(block, list):
            continue
        for size in (8, 4, 2, 1):
            for start in range(0, len(block) - size + 1, max(1, size // 2)):
                yield lambda b=block, s=start, n=size: _cut(b, s, n)
        for position, statement in enumerate(block):
            inner = [*getattr(statement, "body", []), *getattr(statement, "orelse", [])]
            if inner:
                yield lambda b=block, p=position, i=inner: _cut(b, p, 1, i)
        for statement in list(block):
            yield from _block_edits(statement)


def _cut(
    block: list[ast.stmt], start: int, count: int, instead: list[ast.stmt] | None = None
) -> None:
    block[start : start + count] = instead or []
    if not block:
        block.append(ast.Pass())


# ---- expressions -------------------------------------------------------------------------------


def _expression_edits(function: ast.FunctionDef) -> Iterator[Edit]:
    for node in ast.walk(function):
        for field, old in ast.iter_fields(node):
            if isinstance(old, ast.expr):
                for new in _simpler(old):
                    yield lambda n=node, f=field, v=new: _replace(n, f, v)
            elif isinstance(old, list):
                for position, item in enumerate(old):
                    if isinstance(item, ast.expr):
                        for new in _simpler(item):
                            yield lambda o=old, p=position, v=new: o.__setitem__(p, v)


def _simpler(node: ast.expr) -> Iterator[ast.expr]:
    """What may stand for an expression: a part of it, or a small number."""
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int) and node.value not in (0, 1, 2, True, False):
            yield from (ast.Constant(0), ast.Constant(1), ast.Constant(2))
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not isinstance(child, ast.Slice):
            yield copy.deepcopy(child)
    match node:
        case ast.BoolOp(op=op, values=values) if len(values) > 2:
            yield ast.BoolOp(op, values[1:])
            yield ast.BoolOp(op, values[:-1])
        case ast.Compare(left=_, ops=ops, comparators=values) if len(ops) > 1:
            yield ast.Compare(values[0], ops[1:], values[1:])
            yield ast.Compare(node.left, ops[:-1], values[:-1])
        case ast.Name():
            return
    yield ast.Constant(0)
    yield ast.Constant(1)


def _value_edits(tree: ast.Module) -> Iterator[Edit]:
    """Elements of argument arrays become 0 or 1; views become plain."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List) and len(node.elts) > 1:
            yield lambda n=node: _replace(n, "elts", [ast.Constant(0)] * len(n.elts))
            yield lambda n=node: _replace(n, "elts", [ast.Constant(1)] * len(n.elts))

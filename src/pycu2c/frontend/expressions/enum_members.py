"""Members of enumerations that a kernel names.

Members of an ``IntEnum`` become numbers as values, so their other attributes are resolved from the
expression.
"""

from __future__ import annotations

import ast
from enum import Enum, EnumMeta
from types import ModuleType

from pycu2c.base.source import bound_object
from pycu2c.frontend.function_context import FunctionContext


def member_named(context: FunctionContext, node: ast.expr) -> Enum | None:
    """Return the enumeration member that an expression names, or None."""
    found = _named(context, node)
    return found if isinstance(found, Enum) else None


def _named(context: FunctionContext, node: ast.expr) -> object:
    match node:
        case ast.Name(id=name):
            is_own = name in context.ranges.locals or any(
                name in s for s in context.comprehension_scopes
            )
            return None if is_own else bound_object(context.source.python, name)
        case ast.Attribute(value=owner, attr=name):
            found = _named(context, owner)
            if isinstance(found, EnumMeta):
                return found.__members__.get(name)
            return vars(found).get(name) if isinstance(found, ModuleType) else None
        case ast.Subscript(value=owner, slice=ast.Constant(value=str(name))):
            found = _named(context, owner)
            return found.__members__.get(name) if isinstance(found, EnumMeta) else None
        case _:
            return None

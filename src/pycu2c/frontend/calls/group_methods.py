"""Methods of coalesced groups, which are device functions."""

from __future__ import annotations

import ast
from inspect import isfunction
from typing import TypeGuard

from pycu2c.frontend.calls import device_calls
from pycu2c.frontend.evaluation_order import materialize
from pycu2c.frontend.function_context import FunctionContext, StaticObject, TupleValue, Value
from pycu2c.ir.nodes import Const, Var
from pycu2c.ops.intrinsics.threads.coalesced_groups import Coalesced

METHODS = tuple(n for n, m in vars(Coalesced).items() if isfunction(m) and n[0] != "_")


def is_coalesced_group(value: Value) -> TypeGuard[TupleValue]:
    """Return whether a value is a coalesced group."""
    return isinstance(value, TupleValue) and value.names == Coalesced._fields


def call_method(context: FunctionContext, group: TupleValue, name: str, node: ast.Call) -> Value:
    """Lower ``group.name(…)``."""
    function = StaticObject(getattr(Coalesced, name), context.span(node.func))
    is_steady = all(isinstance(item, (Var, Const)) for item in group.items)
    steady = group if is_steady else materialize(context, group, "group")
    assert isinstance(steady, TupleValue)
    return device_calls.call_function(context, function, node, steady)

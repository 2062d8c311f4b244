"""CPU: device functions are given the coordinates that they read, as numbers.

``device f(): … cuda.threadIdx.x() …`` -> ``device f(threadIdx_x: int): … threadIdx_x …``, and
whoever calls ``f`` passes ``cuda.threadIdx.x()`` on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pycu2c.analysis.launch_assumptions import is_fixed
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.call_graph import fixed_point_summaries
from pycu2c.ir.nodes import Apply, Call, Expr, Function, Module, Parameter, Var
from pycu2c.ir.walk import all_expressions, map_expr
from pycu2c.ops.intrinsics.registry import Intrinsic

Rows: TypeAlias = tuple[Intrinsic, ...]


def pass_coordinates(module: Module) -> Module:
    """Only the kernel itself stands somewhere."""

    def read(function: Function, known: Mapping[str, Rows]) -> Rows:
        found = set(coordinates(function))
        for e in all_expressions(function.body):
            if isinstance(e, Call):
                found |= set(known[e.function])
        return tuple(sorted(found, key=lambda row: row.name))

    nothing: Rows = ()
    taken = fixed_point_summaries(module.devices, read, nothing)
    devices = tuple(_taking(f, taken) for f in module.devices)
    kernel = replace(module.kernel, body=map_expr(module.kernel.body, _Passing(taken).changed))
    return replace(module, kernel=kernel, devices=devices)


def coordinates(function: Function) -> set[Intrinsic]:
    """Where in the grid a function asks to be."""
    applied = (e.intrinsic for e in all_expressions(function.body) if isinstance(e, Apply))
    return {row for row in applied if is_fixed(row)}


def _taking(function: Function, taken: Mapping[str, Rows]) -> Function:
    own = {row: Var(_name(row), WEAK_INT, function.span) for row in taken[function.name]}
    added = tuple(Parameter(v.name, WEAK_INT, -1) for v in own.values())
    body = map_expr(function.body, _Passing(taken, own).changed)
    return replace(function, parameters=(*function.parameters, *added), body=body)


def _name(row: Intrinsic) -> str:
    """No variable of a user has a name like it: theirs are identifiers, with a version."""
    return f"{row.name.removeprefix('cuda.').replace('.', '_')}.here"


@dataclass(frozen=True, slots=True)
class _Passing:
    """``own``: the parameters of a device function that are coordinates."""

    taken: Mapping[str, Rows]
    own: Mapping[Intrinsic, Var] | None = None

    def changed(self, e: Expr) -> Expr:
        match e:
            case Apply(intrinsic=row) if self.own and row in self.own:
                return cast(replace(self.own[row], span=e.span), scalar_type(e))
            case Call():
                given = tuple(self._given(row, e) for row in self.taken[e.function])
                return replace(e, arguments=(*e.arguments, *given))
            case _:
                return e

    def _given(self, row: Intrinsic, call: Call) -> Expr:
        if self.own:
            return replace(self.own[row], span=call.span)
        return Apply(row, (), WEAK_INT, call.span)

"""Pass thread and block indices to device functions as arguments (CPU).

``device f(): … cuda.threadIdx.x() …`` -> ``device f(threadIdx_x: int): … threadIdx_x …``, and
callers pass ``cuda.threadIdx.x()``. Guarantees that only the kernel reads coordinates. Requires the
form WORK_ITEM_LOOPS or COROUTINES (``ir/forms.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pycu2c.analysis.launch_ranges import is_thread_coordinate
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.call_graph import fixed_point_summaries
from pycu2c.ir.walk import all_expressions, map_expr
from pycu2c.ops.intrinsics.registry import Intrinsic

Coordinates: TypeAlias = tuple[Intrinsic, ...]


def pass_coordinates(module: ir.Module) -> ir.Module:
    """Add coordinate parameters to device functions, and arguments to their calls."""

    def collect(function: ir.Function, summaries: Mapping[str, Coordinates]) -> Coordinates:
        used = set(coordinates(function))
        for e in all_expressions(function.body):
            if isinstance(e, ir.Call):
                used |= set(summaries[e.function])
        return tuple(sorted(used, key=lambda coordinate: coordinate.name))

    no_coordinates: Coordinates = ()
    coordinates_of = fixed_point_summaries(module.device_functions, collect, no_coordinates)
    devices = tuple(_add_parameters(f, coordinates_of) for f in module.device_functions)
    kernel = replace(
        module.kernel, body=map_expr(module.kernel.body, _CoordinatePassing(coordinates_of).rewrite)
    )
    return replace(module, kernel=kernel, device_functions=devices)


def coordinates(function: ir.Function) -> set[Intrinsic]:
    """Return the coordinates that a function reads."""
    applied = (e.intrinsic for e in all_expressions(function.body) if isinstance(e, ir.Apply))
    return {coordinate for coordinate in applied if is_thread_coordinate(coordinate)}


def _add_parameters(
    function: ir.Function, coordinates_of: Mapping[str, Coordinates]
) -> ir.Function:
    parameters = {
        coordinate: ir.Var(_parameter_name(coordinate), WEAK_INT, function.span)
        for coordinate in coordinates_of[function.name]
    }
    added = tuple(ir.Parameter(v.name, WEAK_INT, -1) for v in parameters.values())
    body = map_expr(function.body, _CoordinatePassing(coordinates_of, parameters).rewrite)
    return replace(function, parameters=(*function.parameters, *added), body=body)


def _parameter_name(coordinate: Intrinsic) -> str:
    """Return a parameter name that cannot clash with a user's variable."""
    return f"{coordinate.name.removeprefix('cuda.').replace('.', '_')}.here"


@dataclass(frozen=True, slots=True)
class _CoordinatePassing:
    """Rewrites one function; ``parameters`` maps the coordinates of a device function."""

    coordinates_of: Mapping[str, Coordinates]
    parameters: Mapping[Intrinsic, ir.Var] | None = None

    def rewrite(self, e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Apply(intrinsic=coordinate) if (
                self.parameters and coordinate in self.parameters
            ):
                return cast(replace(self.parameters[coordinate], span=e.span), scalar_type(e))
            case ir.Call():
                arguments = tuple(
                    self._argument(coordinate, e) for coordinate in self.coordinates_of[e.function]
                )
                return replace(e, arguments=(*e.arguments, *arguments))
            case _:
                return e

    def _argument(self, coordinate: Intrinsic, call: ir.Call) -> ir.Expr:
        if self.parameters:
            return replace(self.parameters[coordinate], span=call.span)
        return ir.Apply(coordinate, (), WEAK_INT, call.span)

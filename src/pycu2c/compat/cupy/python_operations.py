"""Generate elementwise operations from Python functions such as ``lambda x, y: x + y``.

The parameters are the inputs in order. Further parameters, by name, are raw outputs, the index
``i`` and the size ``n``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base import dtypes
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import replace
from pycu2c.base.types import Array, Scalar
from pycu2c.compat.cupy.bound_parameters import BoundParameter
from pycu2c.compat.cupy.elementwise.source_parts import ElementwiseForm, ElementwiseOperation
from pycu2c.compat.cupy.parameter_declarations import ArgumentTypeError, ParameterInfo
from pycu2c.compat.cupy.python_functions import (
    CValue,
    GeneratedCall,
    PythonFunction,
    check_conversion,
    joined_texts,
    value_of,
)

_INDICES = {"i": "i", "n": "_size"}


class PythonOperation:
    """A Python function as the operation of a kernel."""

    def __init__(
        self,
        function: Any,
        name: str,
        inputs: Sequence[ParameterInfo],
        outputs: Sequence[ParameterInfo],
    ) -> None:
        own = isinstance(function, PythonFunction)
        self._function = function if own else PythonFunction(function, f"{name}_operation")
        self._inputs, self._outputs = inputs, outputs
        asked = self._function.parameters
        self._extra = asked[len(inputs) :]
        known = {p.name for p in outputs if p.raw} | _INDICES.keys()
        unknown = [n for n in self._extra if n not in known]
        if len(asked) < len(inputs) or unknown:
            wanted = ", ".join(p.name for p in inputs)
            raise ArgumentTypeError(
                f"{name}: the function takes ({', '.join(asked)}): it is given ({wanted}), and "
                f"after them what it asks for of {', '.join(sorted(known))}"
            )

    @property
    def names(self) -> frozenset[str]:
        """Return its parameters besides the inputs."""
        return frozenset(self._extra)

    def operation(self, form: ElementwiseForm, frame: ElementwiseOperation) -> ElementwiseOperation:
        """Return the operation as text. Raises CompileError, ArgumentTypeError."""
        inputs = form.bounds[: len(self._inputs)]
        outputs = {b.name: b for b in form.bounds[len(self._inputs) :]}
        values = [_value(b) for b in inputs]
        values += [_value(outputs[n]) if n in outputs else _index(n) for n in self._extra]
        called = self._function.called(values)
        text = self._assigned(called, [b for b in outputs.values() if b.kind == "array"])
        return replace(frame, text=text, preamble=joined_texts([frame.preamble, called.text]))

    def _assigned(self, called: GeneratedCall, outputs: Sequence[BoundParameter]) -> str:
        """Return the statements that assign the results of the call to the outputs."""
        if len(called.results) != len(outputs):
            raise ArgumentTypeError(
                f"{self._function.name} gives {len(called.results)} values, and there are "
                f"{len(outputs)} outputs to assign them to"
            )
        for result, bound in zip(called.results, outputs):
            check_conversion(result, bound.row, bound.name)
        if not called.is_tuple:
            return f"{outputs[0].name} = {called.call};" if outputs else f"{called.call};"
        of_halves = ["(float)" if row.is_half else "" for row in called.results]
        parts = [
            f"{b.name} = {convert}_results.item{k};"
            for k, (b, convert) in enumerate(zip(outputs, of_halves))
        ]
        return "\n".join([f"const auto _results = {called.call};", *parts])


def _index(name: str) -> CValue:
    return CValue(Scalar(dtypes.INT64, weak=True), lambda _: _INDICES[name])


def _value(bound: BoundParameter) -> CValue:
    if bound.kind != "raw":
        return value_of(bound.name, bound.row)
    kind = Array(bound.row, max(bound.axes, 1), "C" if bound.packed else "A")
    return CValue(kind, lambda part: _part_of(bound, part))


def _part_of(bound: BoundParameter, part: Parameter) -> str:
    match part.part:
        case ArgumentPart.DATA:
            return bound.pointer
        case ArgumentPart.SHAPE:
            return f"_{bound.name}_n{part.axis}"
        case _:
            return f"_{bound.name}_s{part.axis}"

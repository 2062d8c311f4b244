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
from pycu2c.compat.cupy.elementwise.source_parts import ElementwiseOperation, ElementwiseSpec
from pycu2c.compat.cupy.parameter_declarations import ArgumentTypeError, ParameterInfo
from pycu2c.compat.cupy.python_functions import (
    CValue,
    GeneratedCall,
    PythonFunction,
    assignments,
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
        if not isinstance(function, PythonFunction):
            function = PythonFunction(function, f"{name}_operation")
        self._function = function
        self._inputs, self._outputs = inputs, outputs
        parameters = self._function.parameters
        self._extra = parameters[len(inputs) :]
        optional = {p.name for p in outputs if p.raw} | _INDICES.keys()
        unknown = [n for n in self._extra if n not in optional]
        if len(parameters) < len(inputs) or unknown:
            required = ", ".join(p.name for p in inputs)
            raise ArgumentTypeError(
                f"{name}: the function takes ({', '.join(parameters)}): its first parameters must "
                f"be ({required}), and others may be {', '.join(sorted(optional))}"
            )

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the parameters of the function besides the inputs."""
        return frozenset(self._extra)

    def operation(
        self, spec: ElementwiseSpec, template: ElementwiseOperation
    ) -> ElementwiseOperation:
        """Return ``template`` with the text of the operation and the definition of the function.

        Raises CompileError, ArgumentTypeError.
        """
        inputs = spec.bound_parameters[: len(self._inputs)]
        outputs = {b.name: b for b in spec.bound_parameters[len(self._inputs) :]}
        values = [_value(b) for b in inputs]
        values += [_value(outputs[n]) if n in outputs else _index(n) for n in self._extra]
        call = self._function.call_with(values)
        text = self._assign_results(call, [b for b in outputs.values() if b.kind == "array"])
        return replace(template, text=text, preamble=joined_texts([template.preamble, call.text]))

    def _assign_results(self, call: GeneratedCall, outputs: Sequence[BoundParameter]) -> str:
        """Return the statements that assign the results of the call to the outputs."""
        if len(call.results) != len(outputs):
            raise ArgumentTypeError(
                f"{self._function.name} returns {len(call.results)} values, and the kernel has "
                f"{len(outputs)} outputs"
            )
        for result, bound in zip(call.results, outputs):
            check_conversion(result, bound.dtype, bound.name)
        return assignments(call, [bound.name for bound in outputs])


def _index(name: str) -> CValue:
    return CValue(Scalar(dtypes.INT64, weak=True), lambda _: _INDICES[name])


def _value(bound: BoundParameter) -> CValue:
    if bound.kind != "raw":
        return value_of(bound.name, bound.dtype)
    array = Array(bound.dtype, max(bound.axes, 1), "C" if bound.is_contiguous else "A")
    return CValue(array, lambda parameter: _view_expression(bound, parameter))


def _view_expression(bound: BoundParameter, parameter: Parameter) -> str:
    match parameter.part:
        case ArgumentPart.DATA:
            return bound.pointer
        case ArgumentPart.SHAPE:
            return f"_{bound.name}_n{parameter.axis}"
        case _:
            return f"_{bound.name}_s{parameter.axis}"

"""Generate CUDA C from Python functions that replace C text in CuPy kernels.

A function is typed for each call. The CPU text includes the same CUDA C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import Parameter
from pycu2c.base.records import dataclass
from pycu2c.base.source import Source
from pycu2c.base.types import NONE, Array, ParameterType, Scalar, Signature, Tuple
from pycu2c.compat.cupy.parameter_declarations import ArgumentTypeError
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.declarations.options import DEFAULT_OPTIONS
from pycu2c.kernels import specialization
from pycu2c.kernels.kernel import DeviceFunction


class CValue(NamedTuple):
    """An argument of a function: its type, and the C expressions that are passed for it.

    An array is passed as several C parameters: a pointer, lengths and strides.
    """

    type: Scalar | Array
    expression: Callable[[Parameter], str]


@dataclass(frozen=True, slots=True)
class GeneratedCall:
    """The text of a function, and the expression that calls it.

    results: the types of its results. If there are several, they are members ``item0``, … of the
    value of the call.
    """

    text: str
    expression: str
    results: tuple[DType, ...]
    is_tuple: bool


SourceOrFunction: TypeAlias = "str | Callable[..., Any] | PythonFunction"


class PythonFunction:
    """A function or lambda that kernels call.

    source: used in place of the source code of ``function``.
    weak: positions of arguments that are Python numbers, with weak types.
    """

    def __init__(
        self,
        function: Any,
        name: str,
        source: Source | None = None,
        weak: frozenset[int] = frozenset(),
    ) -> None:
        self.source, self.name = source or device_function_source(function), name
        self._weak = weak

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        parameters = self.source.tree.args
        return tuple(a.arg for a in (*parameters.posonlyargs, *parameters.args))

    def call_with(self, values: Sequence[CValue]) -> GeneratedCall:
        """Generate a call with typed values. Raises CompileError, ArgumentTypeError."""
        types = (self._type(k, value.type) for k, value in enumerate(values))
        function, result = specialization.generate_device(
            self.source,
            Signature(tuple(types)),
            DEFAULT_OPTIONS,
            self.name,
            specialization.INLINE_QUALIFIERS,
        )
        if function.prints:
            raise ArgumentTypeError(f"{self.name} prints: an operation in Python cannot print")
        arguments = ", ".join(values[p.argument].expression(p) for p in function.parameters)
        dtypes = tuple(_dtypes_in(result, self.name))
        is_tuple = isinstance(result, Tuple)
        to_float = "(float)" if not is_tuple and any(dtype.is_half for dtype in dtypes) else ""
        return GeneratedCall(function.text, f"{to_float}{self.name}({arguments})", dtypes, is_tuple)

    def _type(self, position: int, declared: Scalar | Array) -> Scalar | Array:
        is_weak = position in self._weak and isinstance(declared, Scalar)
        return Scalar(declared.dtype, weak=True) if is_weak else declared


def device_function_source(function: Any) -> Source:
    """Return the source of a device function or lambda. Raises CompileError."""
    device: DeviceFunction[..., Any] = DeviceFunction(python_function(function))
    return device.__pycu2c_device__


def value_of(name: str, dtype: DType) -> CValue:
    """Return a C variable as a value; functions use another class for float16 than kernels."""
    expression = f"({dtype.cuda})(float){name}" if dtype.is_half else name
    return CValue(Scalar(dtype), lambda _: expression)


def _dtypes_in(result: ParameterType, name: str) -> Iterator[DType]:
    items = result.items if isinstance(result, Tuple) else (result,)
    for item in items:
        if item == NONE:
            continue
        if not isinstance(item, Scalar):
            raise ArgumentTypeError(f"{name} returns {item}: an operation returns numbers")
        yield item.dtype


def check_conversion(result: DType, target: DType, name: str) -> None:
    """Check that a result converts to an output. Raises ArgumentTypeError."""
    if result.is_complex and not target.is_complex:
        raise ArgumentTypeError(
            f"{name} is {target}, and the function returns {result}: return its real part"
        )


def assignments(call: GeneratedCall, targets: Sequence[str]) -> str:
    """Return the statements that assign the results of a call to variables."""
    if not call.is_tuple:
        return f"{targets[0]} = {call.expression};" if targets else f"{call.expression};"
    items = [
        f"{target} = {'(float)' if dtype.is_half else ''}_results.item{k};"
        for k, (target, dtype) in enumerate(zip(targets, call.results))
    ]
    return "\n".join([f"const auto _results = {call.expression};", *items])


def joined_texts(texts: Sequence[str]) -> str:
    """Concatenate texts; shared helper functions occur once."""
    parts = [part.strip("\n") for text in texts for part in text.split("\n\n")]
    return "\n\n".join(dict.fromkeys(part for part in parts if part))

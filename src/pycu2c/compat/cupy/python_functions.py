"""Python functions in the place of C text: typed for each call, and generated as CUDA C, which is
the text of the operation on the CPU, too. Knows no kernel's frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import Parameter
from pycu2c.base.records import NamedTuple, dataclass
from pycu2c.base.source import Source
from pycu2c.base.types import NONE, Array, ParameterType, Scalar, Signature, Tuple
from pycu2c.compat.cupy.parameter_declarations import WrongType
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.declarations.options import DEFAULT_OPTIONS
from pycu2c.kernels import specialization
from pycu2c.kernels.kernel import Device


class Value(NamedTuple):
    """What a function is given: its type, and how C spells it, or the parts of an array."""

    type: Scalar | Array
    spelled: Callable[[Parameter], str]


@dataclass(frozen=True, slots=True)
class Called:
    """A function as text, and its call; ``results`` are the types of what it gives: none, one, or
    several, which are the members ``item0``, … of the value of the call."""

    text: str
    call: str
    results: tuple[DType, ...]
    is_tuple: bool


Text: TypeAlias = "str | Callable[..., Any] | PythonFunction"  # what a user may write


class PythonFunction:
    """A function or lambda that kernels call. ``source``: what stands for its body; ``weak``: the
    positions of arguments that are Python's numbers, which take the types of others."""

    def __init__(
        self,
        function: Any,
        name: str,
        source: Source | None = None,
        weak: frozenset[int] = frozenset(),
    ) -> None:
        self.source, self.name = source or source_of_device(function), name
        self._weak = weak

    @property
    def parameters(self) -> tuple[str, ...]:
        """Their names."""
        given = self.source.tree.args
        return tuple(a.arg for a in (*given.posonlyargs, *given.args))

    def called(self, values: Sequence[Value]) -> Called:
        """Its call with values of some types. Raises CompileError, WrongType."""
        types = (self._type(k, value.type) for k, value in enumerate(values))
        made, result = specialization.generate_device(
            self.source,
            Signature(tuple(types)),
            DEFAULT_OPTIONS,
            self.name,
            specialization.FOR_ONE_TEXT,
        )
        if made.prints:
            raise WrongType(f"{self.name} prints, which an operation in Python cannot")
        passed = ", ".join(values[p.argument].spelled(p) for p in made.parameters)
        kinds = tuple(_dtypes_in(result, self.name))
        is_tuple = isinstance(result, Tuple)
        to_float = "(float)" if not is_tuple and any(kind.is_half for kind in kinds) else ""
        return Called(made.text, f"{to_float}{self.name}({passed})", kinds, is_tuple)

    def _type(self, position: int, given: Scalar | Array) -> Scalar | Array:
        is_weak = position in self._weak and isinstance(given, Scalar)
        return Scalar(given.dtype, weak=True) if is_weak else given


def source_of_device(function: Any) -> Source:
    """That of a function or lambda as kernels call it. Raises CompileError."""
    device: Device[..., Any] = Device(python_function(function))
    return device.__pycu2c_device__


def value_of(name: str, row: DType) -> Value:
    """A number in a variable of C. Halves are of other classes in functions."""
    spelled = f"({row.cuda})(float){name}" if row.is_half else name
    return Value(Scalar(row), lambda _: spelled)


def _dtypes_in(result: ParameterType, name: str) -> Iterator[DType]:
    items = result.items if isinstance(result, Tuple) else (result,)
    for item in items:
        if item == NONE:
            continue
        if not isinstance(item, Scalar):
            raise WrongType(f"{name} gives {item}: an operation gives numbers")
        yield item.dtype


def check_conversion(given: DType, wanted: DType, what: str) -> None:
    """Whether what a function gives becomes an output. Raises WrongType."""
    if given.is_complex and not wanted.is_complex:
        raise WrongType(f"{what} is {wanted}, and the function gives {given}: give its real part")


def joined_texts(texts: Sequence[str]) -> str:
    """Texts with the helpers that they share once."""
    parts = [part.strip("\n") for text in texts for part in text.split("\n\n")]
    return "\n\n".join(dict.fromkeys(part for part in parts if part))

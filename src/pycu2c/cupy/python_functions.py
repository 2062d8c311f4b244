"""Python functions in the place of C text: typed for each call, and generated as CUDA C, which is
the text of the operation on the CPU, too. Knows no kernel's frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from pycu2c import specialization
from pycu2c.cupy.declared import WrongType
from pycu2c.dtypes import DType
from pycu2c.kernel import Device
from pycu2c.options import DEFAULT
from pycu2c.parameters import Parameter
from pycu2c.ported.jitted import python_of
from pycu2c.records import dataclass
from pycu2c.types import NONE, Array, ParameterType, Scalar, Signature, Tuple


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


class PythonFunction:
    """A function or lambda that kernels call."""

    def __init__(self, function: Any, name: str) -> None:
        self._device: Device[..., Any] = Device(python_of(function))
        self.name = name

    @property
    def parameters(self) -> tuple[str, ...]:
        """Their names."""
        tree = self._device.__pycu2c_device__.tree
        return tuple(a.arg for a in (*tree.args.posonlyargs, *tree.args.args))

    def called(self, values: Sequence[Value]) -> Called:
        """Its call with values of some types. Raises CompileError, WrongType."""
        signature = Signature(tuple(value.type for value in values))
        source, for_one = self._device.__pycu2c_device__, specialization.FOR_ONE_TEXT
        made, result = specialization.generate_device(
            source, signature, DEFAULT, self.name, for_one
        )
        if made.prints:
            raise WrongType(f"{self.name} prints, which an operation in Python cannot")
        passed = ", ".join(values[p.argument].spelled(p) for p in made.parameters)
        kinds = tuple(_dtypes_in(result, self.name))
        return Called(made.text, f"{self.name}({passed})", kinds, isinstance(result, Tuple))


def value_of(name: str, row: DType) -> Value:
    """A number in a variable of C."""
    return Value(Scalar(row), lambda _: name)


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

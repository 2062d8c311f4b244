"""``fuse``: a function of arrays as one kernel. It is compiled as a function of their elements, for
the types of each call; a reduction at its end is a reduction kernel.

Knows no text: what the function means is for the frontend, how it runs for the kernels.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pycu2c.cupy import operands
from pycu2c.cupy.declared import WrongType, c_name, is_kernel_name
from pycu2c.cupy.elementwise import ElementwiseKernel
from pycu2c.cupy.operands import Operand
from pycu2c.cupy.python_functions import PythonFunction, Value
from pycu2c.cupy.reduction import ReductionKernel
from pycu2c.dtypes import DType
from pycu2c.kernel import Device
from pycu2c.ported.jitted import python_of
from pycu2c.records import dataclass, replace
from pycu2c.runtime.arguments import ArrayArgument
from pycu2c.source import LAMBDA, Source
from pycu2c.types import Scalar
from pycu2c.values import scalar_of

Made: TypeAlias = Callable[..., Any]
_NOT_IN_C = frozenset("i n in out a b int float double short long char bool auto".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Reduction:
    """What brings values together: of two of them one, and what there is of none."""

    join: Callable[[Any, Any], Any]
    identity: str | None


_REDUCTIONS: dict[Any, Reduction] = {
    np.sum: Reduction(lambda a, b: a + b, "0"),
    np.prod: Reduction(lambda a, b: a * b, "1"),
    np.max: Reduction(lambda a, b: np.maximum(a, b), None),
    np.min: Reduction(lambda a, b: np.minimum(a, b), None),
}


@dataclass(frozen=True, slots=True)
class Ending:
    """A reduction at the end of a function: ``np.sum(…, axis=0)``."""

    numpys: Any
    source: Source  # of what is reduced
    named: dict[str, Any]


class Fusion:
    """A function of arrays and numbers that is one kernel for each combination of their types."""

    def __init__(self, function: Callable[..., Any], kernel_name: str | None = None) -> None:
        functools.update_wrapper(self, function)
        self._function = python_of(function)
        device: Device[..., Any] = Device(self._function)
        self._source = device.__pycu2c_device__
        own = self._source.name if self._source.name != LAMBDA else "fused"
        self.name = kernel_name or own
        if not is_kernel_name(self.name):
            raise ValueError(f"Invalid kernel name: {self.name!r} is no name in C")
        self._ending = _ending(self._source)
        self._kernels: dict[tuple[object, ...], Made] = {}

    def __repr__(self) -> str:
        return f"<fused {self.name}>"

    def __call__(self, *args: Any) -> Any:
        key = tuple(getattr(a, "dtype", None) or type(a) for a in args)
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels[key] = self._made(args)
        return kernel(*args)

    def clear_cache(self) -> None:
        """Forget what has been compiled."""
        self._kernels.clear()

    def _made(self, args: Sequence[Any]) -> Made:
        """What runs calls with arguments of these types."""
        names = [f"{self.name}: argument {k}" for k in range(1, len(args) + 1)]
        found = [operands.operand(a, n) for a, n in zip(args, names)]
        if not any(isinstance(a, ArrayArgument) for a in found):
            return self._function
        weak = frozenset(k for k, a in enumerate(found) if _is_weak(a))
        source = self._ending.source if self._ending else self._source
        function = PythonFunction(self._function, f"{self.name}_operation", source, weak)
        if len(function.parameters) != len(args):
            raise WrongType(f"{self.name} takes {len(function.parameters)} arguments")
        rows = [_row(a) for a in found]
        spelled = [f"{n}_" if n in _NOT_IN_C else n for n in function.parameters]
        inputs = ", ".join(f"{row.name} {name}" for row, name in zip(rows, spelled))
        results = function.called([Value(Scalar(row), lambda p: p.name) for row in rows]).results
        if self._ending:
            return self._reducing(self._ending, function, inputs, results)
        outputs = ", ".join(f"{row.name} out{k}" for k, row in enumerate(results))
        return ElementwiseKernel(inputs, outputs, function, self.name)

    def _reducing(
        self, ending: Ending, function: PythonFunction, inputs: str, results: Sequence[DType]
    ) -> Made:
        if len(results) != 1:
            raise WrongType(f"{self.name} reduces a tuple: reduce one value")
        reduction, dtype = _REDUCTIONS[ending.numpys], results[0].numpy
        whole = ending.numpys(np.ones(1, dtype)).dtype  # sums of small integers are large ones
        between = c_name(operands.row_of(whole))
        kernel = ReductionKernel(
            inputs,
            f"{whole.name} out",
            function,
            reduction.join,
            "out = a",
            reduction.identity,
            self.name,
            between,
        )
        return functools.partial(kernel, **ending.named)


def _is_weak(given: Operand) -> bool:
    scalar = None if isinstance(given, ArrayArgument) else scalar_of(given)
    return scalar is not None and scalar.weak


def _row(given: Operand) -> DType:
    if isinstance(given, ArrayArgument):
        return given.dtype
    scalar = scalar_of(given)
    assert scalar is not None
    return scalar.dtype


def _ending(source: Source) -> Ending | None:
    """The reduction whose result a function returns, if it does."""
    last = source.tree.body[-1]
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Call):
        return None
    numpys = _named(last.value.func, source)
    if numpys not in _REDUCTIONS or len(last.value.args) != 1:
        return None
    named = {k.arg: ast.literal_eval(k.value) for k in last.value.keywords if k.arg}
    if not named.keys() <= {"axis", "keepdims"}:
        return None
    value = ast.copy_location(ast.Return(last.value.args[0]), last)
    tree = ast.FunctionDef(
        name=source.tree.name,
        args=source.tree.args,
        body=[*source.tree.body[:-1], value],
        decorator_list=[],
    )
    tree = ast.copy_location(tree, source.tree)
    return Ending(numpys, replace(source, tree=tree), named)


def _named(node: ast.expr, source: Source) -> Any:
    """What a name, or an attribute of one, is where the function stands; None if that is
    unknown."""
    if isinstance(node, ast.Attribute):
        return getattr(_named(node.value, source), node.attr, None)
    known = source.python.__globals__
    return known.get(node.id) if isinstance(node, ast.Name) else None


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Make one kernel of a function of arrays: ``@fuse``, ``@fuse()``, ``@fuse(kernel_name="f")``.

    The function is in the language of kernels, with numpy's functions: it computes with elements.
    What it returns may be ``np.sum``, ``np.prod``, ``np.max`` or ``np.min`` of a value, along an
    ``axis``.
    """
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return Fusion(args[0])
    return lambda function: Fusion(function, *args, **kwargs)

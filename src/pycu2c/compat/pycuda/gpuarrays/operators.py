"""Implement the arithmetic and comparison operators of device arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays import kernels
from pycu2c.compat.pycuda.gpuarrays.kernels import BinaryOperation, launch
from pycu2c.compat.pycuda.gpuarrays.layout import common_dtype, quotient_dtype
from pycu2c.compat.pycuda.gpuarrays.strided_memory import StridedMemory
from pycu2c.devices import copies
from pycu2c.devices.view_geometry import ViewGeometry


def _binary(
    operation: BinaryOperation, *, swapped: bool = False, quotient: bool = False
) -> Callable[[Any, Any], Any]:
    """Return the method of an operator; ``swapped``: this array is the right operand."""
    result_dtype = quotient_dtype if quotient else common_dtype

    def apply(array: Operators, other: Any) -> Any:
        x, y = (other, array) if swapped else (array, other)
        return array._apply(operation, x, y, result_dtype(x, y))

    return _method(apply)


def _in_place(operation: BinaryOperation) -> Callable[[Any, Any], Any]:
    """Return the method of an assignment operator such as ``+=``."""
    return _method(lambda a, other: a._apply(operation, a, other, a.dtype, out=a))


def _comparison(operation: BinaryOperation) -> Callable[[Any, Any], Any]:
    """Return the method of a comparison."""

    def apply(array: Operators, other: Any) -> Any:
        dtype = common_dtype(array, other) if isinstance(other, Operators) else array.dtype
        return array._apply(operation, array, other, dtype)

    return _method(apply)


def _method(apply: Callable[[Operators, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a method that applies an operator to an array and a converted operand."""

    def method(self: Operators, other: Any) -> Any:
        operand = self._operand(other)
        return NotImplemented if operand is NotImplemented else apply(self, operand)

    return method


A = TypeVar("A", bound="Operators")


class Operators(StridedMemory):
    """Arrays with arithmetic and comparison operators."""

    def _operand(self, value: Any) -> Any:
        """Convert an operand to a number or array; NotImplemented for anything else."""
        raise NotImplementedError

    # ---- arithmetic ----

    @translate_errors
    def _apply(
        self, operation: BinaryOperation, x: Any, y: Any, dtype: Any, out: Operators | None = None
    ) -> Any:
        """Return ``operation(x, y)``; one operand is this array."""
        other = y if x is self else x
        like = _operand_of_result_shape(self, other) if isinstance(other, Operators) else self
        target = like._new_like_me(dtype) if out is None else out
        order = target.memory_order if target.ndim > 1 else ""
        flat = target.flat()
        operation.run(_flat_operand(x, target, order), _flat_operand(y, target, order), flat)
        if not target.flags.forc:
            copies.assign(target.device_array(), flat.reshape(target.shape), None)
        return target

    __add__ = __radd__ = _binary(kernels.ADD)
    __sub__ = _binary(kernels.SUBTRACT)
    __rsub__ = _binary(kernels.SUBTRACT, swapped=True)
    __mul__ = __rmul__ = _binary(kernels.MULTIPLY)
    __truediv__ = __div__ = _binary(kernels.DIVIDE, quotient=True)
    __rtruediv__ = __rdiv__ = _binary(kernels.DIVIDE, swapped=True, quotient=True)
    __floordiv__ = _binary(kernels.FLOOR_DIVIDE)
    __rfloordiv__ = _binary(kernels.FLOOR_DIVIDE, swapped=True)
    __mod__ = _binary(kernels.MODULO)
    __rmod__ = _binary(kernels.MODULO, swapped=True)
    __pow__ = _binary(kernels.POWER)
    __rpow__ = _binary(kernels.POWER, swapped=True)

    __iadd__ = _in_place(kernels.ADD)
    __isub__ = _in_place(kernels.SUBTRACT)
    __imul__ = _in_place(kernels.MULTIPLY)
    __itruediv__ = __idiv__ = _in_place(kernels.DIVIDE)
    __ipow__ = _in_place(kernels.POWER)

    # results are 1 and 0 in the dtype of the arrays
    __eq__ = _comparison(kernels.EQUAL)
    __ne__ = _comparison(kernels.UNEQUAL)
    __lt__ = _comparison(kernels.LESS)
    __le__ = _comparison(kernels.LESS_EQUAL)
    __gt__ = _comparison(kernels.GREATER)
    __ge__ = _comparison(kernels.GREATER_EQUAL)

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return self.map_elements(kernels.NEGATIVE)

    def __abs__(self) -> Any:
        return self.map_elements(kernels.ABSOLUTE, self._real_dtype())

    def _real_dtype(self) -> np.dtype[Any]:
        return np.zeros((), self.dtype).real.dtype

    @translate_errors
    def map_elements(
        self: A, dispatcher: Any, dtype: Any = None, out: A | None = None, stream: object = None
    ) -> A:
        """Return the result of a kernel for each element."""
        result = self._new_like_me(dtype) if out is None else out
        source = self.flat(result.memory_order if self.ndim > 1 else "")
        launch(dispatcher, self.size, (source, result.flat()), stream)
        return result

    @translate_errors
    def mul_add(
        self,
        selffac: Any,
        other: Operators,
        otherfac: Any,
        add_timer: Any = None,
        stream: object = None,
        out: Operators | None = None,
    ) -> Any:
        """Return ``selffac * self + otherfac * other``."""
        other = self._operand(other)
        like = _operand_of_result_shape(self, other)
        result = like._new_like_me(common_dtype(self, other)) if out is None else out
        order = result.memory_order if result.ndim > 1 else ""
        x = _flat_operand(self, result, order)
        y = _flat_operand(other, result, order)
        arguments = (selffac, x, otherfac, y, result.flat())
        launch(kernels.scaled_sum, result.size, arguments, stream)
        return result


def _operand_of_result_shape(a: Operators, b: Operators) -> Any:
    """Return the operand that has the shape of the result. Raises NotImplementedError."""
    if a.shape == b.shape or b.shape == ():
        return a
    if a.shape == ():
        return b
    raise NotImplementedError(f"Broadcasting binary operator with shapes: {a.shape}, {b.shape}.")


def _flat_operand(value: Any, target: Operators, order: str) -> Any:
    """Return a number unchanged, or the elements of an array along one axis, in memory order
    ``order``; an array without axes is broadcast to the size of ``target``."""
    if not isinstance(value, Operators):
        return value
    if value.shape == () and target.shape != ():
        return value.device_array()._view(ViewGeometry(0, (target.size,), (0,)))
    return value.flat(order)

"""Implement the arithmetic and comparison operators of device arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.compat.pycuda.errors import translating
from pycu2c.compat.pycuda.gpuarrays import kernels
from pycu2c.compat.pycuda.gpuarrays.kernels import BinaryOperation, launch
from pycu2c.compat.pycuda.gpuarrays.layout import Flags, common_dtype, quotient_dtype
from pycu2c.devices import copies
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.view_geometry import ViewGeometry


class Operators:
    """The operators, as a base class of ``GPUArray``."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    size: int

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def flags(self) -> Flags:
        """Return the memory layout."""
        raise NotImplementedError

    @property
    def memory_order(self) -> str:
        """Return "F" if the array is contiguous in Fortran order only, else "C"."""
        flags = self.flags
        return "F" if flags.f_contiguous and not flags.c_contiguous else "C"

    def device_array(self) -> DeviceArray:
        """Return a device array of this package over the same elements."""
        raise NotImplementedError

    def flat(self, order: str = "") -> DeviceArray:
        """Return the elements along one axis."""
        raise NotImplementedError

    def _new_like_me(self, dtype: Any = None) -> Any:
        """Return a new array with the same shape."""
        raise NotImplementedError

    def _operand(self, given: Any) -> Any:
        """Convert an operand to a number or array; NotImplemented for anything else."""
        raise NotImplementedError

    # ---- arithmetic ----

    @translating
    def _paired(
        self, pairs: BinaryOperation, x: Any, y: Any, dtype: Any, out: Operators | None = None
    ) -> Any:
        """Return ``operation(x, y)``; one operand is this array."""
        other = y if x is self else x
        like = self
        if isinstance(other, Operators):
            like = _broadcast(self, other)
        target = like._new_like_me(dtype) if out is None else out
        order = target.memory_order if target.ndim > 1 else ""
        room = target.flat()
        pairs.run(_operand(x, target, order), _operand(y, target, order), room)
        if not target.flags.forc:
            copies.assign(target.device_array(), room.reshape(target.shape), None)
        return target

    def _arithmetic(
        self, pairs: BinaryOperation, other: Any, *, swapped: bool = False, quotient: bool = False
    ) -> Any:
        other = self._operand(other)
        if other is NotImplemented:
            return NotImplemented
        x, y = (other, self) if swapped else (self, other)
        dtype = (quotient_dtype if quotient else common_dtype)(x, y)
        return self._paired(pairs, x, y, dtype)

    def _in_place(self, pairs: BinaryOperation, other: Any) -> Any:
        other = self._operand(other)
        if other is NotImplemented:
            return NotImplemented
        return self._paired(pairs, self, other, self.dtype, out=self)

    def __add__(self, other: Any) -> Any:
        return self._arithmetic(kernels.ADD, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._arithmetic(kernels.SUBTRACT, other)

    def __rsub__(self, other: Any) -> Any:
        return self._arithmetic(kernels.SUBTRACT, other, swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._arithmetic(kernels.MULTIPLY, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._arithmetic(kernels.DIVIDE, other, quotient=True)

    def __rtruediv__(self, other: Any) -> Any:
        return self._arithmetic(kernels.DIVIDE, other, swapped=True, quotient=True)

    __div__, __rdiv__ = __truediv__, __rtruediv__

    def __floordiv__(self, other: Any) -> Any:
        return self._arithmetic(kernels.FLOOR_DIVIDE, other)

    def __mod__(self, other: Any) -> Any:
        return self._arithmetic(kernels.REMAINDER, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._arithmetic(kernels.FLOOR_DIVIDE, other, swapped=True)

    def __rmod__(self, other: Any) -> Any:
        return self._arithmetic(kernels.REMAINDER, other, swapped=True)

    def __pow__(self, other: Any) -> Any:
        return self._arithmetic(kernels.POWER, other)

    def __rpow__(self, other: Any) -> Any:
        return self._arithmetic(kernels.POWER, other, swapped=True)

    def __iadd__(self, other: Any) -> Any:
        return self._in_place(kernels.ADD, other)

    def __isub__(self, other: Any) -> Any:
        return self._in_place(kernels.SUBTRACT, other)

    def __imul__(self, other: Any) -> Any:
        return self._in_place(kernels.MULTIPLY, other)

    def __itruediv__(self, other: Any) -> Any:
        return self._in_place(kernels.DIVIDE, other)

    __idiv__ = __itruediv__

    def __ipow__(self, other: Any) -> Any:
        return self._in_place(kernels.POWER, other)

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return self.each(kernels.NEGATIVE)

    def __abs__(self) -> Any:
        return self.each(kernels.ABSOLUTE, self._real_dtype())

    def _real_dtype(self) -> np.dtype[Any]:
        return np.zeros((), self.dtype).real.dtype

    @translating
    def each(
        self, run: Any, dtype: Any = None, out: Operators | None = None, stream: object = None
    ) -> Any:
        """Return the result of a kernel for each element."""
        made = self._new_like_me(dtype) if out is None else out
        source = self.flat(made.memory_order if self.ndim > 1 else "")
        launch(run, self.size, (source, made.flat()), stream)
        return made

    @translating
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
        like = _broadcast(self, other)
        made = like._new_like_me(common_dtype(self, other)) if out is None else out
        order = made.memory_order if made.ndim > 1 else ""
        x, y = _operand(self, made, order), _operand(other, made, order)
        arguments = (selffac, x, otherfac, y, made.flat())
        launch(kernels.scaled_sum, made.size, arguments, stream)
        return made

    # ---- comparison: results are 1 and 0 in the dtype of the arrays ----

    def _compared(self, pairs: BinaryOperation, other: Any) -> Any:
        other = self._operand(other)
        if other is NotImplemented:
            return NotImplemented
        dtype = common_dtype(self, other) if isinstance(other, Operators) else self.dtype
        return self._paired(pairs, self, other, dtype)

    def __eq__(self, other: object) -> Any:
        return self._compared(kernels.EQUAL, other)

    def __ne__(self, other: object) -> Any:
        return self._compared(kernels.UNEQUAL, other)

    def __lt__(self, other: Any) -> Any:
        return self._compared(kernels.LESS, other)

    def __le__(self, other: Any) -> Any:
        return self._compared(kernels.LESS_EQUAL, other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(kernels.GREATER, other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(kernels.GREATER_EQUAL, other)


def _broadcast(a: Operators, b: Operators) -> Any:
    """Return the operand that has the shape of the result. Raises NotImplementedError."""
    if a.shape == b.shape or b.shape == ():
        return a
    if a.shape == ():
        return b
    raise NotImplementedError(f"Broadcasting binary operator with shapes: {a.shape}, {b.shape}.")


def _operand(given: Any, like: Operators, order: str) -> Any:
    """Return a number, or elements in the order of another array; broadcast an array without
    axes."""
    if not isinstance(given, Operators):
        return given
    if given.shape == () and like.shape != ():
        return given.device_array()._view(ViewGeometry(0, (like.size,), (0,)))
    return given.flat(order)

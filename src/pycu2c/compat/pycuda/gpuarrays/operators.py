"""Arithmetic and comparison of arrays on the device. Knows kernels, and of arrays no more than that
they lie in memory in some order."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c.compat.pycuda.errors import translating
from pycu2c.compat.pycuda.gpuarrays import kernels
from pycu2c.compat.pycuda.gpuarrays.kernels import Pairs, launch
from pycu2c.compat.pycuda.gpuarrays.layout import Flags, common_dtype, quotient_dtype
from pycu2c.devices import copies
from pycu2c.devices.array import DeviceArray
from pycu2c.devices.view_geometry import View


class Operators:
    """What computes with arrays, of which there is one class."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    size: int

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def flags(self) -> Flags:
        """How it lies in memory."""
        raise NotImplementedError

    @property
    def memory_order(self) -> str:
        """ "F" if elements lie in Fortran's order alone, else "C"."""
        flags = self.flags
        return "F" if flags.f_contiguous and not flags.c_contiguous else "C"

    def device_array(self) -> DeviceArray:
        """The same elements, as kernels of this package take them."""
        raise NotImplementedError

    def flat(self, order: str = "") -> DeviceArray:
        """The elements along one axis."""
        raise NotImplementedError

    def _new_like_me(self, dtype: Any = None) -> Any:
        """A new array of the same shape."""
        raise NotImplementedError

    def _operand(self, given: Any) -> Any:
        """A number or an array, as it is computed with; NotImplemented for anything else."""
        raise NotImplementedError

    # ---- arithmetic ----

    @translating
    def _paired(
        self, pairs: Pairs, x: Any, y: Any, dtype: Any, out: Operators | None = None
    ) -> Any:
        """``operation(x, y)``, of which one is this array."""
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
        self, pairs: Pairs, other: Any, *, swapped: bool = False, quotient: bool = False
    ) -> Any:
        other = self._operand(other)
        if other is NotImplemented:
            return NotImplemented
        x, y = (other, self) if swapped else (self, other)
        dtype = (quotient_dtype if quotient else common_dtype)(x, y)
        return self._paired(pairs, x, y, dtype)

    def _in_place(self, pairs: Pairs, other: Any) -> Any:
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
        """An array with what a kernel makes of every element."""
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
        """``selffac * self + otherfac * other``."""
        other = self._operand(other)
        like = _broadcast(self, other)
        made = like._new_like_me(common_dtype(self, other)) if out is None else out
        order = made.memory_order if made.ndim > 1 else ""
        x, y = _operand(self, made, order), _operand(other, made, order)
        arguments = (selffac, x, otherfac, y, made.flat())
        launch(kernels.scaled_sum, made.size, arguments, stream)
        return made

    # ---- comparison: 1 and 0, of the arrays' own type ----

    def _compared(self, pairs: Pairs, other: Any) -> Any:
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
    """The array whose shape the result has. Raises NotImplementedError."""
    if a.shape == b.shape or b.shape == ():
        return a
    if a.shape == ():
        return b
    raise NotImplementedError(f"Broadcasting binary operator with shapes: {a.shape}, {b.shape}.")


def _operand(given: Any, like: Operators, order: str) -> Any:
    """A number, or elements in the order of those of another array; an array without axes has its
    one element everywhere."""
    if not isinstance(given, Operators):
        return given
    if given.shape == () and like.shape != ():
        return given.device_array()._seen(View(0, (like.size,), (0,)))
    return given.flat(order)

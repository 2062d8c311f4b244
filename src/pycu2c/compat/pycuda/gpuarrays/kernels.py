"""Define the kernels that compute with GPUArrays; each array is passed with one axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.devices.array import DeviceArray
from pycu2c.kernels.kernel import device, kernel

_BLOCK_SIZE = 256


def launch(dispatcher: Any, count: int, arguments: tuple[Any, ...], stream: object = None) -> None:
    """Launch a kernel with one thread for each of ``count`` elements."""
    if count:
        dispatcher[-(-count // _BLOCK_SIZE), _BLOCK_SIZE, stream](*arguments)


# ---- binary operations -------------------------------------------------------------------------


class BinaryOperation:
    """An operation on two arrays, or on an array and a number on either side."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        operation = device(function)

        @kernel
        def of_arrays(x, y, out):  # type: ignore[no-untyped-def]
            i = cuda.grid(1)
            if i < out.size:
                out[i] = operation(x[i], y[i])

        @kernel
        def of_array_and_number(x, y, out):  # type: ignore[no-untyped-def]
            i = cuda.grid(1)
            if i < out.size:
                out[i] = operation(x[i], y)

        @kernel
        def of_number_and_array(x, y, out):  # type: ignore[no-untyped-def]
            i = cuda.grid(1)
            if i < out.size:
                out[i] = operation(x, y[i])

        self.function = function
        self._kernels = of_arrays, of_array_and_number, of_number_and_array

    def run(self, x: Any, y: Any, out: DeviceArray, stream: object = None) -> None:
        """Compute ``out = operation(x, y)``."""
        on_arrays, number_right, number_left = self._kernels
        x_is_array, y_is_array = isinstance(x, DeviceArray), isinstance(y, DeviceArray)
        with_number = number_right if x_is_array else number_left
        dispatcher = on_arrays if x_is_array and y_is_array else with_number
        launch(dispatcher, out.size, (x, y, out), stream)


ADD = BinaryOperation(lambda a, b: a + b)
SUBTRACT = BinaryOperation(lambda a, b: a - b)
MULTIPLY = BinaryOperation(lambda a, b: a * b)
DIVIDE = BinaryOperation(lambda a, b: a / b)
FLOOR_DIVIDE = BinaryOperation(lambda a, b: a // b)
MODULO = BinaryOperation(lambda a, b: a % b)
POWER = BinaryOperation(lambda a, b: a**b)
EQUAL = BinaryOperation(lambda a, b: a == b)
UNEQUAL = BinaryOperation(lambda a, b: a != b)
LESS = BinaryOperation(lambda a, b: a < b)
LESS_EQUAL = BinaryOperation(lambda a, b: a <= b)
GREATER = BinaryOperation(lambda a, b: a > b)
GREATER_EQUAL = BinaryOperation(lambda a, b: a >= b)
LOGICAL_AND = BinaryOperation(lambda a, b: bool(a) and bool(b))
LOGICAL_OR = BinaryOperation(lambda a, b: bool(a) or bool(b))
MINIMUM = BinaryOperation(lambda a, b: np.fmin(a, b))
MAXIMUM = BinaryOperation(lambda a, b: np.fmax(a, b))
FMOD = BinaryOperation(lambda a, b: math.fmod(a, b))
LDEXP = BinaryOperation(lambda a, b: math.ldexp(a, int(b)))
ARCTAN2 = BinaryOperation(lambda a, b: math.atan2(a, b))


# ---- unary operations --------------------------------------------------------------------------


def elementwise_kernel(function: Callable[[Any], Any]) -> Any:
    """Return a kernel that applies a function to every element."""
    operation = device(function)

    @kernel
    def run(x, out):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < out.size:
            out[i] = operation(x[i])

    return run


NEGATIVE = elementwise_kernel(lambda a: -a)
ABSOLUTE = elementwise_kernel(lambda a: abs(a))
LOGICAL_NOT = elementwise_kernel(lambda a: not a)
REAL = elementwise_kernel(lambda a: a.real)
IMAGINARY = elementwise_kernel(lambda a: a.imag)
CONJUGATE = elementwise_kernel(lambda a: a.conjugate())


# ---- others ------------------------------------------------------------------------------------


@kernel
def scaled_sum(a, x, b, y, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + b * y[i]


@kernel
def arange(start, step, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < out.size:
        out[i] = start + i * step


@kernel
def reversed_order(x, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[out.size - 1 - i]


@kernel
def find_true(x, result):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < x.size:
        if x[i] != 0:
            result[0] = True


@kernel
def find_false(x, result):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < x.size:
        if x[i] == 0:
            result[0] = False


@kernel
def take(x, indices, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < indices.size:
        out[i] = x[indices[i]]


@kernel
def put(x, indices, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < indices.size:
        out[indices[i]] = x[i]


@kernel
def take_put(x, sources, offset, targets, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < sources.size:
        out[targets[i]] = x[sources[i] + offset]


@kernel
def select_positive(criterion, then, otherwise, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < out.size:
        if criterion[i] > 0:
            out[i] = then[i]
        else:
            out[i] = otherwise[i]


@kernel
def select(criterion, then, otherwise, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < out.size:
        if criterion[i]:
            out[i] = then[i]
        else:
            out[i] = otherwise[i]


@kernel
def split_fraction(x, fraction, whole):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < x.size:
        a, b = math.modf(x[i])
        fraction[i] = a
        whole[i] = b


@kernel
def split_exponent(x, significand, exponent):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < x.size:
        a, b = math.frexp(x[i])
        significand[i] = a
        exponent[i] = b

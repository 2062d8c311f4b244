"""Describe the arguments of a call, and create arrays of the same package for results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.backends import default_backend
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar
from pycu2c.base.values import Number, convert, scalar_of, wrap
from pycu2c.compat.cupy import result_memory
from pycu2c.compat.cupy.parameter_declarations import ArgumentTypeError, ArgumentValueError
from pycu2c.cuda_driver import driver
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.arguments import describe, describe_handle
from pycu2c.runtime.arguments.array_argument import ArrayArgument, HandleArgument
from pycu2c.runtime.arguments.conversion_hints import conversion_hint, described
from pycu2c.runtime.arguments.strides import Shape

Operand: TypeAlias = "ArrayArgument | HandleArgument | Number"


def operand(value: Any, name: str) -> Operand:
    """Describe an array, texture or number. Raises ArgumentTypeError, LaunchError."""
    if scalar_of(value) is not None:
        number: Number = value
        return number
    handle = describe_handle(value)
    if handle is not None:
        return handle
    has_no_axes = getattr(value, "ndim", None) == 0
    argument = (
        None
        if isinstance(value, type)
        else describe(value.reshape(1) if has_no_axes else value, name)
    )
    if argument is None:
        hint = (
            ": pass numpy.array(…)" if isinstance(value, (list, tuple)) else conversion_hint(value)
        )
        raise ArgumentTypeError(
            f"{name} is {described(value)}, and kernels take arrays and numbers{hint}"
        )
    if has_no_axes:
        return argument._replace(owner=value, shape=(), strides=())
    return argument._replace(owner=value)


def without_memory(operand: Operand) -> Operand:
    """Return a description that does not keep the array or texture alive."""
    if isinstance(operand, HandleArgument):
        return HandleArgument(operand.dtype, None)
    return operand._replace(owner=None) if isinstance(operand, ArrayArgument) else operand


def backend_of(arrays: Sequence[tuple[str, ArrayArgument]]) -> str:
    """Return the backend of arrays: "cuda" or "cpu". Raises ArgumentTypeError."""
    (first_name, first), *others = arrays
    for name, array in others:
        if array.location != first.location:
            names = (first_name, name) if first.location == "device" else (name, first_name)
            raise ArgumentTypeError(
                f"{names[0]} is on a GPU, and {names[1]} in host memory: copy one of them with "
                "cuda.to_device(…) or copy_to_host()"
            )
    return "cuda" if first.location == "device" else "cpu"


def convert_number(value: Any, dtype: DType, name: str) -> Number:
    """Convert a number to the dtype of its parameter; integers wrap, as in ``astype``."""
    scalar = Scalar(dtype)
    if dtype.is_complex:
        return convert(value, scalar)
    if isinstance(value, (complex, np.complexfloating)):
        raise ArgumentTypeError(f"{name} is {dtype}, and {value!r} is complex: pass its real part")
    if dtype.is_integer and not isinstance(value, (int, np.integer)):
        return wrap(int(convert(float(value), scalar)), scalar)
    return wrap(int(value), scalar) if dtype.is_integer else convert(value, scalar)


def broadcast_strides(array: ArrayArgument, shape: Shape) -> Shape:
    """Return the strides of an array that is broadcast to a shape."""
    added_axes = len(shape) - len(array.shape)
    return (0,) * added_axes + tuple(
        0 if n == 1 else stride for n, stride in zip(array.shape, array.strides)
    )


def common_shape(arrays: Sequence[tuple[str, ArrayArgument]]) -> Shape:
    """Return the broadcast shape of arrays. Raises ArgumentValueError."""
    try:
        return np.broadcast_shapes(*(a.shape for _, a in arrays))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays)
        raise ArgumentValueError(f"operands could not be broadcast together: {shapes}") from None


# ---- array packages ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ArrayPackage:
    """Functions of an array package.

    empty: allocate an array of a shape and a dtype on the device of a given array.
    stream: return the current stream.
    """

    empty: Callable[[Shape, np.dtype[Any], Any], Any]
    copy: Callable[[Any], Any]
    stream: Callable[[], object]


def _no_stream() -> object:
    return None


def _empty_device_array(shape: Shape, dtype: np.dtype[Any], like: Any) -> Any:
    ordinal = like.device if isinstance(like, DeviceArray) else driver.current_ordinal()
    return DeviceArray.empty(shape, dtype, ordinal)


def _empty_torch_tensor(shape: Shape, dtype: np.dtype[Any], like: Any) -> Any:
    torch = sys.modules["torch"]
    return torch.empty(shape, dtype=getattr(torch, dtype.name), device=like.device)


_PACKAGES = {
    "numpy": ArrayPackage(result_memory.empty, np.array, _no_stream),
    "cupy": ArrayPackage(
        lambda shape, dtype, _: sys.modules["cupy"].empty(shape, dtype),
        lambda array: array.copy(),
        lambda: sys.modules["cupy"].cuda.get_current_stream().ptr or None,
    ),
    "torch": ArrayPackage(
        _empty_torch_tensor,
        lambda array: array.clone(),
        lambda: sys.modules["torch"].cuda.current_stream().cuda_stream or None,
    ),
}
_DEVICE_ARRAYS = ArrayPackage(_empty_device_array, lambda array: array.copy(), _no_stream)
_SELF_DESCRIBING = ArrayPackage(  # arrays with a method ``__pycu2c_new__``
    lambda shape, dtype, like: like.__pycu2c_new__(shape, dtype),
    lambda array: array.copy(),
    _no_stream,
)


def default_backend_and_package() -> tuple[str, ArrayPackage]:
    """Return the backend and the package of the outputs of a call without arrays."""
    on_gpu = driver.available() and default_backend() in ("auto", "cuda")
    return ("cuda", _DEVICE_ARRAYS) if on_gpu else ("cpu", _PACKAGES["numpy"])


def array_package_of(array: ArrayArgument) -> ArrayPackage:
    """Return the package of an array; for unknown packages, ``DeviceArray`` or numpy."""
    array_type = type(array.owner)
    if array_type is DeviceArray:
        return _DEVICE_ARRAYS
    if hasattr(array_type, "__pycu2c_new__"):
        return _SELF_DESCRIBING
    package = _PACKAGES.get(array_type.__module__.partition(".")[0])
    if package is not None and (package is not _PACKAGES["torch"] or array.location == "device"):
        return package
    return _DEVICE_ARRAYS if array.location == "device" else _PACKAGES["numpy"]

"""The arrays of a call, whoever made them, and new ones of the same kind for what it gives. Knows
no kernel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar
from pycu2c.base.values import Number, convert, scalar_of, wrap
from pycu2c.compat.cupy import result_memory
from pycu2c.compat.cupy.parameter_declarations import WrongType, WrongValue
from pycu2c.compat.cupy.parameter_declarations import row_of as row_of
from pycu2c.cuda_driver import driver
from pycu2c.devices import copies
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.arguments import describe, describe_handle
from pycu2c.runtime.arguments.array_argument import ArrayArgument, HandleArgument
from pycu2c.runtime.arguments.strides import Shape

Operand: TypeAlias = "ArrayArgument | HandleArgument | Number"  # an argument of a call


def operand(value: Any, name: str) -> Operand:
    """An argument as an array, a texture, or as the number that it is. Raises WrongType,
    LaunchError."""
    if scalar_of(value) is not None:
        number: Number = value
        return number
    handle = describe_handle(value)
    if handle is not None:
        return handle
    has_no_axes = getattr(value, "ndim", None) == 0
    found = (
        None if isinstance(value, type) else describe(_flat(value) if has_no_axes else value, name)
    )
    if found is None:
        hint = ": pass numpy.array(…)" if isinstance(value, (list, tuple)) else ""
        raise WrongType(
            f"{name} is a {type(value).__name__}, and kernels take arrays and numbers{hint}"
        )
    return (
        found._replace(owner=value, shape=(), strides=())
        if has_no_axes
        else found._replace(owner=value)
    )


def without_memory(given: Operand) -> Operand:
    """An array or texture that is only looked at."""
    if isinstance(given, HandleArgument):
        return HandleArgument(given.dtype, None)
    return given._replace(owner=None) if isinstance(given, ArrayArgument) else given


def _flat(value: Any) -> Any:
    return value.reshape(1)


def place_of(arrays: Sequence[tuple[str, ArrayArgument]]) -> str:
    """Where a kernel with these arrays runs: "cuda" or "cpu". Raises WrongType."""
    (first, one), *others = arrays
    for name, array in others:
        if array.where != one.where:
            on_gpu, on_host = (first, name) if one.where == "device" else (name, first)
            raise WrongType(
                f"{on_gpu} lies on a GPU, and {on_host} in memory of the host: copy one of them, "
                "cuda.to_device(…) or copy_to_host()"
            )
    return "cuda" if one.where == "device" else "cpu"


def number_as(value: Any, row: DType, name: str) -> Number:
    """A number as its parameter has it: whole numbers wrap, as astype does."""
    scalar = Scalar(row)
    if row.is_complex:
        return convert(value, scalar)
    if isinstance(value, (complex, np.complexfloating)):
        raise WrongType(f"{name} is {row}, and {value!r} is complex: pass its real part")
    if row.is_integer and not isinstance(value, (int, np.integer)):
        return wrap(int(convert(float(value), scalar)), scalar)
    return wrap(int(value), scalar) if row.is_integer else convert(value, scalar)


def spread(array: ArrayArgument, shape: Shape) -> Shape:
    """The strides that repeat an array's elements to fill a shape."""
    missing = len(shape) - len(array.shape)
    return (0,) * missing + tuple(
        0 if n == 1 else step for n, step in zip(array.shape, array.strides)
    )


def common_shape(arrays: Sequence[tuple[str, ArrayArgument]]) -> Shape:
    """What arrays are broadcast to. Raises WrongValue."""
    try:
        return np.broadcast_shapes(*(a.shape for _, a in arrays))
    except ValueError:
        shown = ", ".join(f"{name} {a.shape}" for name, a in arrays)
        raise WrongValue(f"arrays of these shapes cannot be broadcast together: {shown}") from None


# ---- other packages' arrays ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Family:
    """Arrays of one package: how it makes one beside another, a copy, and the stream that it works
    in now."""

    empty: Callable[[Shape, np.dtype[Any], Any], Any]
    copy: Callable[[Any], Any]
    stream: Callable[[], object]


def _no_stream() -> object:
    return None


def _of_ours(shape: Shape, dtype: np.dtype[Any], like: Any) -> Any:
    ordinal = like.device if isinstance(like, DeviceArray) else driver.current_ordinal()
    return copies.new(shape, dtype, ordinal)


def _of_torch(shape: Shape, dtype: np.dtype[Any], like: Any) -> Any:
    torch = sys.modules["torch"]
    return torch.empty(shape, dtype=getattr(torch, dtype.name), device=like.device)


FAMILIES = {
    "numpy": Family(result_memory.empty, np.array, _no_stream),
    "cupy": Family(
        lambda shape, dtype, _: sys.modules["cupy"].empty(shape, dtype),
        lambda array: array.copy(),
        lambda: sys.modules["cupy"].cuda.get_current_stream().ptr or None,
    ),
    "torch": Family(
        _of_torch,
        lambda array: array.clone(),
        lambda: sys.modules["torch"].cuda.current_stream().cuda_stream or None,
    ),
}
_OURS = Family(_of_ours, lambda array: array.copy(), _no_stream)
_TOLD = Family(  # arrays that say themselves what is new beside them
    lambda shape, dtype, like: like.__pycu2c_new__(shape, dtype),
    lambda array: array.copy(),
    _no_stream,
)


def family_of(array: ArrayArgument) -> Family:
    """That of an array; what a package unknown here would get is of ours, or numpy's."""
    kind = type(array.owner)
    if kind is DeviceArray:
        return _OURS
    if hasattr(kind, "__pycu2c_new__"):
        return _TOLD
    found = FAMILIES.get(kind.__module__.partition(".")[0])
    if found is not None and (found is not FAMILIES["torch"] or array.where == "device"):
        return found
    return _OURS if array.where == "device" else FAMILIES["numpy"]

"""Argument guards: the conditions on each argument of a launch for an entry of the dispatch table.

``dispatch_entry.c`` reads their fields by name.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.limits import MAX_ARRAY_ELEMENTS
from pycu2c.base.parameters import ArgumentPart
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Constant, ParameterType, Scalar, Tuple, leaf_types
from pycu2c.cuda_driver import driver
from pycu2c.native.extension import DeviceArrayBase
from pycu2c.runtime.arguments import dlpack, torch_tensors
from pycu2c.runtime.arguments.arguments import Layout
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.cuda import peer_access
from pycu2c.runtime.dispatch import package_arrays

_EXACT_FLOAT64 = 1 << 53  # float64 represents all integers up to this magnitude


class NotDispatchable(Exception):
    """No guards can describe the arguments of the launch."""


@dataclass(frozen=True, slots=True)
class RecordedLaunch:
    """A launch that the slow path has run.

    values: the arguments, with their types.
    leaves: the numbers and arrays in the arguments, flattened.
    written: the leaves that are arrays and that the kernel writes.
    integer_ranges: the ranges of the leaves that are integers.
    last_axis_lengths: the ranges of the length of the last axes of some arrays.
    has_shapes: whether arrays must have the same shapes as in this launch.
    is_ordered: whether its stream synchronizes with the default stream.
    """

    values: tuple[object, ...]
    types: tuple[ParameterType, ...]
    leaves: tuple[Argument, ...]
    written: Collection[int]
    integer_ranges: Mapping[int, tuple[int, int]]
    last_axis_lengths: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    has_shapes: bool = False
    is_ordered: bool = True


ArrayKind: TypeAlias = Literal[
    "numpy_array", "device_array", "cuda_interface", "attributes", "torch_tensor"
]
ScalarKind: TypeAlias = Literal[
    "integer",
    "integer_to_float32",
    "integer_to_float64",
    "float64_to_float32",
    "float32_to_float64",
    "same_bytes",
]


@dataclass(frozen=True, slots=True)
class ArrayGuard:
    """Accept an array of a class.

    identity: the dtype, typestr or attribute paths, or the data that torch_tensors.c compares.
    contiguous: whether the array must be contiguous, or must not be contiguous.
    writeable, owns_memory: whether the array must be writeable, and must own its memory.
    is_peer: whether it is on another GPU, so that C launches in non-blocking streams only.
    min_last_length, max_last_length: the range of the length of the last axis.
    shape: the required shape; None accepts all.
    """

    kind: ArrayKind
    type: type
    identity: object
    ndim: int
    itemsize: int
    alignment: int
    contiguous: bool
    writeable: bool
    owns_memory: bool = False
    device: int = 0
    is_peer: bool = False
    stream_source: object = None
    min_last_length: int = 0
    max_last_length: int = MAX_ARRAY_ELEMENTS
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ScalarGuard:
    """Accept a number of a class.

    size: the bytes of the kernel parameter of an integer.
    min, max: the range of an integer.
    exact: whether the conversion must not round.
    """

    kind: ScalarKind
    type: type
    size: int = 0
    min: int = 0
    max: int = 0
    exact: bool = False


@dataclass(frozen=True, slots=True)
class ConstantGuard:
    """Accept a single object."""

    type: type
    value: object
    kind: Literal["constant"] = "constant"


@dataclass(frozen=True, slots=True)
class TupleGuard:
    """Accept a tuple of ``count`` items, whose guards follow."""

    type: type
    count: int
    kind: Literal["tuple"] = "tuple"


Guard: TypeAlias = ArrayGuard | ScalarGuard | ConstantGuard | TupleGuard


def guards_of(launch: RecordedLaunch, layout: Layout, on_device: bool) -> Iterator[Guard]:
    """Yield a guard for each argument; a tuple's guard precedes those of its items. Raises
    NotDispatchable."""
    passed_dtypes = {
        p.argument: p.type.dtype for p in layout.parameters if p.part is ArgumentPart.VALUE
    }
    declared_dtypes = [
        leaf_type.dtype for leaf_type in chain.from_iterable(map(leaf_types, launch.types))
    ]
    leaf = 0
    for value, value_type in chain.from_iterable(map(_nested_values, launch.values, launch.types)):
        match value_type:
            case Constant():
                yield ConstantGuard(type(value), value)
                continue
            case Tuple(items):
                yield TupleGuard(type(value), len(items))
                continue
            case Scalar():
                yield _scalar_guard(
                    value,
                    passed_dtypes.get(leaf, declared_dtypes[leaf]),
                    declared_dtypes[leaf],
                    launch.integer_ranges.get(leaf),
                )
            case _:
                yield _array_guard(value, launch, leaf, on_device)
        leaf += 1


def _nested_values(value: Any, value_type: ParameterType) -> Iterator[tuple[Any, ParameterType]]:
    """Yield a value and the items of tuples in it, depth first.

    A recursive closure would be a reference cycle, which would keep arrays alive.
    """
    yield value, value_type
    if isinstance(value_type, Tuple):
        if not isinstance(value, tuple):
            raise NotDispatchable
        yield from chain.from_iterable(map(_nested_values, value, value_type.items))


# ---- arrays --------------------------------------------------------------------------------


def staged_leaves(launch: RecordedLaunch) -> list[int]:
    """Return the leaves that a launch on a device copies: host arrays."""
    leaves = enumerate(launch.leaves)
    return [k for k, a in leaves if isinstance(a, ArrayArgument) and a.location != "device"]


def _array_guard(value: object, launch: RecordedLaunch, leaf: int, on_device: bool) -> ArrayGuard:
    argument = launch.leaves[leaf]
    assert isinstance(argument, ArrayArgument)
    is_device_array, is_numpy = argument.location == "device", isinstance(value, np.ndarray)
    is_staged = on_device and not is_device_array
    if (is_device_array and not on_device) or (
        is_staged and not (is_numpy and argument.contiguous)
    ):
        raise NotDispatchable
    is_peer = False
    if is_device_array and driver.has_multiple_devices():
        if is_own := isinstance(value, DeviceArrayBase):
            ordinal = value.device
        else:
            ordinal = peer_access.ordinal_of(argument)
        is_peer = ordinal != driver.current_ordinal()
        if is_peer and (launch.is_ordered or not is_own):
            raise NotDispatchable  # only the slow path orders the work of two devices
    common: dict[str, Any] = {
        "ndim": len(argument.shape),
        "itemsize": argument.dtype.size,
        "alignment": argument.dtype.alignment,
        "contiguous": argument.contiguous,
        "writeable": leaf in launch.written,
        "shape": argument.shape if launch.has_shapes else None,
    }
    if leaf in launch.last_axis_lengths:
        least, largest = launch.last_axis_lengths[leaf]
        common |= {"min_last_length": least, "max_last_length": largest}
    if isinstance(value, np.ndarray):
        return _numpy_guard(value, common, is_staged)
    if isinstance(value, DeviceArrayBase):
        common |= {"device": value.device, "is_peer": is_peer}
        return ArrayGuard("device_array", type(value), value.dtype, **common)
    if torch_tensors.is_tensor(value):
        return _torch_guard(value, argument, common)
    return _package_array_guard(value, argument, common)


_NOT_OVERRIDDEN = ("__array_interface__", "dtype", "shape", "strides", "flags")


def _numpy_guard(
    value: np.ndarray[Any, Any], common: dict[str, Any], is_staged: bool
) -> ArrayGuard:
    """Return the guard of a numpy array.

    A staged array must own its memory, so that it overlaps no other array and is not in mapped or
    managed memory.
    """
    cls = type(value)
    if is_staged and not value.flags.owndata:
        raise NotDispatchable
    if any(getattr(cls, name) is not getattr(np.ndarray, name) for name in _NOT_OVERRIDDEN):
        raise NotDispatchable
    return ArrayGuard("numpy_array", cls, value.dtype, owns_memory=is_staged, **common)


def _torch_guard(value: Any, argument: ArrayArgument, common: dict[str, Any]) -> ArrayGuard:
    """Return the guard of a tensor. PyTorch before 2.10 has no exchange API."""
    cls, torch = type(value), sys.modules["torch"]
    exchange = getattr(cls, "__dlpack_c_exchange_api__", None)
    if exchange is None and not value.requires_grad:
        return _package_array_guard(value, argument, common)
    if exchange is None or cls not in (torch.Tensor, torch.nn.Parameter):
        raise NotDispatchable
    bits, code = 8 * argument.dtype.size, dlpack.code_of(argument.dtype)
    identity = exchange, code, bits, torch.is_grad_enabled
    return ArrayGuard("torch_tensor", cls, identity, device=value.get_device(), **common)


def _package_array_guard(value: Any, argument: ArrayArgument, common: dict[str, Any]) -> ArrayGuard:
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None or argument.dtype.fields:
        raise NotDispatchable
    package = package_arrays.PACKAGES.get(f"{type(value).__module__}.{type(value).__name__}")
    attributes = (
        package and argument.contiguous and package.attribute_paths(value, argument.address)
    )
    if attributes:
        source = attributes.stream_source
        return ArrayGuard(
            "attributes", type(value), attributes.paths, stream_source=source, **common
        )
    if driver.has_multiple_devices():  # the interface does not name the device
        raise NotDispatchable
    return ArrayGuard("cuda_interface", type(value), interface["typestr"], **common)


# ---- numbers -------------------------------------------------------------------------------


def _scalar_guard(
    value: object, target: DType, declared: DType, integer_range: tuple[int, int] | None
) -> ScalarGuard:
    """Return the guard of a number that is passed as ``target`` and must fit ``declared`` too."""
    cls = type(value)
    source = _DTYPE_BY_CLASS.get(cls)
    if source is None and cls not in (int, bool):
        raise NotDispatchable
    if integer_range is None and source is target:
        return ScalarGuard("same_bytes", cls)
    is_integer = source is None or source.is_integral
    if is_integer and target.is_integral and declared.is_integral:
        low, high = integer_range or (dtypes.INT64.minimum, dtypes.INT64.maximum)
        low = max(low, target.minimum, declared.minimum)
        high = min(high, target.maximum, declared.maximum)
        if low > dtypes.INT64.maximum:
            raise NotDispatchable  # C reads no such integers
        return ScalarGuard("integer", cls, target.size, low, high)
    if is_integer and target in _FROM_INTEGER and cls is not bool:
        return ScalarGuard(_FROM_INTEGER[target], cls, min=-_EXACT_FLOAT64, max=_EXACT_FLOAT64)
    if source is dtypes.FLOAT64 and target is dtypes.FLOAT32:
        return ScalarGuard("float64_to_float32", cls, exact=cls is not float)
    if source is dtypes.FLOAT32 and target is dtypes.FLOAT64:
        return ScalarGuard("float32_to_float64", cls)
    raise NotDispatchable


_FROM_INTEGER: dict[DType, ScalarKind] = {
    dtypes.FLOAT32: "integer_to_float32",
    dtypes.FLOAT64: "integer_to_float64",
}

_DTYPE_BY_CLASS: dict[type, DType] = {
    float: dtypes.FLOAT64,
    complex: dtypes.COMPLEX128,
    **{dtype.numpy.type: dtype for dtype in dtypes.DTYPES if dtype is not dtypes.BFLOAT16},
}

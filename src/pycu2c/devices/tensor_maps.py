"""Tensor maps: arrays of which the tensor memory accelerator of a GPU copies boxes."""

from __future__ import annotations

import functools
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.types import Scalar
from pycu2c.cuda_driver import driver
from pycu2c.devices.allocation import to_device
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.arguments.array_argument import ArrayArgument, MemoryLocation

Swizzle: TypeAlias = Literal["none", "32B", "64B", "128B"]

_MAX_AXES, _MAX_BOX_LENGTH = 5, 256  # of the hardware
_ALIGNMENT = 16  # of the address and the strides, in bytes
_SWIZZLES: dict[int, Swizzle] = {32: "32B", 64: "64B", 128: "128B"}  # by the bytes of a row
_DESCRIPTORS: list[DeviceArray] = []
_ELEMENT_TYPES = {
    dtypes.INT32: "INT32",
    dtypes.UINT32: "UINT32",
    dtypes.INT64: "INT64",
    dtypes.UINT64: "UINT64",
    dtypes.UINT16: "UINT16",
    dtypes.UINT8: "UINT8",
    dtypes.INT8: "UINT8",
    dtypes.INT16: "UINT16",
    dtypes.FLOAT16: "FLOAT16",
    dtypes.BFLOAT16: "BFLOAT16",
    dtypes.FLOAT32: "FLOAT32",
    dtypes.FLOAT64: "FLOAT64",
}


class HostDescriptor:
    """The descriptor of a map of host memory, which only the CPU takes. It is 0."""

    type = Scalar(dtypes.UINT64)

    def __pycu2c_handle__(self, location: MemoryLocation) -> int:
        if location == "host":
            return 0
        raise LaunchError(
            "the tensor map is of an array in host memory, and the launch is on a GPU: make it of "
            "cuda.to_device(array)"
        )


class _Fields(NamedTuple):
    array: Any
    descriptor: HostDescriptor | np.uint64  # numbers are passed fast
    swizzle: str


class TensorMap(_Fields):
    """An array of which kernels copy boxes to and from shared memory, by ``cuda.tma``.

    Parameters
    ----------
    array : array_like
        A NumPy array or an array on a GPU with 1 to 5 axes, of numbers. On a GPU, its address and
        strides are multiples of 16 bytes, and the last axis is contiguous.
    box : tuple of int
        The shape of a box: 1 to 256 elements along each axis. The last axis has a multiple of 16
        bytes.
    swizzle : {"none", "32B", "64B", "128B"}, optional
        The permutation of the 16-byte chunks of each row in shared memory. The default is that of
        rows with 32, 64 or 128 bytes, which ``cuda.wgmma`` reads, and none for other rows.

    Raises
    ------
    TypeError
        If the array has elements that are no numbers.
    ValueError
        If the box or the layout of the array is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from pycu2c import cuda
    >>> cuda.TensorMap(np.zeros((256, 256), np.float32), (64, 32)).swizzle
    '128B'
    """

    __slots__ = ()

    def __new__(cls, array: Any, box: tuple[int, ...], swizzle: Swizzle | None = None) -> TensorMap:
        described, box = describe(array, "the array of a tensor map"), tuple(map(int, box))
        if described is not None and described.dtype.is_vector and described.shape and box:
            box = *box[:-1], box[-1] * len(described.dtype.fields)
            described = _in_components(described)
        if described is None or described.dtype not in _ELEMENT_TYPES:
            kind = type(array).__name__ if described is None else f"an array of {described.dtype}"
            names = ", ".join(map(str, _ELEMENT_TYPES))
            raise TypeError(f"a tensor map takes an array of {names}, not {kind}")
        _check(described, box)
        row_bytes = box[-1] * described.dtype.size
        if swizzle is None:
            swizzle = _SWIZZLES.get(row_bytes, "none")
        elif swizzle not in ("none", *_SWIZZLES.values()):
            raise ValueError(f"swizzle is 'none', '32B', '64B' or '128B', not {swizzle!r}")
        elif swizzle not in ("none", _SWIZZLES.get(row_bytes)):
            raise ValueError(
                f"the rows of the box have {row_bytes} bytes, and swizzle={swizzle!r} is for rows "
                f"of {swizzle.removesuffix('B')} bytes: change the box, or leave swizzle out"
            )
        descriptor: HostDescriptor | np.uint64 = HostDescriptor()
        if described.location == "device":
            driver.make_current()  # the calling thread may have no context yet
            words = _encode(described, box, swizzle)
            descriptor = np.uint64(_address_on_gpu(driver.current_ordinal(), words))
        return super().__new__(cls, array, descriptor, swizzle)


def _in_components(array: ArrayArgument) -> ArrayArgument:
    """Return an array of vectors as one of their components."""
    component, count = array.dtype.fields[0].dtype, len(array.dtype.fields)
    shape = *array.shape[:-1], array.shape[-1] * count
    strides = *array.strides[:-1], array.strides[-1] // count
    return array._replace(dtype=component, shape=shape, strides=strides)


def _check(array: ArrayArgument, box: tuple[int, ...]) -> None:
    """Raise ValueError if the hardware cannot copy such boxes of an array."""
    ndim, size = len(array.shape), array.dtype.size
    if not 1 <= ndim <= _MAX_AXES or len(box) != ndim:
        raise ValueError(
            f"the array has {ndim} axes and the box {len(box)}: both have the same number, 1 to "
            f"{_MAX_AXES}"
        )
    if not all(1 <= length <= _MAX_BOX_LENGTH for length in box) or box[-1] * size % _ALIGNMENT:
        raise ValueError(
            f"the box is {box}: its lengths are 1 to {_MAX_BOX_LENGTH}, and its rows have a "
            f"multiple of {_ALIGNMENT} bytes"
        )
    if array.strides[-1] != size and array.shape[-1] > 1:
        raise ValueError("the last axis of the array is not contiguous: copy the array")
    unaligned = [n for n in (array.address, *array.strides[:-1]) if n % _ALIGNMENT]
    if array.location == "device" and unaligned:
        raise ValueError(
            f"the address and strides of the array are multiples of {_ALIGNMENT} bytes for a "
            "tensor map, and these are not: pad its rows"
        )


@functools.cache
def _address_on_gpu(_: int, words: tuple[int, ...]) -> int:
    """Return the address of a descriptor in the memory of the current GPU.

    It is never freed: GPUs cache descriptors by address, and would use one that was there before.
    """
    _DESCRIPTORS.append(to_device(np.array(words, np.uint64)))
    address: int = _DESCRIPTORS[-1].__cuda_array_interface__["data"][0]
    return address


def _encode(array: ArrayArgument, box: tuple[int, ...], swizzle: Swizzle) -> tuple[int, ...]:
    """Return the words of a descriptor. Raises CudaError."""
    api = driver.api()
    element_type = f"CU_TENSOR_MAP_DATA_TYPE_{_ELEMENT_TYPES[array.dtype]}"
    swizzle_name = f"CU_TENSOR_MAP_SWIZZLE_{swizzle.upper()}"
    strides = array.strides[-2::-1] or (_ALIGNMENT,)  # of one axis it has none, but is not NULL
    tensor_map = driver.call(
        "cuTensorMapEncodeTiled",
        getattr(api.CUtensorMapDataType, element_type),
        len(box),
        array.address,
        [api.cuuint64_t(length) for length in array.shape[::-1]],
        [api.cuuint64_t(stride) for stride in strides],
        [api.cuuint32_t(length) for length in box[::-1]],
        [api.cuuint32_t(1)] * len(box),
        api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(api.CUtensorMapSwizzle, swizzle_name),
        api.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        api.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        doing="encode a tensor map",
    )
    return tuple(int(word) for word in tensor_map.opaque)

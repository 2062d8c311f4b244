"""Describe arrays that support DLPack but no array interface."""

from __future__ import annotations

from pycu2c.base.diagnostics import LaunchError
from pycu2c.runtime.arguments import dlpack
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.array_checks import check_layout, dtype_of
from pycu2c.runtime.arguments.conversion_hints import conversion_hint
from pycu2c.runtime.arguments.dlpack import CPU, CUDA, CUDA_HOST, CUDA_MANAGED, DEFAULT_STREAM
from pycu2c.runtime.arguments.strides import array_over, is_contiguous


def describe(obj: object, name: str) -> ArrayArgument:
    """Describe an array of another package. The launch is ordered after its pending work.

    DLPack orders that work before the default stream, and the launch waits for that stream.
    """
    try:
        imported = dlpack.import_array(obj, DEFAULT_STREAM)
    except dlpack.DlpackUnsupportedError as error:
        raise LaunchError(f"{name} is not supported: {error}") from None
    except (BufferError, TypeError, ValueError) as error:  # from the package
        hint = conversion_hint(obj)
        raise LaunchError(f"{name} does not export its memory by DLPack ({error}){hint}") from error
    device_type = imported.device[0]
    if device_type not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise LaunchError(f"{name} is on a device that is neither the CPU nor an NVIDIA GPU")
    on_host = device_type in (CPU, CUDA_HOST)
    layout = imported.shape, imported.strides, imported.dtype
    described = ArrayArgument(
        dtype_of(imported.dtype, name),
        imported.shape,
        imported.strides,
        imported.address,
        imported.readonly,
        is_contiguous(imported.shape, imported.strides, imported.dtype.itemsize),
        "host" if on_host else "device",
        array_over(imported.address, layout, memory=imported.owner) if on_host else imported.owner,
        None if on_host else DEFAULT_STREAM,
    )
    check_layout(described, name)
    return described

"""Create CUDA arrays, and texture and surface objects.

A thin layer on the driver, as ``cuda_driver.driver``.
"""

from __future__ import annotations

from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.dtypes import FLOAT16, FLOAT32, INT8, INT16, INT32, UINT8, UINT16, UINT32, DType
from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import driver
from pycu2c.runtime.texture_modes import TextureModes

_FORMATS = {
    UINT8: "CU_AD_FORMAT_UNSIGNED_INT8",
    UINT16: "CU_AD_FORMAT_UNSIGNED_INT16",
    UINT32: "CU_AD_FORMAT_UNSIGNED_INT32",
    INT8: "CU_AD_FORMAT_SIGNED_INT8",
    INT16: "CU_AD_FORMAT_SIGNED_INT16",
    INT32: "CU_AD_FORMAT_SIGNED_INT32",
    FLOAT16: "CU_AD_FORMAT_HALF",
    FLOAT32: "CU_AD_FORMAT_FLOAT",
}
_SURFACE, _AS_INTEGER, _NORMALIZED = 2, 1, 2  # flags


@dataclass(frozen=True, slots=True)
class TexelFormat:
    """The format of a CUDA array, with ``channels`` numbers per element.

    shape: as in numpy, with the contiguous axis last.
    """

    shape: tuple[int, ...]
    number: DType
    channels: int

    @property
    def extents(self) -> tuple[int, int, int]:
        """The width, height and depth; 0 for missing axes."""
        width, height, depth = (*self.shape[::-1], 0, 0)[:3]
        return width, height, depth

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return self.shape[-1] * self.channels * self.number.size


def new_array(texel_format: TexelFormat) -> Any:
    """Create a CUDA array for textures and surfaces."""
    driver.make_current()
    bindings = driver.api()
    descriptor = bindings.CUDA_ARRAY3D_DESCRIPTOR()
    descriptor.Width, descriptor.Height, descriptor.Depth = texel_format.extents
    descriptor.Format = getattr(bindings.CUarray_format, _FORMATS[texel_format.number])
    descriptor.NumChannels = texel_format.channels
    descriptor.Flags = _SURFACE
    doing = (
        f"make a CUDA array of {texel_format.channels} x {texel_format.number} with the shape "
        f"{texel_format.shape}"
    )
    return driver.call("cuArray3DCreate", descriptor, doing=doing)


def _copy_descriptor(texel_format: TexelFormat) -> Any:
    """Return the descriptor of a copy of all elements, without source and target."""
    copy = driver.api().CUDA_MEMCPY3D()
    _, height, depth = texel_format.extents
    copy.WidthInBytes, copy.Height, copy.Depth = texel_format.row_bytes, height or 1, depth or 1
    return copy


def fill(array: Any, texel_format: TexelFormat, address: int) -> None:
    """Copy contiguous elements from host memory; synchronous."""
    copy, kinds = _copy_descriptor(texel_format), driver.api().CUmemorytype
    copy.srcMemoryType, copy.srcHost = kinds.CU_MEMORYTYPE_HOST, address
    copy.srcPitch, copy.srcHeight = texel_format.row_bytes, copy.Height
    copy.dstMemoryType, copy.dstArray = kinds.CU_MEMORYTYPE_ARRAY, array
    _copy(copy, "copy to a CUDA array")


def read(array: Any, texel_format: TexelFormat, address: int) -> None:
    """Copy all elements to host memory, after all work of the device."""
    copy, kinds = _copy_descriptor(texel_format), driver.api().CUmemorytype
    copy.srcMemoryType, copy.srcArray = kinds.CU_MEMORYTYPE_ARRAY, array
    copy.dstMemoryType, copy.dstHost = kinds.CU_MEMORYTYPE_HOST, address
    copy.dstPitch, copy.dstHeight = texel_format.row_bytes, copy.Height
    _copy(copy, "copy from a CUDA array")


def _copy(descriptor: Any, doing: str) -> None:
    """Copy after all pending work, because the array may be used in any stream."""
    driver.make_current()
    driver.synchronize_device(doing)
    driver.call("cuMemcpy3D", descriptor, doing=doing)
    driver.synchronize_device(doing)


def _resource(array: Any) -> Any:
    """Return the resource descriptor of a CUDA array."""
    bindings = driver.api()
    resource = bindings.CUDA_RESOURCE_DESC()
    resource.resType = bindings.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
    resource.res.array.hArray = array
    return resource


def new_texture(array: Any, modes: TextureModes, element: DType) -> int:
    """Create a texture object over a CUDA array of elements, and return its handle."""
    driver.make_current()
    bindings = driver.api()
    texture = bindings.CUDA_TEXTURE_DESC()
    names = [f"CU_TR_ADDRESS_MODE_{name.upper()}" for name in modes.address_modes]
    address_modes = [getattr(bindings.CUaddress_mode, name) for name in names]
    clamp = bindings.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP  # else borders would be blended in
    texture.addressMode = [*address_modes, clamp, clamp][:3]
    filters = bindings.CUfilter_mode
    texture.filterMode = getattr(filters, f"CU_TR_FILTER_MODE_{modes.filter.upper()}")
    reads_integers = modes.reads_integers(element)
    texture.flags = _AS_INTEGER * reads_integers | _NORMALIZED * modes.is_normalized
    texture.borderColor = [*modes.device_border(element), 0.0, 0.0, 0.0, 0.0][:4]
    doing = "make a texture object"
    return int(driver.call("cuTexObjectCreate", _resource(array), texture, None, doing=doing))


def new_surface(array: Any) -> int:
    """Create a surface object, and return its handle."""
    driver.make_current()
    return int(driver.call("cuSurfObjectCreate", _resource(array), doing="make a surface object"))


def free_array(array: Any) -> None:
    """Free an array after the device is idle; a thread that captures a graph cannot wait."""
    driver.make_current()
    if graph_capture.current() is None:
        driver.synchronize_device("wait before a CUDA array is freed")
    driver.call("cuArrayDestroy", array, doing="free a CUDA array")


def free_texture(handle: int) -> None:
    driver.make_current()
    driver.call("cuTexObjectDestroy", handle, doing="free a texture object")


def free_surface(handle: int) -> None:
    driver.make_current()
    driver.call("cuSurfObjectDestroy", handle, doing="free a surface object")

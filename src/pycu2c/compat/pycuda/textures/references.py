"""Implement texture and surface references of modules.

A reference is a texture object in a variable of the module. If the reference has
changed, a new object is created and stored before the next launch.
"""

from __future__ import annotations

import contextlib
import math
import sys
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.compat.pycuda.enums import (
    TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER,
    address_mode,
    array_format,
    filter_mode,
)
from pycu2c.compat.pycuda.errors import LogicError, translate_errors
from pycu2c.compat.pycuda.memory import allocations, bounds_checks
from pycu2c.compat.pycuda.memory.allocations import on_gpu, pointer
from pycu2c.compat.pycuda.textures import reference_source
from pycu2c.compat.pycuda.textures.cuda_arrays import (
    COMPONENT_DTYPES,
    Array,
    ArrayDescriptor,
    matrix_to_array,
)
from pycu2c.cuda_driver import driver
from pycu2c.devices import streams
from pycu2c.reference import texture_sampling
from pycu2c.runtime.arguments.strides import array_over
from pycu2c.runtime.cuda import texture_objects
from pycu2c.runtime.cuda.texture_objects import LinearTexels, TexelFormat
from pycu2c.runtime.texture_modes import NORMALIZED_MAXIMA, TextureModes

_TEXTURE_ALIGNMENT = 512  # bytes
_MAX_AXES = 3


@dataclass(frozen=True, slots=True)
class ReferenceVariable:
    """The module variable of a reference; ``name`` is its name in the text."""

    name: str
    address: int
    format: int
    channels: int
    axes: int
    as_fraction: bool

    @property
    def component(self) -> DType:
        """Return the component type of an element."""
        return COMPONENT_DTYPES[array_format(self.format)]


def declaration_at(name: str, address: int) -> ReferenceVariable:
    """Read the declaration from a variable."""
    memory = np.empty(reference_source.LAYOUT.itemsize, np.uint8)
    allocations.memcpy_dtoh(memory, address)
    return ReferenceVariable(name, address, *reference_source.unpack_declaration(memory))


class LinearMemory(NamedTuple):
    """Linear device memory: one axis, or rows with a pitch of ``pitch`` bytes."""

    address: int
    size: int
    width: int = 0
    height: int = 0
    pitch: int = 0


Source: TypeAlias = "Array | LinearMemory | None"


class TextureReference:
    """A texture reference: ``module.get_texref(name)``."""

    def __init__(self, variable: ReferenceVariable | None = None) -> None:
        self._variable = variable
        self._source: Source = None
        self._owner: object = None
        self._axis_modes = [address_mode.CLAMP] * _MAX_AXES
        self._filter = filter_mode.POINT
        self._flags = 0
        self._format, self._channels = array_format.FLOAT, 1
        if variable is not None and variable.channels:
            self._format, self._channels = array_format(variable.format), variable.channels
            if variable.component.is_integer and not variable.as_fraction:
                self._flags = TRSF_READ_AS_INTEGER
        self._stale = True
        self._object: Any = None  # the handle, and the object that keeps its memory alive

    # ---- source ----

    def set_array(self, ary: Array) -> None:
        """Bind a CUDA array, and use its format."""
        self._bind(ary, ary)
        self._format, self._channels = ary.format, ary.texel_format.channels

    def get_array(self) -> Array:
        """Return the bound array."""
        if not isinstance(self._source, Array):
            raise LogicError("the texture is bound to no array: call set_array()")
        return self._source

    def set_address(self, devptr: Any, size: int, allow_offset: bool = False) -> int:
        """Bind linear memory along one axis; return the offset in bytes."""
        address = pointer(devptr)
        offset = address % _TEXTURE_ALIGNMENT if on_gpu() else 0
        if offset and not allow_offset:
            raise LogicError(
                "texture binding resulted in offset: the address is no multiple of "
                f"{_TEXTURE_ALIGNMENT}: "
                f"pass allow_offset=True and add {offset} bytes to indices"
            )
        self._bind(LinearMemory(address - offset, size + offset), devptr)
        return offset

    def set_address_2d(self, devptr: Any, descr: ArrayDescriptor, pitch: int) -> None:
        """Bind rows of linear memory with a pitch in bytes."""
        size = pitch * descr.height
        self._bind(LinearMemory(pointer(devptr), size, descr.width, descr.height, pitch), devptr)
        self.set_format(descr.format, descr.num_channels)

    def get_address(self) -> int:
        """Return the address of the bound memory."""
        if not isinstance(self._source, LinearMemory):
            raise LogicError("the texture is bound to no linear memory: call set_address()")
        return self._source.address

    def _bind(self, source: Source, owner: object) -> None:
        self._source, self._owner, self._stale = source, owner, True

    # ---- modes ----

    def set_format(self, fmt: Any, num_components: int) -> None:
        """Set the component format and the number of channels of linear memory."""
        self._format, self._channels = array_format(fmt), num_components
        self._stale = True

    def get_format(self) -> tuple[array_format, int]:
        """Return the component format and the number of channels."""
        return self._format, self._channels

    def set_address_mode(self, dim: int, mode: Any) -> None:
        """Set the address mode of an axis.

        Wrap and mirror require normalized coordinates; otherwise they act as clamp.
        """
        self._axis_modes[dim] = address_mode(mode)
        self._stale = True

    def get_address_mode(self, dim: int) -> address_mode:
        """Return the address mode of an axis."""
        return self._axis_modes[dim]

    def set_filter_mode(self, mode: Any) -> None:
        """Set the filter mode."""
        self._filter = filter_mode(mode)
        self._stale = True

    def get_filter_mode(self) -> filter_mode:
        """Return the filter mode."""
        return self._filter

    def set_flags(self, flags: int) -> None:
        """Set ``TRSF_NORMALIZED_COORDINATES`` and ``TRSF_READ_AS_INTEGER``."""
        self._flags = int(flags)
        self._stale = True

    def get_flags(self) -> int:
        """Return the flags."""
        return self._flags

    # ---- launch ----

    @translate_errors
    def store_object(self) -> None:
        """Store a texture object for the current settings in the module's variable."""
        if not self._stale or self._source is None:
            return
        if self._variable is None:
            raise LogicError(
                "the TextureReference belongs to no module: use module.get_texref(name)"
            )
        self._check_format(self._variable)
        streams.synchronize()  # pending launches read the old object
        self._free_object()
        self._object = self._new_gpu_texture() if on_gpu() else self._new_host_texture()
        handle = self._object[0]
        allocations.memcpy_htod(self._variable.address, np.uint64(handle))
        self._stale = False

    def check_bound(self) -> None:
        """Raise LogicError if the texture is bound to nothing."""
        if self._source is None:
            name = self._variable.name if self._variable else ""
            raise LogicError(
                f"the texture {name} is bound to nothing: call set_array() or set_address()"
            )

    def _check_format(self, variable: ReferenceVariable) -> None:
        """Check that the format is that of the declaration. Raises LogicError."""
        bound, declared = COMPONENT_DTYPES[self._format], variable.component
        is_same_type = bound.size == declared.size and bound.is_float == declared.is_float
        if not is_same_type or self._channels != variable.channels:
            raise LogicError(
                f"the texture {variable.name} is declared with elements of {variable.channels} x "
                f"{declared}, and is bound to elements of {self._channels} x {bound}"
            )
        if variable.as_fraction and self._flags & TRSF_READ_AS_INTEGER:
            raise LogicError(
                f"the texture {variable.name} is declared with cudaReadModeNormalizedFloat, and "
                "TRSF_READ_AS_INTEGER is set: leave out one of them"
            )
        if self._filter == filter_mode.LINEAR and declared.is_integer and not variable.as_fraction:
            raise LogicError(
                f"the texture {variable.name} returns integers, which are not interpolated: "
                "declare it with cudaReadModeNormalizedFloat, or use filter_mode.POINT"
            )

    def _texel_format(self) -> TexelFormat:
        source = self._source
        if isinstance(source, Array):
            return source.texel_format
        assert isinstance(source, LinearMemory)
        component = COMPONENT_DTYPES[self._format]
        if source.pitch:
            return TexelFormat((source.height, source.width), component, self._channels)
        count = source.size // (component.size * self._channels)
        return TexelFormat((count,), component, self._channels)

    def _address_modes(self, texels: TexelFormat) -> tuple[str, ...]:
        """Return the address modes, x first; unnormalized coordinates have only clamp, border."""
        modes = [mode.name.lower() for mode in self._axis_modes[: len(texels.shape)]]
        if not self._flags & TRSF_NORMALIZED_COORDINATES:
            modes = ["clamp" if mode in ("wrap", "mirror") else mode for mode in modes]
        return tuple(modes)

    def _texture_modes(self, texels: TexelFormat) -> TextureModes:
        assert self._variable is not None
        as_fraction = self._variable.as_fraction and texels.number in NORMALIZED_MAXIMA
        border = (0.0,) * texels.channels
        if isinstance(self._source, LinearMemory) and not self._source.pitch:
            # fetches have integer coordinates
            return TextureModes(("clamp",), "point", False, as_fraction, border)
        return TextureModes(
            self._address_modes(texels),
            "linear" if self._filter == filter_mode.LINEAR else "point",
            bool(self._flags & TRSF_NORMALIZED_COORDINATES),
            as_fraction,
            border,
        )

    def _new_gpu_texture(self) -> tuple[int, object]:
        texels, source = self._texel_format(), self._source
        memory: Any = None
        if isinstance(source, Array):
            memory = source.handle
        elif isinstance(source, LinearMemory):
            memory = LinearTexels(source.address, texels, source.pitch)
        modes = self._texture_modes(texels).for_device(texels.number)
        return texture_objects.new_texture(memory, modes), source

    def _new_host_texture(self) -> tuple[int, object]:
        texels = self._texel_format()
        elements = self._host_elements(texels)
        modes = self._texture_modes(texels)
        packed = texture_sampling.sampler(elements, texels.number, texels.number, modes).packed()
        return packed.ctypes.data, (packed, elements)

    def _host_elements(self, texels: TexelFormat) -> NDArray[Any]:
        source = self._source
        if isinstance(source, Array):
            return source.host_elements()
        assert isinstance(source, LinearMemory)
        element_size = texels.number.size * texels.channels
        if source.pitch and source.pitch != texels.row_bytes:
            raise LogicError(
                f"set_address_2d: rows of {texels.row_bytes} bytes with a pitch of {source.pitch} "
                "bytes require a GPU: copy them to an Array"
            )
        size = math.prod(texels.shape) * element_size
        bounds_checks.check(source.address, size, "set_address")
        shape = (*texels.shape, texels.channels)
        strides = (*(texels.row_bytes, element_size)[2 - len(texels.shape) :], texels.number.size)
        return array_over(source.address, (shape, strides, texels.number.numpy), memory=self._owner)

    def _free_object(self) -> None:
        if self._object is not None and on_gpu():
            texture_objects.free_texture(self._object[0])
        self._object = None

    def __del__(self, finalizing: Any = sys.is_finalizing) -> None:
        if finalizing() or getattr(self, "_object", None) is None or not on_gpu():
            return
        with contextlib.suppress(Exception):  # the context may be gone
            driver.check(driver.api().cuCtxSynchronize(), "wait before a texture is freed")
            self._free_object()


class SurfaceReference:
    """A surface reference: ``module.get_surfref(name)``."""

    def __init__(self, variable: ReferenceVariable) -> None:
        self._variable = variable
        self._array: Array | None = None
        self._object: Any = None
        self._stale = True

    def set_array(self, ary: Array, flags: int = 0) -> None:
        """Bind a CUDA array."""
        self._array, self._stale = ary, True

    def get_array(self) -> Array:
        """Return the bound array."""
        self.check_bound()
        assert self._array is not None
        return self._array

    def check_bound(self) -> None:
        """Raise LogicError if the surface is bound to nothing."""
        if self._array is None:
            raise LogicError(
                f"the surface {self._variable.name} is bound to nothing: call set_array()"
            )

    @translate_errors
    def store_object(self) -> None:
        """Store a surface object in the module's variable."""
        if not self._stale or self._array is None:
            return
        streams.synchronize()
        if on_gpu():
            self._object = texture_objects.new_surface(self._array.handle), self._array
        else:
            packed = texture_sampling.packed_surface(self._array.host_elements())
            self._object = packed.ctypes.data, (packed, self._array)
        allocations.memcpy_htod(self._variable.address, np.uint64(self._object[0]))
        self._stale = False


def bind_array_to_texref(ary: Array, texref: TextureReference) -> None:
    """Bind a CUDA array, with point filtering and clamped coordinates."""
    texref.set_array(ary)
    texref.set_address_mode(0, address_mode.CLAMP)
    texref.set_address_mode(1, address_mode.CLAMP)
    texref.set_filter_mode(filter_mode.POINT)


def matrix_to_texref(matrix: Any, texref: TextureReference, order: str) -> None:
    """Bind a matrix."""
    bind_array_to_texref(matrix_to_array(matrix, order), texref)

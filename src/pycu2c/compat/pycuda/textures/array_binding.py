"""Bind GPUArrays to texture references."""

from __future__ import annotations

from typing import Any

from pycu2c.compat.pycuda.enums import TRSF_READ_AS_INTEGER, array_format
from pycu2c.compat.pycuda.textures.cuda_arrays import dtype_to_array_form, dtype_to_array_format


class TextureBinding:
    """The texture methods of ``GPUArray``."""

    dtype: Any
    gpudata: Any
    nbytes: int
    flags: Any

    def bind_to_texref(self, texref: Any, allow_offset: bool = False) -> float:
        """Bind the elements to a texture reference; return the offset of the first element."""
        offset: int = texref.set_address(self.gpudata, self.nbytes, allow_offset=allow_offset)
        return offset / int(self.dtype.itemsize)

    def bind_to_texref_ext(
        self,
        texref: Any,
        channels: int = 1,
        allow_double_hack: bool = False,
        allow_complex_hack: bool = False,
        allow_offset: bool = False,
    ) -> float:
        """Bind the elements, and set the format.

        Doubles and complex numbers are bound as ints, which ``pycuda-helpers.hpp`` converts, if
        that is allowed.
        """
        if not self.flags.forc:
            raise RuntimeError("only contiguous arrays may be used as arguments to this operation")
        form: tuple[Any, int] = self._form(allow_double_hack, allow_complex_hack)
        if form[1] > 1 and channels != 1:
            raise ValueError(f"'fake' {self.dtype} textures can only have one channel")
        offset: int = texref.set_address(self.gpudata, self.nbytes, allow_offset=allow_offset)
        texref.set_format(form[0], form[1] * channels)
        if form[0] not in (array_format.FLOAT, array_format.HALF):
            texref.set_flags(texref.get_flags() | TRSF_READ_AS_INTEGER)
        return offset / int(self.dtype.itemsize)

    def _form(self, doubles: bool, complexes: bool) -> tuple[Any, int]:
        if (self.dtype.kind == "c" and complexes) or (self.dtype.name == "float64" and doubles):
            return dtype_to_array_form(self.dtype)
        return dtype_to_array_format(self.dtype), 1

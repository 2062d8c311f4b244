"""Access the ``__device__`` and ``__constant__`` variables of a CUDA C text as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pycu2c.compat.cuda_text.module import TextModule
from pycu2c.cuda_driver import driver
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.strides import array_over, packed_strides
from pycu2c.runtime.cuda.memory import ExternalMemory


class ModuleVariable:
    """A ``__device__`` or ``__constant__`` variable on the device current at construction."""

    def __init__(self, module: TextModule, name: str) -> None:
        self.module, self.name = module, name
        self.ptr, self.nbytes = module.variable(name)
        self._on_gpu = module.chosen_backend() == "cuda"

    def __repr__(self) -> str:
        return f"<variable {self.name}, {self.nbytes} bytes at {self.ptr:#x}>"

    def __int__(self) -> int:
        return self.ptr

    def __index__(self) -> int:
        return self.ptr

    def view(self, shape: int | tuple[int, ...] | None = None, dtype: DTypeLike = np.uint8) -> Any:
        """Return an array over the variable: a NumPy array on the CPU, a device array on a GPU.

        Raises
        ------
        ValueError
            If the array would be larger than the variable.
        """
        element = np.dtype(dtype)
        extents = (shape,) if isinstance(shape, int) else shape
        if extents is None:
            extents = (self.nbytes // element.itemsize,)
        if int(np.prod(extents)) * element.itemsize > self.nbytes:
            raise ValueError(f"{self.name} has {self.nbytes} bytes, not {extents} of {element}")
        strides = packed_strides(extents, element.itemsize)
        if not self._on_gpu:
            return array_over(self.ptr, (extents, strides, element), memory=self.module)
        ordinal = driver.current_ordinal()
        memory = ExternalMemory(self.module, self.ptr, self.nbytes, ordinal)
        return DeviceArray(memory, self.ptr, extents, strides, element)


document_parameters(
    globals(),
    """
shape : int or tuple of int | The shape; by default all elements, along one axis.
dtype : dtype | The dtype of the elements.
""",
)

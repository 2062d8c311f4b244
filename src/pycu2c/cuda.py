"""The names of CUDA inside a kernel: ``from pycu2c import cuda``.

Each is a row of the registry. Type checkers and editors read ``cuda.pyi``, made of the same rows.
"""

from __future__ import annotations

from pycu2c.intrinsics.namespace import CUDA, members
from pycu2c.nearest import did_you_mean

__all__ = sorted(members(CUDA))  # pyright: ignore[reportUnsupportedDunderAll]

globals().update(members(CUDA))


_OF_NUMBA = {
    "jit": "decorate kernels with @kernel, and functions that they call with @device",
    "to_device": "pass arrays as they are: numpy's are copied for the launch, a GPU's are not",
    "device_array": "allocate with CuPy, PyTorch or the like, and pass the array",
    "synchronize": "a launch on numpy arrays has ended when it returns",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    cure = _OF_NUMBA.get(name) or did_you_mean(name, __all__, "dir(cuda) lists what it has")
    raise AttributeError(f"pycu2c.cuda has no {name}: {cure}", name=name, obj=CUDA)

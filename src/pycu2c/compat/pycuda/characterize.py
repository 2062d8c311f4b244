"""Implement ``pycuda.characterize``: features of the device, and sizes of C types."""

from __future__ import annotations

import sys

import numpy as np

from pycu2c.compat.pycuda.memory.allocations import from_device, mem_alloc
from pycu2c.compat.pycuda.modules.source_module import SourceModule
from pycu2c.compat.pycuda.tools import context_dependent_memoize


def platform_bits() -> int:
    """Return the size of an address in bits."""
    return 64 if sys.maxsize > 2**32 else 32


def has_stack() -> bool:
    """Return whether recursive functions are supported: True."""
    return True


def has_double_support() -> bool:
    """Return whether doubles are supported: True."""
    return True


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """Return the size of a C type in bytes."""
    text = f"""{preamble}
    extern "C" __global__ void write_size(unsigned long long *out) {{ *out = sizeof({type_name}); }}
    """
    result = mem_alloc(8)
    function = SourceModule(text, no_extern_c=True).get_function("write_size")
    function(result, block=(1, 1, 1), grid=(1, 1))
    return int(from_device(result, (), np.uint64))

"""Implement ``SourceModule``: modules of CUDA C."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from pycu2c.compat.pycuda.contexts import Context
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules import nvcc as nvcc_compiler
from pycu2c.compat.pycuda.modules.compile_settings import save_files, settings_of
from pycu2c.compat.pycuda.modules.module import Module, compile_text


class SourceModule(Module):
    """A module of CUDA C: ``SourceModule(text).get_function(name)``, as PyCUDA's.

    Raises
    ------
    CompileError
        If the text does not compile.

    Examples
    --------
    >>> import numpy as np
    >>> import pycu2c.pycuda.autoinit
    >>> from pycu2c.pycuda import driver
    >>> from pycu2c.pycuda.compiler import SourceModule
    >>> module = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
    >>> x = np.float32([1, 2])
    >>> module.get_function("twice")(driver.InOut(x), block=(2, 1, 1))
    >>> x
    array([2., 4.], dtype=float32)
    """

    def __init__(
        self,
        source: str,
        nvcc: str = nvcc_compiler.DEFAULT,
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
    ) -> None:
        # all parameters by name; settings_of selects those that it uses
        settings = settings_of(dict(locals()))
        _warn_if_unsupported(settings.requested_arch)
        text = settings.text(source)
        with settings.cache_override():
            super().__init__(compile_text(text, settings.nvrtc_options))
        if keep:
            save_files(text.code, b"", "cubin")


def _warn_if_unsupported(arch: str | None) -> None:
    """Warn, as PyCUDA does, if the current GPU is older than an architecture."""
    digits = (arch or "").rpartition("_")[2].rstrip("af")  # without the suffix of sm_90a, sm_100f
    if digits.isdigit() and on_gpu():
        capability = Context.get_device().compute_capability()
        if (int(digits[:-1] or 0), int(digits[-1])) > capability:
            warnings.warn(
                "trying to compile for a compute capability higher than selected GPU",
                stacklevel=3,
            )

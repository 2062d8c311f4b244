"""Implement ``SourceModule`` and ``compile``, which makes cubins and PTX."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from pycu2c.base import diagnostics
from pycu2c.compat.cuda_text.module import DEFAULT_ARCH, TextModule
from pycu2c.compat.pycuda.contexts import Context
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules import nvcc as nvcc_compiler
from pycu2c.compat.pycuda.modules.module import Module, compile_error, compile_text
from pycu2c.compat.pycuda.modules.source_text import HEADERS, source_text
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.toolchain_errors import ToolchainError

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()


def _nvrtc_options(
    options: Sequence[str] | None, arch: str | None, code: str | None, folders: Sequence[str] | None
) -> tuple[list[str], str | None]:
    """Return the options for NVRTC, without an architecture, and the architecture, if any."""
    flags = DEFAULT_NVCC_FLAGS if options is None else options
    kept, flag_arch, flag_code = nvcc_compiler.nvrtc_options(flags)
    includes = [f"-I{folder}" for folder in (*(folders or ()), HEADERS)]
    real = next((each for each in (code, flag_code) if each and each.startswith("sm_")), None)
    return [*kept, *includes], real or arch or flag_arch


class SourceModule(Module):
    """A module of CUDA C: ``SourceModule(text).get_function(name)``, as PyCUDA's.

    ``nvcc``, ``keep`` and ``cache_dir`` have no effect: NVRTC or a C++ compiler compiles, and the
    cache is that of this package.

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
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
    ) -> None:
        flags, requested_arch = _nvrtc_options(options, arch, code, include_dirs)
        _warn_if_unsupported(requested_arch)
        super().__init__(compile_text(source_text(source, extern_c=not no_extern_c), flags))


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


def compile(
    source: str,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: Any = None,
    include_dirs: Sequence[str] | None = None,
    target: str = "cubin",
) -> bytes:
    """Compile CUDA C to a cubin or PTX, for any GPU.

    Returns
    -------
    bytes
        The code.

    Raises
    ------
    CompileError
        If the text does not compile.
    """
    if target not in ("cubin", "ptx"):
        raise ValueError(f"target is cubin or ptx, not {target!r}")
    flags, requested_arch = _nvrtc_options(options, arch, code, include_dirs)
    if nvcc_compiler.is_relocatable(options or ()):
        flags.append("--relocatable-device-code=true")
    architecture = requested_arch or (driver.arch() if on_gpu() else DEFAULT_ARCH)
    text = source_text(source, extern_c=not no_extern_c)
    module = TextModule(text.code, options=flags, quoted_sources=text.quoted_sources)
    number = architecture.rpartition("_")[2]
    try:
        if target == "ptx":
            return module.ptx(f"compute_{number}").encode()
        return module.cubin(f"sm_{number}").data
    except (diagnostics.CompileError, ToolchainError) as error:
        raise compile_error(error, flags) from error

"""Make a JAX function of a kernel: build a library with its handlers for each signature."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

import jax
import numpy as np

from pycu2c.aot.bindings import JAX, parameter_kinds
from pycu2c.aot.build_settings import BuildSettings
from pycu2c.aot.compilation import compile_flags, compile_library
from pycu2c.aot.exported_library import ExportedLibrary, KernelRequest, c_name
from pycu2c.aot.images import compile_images
from pycu2c.aot.library_files import library_files
from pycu2c.aot.python_kernels import export_python
from pycu2c.aot.python_package import jax_ffi
from pycu2c.aot.record_types import lane_type
from pycu2c.aot.write_only import write_only_arrays
from pycu2c.base.types import Array
from pycu2c.cuda_driver import driver
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.cc.compiler_identity import compiler_identity
from pycu2c.toolchain.cc.discovery import find_compiler

_registered: set[str] = set()
_registering = Lock()


def ffi(
    kernel: Kernel[Any],
    *,
    grid: Any = None,
    block: Any = None,
    shared_bytes: int | None = None,
    out_shapes: Any = None,
    vmap_method: str = "sequential",
) -> Callable[..., Any]:
    """Return a function for JAX programs that launches a kernel and returns the written arrays.

    The arguments are those of the kernel, without the arrays that the kernel only writes. An array
    that it reads and writes is an argument, and its new value is a result. Numbers are constants of
    the compiled program. The kernel is compiled when JAX traces the function: for the CPU, and for
    the GPU if there is one.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with or without declared types.
    grid, block : int, tuple of int or callable, optional
        Blocks along each axis, and threads of a block: numbers, or a function of the arguments; by
        default those of the decorator.
    shared_bytes : int, optional
        Bytes of dynamic shared memory of a block; by default those of the decorator.
    out_shapes : object, sequence, dict or callable, optional
        For each result that is not an argument: an object with ``shape`` and ``dtype``, or the name
        of an argument; or a function of the arguments that returns these. By default, results are
        like the first array. The names in a mapping from names to these determine which arrays are
        not arguments; by default, those to which the kernel only stores elements. Elements that it
        does not store are undefined.
    vmap_method : {"sequential", "broadcast_all"}, optional
        "sequential": ``jax.vmap`` launches once for each element of the batch. "broadcast_all": it
        launches once, and all arrays have the batch as first axis.

    Returns
    -------
    callable
        A function that works under ``jax.jit`` and ``jax.vmap``. It returns an array, or a tuple of
        arrays in the order of the parameters.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"pycu2c.jax.ffi takes a kernel, as @kernel makes one, not {kernel!r}")
    names = [c_name(name) for name in kernel.launcher.parameters]
    write_only = write_only_arrays(kernel.source.tree)
    written = [c_name(name) for name in kernel.launcher.parameters if name in write_only]
    if isinstance(out_shapes, Mapping):
        out_shapes = {c_name(name): rule for name, rule in out_shapes.items()}
        for unknown in [name for name in out_shapes if name not in names]:
            raise TypeError(f"out_shapes has {unknown}, and {kernel.name} has {', '.join(names)}")
    results = jax_ffi.result_names(out_shapes, written)
    parameters = inspect.signature(kernel.python).parameters.values()
    defaults = {c_name(p.name): p.default for p in parameters if p.default is not p.empty}
    declared = [*zip(*(s.parameters for s in kernel.declared))] or [()] * len(names)
    built: dict[object, tuple[str, jax_ffi.Kinds]] = {}

    def find_target(values: Mapping[str, Any]) -> tuple[str, jax_ffi.Kinds]:
        launcher = kernel.launcher
        examples = (_example(n, values[n], types) for n, types in zip(names, declared))
        signature = launcher.signature_of(tuple(examples))
        key = launcher, signature
        if key not in built:
            request = KernelRequest(kernel, [signature])
            library = export_python(kernel.name, [request], _targets(kernel))
            kinds = parameter_kinds(library.kernels[0])
            built[key] = _register(library), jax_ffi.with_results(kernel.name, kinds, results)
        return built[key]

    return jax_ffi.FfiFunction(
        kernel.name,
        names,
        results,
        find_target,
        grid=kernel.grid if grid is None else grid,
        block=kernel.block if block is None else block,
        shared_bytes=kernel.shared_memory if shared_bytes is None else shared_bytes,
        out_shapes=out_shapes,
        vmap_method=vmap_method,
        defaults=defaults,
    )


def _example(name: str, value: Any, declared: Sequence[object]) -> Any:
    """Return a value of the type of an argument, with one element. Raises TypeError.

    declared: the types of the parameter. The last axis of an array may have vectors or records.
    """
    if isinstance(value, tuple):
        raise TypeError(f"{name} is a tuple, which functions of JAX programs cannot pass yet")
    if isinstance(value, np.generic) or not hasattr(value, "dtype"):
        return value
    if value.ndim == 0 and isinstance(value, jax.ShapeDtypeStruct):
        raise TypeError(f"the result {name} has no axes: arrays of kernels have at least one")
    if value.ndim == 0:
        return jax_ffi.constant(name, value)
    for dtype in (kind.dtype for kind in declared if isinstance(kind, Array)):
        lane = lane_type(dtype)
        has_lanes = lane is not dtype and value.dtype == lane.numpy
        if has_lanes and value.shape[-1] * lane.size == dtype.size:
            return np.empty((1,) * (value.ndim - 1), dtype.numpy)
    return np.empty((1,) * value.ndim, value.dtype)


def _targets(kernel: Kernel[Any]) -> list[str]:
    has_gpu = kernel.backend in ("auto", "cuda") and driver.available()
    return [*["cpu"] * (kernel.backend != "cuda"), *["cuda"] * has_gpu]


def _register(library: ExportedLibrary) -> str:
    """Compile and register the handlers of a library with one kernel; return their name."""
    has_gpu = "cuda" in library.targets
    settings = BuildSettings(
        cpu_flags=find_compiler().flags,
        bindings=("jax",),
        archs=(driver.arch(),) if has_gpu else (),
        static=True,
    )
    images = compile_images(library, settings.archs)
    files = library_files(library, images, settings)
    flags = compile_flags(library, settings, find_compiler())
    texts = (text.decode() for text in files.values())
    key = artifact_store.key_of(jax.lib.__version__, compiler_identity(), *flags, *texts)

    def make() -> tuple[bytes, str]:
        compiled = compile_library(library, files, settings)
        return compiled[f"lib/lib{library.name}_{JAX.suffix}.so"], ""

    found, target = artifact_store.load_or_make(key, ".so", make), f"{library.name}.{key[:16]}"
    path = found.path or artifact_store.write_private_file(f"{library.name}.so", found.data)
    with _registering:
        if target not in _registered:
            jax_ffi.register(ctypes.CDLL(path), library.name, target)
            _registered.add(target)
    return target

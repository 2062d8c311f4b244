"""Run CuPy's tests of custom kernels with pycu2c on the CPU; as a module, stand in for ``cupy``.

    PYTHONPATH=src python tests/peers/cupy.py SUITE [FILE …]

SUITE is a checkout of https://github.com/cupy/cupy, which is only read. FILE is a path in its
folder ``tests``; by default, the tests of custom kernels run. The output is that of
``tests/support/peer_suites.py``.

The tests import this file as ``cupy``. Its kernels are those of ``pycu2c.cupy``, its arrays and
its functions of arrays are numpy's, and ``cupy.testing`` is that of the suite.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for support

import pycu2c
import pycu2c.cupy
from support import peer_suites
from support.peer_suite_lists import CUPY

# ---- arrays --------------------------------------------------------------------------------------


class MemoryPointer:
    """Memory of the host, in place of ``cupy.cuda.MemoryPointer``."""

    def __init__(self, bytes_: numpy.ndarray[Any, Any]) -> None:
        self.bytes = bytes_
        self.ptr = bytes_.ctypes.data

    def copy_from(self, source: MemoryPointer, size: int) -> None:
        ctypes.memmove(self.ptr, source.ptr, size)


class ndarray(numpy.ndarray):
    """A numpy array with the further attributes of ``cupy.ndarray``."""

    def __new__(
        cls,
        shape: Any,
        dtype: Any = float,
        memptr: Any = None,
        strides: Any = None,
        order: str = "C",
    ) -> ndarray:
        if memptr is None:
            return super().__new__(cls, shape, dtype, None, 0, strides, order)
        size = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
        buffer = (ctypes.c_char * size).from_address(memptr.ptr)
        made = super().__new__(cls, shape, dtype, buffer, 0, strides, order)
        made._memory = memptr
        return made

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self)

    def get(self) -> numpy.ndarray[Any, Any]:
        return asnumpy(self)

    def set(self, values: Any) -> None:
        self[...] = values

    def __truediv__(self, other: Any) -> Any:
        if numpy.iscomplexobj(self) and getattr(other, "dtype", None) == self.dtype:
            return _as_cupy(_DIVIDE(self, other))
        return super().__truediv__(other)


# CuPy computes these with the functions that raw kernels call, so tests compare all bits
_DIVIDE = pycu2c.cupy.ElementwiseKernel("T x, T y", "T z", "z = x / y", "divide")
_ABSOLUTE = pycu2c.cupy.ElementwiseKernel("T x", "U z", "z = abs(x)", "absolute")


def absolute(array: Any) -> Any:
    if not isinstance(array, ndarray) or not numpy.iscomplexobj(array):
        return numpy.abs(array)
    return _as_cupy(_ABSOLUTE(array, numpy.empty(array.shape, array.real.dtype)))


def asnumpy(array: Any, *_: Any, **__: Any) -> numpy.ndarray[Any, Any]:
    return numpy.array(array, subok=False)


def get_array_module(*arrays: Any) -> ModuleType:
    return sys.modules["cupy"] if any(isinstance(a, ndarray) for a in arrays) else numpy


def _as_cupy(value: Any) -> Any:
    """Return arrays of numpy as arrays of CuPy, also in tuples and lists."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_as_cupy, value))
    return value.view(ndarray) if type(value) is numpy.ndarray else value


def _returns_cupy(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _as_cupy(function(*args, **kwargs))

    return call


class NumpyModule(ModuleType):
    """A module of numpy whose functions return arrays of CuPy."""

    def __init__(self, name: str, module: ModuleType) -> None:
        super().__init__(name)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _cupy_name(self._module, name)


def _cupy_name(module: ModuleType, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    value = getattr(module, name)
    if isinstance(value, (ModuleType, type, numpy.ufunc)) or not callable(value):
        return value
    return _returns_cupy(value)


def _random(shape: Any = None, dtype: Any = float) -> Any:
    return _as_cupy(numpy.random.random(shape)).astype(dtype)


class SimpleReduction:
    """``create_reduction_func``: a kernel for each pair of types."""

    def __init__(
        self,
        name: str,
        ops: tuple[str, ...],
        routine: Any,
        identity: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        map_expr, reduce_expr, post_map_expr, _ = routine
        self._kernels = {}
        for source, target in (op.split("->") for op in ops):
            in_dtype, out_dtype = numpy.dtype(source), numpy.dtype(target)
            self._kernels[in_dtype] = pycu2c.cupy.ReductionKernel(
                f"{in_dtype} in0",
                f"{out_dtype} out0",
                map_expr,
                reduce_expr,
                post_map_expr,
                str(identity),
                name,
            )

    def __call__(self, array: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return self._kernels[array.dtype](array, axis=axis, keepdims=keepdims)


class TextureArray:
    """``CUDAarray``: the elements of a texture."""

    def __init__(self, _channels: Any, width: int, height: int = 0, depth: int = 0) -> None:
        self.shape = tuple(n for n in (depth, height, width) if n)

    def copy_from(self, elements: Any) -> None:
        self.elements = asnumpy(elements).reshape(self.shape)


def _texture(array: TextureArray, _descriptor: Any) -> Any:
    return pycu2c.cuda.texture(array.elements, "clamp", "point")


# ---- modules -------------------------------------------------------------------------------------


def _module(name: str, **names: Any) -> ModuleType:
    """Create a module, and make it an attribute of its parent."""
    module = ModuleType(name)
    module.__path__ = []
    return _register(name, module, names)


def _register(name: str, module: ModuleType, names: dict[str, Any]) -> ModuleType:
    vars(module).update(names)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
    return module


class CacheBackend:
    """``DiskKernelCacheBackend``, which nothing uses."""

    def __init__(self, path: str) -> None:
        self.path = path


class Device:
    def __init__(self, device: int = 0) -> None:
        self.id = device

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def use(self) -> None:
        pass

    def synchronize(self) -> None:
        pass

    compute_capability = "90"


def _create_modules(suite: Path) -> None:
    own = _register(
        "cupy",
        sys.modules["cupy"],
        {name: getattr(pycu2c.cupy, name) for name in pycu2c.cupy.__all__} | {"abs": absolute},
    )
    own.__path__ = []
    _module("cupy._util", clear_memo=pycu2c.cupy.clear_memo)
    _module(
        "cupy._core",
        create_reduction_func=SimpleReduction,
        _get_warpsize=lambda: 32,
        _full_mask=lambda: 2**32 - 1,
    )
    _module("cupy._core.internal", prod=lambda shape: int(numpy.prod(shape)))
    accelerators: dict[str, list[str]] = {"reduction": [], "routine": []}
    accelerator_functions = {
        f"{verb}_{kind}_accelerators": (
            functools.partial(accelerators.__getitem__, kind)
            if verb == "get"
            else functools.partial(accelerators.__setitem__, kind)
        )
        for verb in ("get", "set")
        for kind in accelerators
    }
    _module("cupy._core._accelerator", ACCELERATOR_CUB=1, **accelerator_functions)
    vars(sys.modules["cupy._core"]).update(accelerator_functions)
    _module(
        "cupy.exceptions",
        AxisError=numpy.exceptions.AxisError,
        ComplexWarning=numpy.exceptions.ComplexWarning,
    )
    runtime: dict[str, Any] = {
        "is_hip": False,
        "runtimeGetVersion": lambda: 13000,
        "_getLocalRuntimeVersion": lambda: 13000,
        "driverGetVersion": lambda: 13000,
        "getDevice": lambda: 0,
        "deviceGetAttribute": lambda *_: 1,
        "cudaDevAttrCooperativeLaunch": 95,
        "cudaChannelFormatKindFloat": 2,
        "cudaResourceTypeArray": 0,
        "cudaAddressModeClamp": 1,
        "cudaFilterModePoint": 0,
        "cudaReadModeElementType": 0,
    }
    _module("cupy.cuda", Device=Device, get_nvcc_path=lambda: "nvcc")
    _module("cupy.cuda.runtime", **runtime)
    _module("cupy.cuda.device", Device=Device, get_compute_capability=lambda: "90")
    _module("cupy.cuda.driver", CUDADriverError=pycu2c.CudaError, _is_cuda_python=lambda: True)
    _module(
        "cupy.cuda.compiler",
        CompileException=pycu2c.CompileError,
        _kernel_cache_backend=None,
        _empty_file_preprocess_cache={},
        _get_bool_env_variable=None,
        _run_cc=lambda *_: "release 12.0",
    )
    _module("cupy.cuda._compiler_cache", DiskKernelCacheBackend=CacheBackend)
    _module("cupy.cuda.memory", alloc=lambda size: MemoryPointer(numpy.empty(size, numpy.uint8)))
    _module(
        "cupy.cuda.texture",
        ChannelFormatDescriptor=lambda *_: None,
        CUDAarray=TextureArray,
        ResourceDescriptor=lambda _, cuArr: cuArr,
        TextureDescriptor=lambda *_: None,
        TextureObject=_texture,
    )
    _register("cupy.random", NumpyModule("cupy.random", numpy.random), {})
    sys.modules["cupy.random"].random = _random
    _register("cupy.linalg", NumpyModule("cupy.linalg", numpy.linalg), {})
    for name in (
        "cupy_backends",
        "cupy_backends.cuda",
        "cupy_backends.cuda.api",
        "cupyx",
        "cupyx.scipy",
    ):
        _module(name)
    _module("cupyx.scipy.sparse", issparse=lambda _: False)
    _register("cupy_backends.cuda.api.runtime", sys.modules["cupy.cuda.runtime"], {})
    _module("cupy_backends.cuda.libs")
    _module("cupy_backends.cuda.libs.nvrtc", getVersion=lambda: (13, 0))
    _register("cupyx.jit", importlib.import_module("pycu2c.cupy.jit"), {})
    testing = _module("cupy.testing")
    spec = importlib.util.spec_from_file_location(
        "cupy.testing", suite / "cupy/testing/__init__.py"
    )
    testing.__path__ = [str(suite / "cupy" / "testing")]
    testing.__spec__ = spec
    spec.loader.exec_module(testing)


def __getattr__(name: str) -> Any:
    return _cupy_name(numpy, name)


def _prepare(suite: Path) -> None:
    importlib.import_module("cupy")
    sys.path.insert(0, str(suite / "tests"))


if __name__ == "__main__":
    sys.exit(peer_suites.main(CUPY, _prepare))
else:
    _create_modules(Path(os.environ[CUPY.variable]))

"""Launch methods on CUDA device 0."""

from __future__ import annotations

import ctypes
import functools
import os
import tempfile
from collections.abc import Callable
from typing import Any

from launchers import COUNTS, NUMBERS, PYTHON, THREADS, C, LaunchMethod, arrays, named
from launchers.on_cpu import called_and_configured
from pycu2c import cuda, kernel
from pycu2c.cuda_driver import driver, kernel_api, libcuda
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.nvrtc import nvrtc

_LOOP = """\
#include <time.h>
typedef int (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void *, void **, void **);
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
double launch_loop(Launch launch, void *kernel, void **parameters, int count) {
    double start = now();
    for (int i = 0; i < count; i++) launch(kernel, 1, 1, 1, 32, 1, 1, 0, 0, parameters, 0);
    return now() - start;
}
"""


def wait() -> None:
    driver.synchronize()


@functools.cache
def cubin(count: int) -> bytes:
    name, parameters, body = C[count]
    head = f'extern "C" __global__ void {name}({parameters})'
    text = f"{head} {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"
    return nvrtc.compile(text, name, driver.arch()).data


@functools.cache
def hand_written(count: int) -> Any:
    """Return the hand-written kernel."""
    return kernel_api.load_kernel(cubin(count), C[count][0])


def on_device(count: int) -> list[Any]:
    return [cuda.to_device(a) for a in arrays(count)]


def address_of(array: Any) -> int:
    return int(array.__cuda_array_interface__["data"][0])


def pointers(count: int, given: list[Any]) -> tuple[Any, Any]:
    """Return the arguments in memory, and the array of their addresses."""
    values = [ctypes.c_void_p(address_of(a)) for a in given]
    for number in NUMBERS[count]:
        values.append((ctypes.c_float if number.dtype.kind == "f" else ctypes.c_int)(number))
    return values, (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))


def _way(name: str, count: int, how: str, names: dict[str, Any], given: list[Any]) -> LaunchMethod:
    return LaunchMethod(name, count, how, names, lambda: given[0].copy_to_host(), wait)


def by_c() -> list[LaunchMethod]:
    library = ctypes.CDLL(os.fspath(cc.compile(_LOOP, "launch_loop").path or ""))
    loop, address = library.launch_loop, libcuda.address_of("cuLaunchKernel", takes_stream=True)
    loop.restype = ctypes.c_double
    loop.argtypes = (ctypes.c_void_p,) * 3 + (ctypes.c_int,)
    found = []
    for count in COUNTS:
        given = on_device(count)
        kept, places = pointers(count, given)
        handle = int(hand_written(count).handle)

        def seconds(n: int, handle: int = handle, places: Any = places, kept: Any = kept) -> float:
            return float(loop(address, handle, places, n))

        found.append(_way_of("C loop over cuLaunchKernel", count, seconds, given))
    return found


def _way_of(
    name: str, count: int, seconds: Callable[[int], float], given: list[Any]
) -> LaunchMethod:
    return LaunchMethod(name, count, seconds, {}, lambda: given[0].copy_to_host(), wait)


def by_bindings() -> list[LaunchMethod]:
    found = []
    for count in COUNTS:
        given = on_device(count)
        kept, places = pointers(count, given)
        names = {"f": driver.api().cuLaunchKernel, "k": hand_written(count).handle, "kept": kept}
        names["p"] = ctypes.addressof(places)
        names["places"] = places
        how = "f(k, 1, 1, 1, 32, 1, 1, 0, 0, p, 0)"
        found.append(_way("cuda.bindings, packed arguments", count, how, names, given))
    return found


def by_cuda_core() -> list[LaunchMethod]:
    try:
        from cuda import core
        from cuda.core import ObjectCode
    except ImportError:
        from cuda.core import experimental as core
        from cuda.core.experimental import ObjectCode

    device = core.Device()
    device.set_current()
    found = []
    for count in COUNTS:
        given = on_device(count)
        code = ObjectCode.from_cubin(cubin(count)).get_kernel(C[count][0])
        text, names = named([*map(address_of, given), *NUMBERS[count]])
        config = core.LaunchConfig(grid=1, block=THREADS)
        names |= {"f": core.launch, "s": device.default_stream, "c": config, "k": code}
        found.append(_way("cuda.core.launch", count, f"f(s, c, k, {text})", names, given))
    return found


def by_cupy() -> list[LaunchMethod]:
    import cupy

    found = []
    for count in COUNTS:
        given = [cupy.asarray(a) for a in arrays(count)]
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubin(count))
            file.flush()
            raw = cupy.RawModule(path=file.name).get_function(C[count][0])
            text, names = named([*given, *NUMBERS[count]])
            names |= {"f": raw}
            how = f"f((1,), ({THREADS},), ({text}))"
            found.append(_cupy_way("CuPy: RawKernel", count, how, names, given))
    return found


def _cupy_way(
    name: str, count: int, how: str, names: dict[str, Any], given: list[Any]
) -> LaunchMethod:
    return LaunchMethod(name, count, how, names, lambda: given[0].get(), wait)


def by_cupy_elements() -> list[LaunchMethod]:
    import cupy

    found = []
    for count in COUNTS:
        name, parameters, body = C[count]
        out, *read = [cupy.asarray(a) for a in arrays(count)]
        words = parameters.replace("const ", "").replace("*", "").split(", ")[1:]
        types = ", ".join(w.replace("float ", "float32 ").replace("int ", "int32 ") for w in words)
        operation = body.replace("if (i < n) ", "").replace("[i]", "")
        f = cupy.ElementwiseKernel(types, "float32 out", operation, name)
        text, names = named([*read, *NUMBERS[count], out])
        names |= {"f": f}
        how = f"f({text})"
        found.append(_cupy_way("CuPy: ElementwiseKernel", count, how, names, [out]))
    return found


def by_pycuda() -> list[LaunchMethod]:
    import pycuda.autoprimaryctx
    import pycuda.driver

    found = []
    for count in COUNTS:
        given = on_device(count)
        f = pycuda.driver.module_from_buffer(cubin(count)).get_function(C[count][0])
        f.prepare("P" * len(given) + "".join(n.dtype.char for n in NUMBERS[count]))
        text, names = named([*map(address_of, given), *NUMBERS[count]])
        names |= {"f": f.prepared_call, "grid": (1, 1), "block": (THREADS, 1, 1)}
        found.append(_way("PyCUDA: prepared_call", count, f"f(grid, block, {text})", names, given))
    return found


def by_numba() -> list[LaunchMethod]:
    import numpy

    numpy.row_stack = getattr(numpy, "row_stack", numpy.vstack)  # numba-cuda 0.x requires it
    import numba.cuda

    found = []
    for count in COUNTS:
        name = C[count][0]
        parameters = ", ".join(PYTHON[count].__code__.co_varnames[:count])
        body = C[count][2].rstrip(";").replace("if (i < n) ", "")
        names: dict[str, Any] = {"numba": numba}
        exec(f"def {name}({parameters}):\n i = numba.cuda.grid(1)\n {body}\n", names)
        given = [numba.cuda.to_device(a) for a in arrays(count)]
        text, values = named([*given, *NUMBERS[count]])
        values |= {"k": numba.cuda.jit(names[name])}
        how = f"k[1, {THREADS}]({text})"
        found.append(_way("numba-cuda: k[grid, block](…)", count, how, values, given))
    return found


def by_warp() -> list[LaunchMethod]:
    from launchers import on_warp

    return on_warp.methods()


def with_pycu2c() -> list[LaunchMethod]:
    found = []
    for count in COUNTS:
        read = lambda array: array.copy_to_host()  # noqa: E731
        found += called_and_configured(count, on_device(count), "cuda", read, wait)
    return found


def _pycu2c_method(
    name: str, count: int, given: list[Any], read: Callable[[Any], Any]
) -> LaunchMethod:
    text, names = named([*given, *(n.item() for n in NUMBERS[count])])
    names |= {"k": kernel(backend="cuda")(PYTHON[count])}
    return LaunchMethod(
        name, count, f"k[1, {THREADS}]({text})", names, lambda: read(given[0]), wait
    )


def with_pycu2c_and_cupy() -> list[LaunchMethod]:
    import cupy

    name = "pycu2c: k[…](arrays of CuPy, …)"
    every = {n: [cupy.asarray(a) for a in arrays(n)] for n in COUNTS}
    return [_pycu2c_method(name, n, given, lambda a: a.get()) for n, given in every.items()]


def with_pycu2c_and_torch() -> list[LaunchMethod]:
    import torch

    name = "pycu2c: k[…](tensors of PyTorch, …)"
    every = {n: [torch.asarray(a, device="cuda") for a in arrays(n)] for n in COUNTS}
    return [_pycu2c_method(name, n, given, lambda a: a.cpu().numpy()) for n, given in every.items()]


MAKERS = (
    by_c,
    by_bindings,
    by_cuda_core,
    by_cupy,
    by_cupy_elements,
    by_pycuda,
    by_numba,
    by_warp,
    with_pycu2c,
    with_pycu2c_and_cupy,
    with_pycu2c_and_torch,
)

"""CUDA C text for a GPU, up to the launch: compilation and argument packing. Needs no GPU."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from pycu2c import cupy
from pycu2c.base.diagnostics import LaunchError
from pycu2c.compat.cuda_text import TextModule, arguments, compiled, cuda_build
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.runtime.arguments.arguments import pack
from pycu2c.runtime.cuda import cuda_runner
from pycu2c.runtime.launch_configuration import Launch

TEXT = """template <class T> struct Pair { T a, b; };
__constant__ float table[8];
extern "C" __global__ void k(const float *in, float *out, int n, float s, double d, bool b,
                             Pair<short> p, long long q, char c) {
    out[0] = in[0] + n + s + d + b + p.a + q + c + table[n];
}
namespace own { template <class T> __global__ void t(T *x, T y) { x[0] = y; } }
__global__ void plain(int *x) { x[0] = 1; }
"""


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_short), ("b", ctypes.c_short))


ARRAY = np.zeros(4, np.float32)
GIVEN = (ARRAY, ARRAY, 3, 2.5, 1, True, Pair(1, 2), 2**40, np.int8(3))
FORMAT = "@PPifdb1x4s2xqb"  # of Python's struct


class Ran(NamedTuple):
    name: str
    launch: Launch
    written: frozenset[int]
    format: str
    cooperative: bool


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Ran]:
    """The launches that a driver would be asked for."""
    result: list[Ran] = []

    def run(self: Any, launch: Launch, leaves: Any) -> None:
        kernel = self.kernel
        form = self.layout.struct.format
        result.append(Ran(kernel.name, launch, self.written, form, kernel.cooperative))

    class Api:
        cuLaunchKernel = None

    loaded = kernel_api.LoadedKernel("handle", "library", 0, 48 << 10, 1024, 32)
    for name, value in {
        "available": lambda: True,
        "arch": lambda: "sm_90",
        "current_ordinal": lambda: 0,
        "api": lambda: Api,
    }.items():
        monkeypatch.setattr(driver, name, value)
    monkeypatch.setattr(kernel_api, "load_library", lambda code, doing: "library")
    monkeypatch.setattr(kernel_api, "kernel_of", lambda library, entry: loaded)
    monkeypatch.setattr(kernel_api, "has_kernel", lambda library, name: name != "missing")
    offsets, sizes = (0, 8, 16, 20, 24, 32, 34, 40, 48), (8, 8, 4, 4, 8, 1, 4, 8, 1)
    monkeypatch.setattr(kernel_api, "parameter_layout", lambda kernel: [*zip(offsets, sizes)])
    monkeypatch.setattr(cuda_runner.CudaRunner, "run", run)
    monkeypatch.setattr(cuda_runner.CudaRunner, "fast_path", None)
    return result


def test_what_kernels_take_is_read_from_their_code() -> None:
    cubin = TextModule(TEXT, name_expressions=("own::t<double>",)).cubin()
    result = compiled.entry_parameters(cubin.entry_declarations)
    assert [p.size for p in result["k"]] == [8, 8, 4, 4, 8, 1, 4, 8, 1]
    assert [p.kind.name[0] for p in result["k"]] == list("IIIFFIBII")
    entry = cuda_build.entry_named("own::t<double>", cubin, result)
    assert entry is not None
    assert [p.kind.name for p in result[entry]] == ["INTEGER", "FLOAT"]
    assert cuda_build.entry_named("plain", cubin, result) == "_Z5plainPi"  # C++ has mangled it
    assert cuda_build.entry_named("pla", cubin, result) is None


def test_arguments_are_packed_as_c_lays_them_out() -> None:
    expected = compiled.entry_parameters(TextModule(TEXT).cubin().entry_declarations)["k"]
    taken = arguments.bind_arguments(GIVEN, expected, "k")
    layout = arguments.layout_for(taken, expected)
    assert layout.struct.format == FORMAT
    packed = pack(layout, arguments.leaves_of(taken), [7] * len(GIVEN))
    assert packed[:8] == (7).to_bytes(8, "little")
    assert np.frombuffer(packed, np.float32, 1, 20)[0] == 2.5
    assert packed[34:38] == bytes(Pair(1, 2))


def test_a_launch(ran: list[Ran]) -> None:
    kernel = cupy.RawKernel(TEXT, "k")
    kernel((2, 3), (32,), GIVEN, shared_mem=64, stream=0)
    launch = Launch((2, 3, 1), (32, 1, 1), 0, 64)
    assert ran == [Ran("k", launch, frozenset({1}), FORMAT, False)]
    with pytest.raises(LaunchError, match=r"k takes 9 arguments \(in, out, n, s, d, b, p, q, c\)"):
        kernel((1,), (1,), GIVEN[:3])
    cupy.RawKernel(TEXT, "k", enable_cooperative_groups=True)((1,), (1,), GIVEN)
    assert ran[1].cooperative


@pytest.mark.parametrize("suffix", [".ptx", ".cubin"])
def test_files_that_are_compiled_already(ran: list[Ran], suffix: str, tmp_path: Path) -> None:
    made, path = TextModule(TEXT), tmp_path / f"k{suffix}"
    ptx = made.inspect("ptx").rstrip("\0").encode()
    path.write_bytes(ptx if suffix == ".ptx" else made.cubin().data)
    module = cupy.RawModule(path=str(path))
    inputs = (*GIVEN[:4], np.float64(1), *GIVEN[5:])  # a cubin does not say what is a float
    module.get_function("k")((1,), (1,), inputs)
    assert ran[0].format.replace("f", "i") == FORMAT.replace("f", "i")
    assert ran[0].written == {0, 1}
    with pytest.raises(LaunchError, match="takes 9 arguments"):
        module.get_function("k")((1,), (1,), (ARRAY,))
    assert module.get_function("_Z5plainPi")  # another kernel after a launch
    with pytest.raises(LookupError):
        module.get_function("missing")

"""PyCUDA's compiler: modules, options, errors, binaries. NVRTC makes binaries where there is no
GPU, too; kernels run on the GPU, or the CPU where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pycu2c.pycuda.driver as drv
from pycu2c import CompileError, cupy
from pycu2c.compat.pycuda.modules import nvrtc_options
from pycu2c.pycuda.compiler import SourceModule

SCALE = """
#ifndef FACTOR
#define FACTOR 2
#endif
__global__ void scale(float *x) { x[threadIdx.x] *= FACTOR; }
"""


def scaled_by(module: SourceModule) -> float:
    """What a module makes of 1."""
    x = np.ones(4, np.float32)
    module.get_function("scale")(drv.InOut(x), block=(4, 1, 1))
    assert len(set(x)) == 1
    return float(x[0])


# ---- modules -----------------------------------------------------------------------------------


def test_options() -> None:
    assert scaled_by(SourceModule(SCALE)) == 2
    assert scaled_by(SourceModule(SCALE, options=["-DFACTOR=3", "-O3", "--use_fast_math"])) == 3
    assert scaled_by(SourceModule(SCALE, options=("-D", "FACTOR=4", "-Xcompiler", "-fPIC"))) == 4
    assert scaled_by(SourceModule(SCALE, arch="sm_50", code="compute_50")) == 2
    assert scaled_by(SourceModule(SCALE, options=["-std=c++11"])) == 2
    assert scaled_by(SourceModule(SCALE, nvcc="/usr/bin/there-is-no-nvcc")) == 2


def test_files_that_are_included(tmp_path: Path) -> None:
    (tmp_path / "factor.h").write_text("#define FACTOR 5\n")
    text = '#include "factor.h"\n' + SCALE
    assert scaled_by(SourceModule(text, include_dirs=[str(tmp_path)])) == 5
    (tmp_path / "factor.h").write_text("#define FACTOR 6\n")
    assert scaled_by(SourceModule(text, include_dirs=[str(tmp_path)])) == 6


def test_texts_of_other_kinds() -> None:
    class Generator:
        def generate(self) -> list[str]:
            return SCALE.splitlines()

        def __str__(self) -> str:
            return "\n".join(self.generate())

    arguments: Any
    for arguments in (SCALE.encode(), Generator()):
        assert scaled_by(SourceModule(arguments)) == 2


def test_cpp_without_extern_c() -> None:
    text = """
    template <class T> __device__ T twice(T x) { return 2 * x; }
    extern "C" __global__ void scale(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
    """
    assert scaled_by(SourceModule(text, no_extern_c=True)) == 2
    assert scaled_by(SourceModule('extern "C++" {\n' + text + "}")) == 2


HEADERS = ["stdio.h", "stdlib.h", "string.h", "math.h", "stdint.h", "limits.h", "float.h"]
HEADERS += ["assert.h", "cstdio", "cmath", "cstdint", "cuda.h", "cuda_runtime.h", "cuda_fp16.h"]
HEADERS += ["cooperative_groups.h"]


@pytest.mark.slow
def test_headers_of_c_and_of_cuda() -> None:
    """NVRTC has none of C's, and a text is C, where most of CUDA's are C++."""
    text = (
        "\n".join(f"#include <{name}>" for name in HEADERS)
        + """
    __global__ void fill(double *out, uint8_t n)
    {
      if (threadIdx.x == 0 && out == NULL) printf("%d\\n", INT_MAX);
      out[0] = M_PI + n;
      out[1] = FLT_MAX;
      out[2] = __half2float(__float2half(0.5f));
      out[3] = INFINITY;
    }
    """
    )
    out = np.zeros(4)
    SourceModule(text).get_function("fill")(drv.Out(out), np.uint8(2), block=(1, 1, 1))
    assert out.tolist() == [np.pi + 2, np.finfo(np.float32).max, 0.5, np.inf]
    with pytest.raises(drv.CompileError) as caught:
        SourceModule(text + "foo;")
    assert caught.value.line == text.count("\n") + 1


# ---- errors ------------------------------------------------------------------------------------


def test_errors_show_the_users_lines() -> None:
    with pytest.raises(drv.CompileError) as caught:
        SourceModule("__global__ void k(float *x) {\n  x[0] = foo;\n}")
    said = str(caught.value)
    assert "x[0] = foo;\n" in said
    assert "^^^" in said
    assert caught.value.line == 2
    assert caught.value.diagnostics
    assert isinstance(caught.value, drv.Error)


# ---- binaries ----------------------------------------------------------------------------------


@pytest.mark.gpu
def test_binaries_are_loaded(tmp_path: Path) -> None:
    data = SourceModule(SCALE).inspect("ptx").encode()
    path = tmp_path / "kernel.ptx"
    path.write_bytes(data)
    for module in (drv.module_from_buffer(data), drv.module_from_file(str(path))):
        x = np.ones(4, np.float32)
        module.get_function("scale")(drv.InOut(x), block=(4, 1, 1))
        assert x.tolist() == [2] * 4
        with pytest.raises(drv.LogicError, match="no kernel nothing"):
            module.get_function("nothing")


# ---- the rest ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["-O3", "-g", "-lineinfo", "-lcudadevrt", "-rdc=true"], ["-lineinfo"]),
        (["-Xptxas", "-v", "-Xptxas=-O1"], ["--ptxas-options=-v", "--ptxas-options=-O1"]),
        (["-maxrregcount", "32", "--maxrregcount=16"], ["--maxrregcount=32", "--maxrregcount=16"]),
        (["-gencode", "arch=compute_70,code=sm_70", "-v", "--default-stream=legacy"], []),
        (["--expt-relaxed-constexpr", "-Wno-deprecated-gpu-targets"], []),
        (["-ccbin", "gcc", "--compiler-options", "-P", "-m64"], []),
        (
            ["-I", "a", "-Ib", "-std=c++14", "-std", "c++17"],
            ["-Ia", "-Ib", "--std=c++14", "--std=c++17"],
        ),
    ],
)
def test_options_of_nvcc(arguments: list[str], kept: list[str]) -> None:
    assert nvrtc_options(arguments) == kept
    assert nvrtc_options(["-arch", "sm_80", "-code=sm_86"]) == []


@pytest.mark.skipif("CI" not in os.environ, reason="elsewhere there may be one")
def test_there_is_no_nvcc_where_the_suite_has_to_pass() -> None:
    assert shutil.which("nvcc") is None


def test_no_nvcc_is_looked_for(tmp_path: Path) -> None:
    """Nor any other program of CUDA: the path has a C++ compiler and nothing else."""
    for name in ("g++", "gcc", "clang++", "clang", "cc", "c++", "ld", "as"):
        result = subprocess.run(["which", name], capture_output=True, text=True).stdout.strip()
        if result:
            (tmp_path / name).symlink_to(result)
    code = f"""
import numpy as np
import pycu2c.pycuda.autoinit
import pycu2c.pycuda.driver as cuda
from pycu2c.pycuda.compiler import SourceModule
x = np.ones(4, np.float32)
SourceModule({SCALE!r}, cache_dir=False).get_function("scale")(cuda.InOut(x), block=(4, 1, 1))
print(x[0])
"""
    environment = {**os.environ, "PATH": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert ran.stdout == "2.0\n", ran.stderr


def test_a_mistake_is_reported_once() -> None:
    """No other traceback stands above it."""
    with pytest.raises(drv.CompileError) as result:
        SourceModule("__global__ void k(float *x) { x[0] = 1 }")
    assert result.value.__suppress_context__
    assert result.value.__cause__ is None
    kernel = cupy.RawKernel('extern "C" __global__ void k(int *x) { x[0] = 1 }', "k")
    with pytest.raises(CompileError) as ours:
        kernel.compile()
    assert ours.value.__suppress_context__

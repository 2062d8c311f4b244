"""Fibers: threads with separate stacks, on every processor, run to the end or abandoned."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pycu2c.runtime.cpu import fibers
from support.c_compilers import CROSS, EMULATORS, check_warnings, compiler, names, needed
from support.cuda_text import output_of
from support.paths import TESTS

LONG_ROW = """extern "C" __global__ void k(int *out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    for (int i = 0; i < 50; i++) {
        __syncthreads();
        if (i % blockDim.x == threadIdx.x) sum += i;
        __syncwarp();
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}"""


@pytest.mark.parametrize("block", [1, 31, 32, 33, 1000, 1024])
def test_blocks_of_every_size(block: int) -> None:
    out = output_of(LONG_ROW, "cpu", 3 * block, np.int32, grid=3, block=block)
    assert set(out.tolist()) == {sum(i for i in range(50) if i % block < block)}


def test_many_blocks_use_the_stacks_again() -> None:
    out = output_of(LONG_ROW, "cpu", 2000 * 64, np.int32, grid=2000, block=64)
    assert set(out.tolist()) == {1225}


def test_large_arrays_of_a_thread() -> None:
    text = """extern "C" __global__ void k(double *out) {
    double own[64000];
    for (int i = 0; i < 64000; i++) own[i] = i + threadIdx.x;
    __syncthreads();
    double sum = 0;
    for (int i = 0; i < 64000; i++) sum += own[i];
    out[threadIdx.x] = sum;
}"""
    out = output_of(text, "cpu", 100, np.float64, block=100)
    assert np.array_equal(out, 64000 * np.arange(100) + 63999 * 32000)


def test_the_text_has_no_warnings() -> None:
    assert check_warnings(fibers.fibers_text()) == ""


@pytest.mark.parametrize("name", [n for n in names() if CROSS.get(n) in (None, "aarch64")])
@pytest.mark.parametrize("switch", ["", "#define PYCU2C_NO_SWITCH 1\n"])
def test_every_compiler_and_processor(name: str, switch: str, tmp_path: Path) -> None:
    made, emulator = compiler(name), ()
    if name in CROSS:
        needed(shutil.which(EMULATORS[CROSS[name]]), EMULATORS[CROSS[name]])
        emulator = (EMULATORS[CROSS[name]],)
    check = (Path(__file__).parent / "fibers_check.c").read_text()
    (tmp_path / "check.c").write_text(switch + fibers.fibers_text() + check)
    static = ("-static",) if name in CROSS else ()
    words = (*made.command, "-std=gnu11", "-O2", *static, "check.c", "-o", "check", "-pthread")
    subprocess.run(words, cwd=tmp_path, check=True)
    ran = subprocess.run((*emulator, "./check"), cwd=tmp_path, capture_output=True, text=True)
    assert ran.stdout == "0 192 528 1552\n"


ELSEWHERE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from pycu2c.runtime.cpu import fibers
text = fibers.fibers_text()
fibers.fibers_text = lambda: "#define PYCU2C_NO_SWITCH 1\\n" + text
from support.c_compilers import CROSS, EMULATORS, check_warnings, compiler, names, needed
from support.cuda_text import output_of
from runtime.cpu.test_fibers import LONG_ROW
out = output_of(LONG_ROW, "cpu", 200, np.int32, grid=2, block=100)
assert set(out.tolist()) == {1225}, out
print("done")
"""

INTERRUPTED = """
import os, signal, threading, time
import numpy as np
from pycu2c import cupy
text = '''extern "C" __global__ void k(float *x) {
    __syncthreads();
    volatile float *v = x;
    while (v[0] == 0) {}
}'''
k = cupy.RawKernel(text, "k", backend="cpu")
x = np.zeros(1, np.float32)
k.compile()
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    k((8,), (64,), (x,))
except KeyboardInterrupt:
    x[0] = 1
    k((8,), (64,), (x,))
    print("done")
"""


@pytest.mark.usefixtures("sigint_not_ignored")
@pytest.mark.parametrize("program", [ELSEWHERE, INTERRUPTED])
def test_in_a_process_of_its_own(program: str) -> None:
    """Where a processor has no switch of ours; and Ctrl-C in a kernel that does not end."""
    words = [sys.executable, "-c", program, str(TESTS)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert ran.stdout == "done\n", ran.stderr

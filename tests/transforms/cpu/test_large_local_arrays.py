"""Arrays of a block that are too large for the stacks of OS threads."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pycu2c import cuda, float64, kernel
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.compiler import generate
from pycu2c.declarations.signatures import parse_signature
from pycu2c.pipeline import TARGETS
from support.c_compilers import compiler
from support.launching import run


@kernel
def kept_over_a_barrier(data, out, memory_of_kept):
    kept = cuda.local.array(80, float64)
    shared = cuda.shared.array(1024, float64)
    t = cuda.threadIdx.x
    x = data[t] * 1.5 + 2.25
    for k in range(memory_of_kept):
        kept[k] = x * 0.75 + k
    shared[t] = x
    cuda.syncthreads()
    total = 0.0
    for k in range(memory_of_kept):
        total += kept[k]
    out[cuda.grid(1)] = shared[t * 7 % 1024] + total


def text() -> str:
    signature = parse_signature("float64[::1], float64[::1], int32")
    module = kept_over_a_barrier.launcher.compiler.build(signature).module
    return generate(
        module, TARGETS["cpu"], LaunchAssumptions(index32_safe=True, block=(1024, 1, 1))
    ).text


def test_each_os_thread_has_its_own(target: str) -> None:
    blocks, kept = (1, 5) if target == "python" else (9, 60)  # the reference has one OS thread
    data, shape = np.arange(1024.0), (blocks, 1024)
    out = run(kept_over_a_barrier, shape, [data, np.zeros(blocks * 1024), kept], target)[1]
    x = data * 1.5 + 2.25
    expected = x[np.arange(1024) * 7 % 1024] + x * 0.75 * kept + np.arange(kept).sum()
    np.testing.assert_allclose(out.reshape(shape), np.broadcast_to(expected, shape), 1e-14)


def test_a_name_of_the_user_is_kept() -> None:
    assert "void *memory_of_kept_(void) {" in text()
    assert "double (*__restrict__ kept)[80] = memory_of_kept_();" in text()


@pytest.mark.parametrize("name", ["gcc", "clang"])
@pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86-64's calls for such memory")
def test_no_loop_computes_a_thread_local_address(name: str, tmp_path: Path) -> None:
    """clang keeps registers over that call which its first in an OS thread may change."""
    source, assembly = tmp_path / "kept.c", tmp_path / "kept.s"
    source.write_text(text())
    command = [*compiler(name).command, "-std=gnu11", "-O3", "-march=x86-64-v4", "-fopenmp-simd"]
    subprocess.run(
        [*command, "-fPIC", "-S", "-Wno-pass-failed", source, "-o", assembly], check=True
    )
    function, asking = "", set()
    for line in assembly.read_text().splitlines():
        begun = re.match(r"(\w+):", line)
        function = begun.group(1) if begun else function
        if "__tls_get_addr" in line:
            asking.add(function)
    assert asking == {"memory_of_kept_"}

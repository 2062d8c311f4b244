"""Threads of CUDA C that poll memory let other threads run, also on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c.compat.cuda_text.host_source import ThreadExecution, generate_host_source
from pycu2c.compat.cuda_text.source_text import CudaSource
from support.cuda_text import BACKENDS, output_of


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "wait",
    [
        "while (atomicAdd(flag, 0) == 0);",
        "for (int n = 0;; n++) if ((unsigned)atomicOr(flag, 0)) break;",
        "int x; do { x = atomicMax_block(flag, 0); } while (!x);",
        "while (flag[0] == 0) __threadfence();",
        "while (__ldcv(flag) == 0) {}",
        "switch (t) { case 0: while (poll(flag) == 0); }",
        "__shared__ int s[1]; s[0] = 0; while (!atomicAdd(&s[0], 0)) atomicAdd(&s[0], poll(flag));",
    ],
)
def test_a_thread_polls_for_another(wait: str, backend: str) -> None:
    text = f"""__device__ int poll(int *p) {{ return atomicAdd(p, 0); }}
extern "C" __global__ void k(int *out, int *flag) {{
    int t = threadIdx.x;
    if (t == 0) {{ {wait} out[0] = 7; }}
    else if (t == 5) {{ atomicAdd(flag, 1); }}
}}"""
    out = output_of(text, backend, 1, np.int32, np.zeros(1, np.int32), block=40)
    assert out[0] == 7


def test_counts_in_loops_do_not_poll() -> None:
    text = """extern "C" __global__ void k(int *out, const int *x, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (x[i] > 0) atomicAdd(&out[x[i]], 1);
        else { atomicSub(&out[0], 1); }
    int rank = atomicAdd(&out[1], 1);
    out[2] = rank;
}"""
    (entry,) = generate_host_source(CudaSource(text), (), ()).entries
    assert entry.execution is not ThreadExecution.FIBERS

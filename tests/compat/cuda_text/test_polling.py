"""Threads of CUDA C that poll memory let other threads run, also on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c.compat.cuda_text.host_source import ThreadExecution, generate_host_source
from pycu2c.compat.cuda_text.source_text import CudaSource
from support.cuda_text import BACKENDS, output_of

FUNCTIONS = """
#define WAIT_FOR(p) do {} while (atomicAdd(p, 0) == 0)
__device__ int poll(int *p) { return atomicAdd(p, 0); }
__device__ int load(volatile int *p) { return *p; }
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "wait",
    [
        "while (atomicAdd(flag, 0) == 0);",
        "for (; atomicAdd(flag, 0) == 0;);",
        "for (int n = 0;; n++) if ((unsigned)atomicOr(flag, 0)) break;",
        "for (int n = 0; n < 1 << 30 && !atomicOr(flag, 0); n++) {}",
        "for (int done = 0, n = 0; !done; n++) { done = atomicOr(flag, 0); }",
        "int x; do { x = atomicMax_block(flag, 0); } while (!x);",
        "int x; do x = atomicMax_block(flag, 0); while (!x);",
        "bool done = false; while (!done) { done |= atomicAdd(flag, 0); }",
        "int n = 0; while (n < 1) { if (atomicAdd(flag, 0) == 0) continue; n++; }",
        "int n = 0; while (n < 1) { if (atomicAdd(flag, 0)) n++; }",
        "while (flag[0] == 0) __threadfence();",
        "while (__ldcg(flag) == 0) { __threadfence(); }",
        "while (__ldcv(flag) == 0) {}",
        "while (*(volatile int *)flag == 0);",
        "volatile int *v = flag; while (v[0] == 0);",
        "switch (t) { case 0: while (poll(flag) == 0); }",
        "while (!load(flag));",
        "WAIT_FOR(flag);",
        "auto wait = [=] { while (poll(flag) == 0); }; wait();",
        "__shared__ int s[1]; s[0] = 0; while (!atomicAdd(&s[0], 0)) atomicAdd(&s[0], poll(flag));",
    ],
)
def test_a_thread_polls_for_another(wait: str, backend: str) -> None:
    text = f"""{FUNCTIONS}
extern "C" __global__ void k(int *out, int *flag) {{
    int t = threadIdx.x;
    if (t == 0) {{ {wait} out[0] = 7; }}
    else if (t == 5) {{ atomicAdd(flag, 1); }}
}}"""
    out = output_of(text, backend, 1, np.int32, np.zeros(1, np.int32), block=40)
    assert out[0] == 7


def test_a_thread_polls_an_atomic_object() -> None:
    text = """#include <cuda/std/atomic>
extern "C" __global__ void k(int *out, cuda::std::atomic<int> *flag) {
    if (threadIdx.x == 0) { while (flag->load() == 0); out[0] = 7; }
    else if (threadIdx.x == 5) flag->store(1);
}"""
    out = output_of(text, "cpu", 1, np.int32, np.zeros(1, np.int32), block=40)
    assert out[0] == 7


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = t; i < n; i += 32) out[atomicAdd(&out[0], 1)] = x[i];",
        "for (int i = t; i < n; i += 32) { __threadfence(); out[i] = x[i]; }",
        "int i = t; while (i < n) { if (x[i]) { out[atomicAdd(&out[0], 1)] = x[i]; } i += 32; }",
        "int i = t; while (i >= 0) { if (atomicAdd(&out[i], 1)) return; i = x[i]; }",
        "int i = t; while (x[i]) { if (i) atomicAdd(&out[x[i]], 1); else { atomicSub(out, 1); } }",
        "do { out[0] = atomicAdd(&out[1], 1); } while (0);",
        "__threadfence(); if (atomicInc((unsigned *)out, n) == n) out[1] = __ldcv(x);",
    ],
)
def test_other_loops_do_not_need_fibers(loop: str) -> None:
    text = f"""extern "C" __global__ void k(int *out, const int *x, int n) {{
    int t = threadIdx.x;
    {loop}
}}"""
    (entry,) = generate_host_source(CudaSource(text), (), ()).entries
    assert entry.execution is not ThreadExecution.FIBERS

"""CUDA C whose tokens are easily misread: split and unsplit kernels give the same results."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c.compat.cuda_text import TextModule, cpu_build
from pycu2c.compat.cuda_text.host_source import ThreadExecution, generate_host_source

# Bodies of kernels k(int *x, int n, int *y): one block of 64 threads.
SPLIT = {
    "a pointer to a variable of all": """
        int t = threadIdx.x, m = 2, *r = &m; if (t == 3) *r = 7; __syncthreads(); y[t] = m;""",
    "a member": """
        int t = threadIdx.x; int2 v = make_int2(t, 2); v.x += 1; int *q = &v.y;
        __syncthreads(); *q += v.x; __syncthreads(); y[t] = v.y;""",
    "a pointer to a row": """
        int t = threadIdx.x; int a[2][3] = {{1,2,3},{4,5,6}}; int *r = a[1]; r[0] += t;
        __syncthreads(); r[1] += t; __syncthreads(); y[t] = a[1][0] + a[1][1];""",
    "a choice of all": """
        int t = threadIdx.x, m = n > 3 ? 2 : 3; for (int i = 0; i < m; i++) {
        __syncthreads(); y[t] += i; }""",
    "breaks of two loops": """
        int t = threadIdx.x; for (int i = 0; i < 9; i++) { for (int j = 0; j < 5; j++) {
        if (j > t) break; y[t] += j; } __syncthreads(); if (i == 4) break; }""",
    "a switch": """
        int t = threadIdx.x; for (int i = 0; i < 4; i++) { switch (t % 3) {
        case 0: y[t] += 1; break; case 1: y[t] += 2; default: y[t] += 5; } __syncthreads();
        }""",
    "a parameter that is hidden": """
        int t = threadIdx.x; { int n = t; y[t] = n; __syncthreads(); y[t] += n; }
        __syncthreads(); y[t] += n;""",
    "one name in two blocks": """
        int t = threadIdx.x; { int q = t; __syncthreads(); y[t] = q; } { int q = 3;
        __syncthreads(); y[t] += q; }""",
    "an assignment in a branch of all": """
        int t = threadIdx.x, m = 1; if (n > 3) { m = 4; __syncthreads(); } for (int i = 0;
        i < m; i++) { __syncthreads(); y[t] += m; }""",
    "what was computed of other values": """
        int t = threadIdx.x, m = 1; int q = t + m; __syncthreads(); m = 5; __syncthreads();
        y[t] = q + m;""",
    "what is computed anew in each round": """
        int t = threadIdx.x; for (int i = 0; i < 3; i++) { int q = t * i; __syncthreads();
        y[t] += q; __syncthreads(); y[t] += q; }""",
    "a variable after its loop": """
        int t = threadIdx.x, i = 0; for (i = 0; i < 3; i++) { __syncthreads(); } y[t] = i;""",
    "types of several words": """
        unsigned long long int t = threadIdx.x; const unsigned q = 3u; __syncthreads();
        y[t] = q * t;""",
    "a name that hides a global one": """
        total = 5; __syncthreads(); int t = threadIdx.x; { int total = t; __syncthreads();
        y[t] = total; } y[t] += total;""",
    "small integers": """
        unsigned char t = threadIdx.x; signed char m = 120; m += 20; __syncthreads();
        y[t] = m;""",
    "a loop of floats": """
        int t = threadIdx.x; for (float f = 0.5f; f < 3.0f; f *= 1.5f) { __syncthreads();
        y[t] += (int)(f * 10); }""",
    "a variable that all change": """
        int t = threadIdx.x, m = 1; y[t] = m; m = 2; y[t] += m; m = 3; __syncthreads();
        y[t] += m;""",
}
OTHERS = {
    "a macro that is a statement": """
        INC(y[threadIdx.x]); __syncthreads(); INC(y[threadIdx.x]);""",
    "a class template": """
        int t = threadIdx.x; Pair<int, 4> p; p.a[1] = t; __syncthreads(); p.a[1] += 1;
        __syncthreads(); y[t] = p.a[1];""",
    "a template of a template": """
        int t = threadIdx.x; Pair<Pair<int, 4>, 2> p; p.a[1].a[0] = t; __syncthreads();
        y[t] = p.a[1].a[0] >> 1;""",
    "a barrier after a return": """
        int t = threadIdx.x; if (t >= n) return; __syncthreads();
        y[t] = __syncthreads_count(1);""",
    "a switch that goes on with the loop": """
        int t = threadIdx.x; for (int i = 0; i < 4; i++) { __syncthreads(); switch (i) {
        case 2: continue; default: y[t] += 5; } __syncthreads(); y[t] += i; }""",
    "a switch in a condition that does": """
        int t = threadIdx.x; for (int i = 0; i < 4; i++) { if (n > 3) { switch (i) {
        case 2: continue; default: y[t] += 5; } } __syncthreads(); y[t] += i; }""",
    "a cast of what a pointer points at": """
        int m = (int)*x + 2; int t = threadIdx.x; for (int i = 0; i < m; i++) {
        __syncthreads(); if (t == 0) x[0] = 5; y[t]++; }""",
    "a macro that reads memory": """
        int t = threadIdx.x; for (int i = 0; i < FIRST; i++) { __syncthreads(); y[t]++; }""",
    "a reference to a variable of all": """
        int t = threadIdx.x, m = 2; int &r = m; if (t == 3) r = 7; __syncthreads();
        y[t] = m;""",
    "two variables of a loop": """
        int t = threadIdx.x; for (int i = 0, j = 5; i < j; i++, j--) { __syncthreads();
        y[t] += i * j; }""",
    "a condition that counts": """
        int t = threadIdx.x; int i = 2; while (i--) { __syncthreads(); y[t]++; }""",
    "a condition that assigns": """
        int t = threadIdx.x; int i = 0; while ((i += 1) < 4) { __syncthreads(); y[t]++; }""",
    "a bound from shared memory": """
        __shared__ int m; int t = threadIdx.x; m = 3; __syncthreads(); int q = m;
        __syncthreads(); m = 9; __syncthreads(); for (int i = 0; i < q; i++) {
        __syncthreads(); y[t]++; }""",
    "a macro of several statements": """
        int t = threadIdx.x, a = 0, b = 1; for (int i = 0; i < 3; i++) { __syncthreads();
        y[t] += a; SWAP(a, b); }""",
    "a lambda that changes a variable": """
        int t = threadIdx.x, m = 3; auto f = [&]() { m += t; }; __syncthreads(); f();
        __syncthreads(); y[t] = m;""",
    "a global bound": """
        int t = threadIdx.x; if (t == 0) total = 3; __syncthreads(); for (int i = 0;
        i < total; i++) { __syncthreads(); y[t]++; }""",
}
BEFORE = """#define FIRST (x[1] + 1)
#define INC(a) (a)++
#define SWAP(a, b) { int c = a; a = b; b = c; }
__device__ int total;
template <class T, int N> struct Pair { T a[N]; };
"""


def found(bodies: list[str]) -> tuple[list[list[int]], list[ThreadExecution]]:
    """What the kernels of one text give, and how their threads run."""
    head = 'extern "C" __global__ void k'
    kernels = [f"{head}{i}(int *x, int n, int *y) {{ {b} }}" for i, b in enumerate(bodies)]
    module = TextModule(BEFORE + "\n".join(kernels), backend="cpu")
    results = []
    for i in range(len(bodies)):
        x, y = np.array([1, 2, 3, 4] * 16, np.int32), np.zeros(64, np.int32)
        module.function(f"k{i}").launch(1, 64, (x, 20, y))
        results.append(y.tolist())
    code = module.code()
    assert isinstance(code, cpu_build.CpuCode)
    return results, [entry.execution for entry in code.entries]


def as_written(bodies: list[str], monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    with monkeypatch.context() as patch:
        patch.setattr(
            cpu_build,
            "generate_host_source",
            lambda *arguments, **_: generate_host_source(*arguments, rewrites=False),
        )
        return found(bodies)[0]


@pytest.mark.slow
def test_split_kernels_give_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = list(SPLIT.values())
    results, ways = found(bodies)
    assert {*ways} == {ThreadExecution.SPLIT}
    expected = as_written(bodies, monkeypatch)
    assert [n for n, a, b in zip(SPLIT, results, expected) if a != b] == []


@pytest.mark.parametrize("name", OTHERS)
def test_kernels_are_not_split_where_it_is_not_proved_legal(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, ways = found([OTHERS[name]])
    assert ways == [ThreadExecution.FIBERS]
    assert results == as_written([OTHERS[name]], monkeypatch)

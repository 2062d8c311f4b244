"""Functions of numba in kernels, and device functions in ``numba.njit`` code."""

from __future__ import annotations

import linecache
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pycu2c
from pycu2c import CompileError, cuda, device, float32, kernel
from support.launching import run

numba = pytest.importorskip("numba")
errors = pytest.importorskip("numba.core.errors")


# ---- functions of numba in kernels -------------------------------------------------------------


@numba.njit("float64(float64[::1])", parallel=True, fastmath=True)
def total(a):
    s = 0.0
    for i in numba.prange(len(a)):
        s += numba.float32(a[i])
    return s


cubed = numba.njit(lambda x: x**3)


@kernel
def cube_of_total(a):
    for _ in pycu2c.prange(1):
        a[0] = cubed(total(a))


def test_kernels_call_functions_of_njit(target):
    assert run(cube_of_total, (1, 1), [np.ones(3)], target)[0].tolist() == [27, 1, 1]


@numba.njit
def with_a_list(x):
    found = [x]
    found.append(x)
    return found


@numba.vectorize
def ufunc(x):
    return x


@numba.guvectorize("(n)->()")
def gufunc(x, out):
    out[0] = x


@numba.cfunc("f8(f8)")
def for_c(x):
    return x


@numba.extending.intrinsic
def intrinsic(context, x):
    return x(x), lambda context, builder, signature, arguments: arguments[0]


@numba.njit
def with_an_intrinsic(x):
    return intrinsic(x)


exec("def of_exec(x): return x")
without_text = numba.njit(locals()["of_exec"])


@pytest.mark.parametrize(
    ("name", "message"),
    {
        "with_a_list": r"found.append\(x\)\n.*\n.*\n.*\n.*; with_a_list is a function of numba",
        "with_an_intrinsic": r"return intrinsic\(x\)\n.*\^ `intrinsic` is numba's Intrinsic",
        "ufunc": "numba's DUFunc",
        "gufunc": "numba's GUFunc",
        "for_c": "numba's CFunc",
        "intrinsic": "numba's Intrinsic",
        "without_text": "numba's CPUDispatcher\n.*decorate its Python function .* in a file",
    }.items(),
)
@pytest.mark.parametrize("arguments", ["a[0]", "*(a[0],)"])
def test_what_kernels_cannot_call(name, message, arguments):
    text = f"def k(a):\n    a[0] = {name}({arguments})\n"
    file = f"<{name} {arguments}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    namespace: dict[str, Any] = dict(globals())
    exec(compile(text, file, "exec"), namespace)
    with pytest.raises(CompileError, match=message):
        kernel(namespace["k"]).inspect("cuda", "float64[:]")


# ---- device functions in njit code -------------------------------------------------------------


@device
def squared(x):
    return x * x


@cuda.jit("float32(float32)", device=True)
def fourth(x):
    return squared(squared(x))


@device
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


@device
def rounded(x):
    return float32(x) + cuda.float64(0)


@cuda.c_function("return 0;")
def zero(x: float32) -> float32:
    return x * 0


@numba.njit
def on_host(x):
    return squared(x), fourth(x), factorial(5), rounded(0.1), zero(x)


@numba.njit(parallel=True)
def fourths(a):
    for i in numba.prange(len(a)):
        a[i] = fourth(a[i])


@numba.njit
def applied(f, x):
    return f(x)


def test_njit_code_calls_device_functions():
    assert on_host(2.0) == (4, 16, 120, np.float32(0.1), 0)
    a = np.arange(4.0)
    fourths(a)
    assert a.tolist() == [0, 1, 16, 81]
    assert applied(squared, 3) == 9
    closure = numba.njit(lambda f, x: f(x) + 1)
    assert closure(fourth, 2) == 17


@device
def counts_bits(x):
    return cuda.popc(x)


@device
def adds_the_thread(x):
    return x + cuda.threadIdx.x


@device
def adds_the_size(x):
    return x + cuda.warpsize


@cuda.c_function("return x;")
def in_c(x: float32) -> float32: ...


@kernel
def doubles(a):
    a[cuda.grid(1)] *= 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: counts_bits(x), r"cuda.popc exists only in kernels .*: pass its value as an "),
        (lambda x: adds_the_thread(x), "cuda.threadIdx exists only in kernels"),
        (lambda x: adds_the_size(x), "cuda.warpsize exists only in kernels"),
        (lambda x: in_c(x), "in_c has only a C body, .* give it a Python body"),
        (lambda x: doubles(x), r"doubles is a kernel .* launch it from Python, doubles\[grid"),
        (lambda x: doubles[1, 2](x), r"doubles is a kernel"),
    ],
)
def test_what_njit_code_cannot_call(function, message):
    with pytest.raises(errors.TypingError, match=message):
        numba.njit(function)(1)


def test_objects_have_no_numba_type_without_numba():
    program = (
        "import sys; from pycu2c import cuda, device, float32\n"
        "assert not any(hasattr(x, '_numba_type_') for x in (cuda.popc, float32, cuda.atomic))\n"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

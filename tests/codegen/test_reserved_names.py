"""Names that C, CUDA and the helpers of generated code reserve."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycu2c.base.dtypes import DTYPES
from pycu2c.codegen.helpers.catalog import HELPERS
from pycu2c.codegen.reserved_names import _PATTERN, is_reserved
from pycu2c.runtime import cpu
from support.kernels_from_text import module_from
from support.launching import run
from support.paths import ROOT


@given(st.from_regex(re.compile(_PATTERN.pattern, re.ASCII), fullmatch=True))
def test_every_name_of_a_pattern(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("helper", HELPERS)
def test_helpers(helper: str) -> None:
    assert all(is_reserved(f"{helper}_{dtype.short}") for dtype in DTYPES)
    if HELPERS[helper].fixed:
        assert is_reserved(helper)


@pytest.mark.parametrize(
    "name", ["double", "main", "char16_t", "intptr_t", "float4", "make_float4", "sqrt", "malloc"]
)
def test_words(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize(
    "name", ["out", "x", "block_size", "floordiv_of_mine", "_i32", "i32", "M", "é"]
)
def test_names_of_users(name: str) -> None:
    assert not is_reserved(name)


# ---- macros and enumerators of the generated C, as names in a kernel ----------------------------


def upper_case_names() -> list[str]:
    """Return the names in upper case that the C of the golden kernels and of the CPU runtime has.

    ``OPERATION``, the bits of a suspension point that state the operation, is one of them.
    """
    runtime = Path(cpu.__file__).parent
    texts = [path.read_text() for path in (*ROOT.glob("golden/*/*.c"), *runtime.glob("*.c"))]
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', " ", "\n".join(texts), flags=re.DOTALL)
    return sorted(set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", code)))


AS_PARAMETER = """
    from pycu2c import cuda, kernel

    @kernel
    def k(out, {name}):
        i = cuda.threadIdx.x
        out[i] = {name} + i
        cuda.syncthreads()
        for j in range(i):
            out[i] += out[j] * 0 + {name}
            cuda.syncwarp()
"""
AS_LOCAL = """
    from pycu2c import cuda, kernel

    @kernel
    def k(out, n):
        {name} = cuda.threadIdx.x
        out[{name}] = n
        cuda.syncthreads()
        while {name} > 3:
            {name} -= 1
            cuda.syncwarp()
        out[cuda.threadIdx.x] += {name}
"""
AS_DEVICE_FUNCTION = """
    from pycu2c import cuda, device, kernel

    @device
    def {name}(value):
        cuda.syncthreads()
        return value + 1

    @kernel
    def k(out, n):
        out[cuda.threadIdx.x] = {name}(n)
        out[cuda.threadIdx.x] += {name}(cuda.threadIdx.x)
"""
AS_KERNEL = """
    from pycu2c import cuda, kernel

    @kernel
    def {name}(out, n):
        out[cuda.threadIdx.x] = n
        cuda.syncthreads()
        out[cuda.threadIdx.x] += 1

    k = {name}
"""


@pytest.mark.parametrize("name", upper_case_names())
@pytest.mark.parametrize("target", ["cpu", "cpu-resumable"])
def test_names_of_the_generated_c_in_a_kernel(name: str, target: str, tmp_path: Path) -> None:
    for text in (AS_PARAMETER, AS_LOCAL, AS_DEVICE_FUNCTION, AS_KERNEL):
        kernel = module_from(text.format(name=name), tmp_path).k
        arguments = (np.zeros(40, np.int64), 7)
        expected = run(kernel, (1, 40), arguments, "python")[0]
        assert np.array_equal(run(kernel, (1, 40), arguments, target)[0], expected)


def test_operation_is_an_upper_case_name() -> None:
    assert {"OPERATION", "ENDED", "WAIT_BLOCK", "NULL", "WARP", "CACHE_LINE"} <= set(upper_case_names())

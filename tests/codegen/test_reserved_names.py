"""Names that C, CUDA and the helpers of generated code reserve."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycu2c.base.dtypes import DTYPES
from pycu2c.codegen.helpers.catalog import HELPERS
from pycu2c.codegen.reserved_names import _PATTERN, NAMES_OF_CUDA_HEADERS, is_reserved
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


HEADERS = "fenv", "math", "stdarg", "stdbool", "stddef", "stdint", "string", "time"


def test_names_of_c_headers(tmp_path: Path) -> None:
    """Functions with all other names of the headers that generated C includes are accepted."""
    text = "".join(f"#include <{header}.h>\n" for header in HEADERS)
    source = tmp_path / "names.c"
    source.write_text(text)
    preprocess = ["cc", "-E", "-P", str(source)]
    found = [subprocess.check_output([*preprocess, *flag], text=True) for flag in ((), ("-dM",))]
    names = set(re.findall(r"\b[A-Za-z]\w*", found[0]))
    names |= set(re.findall(r"(?m)^#define ([A-Za-z]\w*)", found[1]))
    accepted = sorted(name for name in names if not is_reserved(name))
    assert {"tv_sec", "tm_year"} < set(accepted)  # fields
    source.write_text(text + "".join(f"static int {name}(int *x);\n" for name in accepted))
    subprocess.run(["cc", "-w", "-fsyntax-only", str(source)], check=True)


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
        _check_name(text, name, (1, 40), target, tmp_path)


@pytest.mark.parametrize(
    "name", ["va_list", "va_arg", "ptrdiff_t", "cudaError_t", "offsetof", "NV_IF_TARGET"]
)
@pytest.mark.parametrize("target", ["cpu", "cpu-resumable"])
def test_functions_with_names_of_headers(name: str, target: str, tmp_path: Path) -> None:
    for text in (AS_DEVICE_FUNCTION, AS_KERNEL):
        _check_name(text, name, (1, 40), target, tmp_path)
        kernel = module_from(text.format(name=name), tmp_path).k
        assert ".entry" in kernel.inspect("ptx", "void(int64[:], int64)", arch="sm_90")


VARIABLES_OF_THE_ENTRY_POINT = ["arguments", "args", "block", "last_block", "next_block", "row_end"]
FUNCTIONS_OF_COROUTINES = ["k_step", "k_begin", "k_run", "k_publish"]
AS_RECURSIVE_FUNCTION = """
    from pycu2c import cuda, device, kernel

    @device
    def {name}(n: int) -> int:
        return 0 if n < 1 else 1 + {name}(n // 2)

    @kernel
    def k(out, n):
        out[cuda.threadIdx.x] = {name}(n)
        cuda.syncthreads()
        out[cuda.threadIdx.x] += cuda.shfl_sync(-1, n, 0)
"""
IN_ROWS_OF_BLOCKS = """
    from pycu2c import cuda, kernel

    @kernel
    def k(out, {name}):
        tile = cuda.shared.array(8, out.dtype)
        i, t = cuda.grid(1), cuda.threadIdx.x
        tile[t] = out[i]
        cuda.syncthreads()
        out[i] = tile[-1 - t] + {name}
"""


@pytest.mark.parametrize("name", VARIABLES_OF_THE_ENTRY_POINT)
@pytest.mark.parametrize("target", ["cpu", "cpu-resumable"])
def test_variables_of_the_entry_point(name: str, target: str, tmp_path: Path) -> None:
    for text in (AS_PARAMETER, AS_LOCAL, AS_DEVICE_FUNCTION, AS_KERNEL):
        _check_name(text, name, (1, 40), target, tmp_path)
    _check_name(IN_ROWS_OF_BLOCKS, name, (5, 8), target, tmp_path)


@pytest.mark.parametrize("name", FUNCTIONS_OF_COROUTINES)
def test_functions_of_coroutines(name: str, tmp_path: Path) -> None:
    _check_name(AS_RECURSIVE_FUNCTION, name, (1, 40), "cpu-resumable", tmp_path)


def _check_name(
    text: str, name: str, configuration: tuple[int, int], target: str, folder: Path
) -> None:
    kernel = module_from(text.format(name=name), folder).k
    arguments = (np.arange(40), 7)
    expected = run(kernel, configuration, arguments, "python")[0]
    assert np.array_equal(run(kernel, configuration, arguments, target)[0], expected)


def test_operation_is_an_upper_case_name() -> None:
    assert {"OPERATION", "ENDED", "WAIT_BLOCK", "NULL", "WARP", "CACHE_LINE"} <= set(
        upper_case_names()
    )


# ---- names that the headers of CUDA declare, as names of functions -------------------------------

WITH_HALVES_AND_A_GRID = """
    import numpy as np

    from pycu2c import cuda as c
    from pycu2c import device, kernel
    from pycu2c.types import bfloat16

{functions}
    @kernel
    def {kernel}(out, n):
        c.cg.this_grid().sync()
        out[c.grid(1)] = np.float16(n) + bfloat16(n) + {calls}

    k = {kernel}
"""


@pytest.mark.parametrize("kernel", ["f", "half"])
def test_functions_named_as_declarations_of_cuda_headers(kernel: str, tmp_path: Path) -> None:
    names = sorted(NAMES_OF_CUDA_HEADERS - {kernel})
    functions = "\n".join(
        f"    @device\n    def {name}(value):\n        return value * value\n" for name in names
    )
    calls = " + ".join(f"{name}(n)" for name in names)
    text = WITH_HALVES_AND_A_GRID.format(kernel=kernel, functions=functions, calls=calls)
    module = module_from(text, tmp_path)
    assert ".entry" in module.k.inspect("ptx", "void(float32[:], int32)", arch="sm_90")


@pytest.mark.parametrize("name", sorted(NAMES_OF_CUDA_HEADERS))
def test_functions_keep_names_of_headers_that_are_not_included(name: str, tmp_path: Path) -> None:
    kernel = module_from(
        AS_KERNEL.replace("import cuda", "import cuda as c")
        .replace("cuda.", "c.")
        .format(name=name),
        tmp_path,
    ).k
    assert f".entry {name}(" in kernel.inspect("ptx", "void(int64[:], int64)", arch="sm_90")

"""Every pure intrinsic for every dtype: its C against its reference, its CUDA through NVRTC."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pycu2c.base.dtypes import COMPLEX64, COMPLEX128, INT32, INT64, DType
from pycu2c.codegen.helpers.catalog import HELPERS
from pycu2c.codegen.includes import headers_of
from pycu2c.codegen.structs import definition
from pycu2c.csyntax.printer import print_expr
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, Thread
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.toolchain.nvrtc import nvrtc
from support.intrinsic_cases import (
    CASES,
    IDS,
    NAMES,
    arguments,
    defined,
    headers,
    helpers_of,
    program,
    result_type,
    same,
    types_of,
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    return compiled(compiler, program("c"), tmp_path_factory.mktemp("rows"))


def compiled(compiler: str, text: str, folder: Path) -> Any:
    """A library of the functions, in which undefined behaviour of integers is a trap."""
    head = "".join(f"#include <{name}>\n" for name in headers_of(text))
    head += "".join(definition(dtype) for dtype in (COMPLEX64, COMPLEX128))
    source, binary = folder / "rows.c", folder / "rows.so"
    source.write_text(head + text)
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-shared", "-fPIC"]
    flags += ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    subprocess.run([compiler, *flags, str(source), "-o", str(binary), "-lm"], check=True)
    return ctypes.CDLL(str(binary))


class Complex64(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


class Complex128(ctypes.Structure):
    _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double)]


def passed(value: Any, dtype: DType) -> Any:
    """A number as ctypes takes it."""
    if isinstance(value, (complex, np.complexfloating)):
        return c_type(dtype)(value.real, value.imag)
    return value if isinstance(value, int) else value.item()


def returned(value: Any) -> Any:
    is_pair = isinstance(value, (Complex64, Complex128))
    return complex(value.x, value.y) if is_pair else value


def c_type(dtype: DType) -> Any:
    if dtype.is_complex:
        return Complex64 if dtype is COMPLEX64 else Complex128
    return np.ctypeslib.as_ctypes_type(dtype.numpy)


@pytest.mark.parametrize(("row", "dtype"), CASES, ids=IDS)
def test_c_spelling_computes_the_reference(library: Any, row: Intrinsic, dtype: DType) -> None:
    run = library[NAMES[CASES.index((row, dtype))]]
    run.restype = c_type(result_type(row, dtype))
    run.argtypes = list(map(c_type, types_of(row, dtype)))
    wrong = []
    for inputs in arguments(row, dtype):
        expected = row.reference(*inputs)
        got = returned(run(*(passed(value, dtype) for value in inputs)))
        if defined(row, inputs) and not same(expected, got, row, dtype):
            wrong.append((inputs, expected, got))
    assert not wrong


@pytest.mark.parametrize(("row", "dtype"), CASES, ids=IDS)
def test_reference_gives_the_type_that_the_signature_says(row: Intrinsic, dtype: DType) -> None:
    of_kind = {"int": lambda x: x}
    kinds = [kind for _, kind in row.parameters]
    inputs = [of_kind.get(k, t.numpy.type)(2) for k, t in zip(kinds, types_of(row, dtype))]
    value = row.reference(*inputs)
    python: dict[str, type] = {"int": int, "bool": bool}
    assert type(value) is python.get(row.result, result_type(row, dtype).numpy.type)


def test_floats_of_python_stay_floats_of_python() -> None:
    assert type(REGISTRY["math.sqrt"].reference(4)) is float
    assert type(REGISTRY["math.sqrt"].reference(2.0)) is float
    assert type(REGISTRY["math.atan2"].reference(np.float32(1), 2)) is np.float32
    assert REGISTRY["math.floor"].reference(-1.5) == -2
    assert REGISTRY["round"].reference(2.5) == 2


def test_every_cuda_spelling_compiles() -> None:
    places = [
        r
        for r in REGISTRY.values()
        if r.result == "int" and not r.parameters and r.cuda and not helpers_of(r, "cuda")
    ]
    reads = [
        f"a[{i}] = {print_expr(row.cuda({}, expected))};"  # type: ignore[misc]
        for i, row in enumerate(places)
        for expected in (INT32, INT64)
    ]
    kernel = 'extern "C" __global__ void k(long long *a) {' + "\n".join(reads) + "}"
    text = "\n".join([headers(), program("cuda"), kernel])
    made = nvrtc.compile(text, "k", "sm_80", cache=False)
    assert made.log.strip("\0\n ") == ""


# ---- what rows and helpers promise each other --------------------------------------------------


def test_every_helper_is_called() -> None:
    named = {h for r in REGISTRY.values() for d in ("c", "cuda") for h in helpers_of(r, d)}
    called = {callee for helper in HELPERS.values() for callee in helper.calls}
    assert set(HELPERS) == named | called | {"shared_of"}  # of distributed shared memory


def test_every_intrinsic_is_documented() -> None:
    assert not [row.name for row in REGISTRY.values() if not row.doc]


def test_atomic_add_in_the_reference_wraps() -> None:
    cells = np.array([7, np.iinfo(np.int32).max], np.int32)
    assert REGISTRY["cuda.atomic.add"].reference(cells, 1, 1) == np.iinfo(np.int32).max
    assert cells.tolist() == [7, np.iinfo(np.int32).min]


def test_coordinates_read_the_running_thread() -> None:
    REFERENCE_STATE.thread = Thread((1, 2, 3), (4, 5, 6), (8, 9, 10), (11, 12, 13))
    try:
        places = SimpleNamespace(**{n.replace(".", "_"): r.reference for n, r in REGISTRY.items()})
        assert places.cuda_threadIdx_z() == 3
        assert places.cuda_grid(1) == 4 * 8 + 1
        assert places.cuda_grid(2) == (33, 5 * 9 + 2)
        assert places.cuda_gridsize(3) == (88, 108, 130)
    finally:
        REFERENCE_STATE.thread = None


def test_bounds_hold_for_the_largest_launch() -> None:
    assert REGISTRY["cuda.grid.x"].bounds == (0, (2**31 - 1) * 1024 - 1)
    assert REGISTRY["cuda.gridsize.y"].bounds == (1, 65535 * 1024)
    assert REGISTRY["cuda.threadIdx.z"].bounds == (0, 63)

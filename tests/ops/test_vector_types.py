"""CUDA's vector types: host values, memory layouts, generated text, errors."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pycu2c
from pycu2c import (
    Array,
    CompileError,
    cuda,
    double2,
    float2,
    float4,
    float32,
    float32x4,
    int4,
    kernel,
)
from pycu2c.base.dtypes import VECTOR_OF, VECTORS, from_numpy
from pycu2c.base.dtypes import record as record_row
from pycu2c.base.types import Array as ArrayType
from pycu2c.base.types import Scalar
from pycu2c.codegen import half_types
from pycu2c.codegen.structs import definition
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from

ROWS = sorted(VECTOR_OF.values(), key=lambda row: row.name)


# ---- on the host -------------------------------------------------------------------------------


def test_a_value_has_components() -> None:
    v = cuda.float4(1, 2.5, np.int8(3), 4)
    assert (v.x, v["y"], v.z, v.w) == (1, 2.5, 3, 4)
    assert type(v.x) is np.float32
    assert list(v) == [1, 2.5, 3, 4]
    assert repr(v) == "float4(1.0, 2.5, 3.0, 4.0)"
    assert cuda.float4(cuda.float2(1, 2), 3, 4) == cuda.float4(1, 2, 3, 4)


def test_a_value_is_equal_to_vectors_of_its_type() -> None:
    assert float2(1, 2) == float2(1, 2)
    assert float2(1, 2) != float2(1, 3)
    assert float2(1, 2) != double2(1, 2)
    assert float2(1, 2) != (1, 2)
    assert len({float2(1, 2), float2(1, 2), double2(1, 2)}) == 2
    assert pickle.loads(pickle.dumps(float2(1, 2))) == float2(1, 2)


def test_a_value_does_not_change_and_has_no_arithmetic() -> None:
    v: Any = float2(1, 2)
    with pytest.raises(AttributeError):
        v.x = 3
    with pytest.raises(AttributeError, match="z"):
        _ = v.z
    for wrong in (lambda: v + v, lambda: v * 2, lambda: 2 * v, lambda: v < v):
        with pytest.raises(TypeError, match=r"not supported|unsupported"):
            wrong()
    with pytest.raises(TypeError, match="float2 has 2 components, 3 given"):
        float2(1, 2, 3)


def test_numpy_takes_values() -> None:
    a = np.zeros(2, float2.numpy)
    a[1] = float2(1, 2)
    assert a.tolist() == [(0, 0), (1, 2)]
    assert np.array([float2(1, 2), float2(3, 4)], float2.numpy)["y"].tolist() == [2, 4]
    assert np.asarray(float2(1, 2)).dtype == float2.numpy


def test_names() -> None:
    assert float32x4 is not None
    assert float32x4 == float4 == pycu2c.float4 == cuda.float4 == cuda.float32x4
    assert cuda.long3 == cuda.longlong3 == cuda.int64x3
    for name, row in VECTORS.items():
        assert getattr(pycu2c, name) == getattr(cuda, name) == Scalar(row) == scalar_named(name)
    assert str(float4) == "float4"
    assert Array[float4] == float4[:]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_numpys_structured_dtype_is_the_vector(row: Any) -> None:
    assert from_numpy(row.numpy) is row
    assert row.numpy.itemsize == row.size


@pytest.mark.parametrize(
    "dtype",
    [
        [("y", "f4"), ("x", "f4")],
        [("x", "f4"), ("y", "f8")],
        [("x", "f2"), ("y", "f2")],
        [("x", "?")],
        [("a", "f4"), ("b", "f4")],
        {"names": ["x", "y"], "formats": ["f4", "f4"], "itemsize": 12},
        {"names": ["x", "y"], "formats": ["f4", "f4"], "offsets": [0, 8]},
        [(c, "f4") for c in "xyzwv"],
    ],
)
def test_other_structured_dtypes_are_records(dtype: Any) -> None:
    row = from_numpy(np.dtype(dtype))
    assert row is not None
    assert row == record_row(row.fields, row.size)


# ---- layout ------------------------------------------------------------------------------------


def test_cuda_has_the_layouts() -> None:
    header = "#if __CUDACC_VER_MAJOR__ < 13\n#error\n#endif\n"
    header += "".join(f"#include <{name}>\n" for name in half_types.HEADERS.values())
    checks = [
        f"static_assert(sizeof({r.cuda}) == {r.size} && alignof({r.cuda}) == {r.alignment});"
        for r in ROWS
    ]
    parts = [
        f"static_assert(sizeof({r.cuda}::x) == {r.fields[0].dtype.size}"
        f" && ({r.fields[0].dtype.cuda})-1 < 0 == ((decltype({r.cuda}::x))-1 < 0));"
        for r in ROWS
        if not r.fields[0].dtype.is_half  # whose comparisons are no constants
    ]
    text = header + "\n".join([*checks, *parts, 'extern "C" __global__ void k() {}'])
    assert nvrtc.compile(text, "k", "sm_90", cache=False).log.strip("\0\n ") == ""


def test_c_has_the_layouts() -> None:
    checks = [
        f"{definition(r)}_Static_assert(sizeof({r.c}) == {r.size}"
        f' && _Alignof({r.c}) == {r.alignment}, "");'
        for r in ROWS
    ]
    head = "#include <stdint.h>\n#include <math.h>\n"
    head += "\n".join(map(half_types.definition, half_types.HEADERS)) + "\n"
    text = head + "\n".join(checks) + "\nvoid k(void) {}\n"
    assert check_warnings(text) == ""


# ---- generated text ----------------------------------------------------------------------------


@kernel
def copied(a, out):
    i = cuda.grid(1)
    v = a[i]
    out[i] = v


@pytest.mark.parametrize(
    ("kind", "width"), [(float4, "v4"), (int4, "v4"), (double2, "v4"), (float2, "v2")]
)
def test_a_vector_is_one_access_to_memory(kind: Any, width: str) -> None:
    text = copied.inspect("cuda", (kind[::1], kind[::1]))
    ptx = nvrtc.compile(text, "copied", "sm_90", kind="ptx", cache=False).data.decode()
    loads = [line.split()[0] for line in ptx.splitlines() if "ld.global" in line]
    stores = [line.split()[0] for line in ptx.splitlines() if "st.global" in line]
    assert len(loads) == len(stores) == 1
    assert loads[0].startswith(f"ld.global.{width}.")
    assert stores[0].startswith(f"st.global.{width}.")


def test_records_keep_the_layout_that_numpy_gives_their_vectors() -> None:
    aligned = np.dtype([("flag", "i1"), ("at", float2.numpy), ("to", double2.numpy)], align=True)
    packed = np.dtype([("flag", "i1"), ("at", float4.numpy), ("to", double2.numpy)])
    rows = [from_numpy(dtype) for dtype in (aligned, packed)]
    assert [f.offset for row in rows if row for f in row.fields] == [0, 4, 16, 0, 1, 17]
    types = tuple(ArrayType(row, 1, "C") for row in rows if row)
    checks = [
        f"static_assert(__builtin_offsetof({row.short}, {f.name}) == {f.offset});"
        f"static_assert(sizeof({row.short}) == {row.size});"
        for row in rows
        if row
        for f in row.fields
    ]
    # older versions of NVRTC have no __builtin_offsetof; the sizes show where padding is missing
    sizes = [f"static_assert(sizeof({row.short}) == {row.size});" for row in rows if row]
    text = kernel(of_records).inspect("cuda", types) + "\n".join(sizes)
    assert nvrtc.compile(text, "of_records", "sm_80", cache=False).log.strip("\0\n ") == ""
    c_checks = "\n".join(checks).replace("(__builtin_offsetof(", "(__builtin_offsetof(struct ")
    c_checks = c_checks.replace("static_assert", "_Static_assert").replace(
        "sizeof(", "sizeof(struct "
    )
    c_checks = c_checks.replace(");", ', "");')
    assert check_warnings(kernel(of_records).inspect("c", types) + c_checks) == ""


def of_records(a, p):
    a[0].at.x = p[0].at.y
    p[0].to = a[0].to


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_compilers_take_every_vector_without_a_warning(row: Any) -> None:
    kind = Scalar(row)
    types = (kind[:], kind[::1], kind)
    made = kernel(used_up).inspect("cuda", types)
    assert nvrtc.compile(made, "used_up", "sm_80", cache=False).log.strip("\0\n ") == ""
    assert check_warnings(kernel(used_up).inspect("c", types)) == ""


def used_up(a, out, v):
    tile = cuda.shared.array(4, a.dtype)
    tile[cuda.threadIdx.x] = a[0]
    cuda.syncthreads()
    v.x += a[1].x
    out[0] = v if v.x > 2 else tile[0]
    out[1].x = 3


def test_names_of_vectors_are_left_to_them() -> None:
    @kernel
    def named(out, float4, make_float4):
        out[0] = cuda.float4(float4, make_float4, 1, 2)

    text = named.inspect("cuda", (float4[:], float32, float32))
    assert "make_float4(float4_, make_float4_, 1.0f, 2.0f)" in text


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["v + w", "v * 2", "-v", "v == w", "v < w", "v and w", "abs(v)"])
def test_there_is_no_arithmetic(text: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="vector `float2`") as caught:
        compiled(f"r = {text}", tmp_path)
    assert "float2(v.x + w.x, …)" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("r = v.z", "`float2` has no component `z`(?s:.*)its components are x, y"),
        ("v.z = 1", "`float2` has no component `z`"),
        ("r = v[0]", "a vector has components, not items(?s:.*)write v.x"),
        ("r = float2(1)", "1 components are given(?s:.*)float2 takes 2"),
        ("r = float2(v, w)", "4 components are given"),
        ("r = float2(x=1, y=2)", "by position"),
        ("r = float2(v, v)", "4 components"),
        ("r = float2(1j, 2)", "take one part"),
        ("r = int2(2**40, 2)", "does not fit `int32`"),
        ("if n:\n        v = 1.0", "`v` is `float`(?s:.*)and here `float2`"),
        ("if n:\n        v = double2(1, 2)", "`v` is `double2`(?s:.*)and here `float2`"),
        ("r = v if n else 1.0", "`float2`"),
        ("out[0] = 1.0", r"this is `float2`(?s:.*)store a vector, float2\(…\), or field by field"),
        ("out[0] = (1, 2)", r"a tuple of 2(?s:.*)store a vector, float2\(…\)"),
        ("out[0] = double2(1, 2)", "this is `float2`"),
        ("out[0].x = v", "store one of its numbers, v.x"),
        ("out.x = 1", r"set the field of one: a\[i\].x"),
        ("r = v.xx", "did you mean `x`"),
        ("r = moved(1.0)", "this is `float`, the signature has `float2`"),
        ("r = moved(double2(1, 2))", "this is `double2`, the signature has `float2`"),
        ("out[v] = w", "the index is a vector"),
        ("if v:\n        pass", "the condition is a vector"),
        ("(v, w)[0].x = 1", "give it a name"),
        ("v.x = w", "is a vector `float2`"),
        ("math.sqrt(v)", "is a vector"),
        ("a, b, c = v", "3 names"),
        ("def f():\n        v.x = 1\n    f()", "belongs to the enclosing function"),
    ],
)
def test_rejections(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=message):
        compiled(text, tmp_path)


HEAD = """
import math
from pycu2c import device, double2, float2, int2, kernel

@device(signature=(float2,))
def moved(v):
    return v

@kernel
"""


def compiled(text: str, folder: Path) -> None:
    made = module_from(f"{HEAD}def k(out, v, w, n):\n    {text}\n    out[0] = v\n", folder).k
    made.inspect("cuda", (float2[:], float2, float2, pycu2c.int32))

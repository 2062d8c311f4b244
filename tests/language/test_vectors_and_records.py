"""Vectors and records of the same layout: what tells them apart, and what each means in a kernel.

An element of a record array is a place, as numpy has it; a vector is a value.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pycu2c
from pycu2c import CompileError, LaunchError, cuda, device, float2, float4, int2, kernel
from pycu2c.base.dtypes import VECTOR_OF, from_numpy
from pycu2c.base.dtypes import record as record_row
from pycu2c.base.types import Scalar
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.arguments.vector_views import view_as_vectors
from support.kernels_from_text import module_from
from support.launching import run

ROWS = sorted(VECTOR_OF.values(), key=lambda row: row.name)
POINT = np.dtype([("x", "f4"), ("y", "f4")])
BODY = np.dtype([("at", POINT), ("mass", "f8")])


def plain(dtype: np.dtype[Any], align: bool = False) -> np.dtype[Any]:
    """The record with a vector's fields."""
    return np.dtype([(name, dtype[name]) for name in dtype.names or ()], align=align)


# ---- numpy's dtypes ----------------------------------------------------------------------------


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_fields_alone_make_a_record(row: Any, align: bool) -> None:
    dtype = plain(row.numpy, align)
    result = from_numpy(dtype)
    assert result == record_row(row.fields, row.size)
    assert from_numpy(row.numpy) is row
    assert dtype != row.numpy
    assert pycu2c.from_dtype(dtype) == Scalar(result)
    assert str(pycu2c.from_dtype(dtype)).startswith("{x: ")


def saved(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    file = io.BytesIO()
    np.save(file, a)
    file.seek(0)
    result: np.ndarray[Any, Any] = np.load(file)
    return result


PRESERVING: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {
    "slices": lambda a: a[::-2],
    "elements": lambda a: a[1],
    "copy": lambda a: a.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "save": saved,
    "zeros_like": np.zeros_like,
    "concatenate": lambda a: np.concatenate([a, a]),
    "where": lambda a: np.where([True, False, True], a, a),
    "array of elements": lambda a: np.array([a[0], a[1]]),
    "sort": np.sort,
    "an interface": lambda a: np.asarray(
        SimpleNamespace(__array_interface__=a.__array_interface__, owner=a)
    ),
    "a device array": lambda a: cuda.to_device(a, device="cpu")[1:].copy_to_host(),
    "a field of a record": lambda a: np.zeros(3, [("flag", "i1"), ("v", a.dtype)])["v"],
    "a saved field": lambda a: saved(np.zeros(3, [("flag", "i1"), ("v", a.dtype)]))["v"],
}


@pytest.mark.parametrize("way", PRESERVING)
@pytest.mark.parametrize("made", [float4.numpy, plain(float4.numpy), plain(float4.numpy, True)])
def test_arrays_stay_what_they_are(made: np.dtype[Any], way: str) -> None:
    a = np.arange(12, dtype=np.float32).view(made)
    assert from_numpy(PRESERVING[way](a).dtype) == from_numpy(made)


def test_conversions_change_what_an_array_is() -> None:
    records = np.arange(8, dtype=np.float32).view(plain(float4.numpy))
    for made in (
        records.view(float4.numpy),
        records.astype(float4.numpy),
        records.astype(float4.numpy, copy=False),
        np.asarray(records, float4.numpy),
        np.array(records, float4.numpy),
    ):
        assert from_numpy(made.dtype) is float4.dtype
        assert made.tolist() == records.tolist()
        assert from_numpy(made.astype(records.dtype, copy=False).dtype) == from_numpy(records.dtype)


def test_numpy_does_not_join_the_two() -> None:
    vectors, records = np.zeros(2, float4.numpy), np.zeros(2, plain(float4.numpy))
    with pytest.raises(TypeError, match="title"):
        np.concatenate([vectors, records])
    records[:] = vectors
    vectors[:1] = records[:1]


def test_titles_of_the_users_are_no_matter() -> None:
    dtype = np.dtype([(("Energy", "e"), "f8"), (("float4", "x"), "f4"), ("y", "f4")])
    row = from_numpy(dtype)
    assert row is not None
    assert [(f.name, f.offset) for f in row.fields] == [("e", 0), ("x", 8), ("y", 12)]
    two = np.zeros(1, float4.numpy)[["x", "y"]]
    assert from_numpy(two.dtype) == record_row(float4.dtype.fields[:2], 16)


# ---- in kernels --------------------------------------------------------------------------------


@kernel
def pushed(ps):
    p = ps[cuda.grid(1)]
    p.x += 1
    p["y"] = 5


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("row", [row for row in ROWS if len(row.fields) > 1], ids=str)
def test_an_element_can_be_assigned(row: Any, align: bool, target: str) -> None:
    dtype = plain(row.numpy, align)
    (result,) = run(pushed, (1, 3), [np.zeros(3, dtype)], target)
    right = np.zeros(3, dtype)
    right["x"], right["y"] = 1, 5
    np.testing.assert_array_equal(result, right)
    (result,) = run(pushed, (1, 3), [np.zeros(3, row.numpy)], target)
    np.testing.assert_array_equal(result, np.zeros(3, row.numpy))  # of values


def test_a_field_of_a_record_can_be_assigned(target: str) -> None:
    @kernel
    def moved(bodies):
        q = bodies[cuda.grid(1)].at
        q.x += 1
        for b in bodies[2:]:
            b["at"].y += b.mass

    bodies = np.ones(3, BODY)
    (result,) = run(moved, (1, 1), [bodies], target)
    bodies["at"]["x"][0] = bodies["at"]["y"][2] = 2
    np.testing.assert_array_equal(result, bodies)


def test_a_record_in_functions_and_variables_can_be_assigned(target: str) -> None:
    @device
    def change(p):
        p.x += 10

    @kernel
    def changed(ps):
        tile = cuda.shared.array(2, ps.dtype)
        tile[0] = ps[1]
        p = tile[0]
        p.y = 7
        ps[2] = tile[0]
        last = ps[0]
        for i in range(2):
            last = ps[i]
        change(last if last.x < 9 else ps[0])

    ps = np.array([(1, 2), (3, 4), (5, 6)], POINT)
    (result,) = run(changed, (1, 1), [ps], target)
    assert result.tolist() == [(1, 2), (13, 4), (3, 7)]


# ---- launches, one after the other -------------------------------------------------------------


def test_a_kernel_is_compiled_for_each() -> None:
    """The dispatch entries of earlier launches and the caches of dtypes know them apart."""
    k = Kernel(pushed.python, backend="cpu")
    for _ in range(6):
        vectors, records = np.zeros(3, float2.numpy), np.zeros(3, POINT)
        aligned = np.zeros(3, np.dtype(POINT.descr, align=True))
        nested = np.zeros(3, [("at", POINT)])["at"]
        for array in (vectors, records, aligned, nested):
            k[1, 3](array)
            k[1, 3](array)
        assert records.tolist() == aligned.tolist() == nested.tolist() == [(2, 5)] * 3
        assert vectors.tolist() == [(0, 0)] * 3
    same = np.zeros(3, POINT)
    for array in (same, same.view(float2.numpy)) * 3:
        k[1, 3](array)
        k[1, 3](array)
    assert same.tolist() == [(6, 5)] * 3


def test_device_arrays_of_each() -> None:
    k = Kernel(pushed.python, backend="cpu")
    records = cuda.to_device(np.zeros(3, POINT), device="cpu")
    for array in (records, records.view(float2.numpy)) * 3:
        k[1, 3](array)
        k[1, 3](array)
    assert records.copy_to_host().tolist() == [(6, 5)] * 3


@pytest.mark.parametrize("shape", ["float2", "record of float2"])
def test_the_generated_texts_are_another(shape: str) -> None:
    """So are the keys of caches on disk, which are made of them."""
    vectors = np.zeros(3, float2.numpy if shape == "float2" else [("at", float2.numpy)])
    records = np.zeros(3, POINT if shape == "float2" else [("at", POINT)])

    def read(a, out):
        out[0] = a[0].x if shape == "float2" else a[0].at.x

    texts = {
        kernel(read).inspect("c", (pycu2c.typeof(a), pycu2c.float32[:])) for a in (vectors, records)
    }
    assert len(texts) == 2


def test_arguments_of_each(target: str) -> None:
    @kernel
    def written(out, p):
        out[0] = p.x + p["y"]

    for dtype in (POINT, float2.numpy):
        out, _ = run(written, (1, 1), [np.zeros(1), np.array([(1, 2)], dtype)[0]], target)
        assert out[0] == 3


# ---- declared ----------------------------------------------------------------------------------


@kernel("float2[:]")
def shifted(vs):
    v = vs[cuda.grid(1)]
    v.x += 1
    vs[cuda.grid(1)] = float2(v.y, v.x)


def test_records_are_declared_as_vectors(target: str) -> None:
    records = np.array([(1, 2), (3, 4), (5, 6), (7, 8)], POINT)[::-1]
    (result,) = run(shifted, (1, 4), [records], target)
    assert result.tolist() == [(8, 8), (6, 6), (4, 4), (2, 2)]
    for wrong in (np.zeros(4, [("y", "f4"), ("x", "f4")]), np.zeros(4, int2.numpy)):
        with pytest.raises(LaunchError, match=r"declared `float2\[:\]`.*pycu2c\.float2\.numpy"):
            run(shifted, (1, 4), [wrong], target)


@pytest.mark.parametrize("made", [np.ones((3, 2), np.float32), np.ones(3, POINT)], ids=str)
def test_device_arrays_are_declared_as_vectors(made: Any) -> None:
    k = Kernel(shifted.python, backend="cpu", signature=shifted.signature)
    array = cuda.to_device(made, device="cpu")
    for _ in range(3):
        k[1, 3](array)
    assert array.view(np.float32).copy_to_host().ravel().tolist() == [2, 3] * 3


def test_records_of_other_packages_are_seen_as_vectors() -> None:
    memory = np.zeros(6, POINT)[::2]
    interface = {**memory.__array_interface__, "version": 3}
    other = SimpleNamespace(__cuda_array_interface__=interface)
    (seen,) = view_as_vectors([other], {0: float2[:]}, ["a"])
    result = describe(seen)
    assert result is not None
    assert (result.type, result.shape, result.strides) == (float2[:], (3,), (16,))
    assert view_as_vectors([other], {0: int2[:]}, ["a"]) == [other]


@pytest.mark.parametrize("at", [POINT, float2.numpy, float4.numpy], ids=str)
def test_dtype_descriptions_include_gaps_and_titles(at: Any) -> None:
    a = np.zeros(3, np.dtype([("flag", "i1"), ("at", at), ("end", "i2")], align=True))
    result = describe(SimpleNamespace(__array_interface__=a.__array_interface__, owner=a))
    assert result is not None
    assert result.dtype == from_numpy(a.dtype)


def test_vectors_are_not_declared_records() -> None:
    k = kernel((pycu2c.from_dtype(POINT)[:],))(pushed.python)
    with pytest.raises(LaunchError, match=r"declared `\{x: float32.*given `float2\[.*\.view"):
        k[1, 3](np.zeros(3, float2.numpy))


def test_a_record_is_no_declared_vector() -> None:
    k = kernel((float2,), backend="cpu")(one_vector)
    record = np.array([(1, 2)], POINT)[0]
    with pytest.raises(LaunchError, match=r"declared `float2`.*pass cuda\.float2\(\*…\)"):
        k[1, 1](record)
    k[1, 1](float2(*record))


def one_vector(v):
    v.x = 1


# ---- records where vectors are meant -----------------------------------------------------------

HEAD = """
import numpy as np
from pycu2c import cuda, device, kernel

POINTS = np.zeros(3, [("x", "f4"), ("y", "f4")])

@device("float32(float2)")
def summed(v):
    return v.x + v.y

@kernel
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v = cuda.float4(ps[i], 1, 2)", "this is a record(?s:.*)take one of its fields: r.x"),
        ("x = ps[i][i]", "take one of its fields: r.x"),
        ("x = summed(ps[i])", "is a record"),
        ("vs[i] = ps[i]", r"store a vector, float2\(…\), or field by field: a\[i\].x = …"),
        ("ps[i] = vs[i]", "store a record of the same dtype, or field by field"),
        ("v = vs[0]\n    if i:\n        v = ps[i]\n    x = v.x", "use two names"),
        ("p = ps[0]\n    if i:\n        p = vs[i]\n    x = p.x", "use two names"),
        ("print(ps[i])", "write its fields: r.x, r.y"),
    ],
)
def test_a_record_is_not_used_as_a_vector(text: str, message: str, tmp_path: Path) -> None:
    made = module_from(f"{HEAD}def k(ps, vs):\n    i = cuda.grid(1)\n    {text}\n", tmp_path).k
    types = (pycu2c.from_dtype(POINT)[:], float2[:])
    with pytest.raises(CompileError, match=message):
        made.inspect("cuda", types)

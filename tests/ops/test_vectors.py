"""CUDA's vectors in kernels, on every target."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pycu2c import (
    Array,
    CompileWarning,
    LaunchError,
    cuda,
    device,
    double2,
    double4,
    float2,
    float3,
    float4,
    int2,
    int3,
    int32,
    kernel,
    short2,
    uchar4,
)
from pycu2c.base.dtypes import VECTOR_OF
from pycu2c.base.types import Scalar
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.arguments.vector_views import view_as_vectors
from support.launching import run

ROWS = sorted(VECTOR_OF.values(), key=lambda row: row.name)


def filled(kind: Any, count: int = 8) -> np.ndarray[Any, Any]:
    """An array of vectors whose numbers all differ."""
    width = len(kind.dtype.fields)
    part = kind.dtype.fields[0].dtype.numpy
    return np.arange(1, count * width + 1).astype(part).view(kind.numpy)


def launched(made: Any, arguments: Any, target: str, count: int = 8) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        return run(made, (1, count), arguments, target)


@kernel
def copied(a, out):
    i = cuda.grid(1)
    v = a[i]
    out[i] = v


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_vectors_are_loaded_and_stored_at_once(row: Any, target: str) -> None:
    a = filled(Scalar(row))
    result = launched(copied, [a, np.zeros_like(a)], target)[1]
    np.testing.assert_array_equal(result, a)


@pytest.mark.parametrize("kind", [float4, double4, int3])
def test_strides(kind: Any, target: str) -> None:
    a, out = filled(kind, 16), np.zeros(8, kind.numpy)
    result = launched(copied, [a[::-2], out], target)[1]
    np.testing.assert_array_equal(result, a[::-2])


def test_a_vector_is_a_value(target: str) -> None:
    @kernel
    def values(a, out):
        i = cuda.grid(1)
        v = a[i]
        w = v
        v.x = 10
        v["y"] += w.x
        w.y *= 2.5
        t = (v, w)
        v.x = 0
        out[0, i] = t[0]
        out[1, i] = t[1]

    a = filled(int2)
    result = launched(values, [a, np.zeros((2, 8), int2.numpy)], target)
    np.testing.assert_array_equal(result[0], a)
    np.testing.assert_array_equal(result[1]["x"], [np.full(8, 10), a["x"]])
    np.testing.assert_array_equal(result[1]["y"], [a["x"] + a["y"], (a["y"] * 2.5).astype("i4")])


def test_components_of_elements(target: str) -> None:
    @kernel
    def changed(a, m):
        i = cuda.grid(1)
        a[i].x = i
        a[i]["y"] += a[i].z
        m[i, 1].w, m[i, 0].x = a[i].z, 5
        m[i][1].x -= 3
        a[1:][0].z = 7
        m.y[i, 0] = 9

    a, m = filled(float4), filled(float4, 16).reshape(8, 2)
    result = launched(changed, [a, m], target)
    right, plane = a.copy(), m.copy()
    right["x"] = np.arange(8)
    right["y"] += a["z"]
    right["z"][1] = 7
    plane["w"][:, 1], plane["x"][:, 0] = a["z"], 5
    plane["x"][:, 1] -= 3
    plane["y"][:, 0] = 9
    np.testing.assert_array_equal(result[0], right)
    plane["w"][1, 1] = result[1]["w"][1, 1]  # threads race for this one
    np.testing.assert_array_equal(result[1], plane)


def test_vectors_are_made_of_numbers_and_vectors(target: str) -> None:
    @kernel
    def joined(a, out, wide):
        i = cuda.grid(1)
        v = a[i]
        out[i] = cuda.float4(cuda.float2(v.w, i), v.x, 2)
        parts = (i, 2, 3)
        wide[i] = cuda.short2(-1.75, a[i].y + cuda.int3(*parts).z)

    a = filled(float4)
    outs = [np.zeros(8, float4.numpy), np.zeros(8, short2.numpy)]
    result = launched(joined, [a, *outs], target)
    places = np.arange(8, dtype=np.float32)
    right = np.stack([a["w"], places, a["x"], np.full(8, 2, np.float32)], 1)
    np.testing.assert_array_equal(result[1].view(np.float32).reshape(8, 4), right)
    np.testing.assert_array_equal(result[2]["x"], np.full(8, -1))
    np.testing.assert_array_equal(result[2]["y"], (a["y"] + 3).astype("i2"))


@device
def turned(v, factor=1):
    v.x, v.y = v.y, -v.x
    return float2(v.x * factor, v.y * factor)


@device
def both(v):
    return v, v.x + v.y


@device
def first_or(v, w):
    if v.x > 4:
        return v
    return w


def test_device_functions_take_and_give_vectors(target: str) -> None:
    @kernel
    def called(a, out, sums):
        i = cuda.grid(1)
        v = a[i]
        w, sums[i] = both(turned(v, factor=3))
        out[i] = first_or(v, w)
        sums[i] += turned(v).x + v.x

    a = filled(float2)
    result = launched(called, [a, np.zeros_like(a), np.zeros(8, np.float32)], target)
    x, y = a["x"], a["y"]
    np.testing.assert_array_equal(result[1]["x"], np.where(x > 4, x, 3 * y))
    np.testing.assert_array_equal(result[1]["y"], np.where(x > 4, y, -3 * x))
    np.testing.assert_array_equal(result[2], 3 * y - 3 * x + y + x)


def test_shared_and_local_arrays(target: str) -> None:
    @kernel
    def exchanged(a, out):
        tile = cuda.shared.array(8, float4)
        own = cuda.local.array(2, dtype=cuda.float4)
        t = cuda.threadIdx.x
        tile[t] = a[cuda.grid(1)]
        v = a[cuda.grid(1)]
        own[0] = v
        own[1].x = v.w
        cuda.syncthreads()
        v.x += tile[7 - t].x
        own[0].w = own[1].x
        cuda.syncthreads()
        tile[t].z = v.x
        cuda.syncthreads()
        out[cuda.grid(1)] = float4(v.x, tile[t].y, tile[7 - t].z, own[0].w)

    a = filled(float4)
    result = launched(exchanged, [a, np.zeros_like(a)], target)[1]
    total = a["x"] + a["x"][::-1]
    np.testing.assert_array_equal(result["x"], total)
    np.testing.assert_array_equal(result["y"], a["y"])
    np.testing.assert_array_equal(result["z"], total[::-1])
    np.testing.assert_array_equal(result["w"], a["w"])


def test_branches_and_loops(target: str) -> None:
    @kernel
    def chosen(a, out):
        i = cuda.grid(1)
        v = a[i] if i % 2 else float2(0, i)
        best = a[0]
        for w in a:
            if w.x > best.x and w.y < 9:
                best = w
        if i > 3:
            late = v
        x, y = late
        out[i] = float4(v, best.x, x + y)

    a = filled(float2)
    result = launched(chosen, [a, np.zeros(8, float4.numpy)], target)[1]
    i = np.arange(8)
    np.testing.assert_array_equal(result["x"], np.where(i % 2, a["x"], 0))
    np.testing.assert_array_equal(result["y"], np.where(i % 2, a["y"], i))
    np.testing.assert_array_equal(result["z"], np.full(8, 7))
    np.testing.assert_array_equal(result["w"], np.where(i > 3, result["x"] + result["y"], 0))


def test_a_loop_over_vectors_has_them_as_they_were(target: str) -> None:
    @kernel
    def looped(a, out):
        i = cuda.grid(1)
        v, w = a[i], a[0]
        t = (1, v)
        v.x = 50
        out[i].x = t[1].x
        for n, u in ((0, v), (1, w)):
            v.x += 1
            w.x += 2
            out[i].y += u.x * (n + 1)
            u.x = -1
        match (v, 1):
            case (q, 1):
                v.y = -5
                out[i].z = q.y + v.y + v.x

    a = filled(float3)
    result = launched(looped, [a, np.zeros_like(a)], target)[1]
    np.testing.assert_array_equal(result["x"], a["x"])
    np.testing.assert_array_equal(result["y"], np.full(8, 50 + 2))
    np.testing.assert_array_equal(result["z"], a["y"] - 5 + 52)


@device
def recorded(log, value):
    log[0] = log[0] * 10 + value
    return value


def test_order(target: str) -> None:
    @kernel
    def ordered(a, log, out):
        v = a[0]
        v.x, v.y = v.y, v.x
        a[1].x, a[1].y = a[1].y, a[1].x
        a[2], a[3] = a[3], a[2]
        v.x += recorded(log, 1) + v.x
        v.y = recorded(log, 2) - v.x
        w = a.dtype(recorded(log, 3), recorded(log, 4))
        if (u := a[recorded(log, 5)]).x > 3:
            a[recorded(log, 6)].x += recorded(log, 7)
        out[0] = float4(v, w.x, u.y)

    a = filled(float2)
    result = launched(ordered, [a, np.zeros(1, int), np.zeros(1, float4.numpy)], target, 1)
    assert result[0][:4].tolist() == [(1, 2), (4, 3), (7, 8), (5, 6)]
    assert result[0][6].tolist() == (13 + 7, 14)
    assert result[1][0] == 1234567
    assert result[2][0].tolist() == (5, -3, 3, 12)


PAIR = int2(3, 4)


def test_types_of_vectors_are_arguments(target: str) -> None:
    @kernel
    def typed(out, kind, v=PAIR):
        tile = cuda.shared.array(2, kind)
        tile[0] = kind(v, 0, v.y)
        out[0] = tile[0]

    for kind in (cuda.float4, cuda.float4.numpy):
        result = launched(typed, [np.zeros(1, float4.numpy), kind], target, 1)
        assert result[0][0].tolist() == (3, 4, 0, 4)


@device
def moved(v: float2, n: int32) -> float2:
    if n <= 0:
        return v
    v.x += n
    return moved(v, n - 1)


def test_signatures_of_device_functions_and_reshaped_arrays(target: str) -> None:
    @kernel
    def called(a, out):
        i = cuda.grid(1)
        rows = a.reshape(4, 2)
        v = rows[i % 4, 1]
        out[i] = moved(v, 3)
        out[i].y += rows.reshape(8)[i].x

    a = filled(float2)
    result = launched(called, [a, np.zeros_like(a)], target)[1]
    picked = a[[1, 3, 5, 7] * 2]
    np.testing.assert_array_equal(result["x"], picked["x"] + 6)
    np.testing.assert_array_equal(result["y"], picked["y"] + a["x"])


@device
def checked(z, v):
    if v.x < 0:
        raise ValueError
    return v, z * 2


def test_a_thread_ends_in_a_function_that_gives_vectors(target: str) -> None:
    @kernel
    def ended(a, out, parts):
        i = cuda.grid(1)
        if i > 4:
            z = 1j
        v, z = checked(z, a[i])
        out[i] = v
        parts[i] = z.imag

    a = filled(float2)
    a["x"][2] = -1
    result = launched(ended, [a, np.zeros_like(a), np.zeros(8)], target)
    right = a.copy()
    right[2] = (0, 0)
    np.testing.assert_array_equal(result[1], right)
    assert result[2].tolist() == [0, 0, 0, 0, 0, 2, 2, 2]


BODY = np.dtype(
    [("mass", "f8"), ("at", float3.numpy), ("size", "i4"), ("color", uchar4.numpy)], align=True
)
PACKED = np.dtype([("flag", "i1"), ("at", float4.numpy), ("to", double2.numpy)])


def test_vectors_are_fields_of_records(target: str) -> None:
    @kernel
    def moved(bodies, packed):
        i = cuda.grid(1)
        b = bodies[i]
        p = b.at
        p.x += 1
        b.at = p
        b.at.y = i
        bodies[i].color.w -= 1
        packed[i].at = float4(b.at, b.color.x)
        packed[i].at.y += 0.5
        packed[i].to.x = bodies.at[i].x
        b.mass = packed[i]["at"]["w"]

    bodies, packed = np.zeros(8, BODY), np.zeros(8, PACKED)
    bodies["at"]["x"] = bodies["color"]["x"] = np.arange(8)
    result, far = launched(moved, [bodies, packed], target)
    i = np.arange(8)
    np.testing.assert_array_equal(result["at"]["x"], i + 1)
    np.testing.assert_array_equal(result["at"]["y"], i)
    np.testing.assert_array_equal(result["color"]["w"], np.full(8, 255))
    np.testing.assert_array_equal(result["mass"], i)
    np.testing.assert_array_equal(far["at"]["y"], i + 0.5)
    np.testing.assert_array_equal(far["to"]["x"], i + 1)


ORIGIN = double2(0.5, 2)
CORNERS = np.array([(1, 2, 3), (4, 5, 6)], float3.numpy)


def test_globals(target: str) -> None:
    @kernel
    def placed(out):
        i = cuda.grid(1)
        v = ORIGIN
        v.x += i
        out[i] = double4(v, ORIGIN.x, CORNERS[i % 2].y)

    result = launched(placed, [np.zeros(8, double4.numpy)], target)[0]
    i = np.arange(8)
    np.testing.assert_array_equal(result["x"], i + 0.5)
    np.testing.assert_array_equal(result["z"], np.full(8, 0.5))
    np.testing.assert_array_equal(result["w"], np.where(i % 2, 5, 2))


@kernel
def of_arguments(out, small, v, n, pair, wide):
    i = cuda.grid(1)
    v.x += i
    out[i] = double4(v.x, small.y, pair[1].z + n, wide.w)


@pytest.mark.parametrize("kind", [float3, int3])
def test_arguments(kind: Any, target: str) -> None:
    arguments = [
        np.zeros(8, double4.numpy),
        *(uchar4(1, 2, 3, 4), kind(1, 2, 3), np.int8(7), (1, kind(4, 5, 6)), double4(1, 2, 3, 4)),
    ]
    result = launched(of_arguments, arguments, target)[0]
    np.testing.assert_array_equal(result["x"], np.arange(8) + 1)
    assert result[3].tolist() == (4, 2, 13, 4)
    element = filled(kind)[1]  # numpy's structured scalar
    assert launched(of_arguments, [*arguments[:2], element, *arguments[3:]], target)[0][0]["x"] == 4


def test_signatures() -> None:
    for arguments in (
        "void(float4[:], float32x4)",
        (float4[:], float4),
        (Array[float4], cuda.float4),
        (Array[float4], float4.numpy),
    ):
        made = kernel(arguments)(lambda_free)
        assert str(made.signature) == "(float4[:], float4)"


def lambda_free(a, v):
    a[0] = v


def test_a_declared_vector_is_given_as_one(target: str) -> None:
    @kernel("float2[:], float2")
    def given(a, v):
        a[0] = v

    assert launched(given, [filled(float2), float2(8, 9)], target, 1)[0][0].tolist() == (8, 9)
    for wrong in (3, (1.0, 2.0), double2(1, 2)):
        with pytest.raises(LaunchError, match=r"argument 2 \(v\) is declared `float2`, given"):
            launched(given, [filled(float2), wrong], target, 1)
    with pytest.raises(LaunchError, match=r"pycu2c\.float2\.numpy, or one of float32 with 2 axes"):
        launched(given, [np.zeros(4, np.float32), float2(8, 9)], target, 1)


@pytest.mark.parametrize("step", [1, -1, 3])
def test_rows_of_numbers_are_declared_as_vectors(step: int, target: str) -> None:
    @kernel("float4[:], float4[:, :]")
    def turned_round(a, out):
        i = cuda.grid(1)
        v = a[i]
        out[i, 1] = float4(v.w, v.z, v.y, v.x)

    rows = np.arange(24 * 4, dtype=np.float32).reshape(24, 4)[::step]
    result = launched(turned_round, [rows, np.zeros((8, 2, 4), np.float32)], target)
    np.testing.assert_array_equal(result[0], rows)
    np.testing.assert_array_equal(result[1][:, 1], rows[:8, ::-1])
    for wrong in (rows[:, :3], rows[:, ::-1], rows.astype(np.float64), rows.ravel()):
        with pytest.raises(LaunchError, match=r"with 2 axes, the last of them of length 4"):
            launched(turned_round, [wrong, np.zeros((8, 2, 4), np.float32)], target)


def test_arrays_of_other_packages_are_seen_as_vectors() -> None:
    memory = np.arange(12, dtype=np.float32).reshape(3, 4)
    interface = {**memory.__array_interface__, "version": 3, "strides": None}
    other = SimpleNamespace(__cuda_array_interface__=interface)
    (seen,) = view_as_vectors([other], {0: float4[:]}, ["a"])
    result = describe(seen)
    assert result is not None
    assert (result.type, result.shape, result.address) == (float4[::1], (3,), memory.ctypes.data)
    assert result.location == "device"
    strided = SimpleNamespace(__cuda_array_interface__={**interface, "strides": (32, 4)})
    (seen,) = view_as_vectors([strided], {0: float4[:]}, ["a"])
    result = describe(seen)
    assert result is not None
    assert (result.type, result.strides) == (float4[:], (32,))
    assert view_as_vectors([other], {0: float4[:, :]}, ["a"]) == [other]


def test_annotated_locals(target: str) -> None:
    @kernel
    def annotated(out):
        v: float2 = float2(1, 2)
        v.x = 5
        out[cuda.grid(1)] = v

    assert launched(annotated, [filled(float2)], target)[0][7].tolist() == (5, 2)


@pytest.mark.parametrize("start", [4, 8])
def test_a_misaligned_array_is_rejected(start: int, target: str) -> None:
    memory = np.zeros(160 + 16, np.uint8)
    first = -memory.ctypes.data % 16 + start
    a = memory[first : first + 128].view(float4.numpy)
    with pytest.raises(LaunchError, match=r"multiple of 16 bytes.*pass a copy"):
        launched(copied, [a, a], target)


def test_a_misaligned_field_of_records_is_rejected(target: str) -> None:
    bodies = np.zeros(8, np.dtype([("at", float4.numpy), ("mass", "f4")]))
    with pytest.raises(LaunchError, match=r"steps of 20 bytes.*pass a copy"):
        launched(copied, [bodies["at"], np.zeros(8, float4.numpy)], target)

"""Types under numba's names, and the type objects of numba itself."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import float32, int32, types
from pycu2c.base.types import NONE, Array, Signature, Tuple
from pycu2c.declarations.signatures import SignatureError, parse_signature, parse_signatures

NAMES = """
b1 i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16 byte uchar char short ushort intc uintc int_ intp longlong
ssize_t uint uintp ulong ulonglong size_t double boolean int8 int64 uint32 float16 float64 complex64
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_names_have_numbas_meaning(name):
    numba = pytest.importorskip("numba")
    theirs = getattr(numba.types, name)
    ours = getattr(types, name)
    assert parse_signature(name).parameters == (ours,)
    assert parse_signature((theirs,)).parameters == (ours,)


def test_a_call_of_types_is_a_signature():
    made = types.void(float32[:], types.i4)
    assert (made.args, made.return_type) == ((float32[:], int32), NONE)
    made = float32(float32, int32[:, ::1])
    assert (made.parameters, made.result) == ((float32, int32[:, ::1]), float32)
    assert float32(2) == np.float32(2)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("void(f4[:], types.i8)", "(float32[:], int64)"),
        ("(f4[:], i4)", "(float32[:], int32)"),
        ("i4(u8, b1)", "(uint64, bool)"),
        ("f4(CPointer(f4), i4)", "(float32[::1], int32)"),
        ("UniTuple(f4, 3)", "((float32, float32, float32))"),
        ("void(types.Tuple((f4, i4)), c8)", "((float32, int32), complex64)"),
        ("Array(f4, 2, 'C'), Array(f4, 1, 'A')", "(float32[:, ::1], float32[:])"),
        (types.void(types.Array(types.f8, 2, "F")), "(float64[:, :])"),
        (types.f4(types.CPointer(types.f4)), "(float32[::1])"),
        ((types.UniTuple(int32, 2), types.none), "((int32, int32), None)"),
    ],
)
def test_signatures_are_read(arguments, expected):
    assert str(parse_signature(arguments)) == expected


def test_array_types_are_equal_however_they_are_written():
    assert types.Array(float32, 2, "C") == float32[:, ::1] == Array[float32, 2, "C"]


def test_a_list_is_of_signatures():
    result = parse_signatures(["void(f4[:])", (float32, int32), types.void(types.f8)])
    assert list(map(str, result)) == ["(float32[:])", "(float32, int32)", "(float64)"]


@pytest.mark.parametrize("text", ["UniTuple(f4)", "Tuple(f4, i4)", "void(UniTuple(3, f4))"])
def test_a_tuple_that_cannot_be_read(text):
    with pytest.raises(SignatureError, match=r"write .*Tuple"):
        parse_signature(text)


def test_numbas_own_types():
    numba = pytest.importorskip("numba")
    record = np.dtype([("x", "f4"), ("n", "i4")])
    arguments = numba.void(
        numba.types.UniTuple(numba.float32, 2),
        numba.types.Tuple((numba.int8, numba.float64[:, ::1])),
        numba.types.none,
        numba.from_dtype(record)[:],
        numba.from_dtype(record),
        numba.types.CPointer(numba.float32),
    )
    uniform, mixed, nothing, array, one, pointer = parse_signature(arguments).parameters
    assert uniform == types.UniTuple(float32, 2)
    assert mixed == Tuple((types.int8, types.float64[:, ::1]))
    assert nothing == NONE
    assert pointer == float32[::1]
    assert array.dtype.numpy == one.dtype.numpy == record
    assert parse_signature(arguments).result == NONE
    assert parse_signature(numba.int64(numba.int32)) == Signature((int32,))

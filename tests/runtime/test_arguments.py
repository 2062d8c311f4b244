"""Arguments: their types, how they are packed, and which are rejected."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycu2c import types
from pycu2c.base import dtypes
from pycu2c.base import types as base_types
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DType
from pycu2c.base.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Array, Scalar
from pycu2c.ir.nodes import ArgumentPart, Parameter
from pycu2c.runtime.arguments.arguments import describe, layout_of, pack, type_of
from pycu2c.runtime.arguments.array_argument import ArrayArgument


class Interface:
    """An object of another library: it has one attribute."""

    def __init__(self, name: str, **fields: object) -> None:
        setattr(self, name, fields)


def on_device(**fields: object) -> Interface:
    base = {"shape": (4, 3), "typestr": "<f4", "data": (4096, False), "version": 3}
    return Interface("__cuda_array_interface__", **(base | fields))


def described(obj: object) -> ArrayArgument:
    array = describe(obj, "x")
    assert array is not None
    return array


# ---- types ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (True, WEAK_BOOL),
        (3, WEAK_INT),
        (2.5, WEAK_FLOAT),
        (np.float64(1), types.float64),
        (np.bool_(True), types.boolean),
        (np.longlong(1), types.int64),
        (np.float16(1), types.float16),
        (1j, base_types.WEAK_COMPLEX),
        (np.complex64(1j), types.complex64),
        (np.longdouble(1), None),
        ("text", None),
        (None, None),
        ([1, 2], None),
        (np.zeros((2, 3)), Array(dtypes.FLOAT64, 2, "C")),
        (np.zeros((2, 3)).T, Array(dtypes.FLOAT64, 2, "A")),
        (np.zeros((1, 3)).T, Array(dtypes.FLOAT64, 2, "C")),
        (np.zeros(8, np.int8)[::-1], Array(dtypes.INT8, 1, "A")),
        (np.zeros((2, 0)), Array(dtypes.FLOAT64, 2, "C")),
        (on_device(), Array(dtypes.FLOAT32, 2, "C")),
        (on_device(strides=(12, 4)), Array(dtypes.FLOAT32, 2, "C")),
        (on_device(strides=(4, 16)), Array(dtypes.FLOAT32, 2, "A")),
    ],
)
def test_types(obj: object, expected: Scalar | Array | None) -> None:
    assert type_of(obj) == expected


@pytest.mark.parametrize("row", dtypes.DTYPES, ids=str)
def test_every_dtype_is_described(row: DType) -> None:
    array = np.zeros((3, 5), row.numpy)[:, 1:4]
    result = described(array)
    assert (result.dtype, result.shape, result.strides) == (row, (3, 3), (5 * row.size, row.size))
    assert result.address == array.ctypes.data
    assert (result.readonly, result.location, result.owner) == (False, "host", array)


def test_readonly_is_seen() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    assert described(array).readonly
    assert described(on_device(data=(4096, True))).readonly


def test_the_array_interface_of_the_host() -> None:
    array = np.zeros((4, 6), np.int32)[:, ::2]
    result = described(Interface("__array_interface__", **array.__array_interface__))
    assert result[:7] == described(array)[:7]


def test_a_device_array() -> None:
    result = described(on_device(stream=2))
    assert (result.location, result.address, result.stream) == ("device", 4096, 2)
    assert (result.shape, result.strides) == ((4, 3), (12, 4))
    assert described(on_device(shape=(0, 3), data=(0, False))).size == 0


def big_endian() -> object:
    return np.zeros(3, np.dtype("i4").newbyteorder())


def unaligned() -> object:
    return np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float64)


def record_field() -> object:
    return np.zeros(4, np.dtype([("a", "u1"), ("b", "f4")]))["b"]


def odd_strides() -> object:
    return np.lib.stride_tricks.as_strided(np.zeros(9, np.int16), (3,), (3,))


OVERLAID = np.dtype({"names": ["p", "q"], "formats": ["f4", "f4"], "offsets": [0, 2]})


def masked() -> object:
    return np.ma.MaskedArray(np.zeros(3), mask=[0, 1, 0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (big_endian, "x is not in native byte order"),
        (unaligned, "x does not begin at a multiple of"),
        (record_field, "x does not begin at a multiple of"),
        (odd_strides, "x has elements of . bytes in steps of"),
        (masked, "x is a masked array"),
        (lambda: np.zeros((1,) * 17), "x has 17 axes, and arrays of kernels have at most 16"),
        (lambda: np.zeros(3, np.longdouble), f"x has dtype {np.dtype(np.longdouble).name}"),
        (lambda: np.array([object()]), "x has dtype object"),
        (lambda: np.zeros(2, [("s", "S4")]), r"x has the field 's' of \|S4"),
        (lambda: np.zeros(2, [("p", "f4", (3, 0))]), "x has the field 'p' of .*, which kernels do"),
        (
            lambda: np.zeros(2, [("q", [("p", ">f8", 5)])]),
            "x has the field 'p' of .*, which kernels",
        ),
        (lambda: np.zeros(2, OVERLAID), "x has overlapping fields"),
        (lambda: on_device(typestr=">f4"), "x is not in native byte order"),
        (lambda: on_device(strides=(6, 2)), "x has elements of 4 bytes in steps of 6"),
        (lambda: on_device(data=(4098, False)), "x does not begin at a multiple of 4"),
        (lambda: on_device(mask=on_device()), "x has a mask"),
        (lambda: Interface("__array_interface__", shape=(1,), typestr="<f4"), "no data address"),
    ],
)
def test_unsupported_arrays(make: Callable[[], object], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        describe(make(), "x")


def test_axes_of_length_one_may_have_any_stride() -> None:
    array = np.lib.stride_tricks.as_strided(np.zeros(4), (1, 4), (3, 8))
    assert described(array).contiguous


# ---- packing -------------------------------------------------------------------------------


def value(scalar: Scalar, argument: int = 0) -> Parameter:
    return Parameter(f"p{argument}", scalar, argument)


def packed(scalar: Scalar, number: bool | int | float | np.generic) -> object:
    layout = layout_of([value(scalar)])
    (result,) = layout.struct.unpack(pack(layout, [number], [0]))
    return result


ARRAY = [
    Parameter("a", Array(dtypes.INT16, 2), 1, ArgumentPart.DATA),
    Parameter("a_0", WEAK_INT, 1, ArgumentPart.SHAPE, 0),
    Parameter("a_1", WEAK_INT, 1, ArgumentPart.SHAPE, 1),
    Parameter("a_s0", WEAK_INT, 1, ArgumentPart.STRIDE, 0),
    Parameter("a_s1", WEAK_INT, 1, ArgumentPart.STRIDE, 1),
]


def test_an_array_is_packed_in_elements() -> None:
    array = described(np.zeros((4, 6), np.int16)[::-1, ::2])
    layout = layout_of([value(types.int8), *ARRAY])
    data = pack(layout, [-5, array], [0, 0xFFFF_8000_0000_1000])
    assert layout.struct.unpack(data) == (-5, 0xFFFF_8000_0000_1000, 4, 3, -6, 2)


C_TYPES = {
    "bool": ctypes.c_bool,
    **{
        f"{sign}int{bits}": getattr(ctypes, f"c_{sign}int{bits}")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


@given(st.lists(st.sampled_from(dtypes.DTYPES), max_size=12))
def test_the_layout_is_that_of_a_c_struct(rows: list[DType]) -> None:
    rows = [row for row in rows if row.name in C_TYPES]  # ctypes has no half, no complex numbers
    parameters = [value(Scalar(row), n) for n, row in enumerate(rows)]
    fields = [(f"f{n}", C_TYPES[row.name]) for n, row in enumerate(rows)]
    mirror = type("Mirror", (ctypes.Structure,), {"_fields_": fields})
    numbers = [n % 2 for n in range(len(rows))]
    layout = layout_of(parameters)
    data = pack(layout, numbers, [0] * len(rows))
    read = mirror.from_buffer_copy(data.ljust(ctypes.sizeof(mirror), b"\0"))
    assert [getattr(read, name) for name, _ in fields] == numbers
    assert [getattr(mirror, name).offset for name, _ in fields] == list(layout.offsets)


def test_numbers_that_struct_has_no_letter_for() -> None:
    kinds = (types.float32, types.complex64, types.bfloat16, types.complex128, types.float16)
    layout = layout_of([value(kind, n) for n, kind in enumerate(kinds)])
    assert layout.offsets == (0, 8, 16, 32, 48)  # as CUDA aligns float2 and double2
    data = pack(layout, [1.5, 1 - 2j, 3.0, 4 + 5j, 0.5], [0] * len(kinds))
    assert np.frombuffer(data, np.float32, 1, 0)[0] == 1.5
    assert np.frombuffer(data, np.complex64, 1, 8)[0] == 1 - 2j
    assert np.frombuffer(data, np.uint16, 1, 16)[0] == 0x4040
    assert np.frombuffer(data, np.complex128, 1, 32)[0] == 4 + 5j
    assert np.frombuffer(data, np.float16, 1, 48)[0] == 0.5


@pytest.mark.parametrize(
    ("scalar", "number", "expected"),
    [
        (types.float32, 2, 2.0),
        (types.float32, np.float64(0.5), 0.5),
        (types.float32, 1e300, float("inf")),
        (types.float64, 10**400, float("inf")),
        (types.float64, -(10**400), float("-inf")),
        (types.float64, np.float32(0.1), float(np.float32(0.1))),
        (types.int32, np.int64(-7), -7),
        (types.int32, 2.0, 2),
        (types.int32, np.float32(-3), -3),
        (types.uint64, 2**64 - 1, 2**64 - 1),
        (types.int8, True, 1),
        (types.int8, np.bool_(True), 1),
        (types.boolean, 2, True),
        (WEAK_INT, -(2**63), -(2**63)),
        (WEAK_FLOAT, 0.1, 0.1),
        (WEAK_BOOL, False, False),
    ],
)
def test_numbers_are_converted_where_nothing_is_lost(
    scalar: Scalar, number: bool | int | float | np.generic, expected: object
) -> None:
    assert packed(scalar, number) == expected


@pytest.mark.parametrize(
    ("scalar", "number", "message"),
    [
        (types.int32, 2**40, "p0 is int32, which cannot hold 1099511627776"),
        (types.int32, 2.5, "p0 is int32, which cannot hold 2.5"),
        (types.int32, float("nan"), "p0 is int32, which cannot hold nan"),
        (types.int32, float("inf"), "p0 is int32, which cannot hold inf"),
        (types.uint8, -1, "p0 is uint8, which cannot hold -1"),
        (WEAK_INT, 2**63, r"cannot hold 9223372036854775808: pass numpy.uint64"),
        (WEAK_INT, 2**64, "cannot hold 18446744073709551616$"),
    ],
)
def test_numbers_that_do_not_fit_are_rejected(
    scalar: Scalar, number: int | float, message: str
) -> None:
    with pytest.raises(LaunchError, match=message):
        packed(scalar, number)


def test_an_empty_list_of_parameters() -> None:
    assert pack(layout_of([]), [], []) == b""
    assert struct.calcsize("@P") == layout_of(ARRAY).alignments[0]

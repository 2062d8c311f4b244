"""Arguments that an algorithm does not support give one plain error, and never a wrong result."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, algorithms, cuda

Array = np.ndarray[Any, Any]

N = 12
OFFSETS = np.array([0, 3, N], np.int32)
FLAGS = np.arange(N) % 3 == 0
COLUMNS = np.arange(N, dtype=np.int32) % 2
MATRIX = 3, 4  # the shape of N elements
RECORD = np.dtype([("key", np.int32), ("value", np.float32)])


def of_dtype(dtype: Any) -> Array:
    array = np.zeros(N, dtype)
    if array.dtype.names is None:
        array[:] = np.arange(N).astype(np.int64).astype(dtype)
    else:
        for i, name in enumerate(array.dtype.names):
            array[name] = np.arange(N) + i
    return array


def unaligned() -> Array:
    return np.frombuffer(bytearray(8 * N + 1), np.float64, offset=1)


def packed() -> Array:
    """Return a field of records of 5 bytes: elements in steps that are not multiples."""
    return np.zeros(N, [("value", np.int32), ("flag", np.int8)])["value"]


# the names of arguments, and of what is passed for them in correct calls
ARGUMENTS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "reduce": (algorithms.reduce, {"a": np.ones(N), "out": np.zeros(1)}),
    "inclusive_scan": (algorithms.inclusive_scan, {"a": np.ones(N), "out": np.zeros(N)}),
    "exclusive_scan": (algorithms.exclusive_scan, {"a": np.ones(N), "out": np.zeros(N)}),
    "select": (
        algorithms.select,
        {"a": np.ones(N), "predicate": FLAGS, "out": np.zeros(N), "count": np.zeros(1, np.int32)},
    ),
    "partition": (
        algorithms.partition,
        {"a": np.ones(N), "predicate": FLAGS, "out": np.zeros(N), "count": np.zeros(1, np.int32)},
    ),
    "segmented_reduce": (
        algorithms.segmented_reduce,
        {"a": np.ones(N), "offsets": OFFSETS, "out": np.zeros(2)},
    ),
    "spmv": (
        algorithms.spmv,
        {
            "data": np.ones(N),
            "indices": COLUMNS,
            "indptr": OFFSETS,
            "x": np.ones(2),
            "out": np.zeros(2),
        },
    ),
    "histogram": (
        algorithms.histogram,
        {"a": np.ones(N, np.int32), "bins": 5, "out": np.zeros(5, np.int32)},
    ),
    "transpose": (
        algorithms.transpose,
        {"a": np.ones(MATRIX), "out": np.zeros(MATRIX[::-1])},
    ),
    "sort": (algorithms.sort, {"keys": np.ones(N), "out": np.zeros(N)}),
    "sort_by_key": (
        algorithms.sort_by_key,
        {"keys": np.ones(N), "values": np.ones(N), "out": (np.zeros(N), np.zeros(N))},
    ),
}
PARAMETERS = [
    (name, parameter)
    for name, (_, arguments) in ARGUMENTS.items()
    for parameter, value in arguments.items()
    if isinstance(value, np.ndarray)
]

ARRAYS: dict[str, Array] = {
    "record": of_dtype(RECORD),
    "subarray": np.zeros(N, [("a", np.float32, (2,))]),
    "string": of_dtype("U3"),
    "bytes": of_dtype("S3"),
    "object": of_dtype(object),
    "void": np.zeros(N, "V3"),
    "longdouble": of_dtype(np.longdouble),
    "clongdouble": of_dtype(np.clongdouble),
    "big-endian": of_dtype(">i4"),
    "unaligned": unaligned(),
    "packed": packed(),
    "datetime": of_dtype("M8[s]"),
    "timedelta": of_dtype("m8[s]"),
    "complex": of_dtype(np.complex64),
    "vector": of_dtype(cuda.float2.numpy),
    "float16": of_dtype(np.float16),
}
MOVED = {"record", "subarray", "datetime", "timedelta", "complex", "vector", "float16"}
NUMBERS = {"complex", "float16"}
SUPPORTED: dict[tuple[str, str], set[str]] = {
    ("reduce", "a"): NUMBERS,
    ("inclusive_scan", "a"): NUMBERS,
    ("exclusive_scan", "a"): NUMBERS,
    ("select", "a"): MOVED - {"record", "subarray"},
    ("select", "predicate"): {"float16"},
    ("partition", "a"): MOVED - {"record", "subarray"},
    ("partition", "predicate"): {"float16"},
    ("segmented_reduce", "a"): NUMBERS,
    ("spmv", "data"): NUMBERS,
    ("spmv", "x"): NUMBERS,
    ("transpose", "a"): MOVED,
    ("sort", "keys"): {"float16"},
    ("sort_by_key", "keys"): {"float16"},
    ("sort_by_key", "values"): MOVED - {"record", "subarray"},
}
# results to which float64 is converted; the fields of one record have no wrong step
CONVERTED = {
    (name, "out"): NUMBERS for name in ARGUMENTS if name not in ("histogram", "sort", "sort_by_key")
}
CONVERTED |= {("select", "count"): {"packed"}, ("partition", "count"): {"packed"}}


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_BACKEND", "cpu")


def call(name: str, **changed: Any) -> Any:
    """Call an algorithm with some arguments changed, and new results unless they are given."""
    function, arguments = ARGUMENTS[name]
    inputs = {p: v for p, v in arguments.items() if p not in ("out", "count")}
    return function(**{**inputs, **changed})


def assert_rejected(pattern: str, name: str, **changed: Any) -> None:
    """Assert that a call raises one plain error, which names a parameter and no kernel."""
    with pytest.raises((TypeError, ValueError)) as raised:
        call(name, **changed)
    message = str(raised.value)
    assert not isinstance(raised.value, CompileError)
    assert re.match(rf"({pattern})(\[\d\])? ", message), message
    assert "\n" not in message
    assert "argument 1" not in message


def as_argument(array: Array, name: str, parameter: str) -> Array:
    """Return an array with the shape of a correct argument."""
    correct = ARGUMENTS[name][1][parameter]
    return array[: correct.size].reshape(correct.shape)


@pytest.mark.parametrize(
    ("name", "parameter", "kind"),
    [
        (*called, kind)
        for called in PARAMETERS
        for kind in ARRAYS
        if kind not in SUPPORTED.get(called, ()) and kind not in CONVERTED.get(called, ())
    ],
    ids=str,
)
def test_dtypes(name: str, parameter: str, kind: str) -> None:
    array = as_argument(ARRAYS[kind], name, parameter)
    assert_rejected(parameter, name, **{parameter: array})


def expected(name: str, changed: dict[str, Any]) -> Any:
    """Return the result of an algorithm, computed by NumPy."""
    given = {**ARGUMENTS[name][1], **changed}
    a, keys = given.get("a"), given.get("keys")
    flags = given.get("predicate", FLAGS).astype(bool)
    match name:
        case "reduce":
            return np.add.reduce(a)
        case "inclusive_scan":
            return np.add.accumulate(a)
        case "exclusive_scan":
            return np.append(np.zeros(1, a.dtype), np.add.accumulate(a)[:-1])
        case "select":
            return a[flags]
        case "partition":
            return np.append(a[flags], a[~flags][::-1]), [flags.sum()]
        case "segmented_reduce":
            return np.add.reduceat(a, OFFSETS[:-1])
        case "spmv":
            return np.add.reduceat(given["data"] * given["x"][COLUMNS], OFFSETS[:-1])
        case "transpose":
            return a.T
        case "sort":
            return np.sort(keys)
        case _:
            return np.sort(keys), given["values"]


@pytest.mark.parametrize(
    ("name", "parameter", "kind"),
    [(*called, kind) for called, kinds in SUPPORTED.items() for kind in sorted(kinds)],
    ids=str,
)
def test_supported_dtypes(name: str, parameter: str, kind: str) -> None:
    changed = {parameter: as_argument(ARRAYS[kind], name, parameter)}
    found, wanted = call(name, **changed), expected(name, changed)
    for a, b in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
        np.testing.assert_array_equal(a, b)
        assert getattr(b, "dtype", a.dtype) == a.dtype


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS, ids=str)
def test_ranks_and_sizes(name: str, parameter: str) -> None:
    correct = ARGUMENTS[name][1][parameter]
    if (name, parameter) != ("reduce", "out"):  # of one element and any rank
        assert_rejected(parameter, name, **{parameter: np.zeros((), correct.dtype)})
        assert_rejected(parameter, name, **{parameter: correct[None]})
    if parameter not in ("out", "count", "predicate"):
        assert_rejected(parameter, name, **{parameter: None})
    if parameter not in ("a", "data", "keys", "x", "offsets", "indptr"):
        assert_rejected(parameter, name, **{parameter: np.repeat(correct, 2, axis=0)})


RESULTS = [(name, parameter) for name, parameter in PARAMETERS if parameter in ("out", "count")]


@pytest.mark.parametrize(("name", "parameter"), RESULTS, ids=str)
def test_results(name: str, parameter: str) -> None:
    correct = ARGUMENTS[name][1][parameter]
    read_only = correct.copy()
    read_only.flags.writeable = False
    assert_rejected(parameter, name, **{parameter: read_only})
    assert_rejected(parameter, name, **{parameter: correct.tolist()})
    lossy = np.float64 if correct.dtype.kind == "i" else np.int32
    assert_rejected(parameter, name, **{parameter: correct.astype(lossy)})


@pytest.mark.parametrize(("name", "parameter"), RESULTS, ids=str)
def test_results_that_overlap(name: str, parameter: str) -> None:
    for other, given in ARGUMENTS[name][1].items():
        correct = ARGUMENTS[name][1][parameter]
        if other != parameter and isinstance(given, np.ndarray):
            memory = np.zeros(64, np.int64)
            first = memory.view(given.dtype)[: given.size].reshape(given.shape)
            skipped = 0 if first.size != correct.size else 1  # a result may be the same array
            second = memory.view(correct.dtype)[skipped : skipped + correct.size]
            changed = {other: first, parameter: second.reshape(correct.shape)}
            assert_rejected(f"{parameter}|{other}", name, **changed)


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_select_in_place(dtype: Any) -> None:
    a = np.arange(5000).astype(dtype)
    kept = a[a % 3 == 0]
    np.testing.assert_array_equal(algorithms.select(a, lambda x: x % 3 == 0, a), kept)


def test_empty_arrays() -> None:
    nothing, offsets = np.zeros(0), np.zeros(4, np.int32)
    for name in ("inclusive_scan", "exclusive_scan", "select", "sort"):
        parameter = "keys" if name == "sort" else "a"
        others = {"predicate": nothing} if name == "select" else {}
        assert call(name, **{parameter: nothing}, **others).shape == (0,)
    assert algorithms.segmented_reduce(nothing, offsets).tolist() == [0, 0, 0]
    assert algorithms.spmv(nothing, offsets[:0], offsets, nothing).tolist() == [0, 0, 0]
    assert algorithms.transpose(np.zeros((0, 3))).shape == (3, 0)
    with pytest.raises(ValueError, match="not an empty tuple"):
        algorithms.reduce(())

"""The dispatch table gives the results and errors of the Python slow path."""

from __future__ import annotations

import copy
import ctypes
import gc
import struct
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pycu2c
from pycu2c import cuda, kernel
from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError, LaunchWarning
from pycu2c.base.limits import BLOCKS32_LIMIT, INDEX32_LIMIT, MAX_AXES
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import replace
from pycu2c.base.types import Scalar, Signature
from pycu2c.base.values import scalar_of
from pycu2c.devices.allocation import to_device
from pycu2c.kernels.kernel import Configured, Kernel
from pycu2c.native import _dispatch
from pycu2c.native._dispatch import LaunchConfiguration
from pycu2c.runtime.arguments.arguments import Layout, describe, layout_of, pack
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.dispatch.guards import ArrayGuard, RecordedLaunch
from pycu2c.runtime.dispatch.table import DispatchTable, Field, LaunchGuard, entry_of
from pycu2c.runtime.launch_configuration import LAUNCH_HEADER
from pycu2c.runtime.runner import FastPathLaunch, HiddenArguments
from support.launching import leaks


def fresh(function: Callable[..., None], **options: Any) -> Kernel[...]:
    return Kernel(function, backend="cpu", **options)  # type: ignore[arg-type]


def learnt(k: Kernel[...], *arguments: object, grid: Any = 1, block: Any = 4) -> None:
    """After this, the dispatch table has launches like it."""
    k[grid, block](*arguments)
    k[grid, block](*arguments)
    assert is_quick(k, *arguments, grid=grid, block=block), "there is no entry for this"


def is_quick(k: Kernel[...], *arguments: object, grid: Any = 1, block: Any = 4) -> bool:
    """Whether the dispatch table runs a launch."""
    table = k.launcher.dispatch_table
    assert table is not None
    return table.launch(k[grid, block]._configuration, arguments)


def without_table(k: Kernel[...]) -> None:
    """The next launch takes the slow path."""
    k.launcher.dispatch_table = k._launches.table = None


def scale(out, a, x):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * x + 1


def total(out, a):
    i = cuda.grid(1)
    if i == 0:
        out[0] = 0
        for j in range(a.shape[0]):
            out[0] += a[j]


def total2(out, a):
    i = cuda.grid(1)
    if i == 0:
        out[0] = 0
        for j in range(a.shape[0]):
            for m in range(a.shape[1]):
                out[0] += (j + 2 * m + 1) * a[j, m]


def keep(out, x):
    out[0] = x


def length(out, a):
    out[0] = len(a)


ONE = CallSignature("one", ("x",), 1, None, {})

# ---- the extension --------------------------------------------------------------------------


def test_the_limits_are_those_of_the_compiler() -> None:
    assert _dispatch.INDEX32_LIMIT == INDEX32_LIMIT == 1 << 30
    assert _dispatch.BLOCKS32_LIMIT == BLOCKS32_LIMIT == 1 << 22
    assert _dispatch.MAX_AXES == MAX_AXES


def test_the_launch_header_is_that_of_kernels() -> None:
    """What Python packs before the arguments of a kernel on the CPU is the struct of C."""
    assert LAUNCH_HEADER.size == _dispatch.HEADER_SIZE
    packed = LAUNCH_HEADER.pack(1, 2, 3, 4, 5, 6, 7)
    assert struct.unpack_from("@3i", packed, _dispatch.HEADER_BLOCK_OFFSET) == (4, 5, 6)
    assert struct.unpack_from("@q", packed, _dispatch.HEADER_SHARED_BYTES_OFFSET) == (7,)


WITHOUT_EXTENSION = """
import sys
sys.modules["pycu2c.native._dispatch"] = None  # as if it were not built
import numpy as np
import test_without_extension_kernels as kernels
from pycu2c import LaunchError, cuda
from pycu2c.cli import doctor
from pycu2c.native import extension

assert extension.UNAVAILABLE
kernels.run()
facts, verdict = doctor.report()
assert verdict.startswith("ready"), verdict
assert "slow path" in facts["launches"], facts
print("all as with it")
"""

KERNELS = """
import numpy as np
import pytest
from pycu2c import LaunchError, cuda, kernel
from pycu2c.cupy import ElementwiseKernel

@kernel(backend="cpu")
def scale(out, a, x):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * x + 1

def run():
    out = np.zeros(4)
    for x in (1, 2, 3):
        scale[1, 4](out, np.ones(4), x)
        assert out.tolist() == [x + 1] * 4
    scale[1, 4](out, x=5, a=np.ones(4))
    assert out.tolist() == [6] * 4
    with pytest.raises(LaunchError, match="takes 3 arguments"):
        scale[1, 4](out)
    with pytest.raises(AttributeError):
        type(scale).__new__(type(scale))[1, 4]
    own = cuda.to_device(np.arange(6.0).reshape(2, 3), device="cpu")
    assert (own.ndim, own.shape, own.is_c_contiguous()) == (2, (2, 3), True)
    assert own.T.copy_to_host().tolist() == own.copy_to_host().T.tolist()
    target = cuda.to_device(np.zeros(4), device="cpu")
    with cuda.graph(device="cpu") as graph:
        scale[1, 4](target, np.ones(4), 1)
        scale[1, 4](target, np.ones(4), 2)
    graph()
    assert target.copy_to_host().tolist() == [3] * 4
    doubled = ElementwiseKernel("T x", "T y", "y = 2 * x", "doubled")
    for _ in range(9):
        assert doubled(np.arange(3.0)).tolist() == [0, 2, 4]
    assert scale.launcher.dispatch_table.take_latest() is None
"""


def test_without_the_extension_launches_take_the_slow_path(tmp_path: Path) -> None:
    (tmp_path / "test_without_extension_kernels.py").write_text(KERNELS)
    program = tmp_path / "program.py"
    program.write_text(WITHOUT_EXTENSION)
    ran = subprocess.run((sys.executable, program), capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("all as with it\n", "")


def packed_by_python(value: Any) -> tuple[Layout, bytes]:
    """A kernel's parameters for one argument, and how the slow path packs it."""
    array = describe(value)
    if array is None:
        scalar = scalar_of(value)
        assert isinstance(scalar, Scalar)
        layout = layout_of([Parameter("x", scalar, 0)])
        return layout, pack(layout, [value], [0])
    parameters = [Parameter("x", array.type, 0, ArgumentPart.DATA)]
    for axis in range(len(array.shape)):
        parameters += [
            Parameter("n", Scalar(dtypes.INT64, weak=True), 0, ArgumentPart.SHAPE, axis),
            Parameter("s", Scalar(dtypes.INT64, weak=True), 0, ArgumentPart.STRIDE, axis),
        ]
    layout = layout_of(parameters)
    return layout, pack(layout, [array], [array.address])


def arguments_of_every_kind() -> Iterator[Any]:
    grid = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    arrays = (grid, grid[::-1, :, 1:3], grid[0].T, grid[1, 2], grid[:, 1:2, ::-2])
    yield from arrays
    yield from (to_device(array, device="cpu") for array in arrays)
    yield to_device(grid, device="cpu")[::-1, :, 1:3]
    frozen = np.arange(5)
    frozen.flags.writeable = False
    yield from (frozen, frozen[1:2], np.zeros(3, [("x", "i4"), ("y", "f8")]))
    yield from (True, -7, 2.5, 1 - 2j)
    for row in dtypes.DTYPES:
        if row is not dtypes.BFLOAT16:
            yield row.numpy.type(1)


@pytest.mark.parametrize("value", [*arguments_of_every_kind()], ids=lambda v: type(v).__name__)
def test_arguments_are_packed_as_on_the_slow_path(value: Any) -> None:
    layout, packed = packed_by_python(value)
    kept: list[bytes] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    def start(kernel: int, arguments: int, blocks: int) -> int:
        kept.append(ctypes.string_at(arguments, LAUNCH_HEADER.size + len(packed)))
        return 0

    array = describe(value)
    types = (array.type if array else scalar_of(value),)
    launch = RecordedLaunch((value,), types, (array or value,), (), {})  # type: ignore[arg-type]
    address = ctypes.cast(start, ctypes.c_void_p).value or 0
    fast_path = FastPathLaunch(layout, address, 0, lambda code, head: None)
    table, signature = DispatchTable(ONE), Signature(())
    assert table.record(launch, LaunchGuard(None, 16), fast_path, signature)
    configuration = LaunchConfiguration((6, 5, 4), (3, 2, 1), 16, None, 0, True)
    assert table.launch(configuration, (value,))
    assert kept == [LAUNCH_HEADER.pack(6, 5, 4, 3, 2, 1, 16) + packed]
    assert not table.launch(configuration, (None,))
    assert table.take_latest() is signature
    assert table.take_latest() is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"fields": (Field("value", 0, 0, 90, 8, 8),)},
        {"fields": (Field("value", 3, 0, 32, 8, 8),)},
        {"fields": (Field("text", 0, 0, 32, 8, 8),)},  # type: ignore[arg-type]
        {"guards": (ArrayGuard("numpy_array", int, None, 1, 8, 8, True, False, False),)},
        {"guards": (ArrayGuard("device_array", int, None, 1, 8, 8, True, False, False),)},
        {"guards": ("no guard",)},
        {"staging": 5},
        {"initial": b"a byte for each of the arguments"},
        {"initial": 5},
        {"grid_sources": ((3, 0),)},
    ],
    ids=lambda wrong: "".join(wrong),
)
def test_entries_with_offsets_out_of_range_are_rejected(wrong: dict[str, Any]) -> None:
    layout, _ = packed_by_python(1)
    launch = RecordedLaunch((1,), (scalar_of(1),), (1,), (), {})  # type: ignore[arg-type]
    fast_path = FastPathLaunch(layout, 1, 0, lambda code, head: None)
    entry = entry_of(launch, LaunchGuard(None, 0), fast_path, Signature(()))
    with pytest.raises((ValueError, TypeError, AttributeError)):
        DispatchTable(ONE).add(replace(entry, **wrong))
    assert DispatchTable(ONE).add(entry)


# ---- what the dispatch table runs -----------------------------------------------------------


def test_arrays_and_numbers() -> None:
    k, out, a = fresh(scale), np.zeros(4), np.arange(4.0)
    learnt(k, out, a, 2)
    for n, x in ((4, 3), (2, -5), (3, 0)):
        assert is_quick(k, out, a[:n], x)
        assert out[:n].tolist() == (a[:n] * x + 1).tolist()
    assert is_quick(k, out, a, 7, grid=5)  # grids are as they come
    assert is_quick(k, out, a, 7, grid=(2, 3))


def test_strided_arrays() -> None:
    k, out, a = fresh(total2), np.zeros(1), np.arange(42.0).reshape(6, 7)
    learnt(k, out, a[:, 1:5])
    weights = lambda v: np.add.outer(np.arange(v.shape[0]), 2 * np.arange(v.shape[1])) + 1  # noqa: E731
    for view in (a[:, 1:5], a[::-1, ::-2], a.T, a[::2], a[:, :1], a[1:2, ::3], a[:1, 2:4]):
        expected = (weights(view) * view).sum()
        out[0] = -1
        assert is_quick(k, out, view) == (not view.flags.c_contiguous)
        k[1, 4](out, view)
        assert out[0] == expected


@pytest.mark.parametrize("row", [r for r in dtypes.DTYPES if r is not dtypes.BFLOAT16], ids=str)
def test_numbers_of_numpy(row: dtypes.DType) -> None:
    k, out = fresh(keep), np.zeros(1, row.numpy)
    learnt(k, out, row.numpy.type(1), block=1)
    for x in (row.numpy.type(0), row.numpy.type(1), np.array(100).astype(row.numpy)[()]):
        assert is_quick(k, out, x, block=1)
        assert out[0] == x


@pytest.mark.parametrize("x", [True, 5, -(2**30) + 1, 2.5, 1e300, float("nan"), 1 - 2j])
def test_numbers_of_python(x: complex) -> None:
    k, out = fresh(keep), np.zeros(1, np.complex128)
    learnt(k, out, type(x)(1), block=1)
    assert is_quick(k, out, x, block=1)
    np.testing.assert_array_equal(out, np.array([x], np.complex128))


def test_declared_types() -> None:
    k, out = fresh(keep, signature="void(float64[:], float32)"), np.zeros(1)
    learnt(k, out, 1.5, block=1)
    learnt(k, out, 1, block=1)  # a whole number becomes a float
    assert is_quick(k, out, 0.1, block=1)
    assert out[0] == np.float32(0.1)
    assert is_quick(k, out, 2**24 + 1, block=1)
    assert out[0] == np.float32(2**24 + 1)
    assert not is_quick(k, out, 1e39, block=1)
    with pytest.raises(LaunchError, match="is declared `float32`, given 1e\\+39"):
        k[1, 1](out, 1e39)


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_the_bounds_of_declared_integers(name: str) -> None:
    k, out = fresh(keep, signature=f"void(int64[:], {name})"), np.zeros(1, np.int64)
    learnt(k, out, 1, block=1)
    info = np.iinfo(name)
    for x in (int(info.min), int(info.max)):
        if name == "int32":
            assert not is_quick(k, out, x, block=1)
            learnt(k, out, x, block=1)  # the variant without 32-bit indices
        assert is_quick(k, out, x, block=1)
        assert out[0] == x
    for x in (info.min - 1, info.max + 1, 2**64, -(2**70)):
        assert not is_quick(k, out, x, block=1)
        with pytest.raises(LaunchError, match="is declared"):
            k[1, 1](out, x)


NUMBERS_OF = [
    *(row.numpy.type for row in dtypes.DTYPES if row is not dtypes.BFLOAT16),
    *(int, bool, float, complex),
]
DECLARED = ["bool", "int8", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
TRIED = [0, 1, -1, 3, 127, 200, 2**31, 2**53 + 1, 2**63, 0.5, 0.1, 1e39, float("inf"), float("nan")]


@pytest.mark.filterwarnings("ignore:.*cast:RuntimeWarning", "ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("expected", [*DECLARED, "int", "float"])
@pytest.mark.parametrize("kind", NUMBERS_OF, ids=lambda kind: kind.__name__)
def test_every_number_for_every_declared_type(kind: Any, expected: str) -> None:
    """The dispatch table takes what the slow path takes, and makes the same of it."""
    element = {"int": "int64", "float": "float64"}.get(expected, expected)
    planned, plain = (fresh(keep, signature=f"void({element}[:], {expected})") for _ in range(2))
    taken = 0
    for number in [1, *TRIED]:
        try:
            x = kind(np.array(number).astype(kind)[()]) if kind not in (int, bool) else kind(number)
        except (OverflowError, ValueError):
            continue
        results = []
        for k in (planned, plain, planned):
            without_table(plain)
            out = np.zeros(1, element)
            try:
                k[1, 1](out, x)
            except LaunchError as error:
                results.append(str(error))
            else:
                results.append(out.tobytes().hex())
        assert len(set(results)) == 1, (x, results)
        taken += is_quick(planned, out, x, block=1) if planned.launcher.dispatch_table else 0
    exotic = kind in (complex, np.complex64, np.complex128, np.float16)
    floats_for_integers = kind in (float, np.float32, np.float64) and "float" not in expected
    assert (taken > 0) == (
        not exotic and not floats_for_integers and not (kind is bool and "float" in expected)
    )


class Pair(NamedTuple):
    a: Any
    x: Any


def of_pair(out, p):
    i = cuda.grid(1)
    if i < p.a.size:
        out[i] = p.a[i] * p.x


def of_rest(out, *rest):
    out[0] = 0
    for r in rest:
        out[0] += r


def test_tuples_and_the_rest() -> None:
    k, out = fresh(of_pair), np.zeros(3)
    learnt(k, out, Pair(np.ones(3), 2))
    assert is_quick(k, out, Pair(np.arange(3.0), 5))
    assert out.tolist() == [0, 5, 10]
    assert not is_quick(k, out, (np.arange(3.0), 5))  # a plain tuple has no names
    rest = fresh(of_rest)
    for _ in range(3):
        rest[1, 1](out, 1, 2)
    assert out[0] == 3
    rest[1, 1](out, 4)
    assert out[0] == 4
    with pytest.raises(pycu2c.CompileError):
        rest[1, 1](out, (1, 2))  # one argument, which is a tuple; not two numbers


def chosen(out, mask=None, how="one", *, scale=1):
    i = cuda.grid(1)
    out[i] = (1 if mask is None else mask[i]) * scale + (10 if how == "two" else 0)


def test_names_defaults_and_constants() -> None:
    k, out = fresh(chosen), np.zeros(4)
    mask = np.arange(4)
    for _ in range(3):
        k[1, 4](out)
        assert out.tolist() == [1] * 4
        k[1, 4](out, mask)
        assert out.tolist() == [0, 1, 2, 3]
        k[1, 4](out, how="two", mask=mask, scale=3)
        assert out.tolist() == [10, 13, 16, 19]
        k[1, 4](how="".join(("t", "wo")), out=out)  # another object that says the same
        assert out.tolist() == [11] * 4
        with pytest.raises(LaunchError, match="given twice"):
            k[1, 4](out, out=out)
        with pytest.raises(LaunchError, match="takes 1 to 4 arguments"):
            k[1, 4]()
    assert is_quick(k, out, None, "one", 7)
    assert out.tolist() == [7] * 4


def test_a_grid_from_the_data() -> None:
    k = Kernel(scale, backend="cpu", block=4)
    for n in (5, 9, 1, 4, 1000):
        out, a = np.zeros(n), np.arange(float(n))
        for _ in range(3):
            out[:] = 0
            k(out, a, 3)
            assert out.tolist() == (a * 3 + 1).tolist()
    table = k.launcher.dispatch_table
    assert table is not None
    assert table.launch(k._own._configuration, (out, a, 3))
    assert not table.launch(k._own._configuration, (out, np.zeros(0), 3))


def numbered(n, out):
    i = cuda.grid(1)
    if i < n:
        out[i] = i


def test_a_grid_from_a_number() -> None:
    k, out = Kernel(numbered, backend="cpu", block=8), np.zeros(100, np.int64)
    for n in (3, 30, 100, -5, 0, 8):
        out[:] = -1
        k(n, out)
        assert out.tolist() == [i if i < n else -1 for i in range(100)]


def test_the_grid_and_block_of_the_decorator() -> None:
    k, out = Kernel(scale, backend="cpu", grid=2, block=4), np.zeros(7)
    for x in range(4):
        k(out, np.ones(7), x)
        assert out.tolist() == [x + 1] * 7


@pytest.mark.parametrize("name", ["matrix", "memmap", "recarray"])
def test_kinds_of_arrays(name: str, tmp_path: Path) -> None:
    k, out = fresh(total2 if name == "matrix" else total), np.zeros(1)
    array: Any = {
        "matrix": lambda: np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix),
        "memmap": lambda: np.memmap(tmp_path / "file", np.float64, "w+", shape=(3,)),
        "recarray": lambda: np.rec.array([(1.0, 2)], dtype=[("x", "f8"), ("n", "i8")]).x,
    }[name]()
    for _ in range(3):
        k[1, 1](out, array)
        assert out[0] == (29 if name == "matrix" else array.sum())
    assert is_quick(k, out, array, block=1)
    del array


class Odd(np.ndarray[Any, Any]):
    """A subclass that says something else of itself."""

    @property
    def __array_interface__(self) -> dict[str, Any]:  # type: ignore[override]
        return np.arange(3.0).__array_interface__


def test_subclasses_with_other_attributes_take_the_slow_path() -> None:
    k, out = fresh(total), np.zeros(1)
    for _ in range(3):
        k[1, 1](out, np.zeros(3).view(Odd))
    assert k.launcher.dispatch_table is None or not is_quick(k, out, np.zeros(3).view(Odd), block=1)


# ---- called by C ---------------------------------------------------------------------------


class Foreign(NamedTuple):
    """A stream of another package."""

    ptr: int


class Watched:
    """Another, that weak references may be made to."""

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


def by_c(k: Kernel[...]) -> tuple[Kernel[...], Any]:
    """A kernel that adds one, and a configuration of it, which C calls."""
    out = np.zeros(4)
    learnt(k, out, np.ones(4), 1)
    k[1, 4](out, np.ones(4), 1)
    assert k._launches.table is k.launcher.dispatch_table is not None
    return k, k[1, 4]


def test_the_table_is_a_table_or_none() -> None:
    k, configured = by_c(fresh(scale))
    with pytest.raises(TypeError, match="dispatch table or None"):
        k._launches.table = 5  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        configured._launches = k._launches
    with pytest.raises(TypeError):
        _dispatch.ConfiguredBase(k._launches, b"no configuration")  # type: ignore[arg-type]


def test_the_bases_are_generic_in_python() -> None:
    assert Kernel[[int]].__origin__ is Kernel  # type: ignore[attr-defined]
    assert Configured[[int]].__origin__ is Configured  # type: ignore[attr-defined]


def test_names_given_to_c(monkeypatch: pytest.MonkeyPatch) -> None:
    _, configured = by_c(fresh(scale))
    out = np.zeros(4)
    configured(out, a=np.ones(4), x=2)
    assert out.tolist() == [3] * 4
    configured(*(out, np.ones(4), 3), **{})
    assert out.tolist() == [4] * 4
    with pytest.raises(LaunchError, match="no parameter 'y'"):
        configured(out, np.ones(4), y=2)
    with pytest.raises(LaunchError, match="given twice"):
        configured(out, np.ones(4), 1, x=2)
    for few in ((), (out,)):
        with pytest.raises(LaunchError, match="takes 3 arguments"):
            configured(*few)
    monkeypatch.setattr(Configured, "_launch_slow", lambda *given: pytest.fail("it is asked"))
    configured(x=4, out=out, a=np.ones(4))
    assert out.tolist() == [5] * 4


def test_defaults_are_filled_in_by_c(monkeypatch: pytest.MonkeyPatch) -> None:
    k, out = fresh(chosen), np.zeros(4)
    for _ in range(4):
        k[1, 4](out)
        k[1, 4](out, how="two", scale=3)
    monkeypatch.setattr(Configured, "_launch_slow", lambda *given: pytest.fail("it is asked"))
    k[1, 4](out)
    assert out.tolist() == [1] * 4
    k[1, 4](out, scale=3, how="two")
    assert out.tolist() == [13] * 4
    monkeypatch.undo()
    for wrong in ((out, None, "one", 3), (), (out, None, "one", 3, 4)):
        with pytest.raises(LaunchError, match="takes 1 to 4 arguments"):
            k[1, 4](*wrong)


def test_launch_configurations_in_c() -> None:
    k, _ = by_c(fresh(scale))
    kept = k[1, 4]
    assert k[1, 4] is kept
    assert k[True, 4] is not kept
    assert k[np.int64(1), 4] is not kept
    assert k[1, 4, None] is k[1, 4, None]
    assert k[1, 4, 1, 0] is k[1, 4, 1, 0]
    assert k[1, 4, 1, 0] is not k[1, 4, 2, 0]
    assert k[(1, 2), (4, 1, 1)] is k[(1, 2), (4, 1, 1)]
    stream, other = cuda.stream(), cuda.stream()
    assert k[1, 4, stream] is k[1, 4, stream]
    assert k[1, 4, stream] is not k[1, 4, other]
    assert k[1, 4, Foreign(9000)] is not k[1, 4, Foreign(9000)]
    foreign = Foreign(9000)
    assert k[1, 4, foreign] is k[1, 4, foreign]  # the last one is kept
    assert k[1, 4, 9000] is not k[1, 4, foreign]
    extent = [1, 4]
    assert k[extent, 4]._request.grid == (1, 4, 1)
    extent[1] = 5
    assert k[extent, 4]._request.grid == (1, 5, 1)
    watched = weakref.ref(external := Watched(8))
    assert k[1, 4, external]._request.stream is external
    del external
    assert k[1, 4] is kept  # it is the last one now
    assert watched() is None
    assert k[[1, 2], 4]._request.grid == (1, 2, 1)
    for wrong in ((1.0, 4), ((1.0, 1), 4), (1, 4, 5.0), (1, 4, None, 0.0), (1, [4], "x"), 1, (1,)):
        with pytest.raises(LaunchError):
            k[wrong]
    with pytest.raises(LaunchError, match="write scale"):
        k[1, 2, 3, 4, 5]


def test_uninitialised_objects() -> None:
    k, configured = by_c(fresh(scale))
    for kind in (type(k), type(configured)):
        with pytest.raises(AttributeError):
            kind.__new__(kind)()
    with pytest.raises(AttributeError):
        type(k).__new__(type(k))[1, 4]


def test_a_copy_of_a_configuration() -> None:
    _, configured = by_c(fresh(scale))
    out = np.zeros(4)
    copy.copy(configured)(out, np.ones(4), 6)
    assert out.tolist() == [7] * 4


def test_a_kernel_with_grid_and_block_is_called_by_c() -> None:
    k, out = Kernel(scale, backend="cpu", grid=1, block=4), np.zeros(4)
    for x in range(6):
        k(out, np.ones(4), x=x) if x == 4 else k(out, np.ones(4), x)
        assert out.tolist() == [x + 1] * 4
    k[1, 4](out, np.ones(4), 1)
    k(out, np.ones(4), 8)
    assert out.tolist() == [9] * 4


def test_a_kernel_forgets_while_another_thread_launches() -> None:
    k, configured = by_c(fresh(scale))
    done, wrong = threading.Event(), []

    def launch() -> None:
        out = np.zeros(4)
        while not done.is_set():
            configured(out, np.ones(4), 1)
            if out.tolist() != [2] * 4:
                wrong.append(out)

    thread = threading.Thread(target=launch)
    thread.start()
    for _ in range(20):
        k.recompile()
        k[1, 4](np.zeros(4), np.ones(4), 1)
    done.set()
    thread.join()
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("given", ["plain", "of_tuples", "refused"])
def test_launches_with_fresh_arrays_leak_nothing(given: str) -> None:
    _, configured = by_c(fresh(scale))
    pair, out = fresh(of_pair), np.zeros(4)
    learnt(pair, out, Pair(np.ones(4), 1))
    of_tuples = pair[1, 4]

    def launch() -> None:
        if given == "plain":
            configured(np.zeros(4), np.ones(4), 3)
        elif given == "of_tuples":
            of_tuples(np.zeros(4), Pair(np.ones(4), 2))
        else:
            with pytest.raises(LaunchError):
                configured(np.zeros(4), np.ones(4), 2**70)

    assert not leaks(launch, 300 if given == "refused" else 30_000, 100)


# ---- what differs takes the slow path ------------------------------------------------------


def test_read_only_arrays() -> None:
    k, out, a = fresh(scale), np.zeros(4), np.ones(4)
    learnt(k, out, a, 1)
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    assert is_quick(k, out, frozen, 1)  # it is only read
    assert not is_quick(k, frozen, a, 1)
    with pytest.raises(LaunchError, match=r"argument 1 \(out\) is written, and it is read-only"):
        k[1, 4](frozen, a, 1)
    out.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        k[1, 4](out, a, 1)


def test_arrays_that_change_in_place() -> None:
    k, out, a = fresh(total), np.zeros(1), np.arange(6.0)
    learnt(k, out, a)
    a.resize((2, 3), refcheck=False)
    assert not is_quick(k, out, a)
    with pytest.raises(pycu2c.CompileError):
        k[1, 4](out, a)
    a.resize(6, refcheck=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # numpy 2.5 has it, and warns
        a.dtype = np.int64  # type: ignore[misc]
        assert not is_quick(k, out, a)
        a.dtype = np.float64  # type: ignore[misc]
    a.resize(3, refcheck=False)
    assert is_quick(k, out, a)
    assert out[0] == 3
    a.resize(0, refcheck=False)
    assert not is_quick(k, out, a)
    k[1, 4](out, a)
    assert out[0] == 0


def unaligned() -> Any:
    return np.frombuffer(bytearray(33), np.uint8)[1:].view(np.float64)


def odd_strides() -> Any:
    return np.lib.stride_tricks.as_strided(np.zeros(9), (3,), (12,))


@pytest.mark.parametrize(
    "array",
    [
        unaligned(),
        odd_strides(),
        np.zeros(3).astype(">f8"),
        np.ma.MaskedArray(np.zeros(3), mask=[0, 1, 0]),
        [1.0, 2.0],
        object(),
    ],
    ids=lambda a: type(a).__name__,
)
def test_errors_are_those_of_the_slow_path(array: Any) -> None:
    k, out = fresh(total), np.zeros(1)
    learnt(k, out, np.zeros(3))
    learnt(k, out, np.zeros(6)[::2])
    with pytest.raises(LaunchError) as before:
        fresh(total)[1, 4](out, array)
    with pytest.raises(LaunchError) as after:
        k[1, 4](out, array)
    assert str(after.value) == str(before.value)


def test_large_arrays_and_numbers_have_code_of_their_own() -> None:
    k, out = fresh(total), np.zeros(1)
    learnt(k, out, np.zeros(6)[::2])
    large = np.lib.stride_tricks.as_strided(np.zeros(1), (INDEX32_LIMIT,), (0,))
    assert not is_quick(k, out, large)
    assert not is_quick(k, out, np.lib.stride_tricks.as_strided(np.zeros(1), (2,), (8 << 30,)))
    x = fresh(keep)
    learnt(x, out, 5, block=1)
    for number, larger in ((INDEX32_LIMIT, 2**62), (-INDEX32_LIMIT, -(2**63))):
        assert not is_quick(x, out, number, block=1)
        x[1, 1](out, number)
        assert out[0] == number
        learnt(x, out, number, block=1)
        assert is_quick(x, out, larger, block=1)
        assert out[0] == larger
        assert is_quick(x, out, 5, block=1)  # by the entry of small numbers
    with pytest.raises(LaunchError, match="cannot hold"):
        x[1, 1](out, 2**63)


def test_arrays_of_as_many_elements_as_32_bit_indices_allow() -> None:
    def memory(*shape: int) -> np.ndarray:
        return np.lib.stride_tricks.as_strided(np.zeros(1), shape, (0,) * len(shape))

    k, out = fresh(length), np.zeros(1)
    learnt(k, out, memory(2, 3))
    assert is_quick(k, out, memory(2**15, INDEX32_LIMIT >> 15))
    assert not is_quick(k, out, memory(2**15, (INDEX32_LIMIT >> 15) + 1))
    assert not is_quick(k, out, memory(INDEX32_LIMIT, 1))


def test_grids_and_blocks() -> None:
    k, out, a = fresh(scale), np.zeros(4), np.ones(4)
    learnt(k, out, a, 1)
    assert not is_quick(k, out, a, 1, block=8)  # compiled for blocks of 4
    assert not is_quick(k, out, a, 1, grid=INDEX32_LIMIT // 4)
    assert not is_quick(k, out, a, 1, grid=BLOCKS32_LIMIT + 1)
    assert k.launcher.dispatch_table is not None
    assert not k.launcher.dispatch_table.launch(k[1, 4, None, 64]._configuration, (out, a, 1))
    for wrong in ((1.0, 4), (1, 4.0), ("1", 4), ((1.0,), 4), (0, 4), (1, 2048)):
        with pytest.raises(LaunchError):
            k[wrong]
    assert k[1, 4] is k[1, 4]
    assert k[np.int64(1), 4]._request == k[1, 4]._request
    assert k[(1, 1), (4, 1)]._request == k[[1, 1], [4, 1]]._request
    assert k[(1, 1), 4] is k[(1, 1), 4]
    with pytest.raises(LaunchError, match="integers"):
        k[(1.0, 1), 4]
    with pytest.raises(LaunchError, match="write scale"):
        k[np.array([1, 4])]


def test_the_latest_signature_is_that_of_the_last_launch() -> None:
    k, out = fresh(keep), np.zeros(1)
    learnt(k, out, 1, block=1)
    learnt(k, out, 1.0, block=1)
    for x, name in ((1, "int"), (1.0, "float"), (2, "int")):
        k[1, 1](out, x)
        assert str(k.launcher.latest) == f"(float64[::1], {name})"


FACTOR = 2


def by_global(out):
    out[cuda.grid(1)] = FACTOR


def test_recompile_replaces_the_table() -> None:
    global FACTOR
    k, out = fresh(by_global), np.zeros(4)
    learnt(k, out)
    configured = k[1, 4]
    FACTOR = 3
    with pytest.warns(LaunchWarning, match="`FACTOR` changed"):
        configured(out)
    assert out[0] == 2
    k.recompile()
    configured(out)
    assert out[0] == 3
    FACTOR = 2


# ---- random calls: as on the slow path -----------------------------------------------------


def arrays(n: int) -> st.SearchStrategy[np.ndarray[Any, Any]]:
    dtypes_ = st.sampled_from(["f4", "f8", "i4", ">f4", "c8"])
    return st.builds(_array, st.just(n), dtypes_, st.sampled_from([1, 2, -1]), st.booleans())


NUMBERS = st.one_of(
    st.integers(-(2**65), 2**65),
    st.integers(-3, 3),
    st.floats(width=32),
    st.booleans(),
    st.sampled_from([np.int8(3), np.float32(2.5), np.uint64(2**63), np.bool_(True), None, "x"]),
)


def _array(n: int, dtype: str, step: int, frozen: bool) -> np.ndarray[Any, Any]:
    array = np.arange(n * abs(step), dtype=dtype)[::step]
    assert array.size == n  # kernels do not ask
    array.flags.writeable = not frozen
    return array


CALLS = st.integers(0, 5).flatmap(lambda n: st.tuples(arrays(n), arrays(n), NUMBERS))


def outcome(k: Kernel[...], arguments: list[Any]) -> object:
    """What a call leaves in its first argument, or the first line of its error."""
    given = [a.copy() if i == 0 and a.flags.writeable else a for i, a in enumerate(arguments)]
    try:
        k[1, 8](*given)
    except (LaunchError, pycu2c.CompileError) as error:
        return str(error)
    return given[0].tobytes()


PLANNED, PLAIN = fresh(scale), fresh(scale)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(CALLS, min_size=1, max_size=4))
def test_random_calls(calls: list[tuple[Any, Any, Any]]) -> None:
    for call in calls * 3:
        without_table(PLAIN)
        assert outcome(PLANNED, list(call)) == outcome(PLAIN, list(call))


# ---- threads, references, codes ------------------------------------------------------------


def spin(out, n):
    x = out[0]
    for _ in range(n):
        x = x * 1.0000001 + 1e-9
    out[0] = x


def test_other_threads_run_meanwhile() -> None:
    k, out = fresh(spin), np.ones(1)
    learnt(k, out, 10, block=1)
    ticks, done = [], threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    assert is_quick(k, out, 30_000_000, block=1)
    during = len(ticks)
    done.set()
    thread.join()
    assert during > 5


def test_many_threads_at_once() -> None:
    k = fresh(scale)
    learnt(k, np.zeros(4), np.ones(4), 1)
    wrong: list[object] = []

    def launch(x: int) -> None:
        out, a = np.zeros(4, np.float32 if x % 3 else np.float64), np.arange(4.0)
        for _ in range(200):
            k[1, 4](out, a, x)
            if out.tolist() != (a * x + 1).tolist():
                wrong.append(out)

    threads = [threading.Thread(target=launch, args=(x,)) for x in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_no_reference_is_lost_or_kept() -> None:
    k, out, a = fresh(of_pair), np.zeros(3), np.ones(3)
    pair = Pair(a, 2)
    learnt(k, out, pair)
    watched = [out, a, pair, a.dtype, k.launcher.latest]
    before = [sys.getrefcount(w) for w in watched]
    for _ in range(1000):
        k[1, 4](out, pair)
        assert not is_quick(k, out, (a, 2))
    assert [sys.getrefcount(w) for w in watched] == before


def test_arrays_are_not_retained() -> None:
    k, out = fresh(of_pair), np.zeros(3)
    gc.disable()
    try:
        a = np.ones(3)
        reference = weakref.ref(a)
        for _ in range(3):
            k[1, 4](out, Pair(a, 2))
        del a
        assert reference() is None
    finally:
        gc.enable()


def test_an_error_code_is_passed_to_the_finish_callback() -> None:
    started: list[int] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    def start(body: int, packed: int, blocks: int) -> int:
        started.append(blocks)
        return 7

    def finished(code: int, head: bytes) -> None:
        raise LaunchError(f"code {code} of {LAUNCH_HEADER.unpack(head)[0]} blocks")

    address = ctypes.cast(start, ctypes.c_void_p).value or 0
    table, kind = DispatchTable(ONE), scalar_of(1)
    assert isinstance(kind, Scalar)
    launch = RecordedLaunch((1,), (kind,), (1,), (), {})
    signature = Signature((kind,))
    fast_path = FastPathLaunch(layout_of([]), address, 0, finished)
    assert table.record(launch, LaunchGuard(None, 0), fast_path, signature)
    with pytest.raises(LaunchError, match="code 7 of 6 blocks"):
        table.launch(fresh(keep)[6, 1]._configuration, (1,))
    assert started == [6]


def test_hidden_arguments_are_of_one_launch_at_a_time() -> None:
    words = np.array([0, 0, 7])  # found, cleared, passed
    seen: list[Any] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    def start(body: int, packed: int, blocks: int) -> int:
        number = ctypes.c_int64.from_address(packed + LAUNCH_HEADER.size).value
        seen.append((number, *words, table.launch(configuration, (1,))))
        words[:2] = blocks - 1, 1
        return 0

    def finished(code: int, head: bytes) -> None:
        seen.append((code, table.launch(configuration, (1,))))
        words[0] = 0
        raise LaunchError("found")

    table, kind = DispatchTable(ONE), scalar_of(1)
    launch = RecordedLaunch((1,), (kind,), (1,), (), {})  # type: ignore[arg-type]
    address = words.ctypes.data
    hidden = HiddenArguments(words[2:].tobytes(), address + 8, 8, address)
    layout = layout_of([Parameter("hidden", Scalar(dtypes.INT64), 1)])
    start_address = ctypes.cast(start, ctypes.c_void_p).value or 0
    fast_path = FastPathLaunch(layout, start_address, 0, finished, hidden=hidden)
    assert table.record(launch, LaunchGuard(None, 0), fast_path, Signature(()))
    for grid in (1, 2, 1):
        configuration = LaunchConfiguration((grid, 1, 1), (1, 1, 1), 0, None, 0, True)
        with pytest.raises(LaunchError, match="found") if grid == 2 else nullcontext():
            assert table.launch(configuration, (1,))
    clean = (7, 0, 0, 7, False)
    assert seen == [clean, clean, (-1, False), clean]


def test_at_most_so_many_entries() -> None:
    k, out = fresh(chosen), np.zeros(4)
    for n in range(40):
        for _ in range(3):
            k[1, 4](out, None, f"text {n}")
            assert out.tolist() == [1] * 4


def test_an_unreferenced_kernel_is_freed() -> None:
    k, configured = by_c(fresh(scale))
    watched = [weakref.ref(k), weakref.ref(k.launcher)]
    gc.disable()
    try:
        del k, configured
        assert [ref() for ref in watched] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("as_numbers", [False, True])
def test_arrays_of_declared_vectors(as_numbers: bool) -> None:
    """Arrays of vectors are launched by the table; those of numbers are viewed at each launch."""

    @kernel("float4[:], float4[:]", backend="cpu")
    def double(out, x):
        i = cuda.grid(1)
        v = x[i]
        out[i] = cuda.float4(2 * v.x, v.y, v.z, v.w)

    numbers = np.arange(16, dtype=np.float32).reshape(4, 4)
    out = np.zeros(4, cuda.float4.numpy)
    x = numbers if as_numbers else numbers.view(cuda.float4.numpy)[:, 0]
    for _ in range(3):
        out[:] = 0
        double[1, 4](out, x)
        assert out["x"].tolist() == [0, 8, 16, 24]
    assert (double.launcher.dispatch_table is None) == as_numbers

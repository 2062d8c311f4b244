"""Arrays of records and of vectors in built libraries."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from aot import exported_records
from aot.conftest import LOADERS, build_file, forget_package, run
from aot.exported_records import color, message, particle, point
from aot.test_loaders import C11, COMPILERS, DEVICES, WARNINGS
from pycu2c import kernel
from pycu2c.cli.main import main

ONE_BLOCK = {"grid": 1, "block": 8}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    build_file(exported_records.__file__, folder, "--name", "records")
    return folder


@pytest.fixture(scope="module")
def package(records: Path) -> Iterator[Any]:
    sys.path.insert(0, str(records / "python"))
    yield importlib.import_module("records")
    sys.path.remove(str(records / "python"))
    forget_package("records")


def launched(name: str, *arguments: Any, grid: Any = 1, block: Any = 8) -> None:
    kernel(getattr(exported_records, name).python, backend="cpu")[grid, block](*arguments)


def linked(records: Path) -> tuple[str, ...]:
    library = records / "lib"
    return f"-I{records / 'include'}", f"-L{library}", "-lrecords", f"-Wl,-rpath,{library}", "-ldl"


RESULTS = """\
0.5 2 8 0 2 8 14336 6
0.5 0 1 1 0 1 14336 1
0.5 0 1 2 0 1 14336 1
0.5 0 1 3 0 1 14336 1
0.5 0 1 4 0 1 14336 1
"""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_c(records: Path, tmp_path: Path, compiler: str, device: str) -> None:
    source, program = LOADERS / "records.c", tmp_path / "program"
    run(compiler, *C11, *WARNINGS, source, "-o", program, *linked(records))
    assert run(program, device) == RESULTS


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cpp(records: Path, tmp_path: Path, compiler: str) -> None:
    source, program = LOADERS / "records.cpp", tmp_path / "program"
    run(compiler, "-std=c++17", *WARNINGS, source, "-o", program, *linked(records))
    assert run(program) == "0.5 2 8 6\n"


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sources_have_no_warnings(records: Path, tmp_path: Path, compiler: str) -> None:
    for source in (records / "src").glob("*.c"):
        flags = *C11, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-c"
        include = f"-I{records / 'include'}"
        run(compiler, *flags, include, source, "-o", tmp_path / "object.o")


# ---- the Python package ----------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 3, -1])
def test_structured_arrays(package: Any, step: int) -> None:
    arrays = [np.zeros(15, particle)[::step], np.zeros(15, message)]
    expected = [arrays[0].copy(), arrays[1].copy()]
    package.move(*arrays, 0.5, grid=2, block=8)
    launched("move", *expected, 0.5, grid=2)
    for computed, right in zip(arrays, expected):
        assert (computed == right).all()


def test_dtypes_of_the_package(package: Any) -> None:
    for name in ("point", "particle", "message", "color"):
        assert np.dtype(getattr(package, name)).fields == getattr(exported_records, name).fields


def test_records_with_unaligned_fields(package: Any) -> None:
    pixels = np.zeros((3, 5), color)
    pixels["g"] = np.arange(15).reshape(3, 5)
    out = np.zeros((3, 5, 4), np.float32)
    package.gray(pixels, out, grid=(1, 1), block=(8, 4))
    np.testing.assert_array_equal(out[..., 2], pixels["g"])
    np.testing.assert_allclose(out[..., 0], pixels["g"] / 3)


@pytest.mark.parametrize("lanes", [2, 4])
def test_vectors_are_elements_of_a_last_axis(package: Any, lanes: int) -> None:
    v = np.random.default_rng(1).random((12, lanes), np.float32)
    out = np.zeros((6, lanes), np.float32)
    package.shift(v[::2], out, **ONE_BLOCK)
    np.testing.assert_array_equal(out, v[::2] + np.eye(1, lanes, dtype=np.float32))


def test_record_without_axes(package: Any) -> None:
    result = np.zeros(2, np.float32)
    for value in (np.ones((), point), np.ones(3, point)[1]):
        package.store(value, result, **ONE_BLOCK)
    assert result.tolist() == [1, 1]


def test_structured_arrays_of_vectors(package: Any) -> None:
    float4 = exported_records.shift.declared[0].parameters[0].dtype.numpy
    for dtype in (float4, np.dtype([(name, "f4") for name in "xyzw"])):
        v, out = np.ones(5, dtype), np.zeros(5, dtype)
        package.shift(v, out, **ONE_BLOCK)
        assert out.tolist() == [(2, 1, 1, 1)] * 5


ROWS = np.zeros((5, 4), np.float32)
PARTICLES = np.zeros(5, particle)
PARTICLE = {"names": particle.names, "formats": [particle[name] for name in particle.names]}
BYTES = PARTICLES[:, None].view(np.uint8)
WRONG: dict[str, tuple[str, tuple[Any, ...], type[Exception], str]] = {
    "another record": (
        "move",
        (np.zeros(5, message), np.zeros(5, message), 1),
        TypeError,
        "ps has elements of .*'kind'.* takes .*'hits'",
    ),
    "another byte order": (
        "move",
        (PARTICLES, np.zeros(5, message.newbyteorder()), 1),
        TypeError,
        "messages has elements of .*>f8.*",
    ),
    "another size": (
        "move",
        (np.zeros(5, {**PARTICLE, "itemsize": 80}), ROWS, 1),
        TypeError,
        "ps has elements of",
    ),
    "records in other records": (
        "move",
        (np.zeros(5, [("id", "u1"), ("at", particle)])["at"], np.zeros(5, message), 1),
        RuntimeError,
        "ps has strides that are not multiples of 72: pass a copy",
    ),
    "numbers": (
        "move",
        (PARTICLES, ROWS, 1),
        RuntimeError,
        "messages is float32 with 2 axes, and move takes uint8x83 with 1, or one more axis of "
        "length 83",
    ),
    "records": (
        "shift",
        (PARTICLES, ROWS),
        TypeError,
        "v has elements of .*'hits'.* takes .*'w'.* or .*",
    ),
    "too few bytes": (
        "move",
        (BYTES[:, :64], np.zeros(5, message), 1),
        RuntimeError,
        "ps is uint8 with 2 axes, and move takes uint8x72",
    ),
    "part of a vector": (
        "shift",
        (ROWS[:, :3], ROWS),
        RuntimeError,
        "shift is not compiled for v float32, out float32",
    ),
    "strides": (
        "shift",
        (np.zeros((5, 7), np.float32)[:, :4], ROWS),
        RuntimeError,
        "v has strides that are not multiples of 4: pass a copy",
    ),
    "lanes that are apart": (
        "shift",
        (np.zeros((5, 8), np.float32)[:, ::2], ROWS),
        RuntimeError,
        "v has strides that are not multiples of 4: pass a copy",
    ),
    "alignment": (
        "shift",
        (np.zeros(21, np.float32)[1:].reshape(5, 4), ROWS),
        RuntimeError,
        "v does not begin at a multiple of 16 bytes",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(package: Any, case: str) -> None:
    name, arguments, kind, text = WRONG[case]
    with pytest.raises(kind, match=text):
        getattr(package, name)(*arguments, **ONE_BLOCK)


# ---- builds ----------------------------------------------------------------------------------


def test_records_that_are_too_large(tmp_path: Path) -> None:
    source = tmp_path / "large.py"
    source.write_text(
        "import numpy as np\nfrom pycu2c import from_dtype, kernel\n"
        "row = np.dtype([('x', 'f4', (20000,))])\n"
        "@kernel\ndef k(rows: from_dtype(row)[:]): rows[0].x[1] = 1\n"
    )
    result = CliRunner().invoke(main, ["build", str(source), "-o", str(tmp_path / "library")])
    assert result.exit_code == 1
    assert "rows of k has records of 80000 bytes; 65535 are possible" in result.output

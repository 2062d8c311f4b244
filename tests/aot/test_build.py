"""What ``pycu2c build`` writes, and which kernels it rejects."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from aot import exported
from aot.conftest import build, build_file, forget_package, run
from aot.loaders.plain import Dim3, tensor
from pycu2c.cli.main import main


def test_builds_are_equal(library: Path, tmp_path: Path) -> None:
    build(tmp_path)
    built = sorted(p.relative_to(library) for p in library.rglob("*") if p.is_file())
    assert built == sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file())
    for path in built:
        assert (library / path).read_bytes() == (tmp_path / path).read_bytes(), path


def test_check_compares_with_the_folder(tmp_path: Path) -> None:
    build(tmp_path, "--targets", "cpu")
    build(tmp_path, "--targets", "cpu", "--check")
    header = tmp_path / "include/finance.h"
    header.write_text(header.read_text() + "\n")
    (tmp_path / "src/finance.c").unlink()
    arguments = [str(Path(__file__).parent / "exported.py"), "--name", "finance"]
    options = ["-o", str(tmp_path), "--targets", "cpu", "--check"]
    result = CliRunner().invoke(main, ["build", *arguments, *options])
    assert result.exit_code == 1
    assert result.output == "include/finance.h differs\nsrc/finance.c is missing\n"


def test_static_library(tmp_path: Path) -> None:
    build(tmp_path, "--targets", "cpu", "--static")
    assert (tmp_path / "lib/libfinance.a").read_bytes().startswith(b"!<arch>\n")


REJECTED = {
    "from pycu2c import kernel\n@kernel\ndef k(x: int): pass": "k has no array argument",
    "from pycu2c import kernel\n@kernel\ndef k(x): x[0] = 1": "k has no signature: pass",
    """
from pycu2c import kernel
@kernel
def k(x: "float32[::1]"):
    print(x[0])
""": "k calls print, which libraries do not support: remove the call, or call printf in a cuda.c_",
    """
from pycu2c import cuda, float32, kernel
@cuda.c_function(link=cuda.CSource("float twice(float x) { return 2 * x; }"))
def twice(x: float32) -> float32: ...
@kernel
def k(x: "float32[::1]"):
    x[0] = twice(x[0])
""": "which libraries do not support: pass the text of its functions to cuda.c_function",
    """
from pycu2c import cuda, kernel
@kernel(link=cuda.CUSource("__device__ int number;"))
def k(x: "float32[::1]"):
    x[0] = 1
""": "which libraries do not support: pass the text of its functions to cuda.c_function",
    """
from pycu2c import kernel
@kernel(check=True)
def k(x: "float32[::1]"):
    x[0] = 1
""": "k is compiled with check=",
    """
from pycu2c import kernel
@kernel(["float32[::1], int32", "float32[::1], int64"])
def k(x, n):
    x[0] = n
""": "two signatures of k have the same array types",
    """
from pycu2c import kernel
@kernel(["float32[::1], int32[::1]", "float64[::1], float64"])
def k(x, n):
    x[0] = 1
""": "an argument of k is an array in one signature and a number in another",
    """
from pycu2c import kernel
@kernel
def k(x: "float32[::1]", z: "float4"):
    x[0] = z.x
""": "z of k is a float4",
    """
from pycu2c import kernel
@kernel
def k(x: "float32[::1]", t: "texture2d[float32]"):
    x[0] = 1
""": "t of k is a texture2d[float32]",
    """
from pycu2c import kernel
@kernel(fmad=False)
def k(x: "float32[::1]"):
    x[0] = 1
@kernel
def m(x: "float32[::1]"):
    x[0] = 1
""": "k and m have different options",
    """
from pycu2c import kernel
@kernel
def k(x: "float32[::1]"):
    x[0] = undefined
""": "error[name]",
}


@pytest.mark.parametrize("source", REJECTED)
def test_rejected_kernels(tmp_path: Path, source: str) -> None:
    path = tmp_path / "rejected.py"
    path.write_text(source)
    result = CliRunner().invoke(main, ["build", str(path), "-o", str(tmp_path / "library")])
    assert result.exit_code == 1
    assert REJECTED[source] in result.output
    assert not (tmp_path / "library").exists()


FUNCTIONS_IN_C = r"""
from pycu2c import cuda, int32, kernel

@cuda.c_function(r'printf("%d\n", x);')
def show(x: int32) -> None: ...

@cuda.c_function(link=cuda.CUSource("of GPUs only"))
def twice(x: int32) -> int32:
    return 2 * x

@kernel
def k(x: "int32[::1]"):
    show(twice(x[cuda.grid(1)]))
"""


def test_options_of_launches_may_differ(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(
        "from pycu2c import kernel\n"
        "@kernel(programmatic_stream_serialization=True)\n"
        "def first(x: 'int32[::1]'): x[0] = 1\n"
        "@kernel(launch_bounds=32)\n"
        "def second(x: 'int32[::1]'): x[0] = 2\n"
    )
    build_file(str(tmp_path / "two.py"), tmp_path, "--targets", "cpu")
    header = (tmp_path / "include/two.h").read_text()
    assert "first" in header
    assert "second" in header


def test_functions_in_c(tmp_path: Path) -> None:
    """Files that are linked for GPUs do not matter for a library of the CPU."""
    (tmp_path / "functions.py").write_text(FUNCTIONS_IN_C)
    build_file(str(tmp_path / "functions.py"), tmp_path, "--targets", "cpu")
    code = "import functions, numpy; x = numpy.arange(3, dtype=numpy.int32)"
    code += "; functions.k(x, grid=3, block=1)"
    output = run(sys.executable, "-c", code, folder=tmp_path / "python")
    assert sorted(output.split()) == ["0", "2", "4"]


def test_signatures_of_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "scaling.py"
    path.write_text(
        "from pycu2c import cuda, kernel\n@kernel\ndef scale(x, by): x[cuda.grid(1)] *= by\n"
    )
    signatures = [
        "--signature",
        "float32[::1], float32",
        "--signature",
        "scale=float64[:], float64",
    ]
    arguments = [
        "build",
        str(path),
        "-o",
        str(tmp_path / "library"),
        "--targets",
        "cpu",
        *signatures,
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    text = (tmp_path / "library/include/scaling.h").read_text()
    assert "x: float32, 1 axis, C-contiguous, written | float64, 1 axis, written\n" in text
    assert "by: float32 | float64\n" in text


FILL = 'from pycu2c import kernel\n@kernel\ndef fill(x: "float32[::1]"): x[0] = 1\n'


def build_output(folder: Path, source: str, *options: str) -> str:
    """Build a library of a file ``source.py`` with ``source``; return the error message."""
    path = folder / "source.py"
    path.write_text(source)
    result = CliRunner().invoke(main, ["build", str(path), *options])
    assert result.exit_code == 1
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.output


def test_all_kernels_without_signature_are_named(tmp_path: Path) -> None:
    source = "from pycu2c import kernel\n@kernel\ndef k(x): x[0] = 1\n"
    output = build_output(tmp_path, source + source.replace(" k(", " m("), "-o", str(tmp_path))
    assert "k has no signature: pass --signature 'k=...', one type for each of (x)\n" in output
    assert "m has no signature" in output


MADE = """
from pycu2c import kernel
def make(value):
    def fill(x: "float32[::1]"): x[0] = value
    if RENAME:
        fill.__name__ = f"fill{value}"
    return kernel(fill)
ones, twos = make(1), make(2)
"""


def test_kernels_that_a_function_makes(tmp_path: Path) -> None:
    options = ["-o", str(tmp_path / "library"), "--targets", "cpu"]
    output = build_output(tmp_path, MADE.replace("RENAME", "False"), *options)
    assert "there are two kernels named fill: choose one with" in output
    assert "set __name__ of the functions before kernel(function)" in output
    (tmp_path / "source.py").write_text(MADE.replace("RENAME", "True"))
    build_file(f"{tmp_path}/source.py", tmp_path / "library", "--targets", "cpu")
    build_file(f"{tmp_path}/source.py:twos", tmp_path / "one", "--targets", "cpu")
    header = (tmp_path / "library/include/source.h").read_text()
    assert "source_fill1_launch" in header
    assert "source_fill2_launch" in header


@pytest.mark.parametrize(
    "name", ["", "a b", "1x", "../x", "größe", "int", "template", "def", "c", "std", "numpy"]
)
def test_names_that_a_library_cannot_have(tmp_path: Path, name: str) -> None:
    output = build_output(tmp_path, FILL, "-o", str(tmp_path / "library"), "--name", name)
    assert f"{name!r} is not a valid library name" in output
    assert not (tmp_path / "library").exists()


@pytest.mark.parametrize("file", ["CMakeLists.txt", "pyproject.toml", "src/source.c"])
def test_other_files_are_not_replaced(tmp_path: Path, file: str) -> None:
    path = tmp_path / "project" / file
    path.parent.mkdir(parents=True)
    path.write_text("of a user")
    options = ["-o", str(tmp_path / "project"), "--targets", "cpu"]
    assert f"{path}: not generated by pycu2c" in build_output(tmp_path, FILL, *options)
    assert [p for p in (tmp_path / "project").rglob("*") if p.is_file()] == [path]
    assert path.read_text() == "of a user"


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    output = build_output(tmp_path, FILL, "-o", "/dev/null/library", "--targets", "cpu")
    assert "cannot write /dev/null/library/include: Not a directory" in output


@pytest.mark.parametrize("archs", ["", "bogus", "sm_1", "sm_80,,sm_90"])
def test_unknown_architectures(tmp_path: Path, archs: str) -> None:
    output = build_output(tmp_path, FILL, "-o", str(tmp_path / "library"), "--arch", archs)
    assert "NVRTC" in output
    assert "; it knows sm_" in output


def test_architectures_may_be_given_twice(tmp_path: Path) -> None:
    (tmp_path / "source.py").write_text(FILL)
    build_file(str(tmp_path / "source.py"), tmp_path, "--arch", "sm_80, sm_80,80")
    assert (tmp_path / "src/source_images.h").read_text().count("cubin_80[]") == 1


@pytest.mark.parametrize(("binding", "package"), [("jax", "jax"), ("tvm-ffi", "apache-tvm-ffi")])
def test_binding_without_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binding: str, package: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    arguments = ["build", exported.__file__, "--targets", "cpu", "--bindings", f"c,{binding}"]
    result = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "library")])
    assert result.exit_code == 1
    assert f"is not installed: pip install {package}" in result.output
    assert not (tmp_path / "library").exists()


def test_names_of_arguments_that_c_reserves(tmp_path: Path) -> None:
    """Keywords, and the names of the other parameters of a launch function, have a suffix."""
    path = tmp_path / "named.py"
    path.write_text(
        "from pycu2c import kernel\n@kernel\n"
        'def k(register: "float32[::1]", grid: int, stream: float, launch: bool, pycu2c: int):\n'
        "    register[0] = grid + stream + launch + pycu2c\n"
    )
    build_file(str(path), tmp_path, "--targets", "cpu")
    run("g++", "-std=c++17", "-fsyntax-only", tmp_path / "include/named.hpp")
    loaded = ctypes.CDLL(str(tmp_path / "lib/libnamed.so"))
    result, one = np.zeros(1, np.float32), Dim3(1, 1, 1)
    numbers = ctypes.c_int64(1), ctypes.c_double(0.5), ctypes.c_bool(True), ctypes.c_int64(7)
    configuration = one, one, ctypes.c_size_t(0), None
    assert loaded.named_k_launch(ctypes.byref(tensor(result)), *numbers, *configuration) == 0
    assert result[0] == 9.5


NAMES = (
    *("main", "launch", "run", "load", "loaded", "std", "class_", "größe", "library", "last_error"),
    *("int", "template", "printf", "named", "named_named"),
    *("blur", "blur_block", "blur_large", "blur_f32", "blur_f64", "blur_f32_large"),
)


def import_package(library: Path, name: str) -> Any:
    """Import the Python package of a library; it replaces the file of the kernels."""
    forget_package(name)
    sys.path.insert(0, str(library / "python"))
    package = importlib.import_module(name)
    sys.path.pop(0)
    return package


def test_names_of_kernels(tmp_path: Path) -> None:
    """Kernels may have names of C, C++, Python, the runtime, and of variants of other kernels."""
    kernels = "".join(
        f'@kernel(block=32)\ndef {name}(x: "float32[::1]"): x[0] = {i}\n'
        for i, name in enumerate(NAMES)
    )
    path = tmp_path / "named.py"
    path.write_text(f"from pycu2c import kernel\n{kernels}")
    signatures = ["--signature", "blur=float32[::1]", "--signature", "blur=float64[::1]"]
    build_file(str(path), tmp_path, *signatures)
    run("g++", "-std=c++17", "-fsyntax-only", tmp_path / "include/named.hpp")
    package = import_package(tmp_path, "named")
    for i, name in enumerate(NAMES):
        for x in [np.zeros(1, np.float32), *[np.zeros(1)] * (name == "blur")]:
            getattr(package, name)(x, grid=1, block=1)
            assert x == [i], name


def test_the_greatest_uint64(tmp_path: Path) -> None:
    path = tmp_path / "seeds.py"
    path.write_text(
        "from pycu2c import kernel, uint64\n@kernel\n"
        "def seed(x: uint64[::1], value: uint64): x[0] = value\n"
    )
    build_file(str(path), tmp_path, "--targets", "cpu")
    x, package = np.zeros(1, np.uint64), import_package(tmp_path, "seeds")
    package.seed(x, 2**64 - 1, grid=1, block=1)
    assert x[0] == 2**64 - 1
    with pytest.raises(
        OverflowError, match="value is -1, which is not in 0 to 18446744073709551615"
    ):
        package.seed(x, -1, grid=1, block=1)

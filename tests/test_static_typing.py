"""mypy and pyright on kernels, the examples and the stub."""

from __future__ import annotations

import ast
import inspect
import json
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from pycu2c import Array, cuda, float32, int32, kernel, types
from pycu2c.declarations.signatures import SignatureError, annotated_signature, parse_type
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.ops.names import cuda_namespace
from pycu2c.ops.names.cuda_namespace import Namespace, members
from support.kernels_from_text import module_from_file

ROOT = Path(__file__).parent.parent
EXAMPLES = [*sorted((ROOT / "examples").glob("*.py")), ROOT / "examples/cluster/heat_peers.py"]
CASES = sorted((ROOT / "tests" / "data" / "typing").glob("*.py"))
STRICT = ROOT / "tests" / "data" / "typing" / "kernels.py"
SOURCE = ROOT / "src" / "pycu2c"


def said(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a type checker prints about the working copy, wherever the package is installed."""
    pytest.importorskip(name)
    places = {"MYPYPATH": f"{ROOT / 'src'}:{ROOT / 'examples'}"}
    command = [sys.executable, "-m", name, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=os.environ | places, check=False
    )


def rejected(page: Path) -> set[tuple[str, int]]:
    lines = page.read_text().splitlines()
    return {(page.name, n) for n, line in enumerate(lines, start=1) if line.endswith("# E")}


# what the package itself imports may be missing, or untyped
QUIET = ("--config-file=", "--follow-imports=silent")


def mypy_errors(*arguments: str) -> set[tuple[str, int]]:
    mode = "strict" if "--strict" in arguments else "default"
    done = said("mypy", *QUIET, f"--cache-dir=.mypy_cache/{mode}", *arguments)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    result = re.findall(r"^(.*?):(\d+): error", done.stdout, re.M)
    return {(Path(file).name, int(line)) for file, line in result}


@pytest.mark.slow
def test_mypy_by_default() -> None:
    pages = [str(p) for p in (*EXAMPLES, *CASES)]
    assert mypy_errors(*pages) == rejected(STRICT)


@pytest.mark.slow
def test_mypy_strict() -> None:
    assert mypy_errors("--strict", str(STRICT), str(SOURCE / "cuda" / "__init__.pyi")) == rejected(
        STRICT
    )


@pytest.mark.slow
def test_pyright() -> None:
    done = said("pyright", "--outputjson", "--pythonpath", sys.executable)
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(
        [*EXAMPLES, *CASES, SOURCE / "cuda" / "__init__.pyi"]
    )
    errors = [d for d in report["generalDiagnostics"] if d["severity"] == "error"]
    result = {(Path(d["file"]).name, d["range"]["start"]["line"] + 1) for d in errors}
    assert result == rejected(STRICT), [d["message"] for d in errors]


def test_a_new_intrinsic_is_added_to_the_stub() -> None:
    generated = module_from_file(ROOT / "docs" / "generators" / "stubs.py")

    def body(array: Any, index: Any, n: int, value: Any) -> Any:
        """In one step; a backslash: \\."""

    row = Intrinsic(
        "cuda.more.swap",
        (("array", "array"), ("index", "index"), ("n", "int"), ("value", "T")),
        "T",
        Effect.MEMORY,
        (),
        body,
        None,
        None,
    )
    text = generated.HEAD + generated.declared("more", Namespace("cuda.more", {"swap": row}))
    method = ast.parse(text).body[-2].body[0]  # type: ignore[attr-defined]
    assert ast.unparse(method.args) == (
        "array: Array[_E, Any, Any], index: _Index, n: SupportsIndex, value: _Number"
    )
    assert ast.unparse(method.returns) == "_E"
    assert ast.get_docstring(method) == body.__doc__


# ---- the annotations at run time ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (Array[float32], float32[:]),
        (Array[float32, 2], float32[:, :]),
        (Array[float32, Literal[2]], float32[:, :]),
        (Array[float32, 3, "C"], float32[:, :, ::1]),
        (Array[int32, Literal[1], Literal["C"]], int32[::1]),
        (Array[np.int32, 2], int32[:, :]),
        ("Array[float32]", float32[:]),
        ("Array[float32, 2]", float32[:, :]),
        ("pycu2c.Array[float32, Literal[2], Literal['C']]", float32[:, ::1]),
        ("Array[np.float32, 2, 'A']", float32[:, :]),
    ],
)
def test_an_array_is_named(arguments: object, meant: object) -> None:
    assert parse_type(arguments) == meant


@pytest.mark.parametrize(
    "arguments",
    [
        "Array[float32, 0]",
        "Array[float32, -1]",
        "Array[float32, 2, 'F']",
        "Array[float32, 1, 'C', 4]",
        "Array[float32[:], 2]",
    ],
)
def test_names_of_no_array(arguments: str) -> None:
    with pytest.raises(SignatureError, match=r"write Array\[float32\]"):
        parse_type(arguments)
    with pytest.raises(TypeError, match=r"write Array\[float32\]"):
        eval(arguments)


def test_a_variable_in_a_type() -> None:
    with pytest.raises(SignatureError, match=r"'n' in 'Array\[float32, n\]' is no dtype"):
        parse_type("Array[float32, n]")


def test_annotations_are_read() -> None:
    def as_text(x: Array[float32, 2], y: Array[float32, Literal[2], Literal["C"]], n: int32): ...

    def as_objects(x, y, n): ...

    as_objects.__annotations__ = {"x": float32[:, :], "y": float32[:, ::1], "n": types.int32}
    assert annotated_signature(as_text) == annotated_signature(as_objects)
    assert annotated_signature(as_text) is not None


def test_a_kernel_with_annotations_runs() -> None:
    @kernel(backend="cpu")
    def doubled(x: Array[float32, Literal[1]], n: int32) -> None:
        i = cuda.grid(1)
        if i < n:
            x[i] = x[i] * 2.0

    values = np.arange(4, dtype=np.float32)
    doubled[1, 32](values, 3)
    assert values.tolist() == [0, 2, 4, 3]


# ---- what editors ask ----------------------------------------------------------------------------


def test_the_namespace_lists_its_names() -> None:
    assert dir(cuda) == sorted(cuda.__all__)
    assert "add" in dir(cuda.atomic)
    assert "add" in (cuda.atomic.__doc__ or "")


def test_an_intrinsic_explains_itself() -> None:
    assert "return the old element" in (cuda.atomic.add.__doc__ or "")
    assert list(inspect.signature(cuda.atomic.add).parameters) == ["array", "index", "value"]
    assert "return the old element" in pydoc.render_doc(cuda.atomic.add)
    assert "cuda.atomic.add(array: array, index: index, value: T) -> T" in repr(cuda.atomic.add)
    assert cuda.grid.__name__ == "grid"
    for name, member in members(cuda_namespace.CUDA).items():
        if callable(member):
            assert inspect.signature(member), name
            assert inspect.getdoc(member), name


def test_checkers_find_the_types_in_a_wheel() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert '"py.typed", "*.pyi"' in text
    assert (SOURCE / "py.typed").exists()

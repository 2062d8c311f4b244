"""Where kernels may be defined: anywhere Python keeps the text."""

from __future__ import annotations

import ast
import linecache
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, kernel
from pycu2c.base.source import source_of

CELL = """
from pycu2c import cuda, kernel

@kernel(backend="cpu")
def filled(out):
    i = cuda.grid(1)
    out[i] = i + 0.5
"""


def executed(text: str, name: str) -> dict[str, object]:
    scope: dict[str, object] = {}
    exec(compile(text, name, "exec"), scope)
    return scope


def test_a_notebook_cell() -> None:
    """Notebooks put each cell's text where tracebacks find it."""
    name = "<ipython-input-1-abc>"
    linecache.cache[name] = (len(CELL), None, CELL.splitlines(keepends=True), name)
    filled = executed(CELL, name)["filled"]
    out = np.zeros(4)
    filled[1, 4](out)
    np.testing.assert_array_equal(out, np.arange(4) + 0.5)


def test_text_that_python_has_forgotten() -> None:
    with pytest.raises(CompileError, match="define it in a file, a notebook cell"):
        executed(CELL, "<string>")


def test_a_file_that_has_changed(tmp_path) -> None:
    path = tmp_path / "changing.py"
    path.write_text(CELL)
    scope: dict[str, object] = {}
    code = compile(CELL, str(path), "exec")
    path.write_text("\n\n\n" + CELL.replace("filled", "other"))
    linecache.checkcache(str(path))
    with pytest.raises(CompileError, match="the file changed after it was imported"):
        exec(code, scope)


def test_a_kernel_among_others_of_its_name() -> None:
    def made(sign):
        if sign > 0:

            @kernel(backend="cpu")
            def k(out):
                out[cuda.grid(1)] = 1
        else:

            @kernel(backend="cpu")
            def k(out):
                out[cuda.grid(1)] = -1

        return k

    for sign in (1, -1):
        out = np.zeros(3)
        made(sign)[1, 3](out)
        np.testing.assert_array_equal(out, sign)
        assert source_of(made(sign).python).tree.name == "k"


def test_a_script(tmp_path) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        CELL
        + textwrap.dedent("""
        import numpy as np
        out = np.zeros(3)
        filled[1, 3](out)
        print(out.tolist())
        """)
    )
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "[0.5, 1.5, 2.5]\n"


OFFSET = 3
ADD, SUBTRACT = device(lambda x: x + OFFSET), device(lambda x, by=1: x - by)
NESTED = device(lambda x: (lambda y: y * x)(x + 1))
CONSTANT, SAME = device(lambda: 7), device(lambda x: x)


def test_lambdas(target) -> None:
    @kernel(backend=target)
    def k(out):
        i = cuda.grid(1)
        out[i] = ADD(i) * 1000 + SUBTRACT(i) * 100 + NESTED(i) * 10 + CONSTANT() + SAME(i)

    out = np.zeros(4, np.int64)
    k[1, 4](out)
    expected = [(i + 3) * 1000 + (i - 1) * 100 + i * (i + 1) * 10 + 7 + i for i in range(4)]
    assert out.tolist() == expected


def test_lambdas_on_one_line_are_distinguished() -> None:
    """Also where all that they do is to give a constant, or to choose."""
    seven, eight, less, choice = lambda: 7, lambda: 8, lambda: -1, lambda x: 1 if x else 3
    inner, outer = (lambda: lambda: 5, lambda y, z=(lambda: 5): lambda: y + OFFSET)
    result = [source_of(f).tree.body[0].value for f in (seven, eight, less, choice, inner, outer)]
    assert [ast.unparse(e) for e in result] == [
        "7",
        "8",
        "-1",
        "1 if x else 3",
        "lambda: 5",
        "lambda: y + OFFSET",
    ]
    closed = [(lambda: by, lambda: (by, 1)) for by in range(2)]  # noqa: B023
    assert [ast.unparse(source_of(f).tree.body[0].value) for f in closed[1]] == ["by", "(by, 1)"]


def test_lambdas_that_read_alike() -> None:
    first, second = lambda: 7, lambda: 7
    assert [ast.unparse(source_of(f).tree.body[0].value) for f in (first, second)] == ["7", "7"]


def test_an_error_in_a_lambda() -> None:
    wrong = device(lambda x: x + unknown)  # noqa: F821

    @kernel
    def k(out):
        out[0] = wrong(1)

    with pytest.raises(CompileError, match=r"lambda x: x \+ unknown.*\n.*`unknown` is not defined"):
        k.inspect("cuda", "float32[:]")


def test_a_lambda_that_python_has_forgotten() -> None:
    scope = executed("from pycu2c import device\nf = lambda x: x", "<string>")
    with pytest.raises(CompileError, match="write it as `def"):
        device(scope["f"])


VALUES = np.arange(3)


@device
def first_of(VALUES):  # a parameter that is named as an array of the module
    return VALUES[0] + 1


def test_a_parameter_that_is_named_as_a_global_array(target) -> None:
    @kernel(backend=target)
    def k(out):
        out[0] = first_of(out)

    out = np.zeros(2)
    k[1, 1](out)
    assert out.tolist() == [1, 0]

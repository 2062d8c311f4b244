"""Remarks of ``pycu2c migrate`` on names, strings and kernels, and its exit status."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pycu2c.cli.main import main
from pycu2c.compat.migrate.remarks import KINDS, Severity
from pycu2c.compat.migrate.string_references import ENVIRONMENT_VARIABLES, UNSUPPORTED_METHODS


def run(text: str, folder: Path, *words: str) -> Result:
    path = folder / "program.py"
    path.write_text(textwrap.dedent(text).lstrip("\n"))
    return CliRunner().invoke(main, ["migrate", *words, str(path)])


def shown(text: str, folder: Path) -> str:
    return run(text, folder).stderr.replace(f"{folder}/", "")


BY_HAND = {
    "a name": (
        """
        from numba import cuda
        f = cuda.open_ipc_array
        """,
        """
        by hand[name]: pycu2c does not provide this name of numba.cuda
          --> program.py:2:5
          2 | f = cuda.open_ipc_array
            |     ^^^^^^^^^^^^^^^^^^^
            = help: a.get_ipc_handle() returns a handle to send; its open() returns the array
        """,
    ),
    "an import": (
        "from numba.cuda.testing import CUDATestCase",
        """
        by hand[name]: pycu2c does not provide this name of numba.cuda
          --> program.py:1:32
          1 | from numba.cuda.testing import CUDATestCase
            |                                ^^^^^^^^^^^^
            = help: it is internal to numba; dir(cuda) lists the public names
        """,
    ),
    "a name that was misspelt": (
        "import numba.cuda\nnumba.cuda.synchronise()",
        "= help: did you mean `cuda.synchronize`?",
    ),
    "a star": (
        "from numba import *",
        "= help: import the names explicitly; those of numba.cuda are in pycu2c.cuda",
    ),
    "a string": (
        """
        import pytest
        from numba import cuda
        pytest.importorskip("numba.cuda")
        """,
        """
        by hand[text]: a string names numba.cuda and is not rewritten
          --> program.py:3:21
          3 | pytest.importorskip("numba.cuda")
            |                     ^^^^^^^^^^^^
            = help: write 'pycu2c.cuda' if the string names the module that provides cuda
        """,
    ),
    "the environment": (
        """
        import os
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
        from numba import cuda
        """,
        "= help: PYCU2C_BACKEND=cpu runs kernels on the CPU, compiled; PYCU2C_BACKEND=python",
    ),
    "a method": (
        "from numba import cuda\nprint(k.inspect_llvm())",
        "= help: kernel.inspect('cuda') shows the CUDA C, kernel.inspect('ir') the typed IR",
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_what_needs_a_hand(name: str, tmp_path: Path) -> None:
    text, expected = BY_HAND[name]
    assert textwrap.dedent(expected).strip("\n") in shown(text, tmp_path)
    assert run(text, tmp_path).exit_code == 1
    assert run(text, tmp_path, "--quiet").stderr.count("]: ") == 1
    assert run(text, tmp_path, "--write").exit_code == 1
    assert run(text, tmp_path, "--check").exit_code == 1  # and so it is when it has been written


NOTES = {
    "njit": (
        "from numba import cuda, njit",
        """
        note[numba]: this name remains numba's
          --> program.py:1:25
          1 | from numba import cuda, njit
            |                         ^^^^
            = help: numba compiles it for the host; kernels can call it as a device function
        """,
    ),
    "lines": (
        """
        from numba import cuda, float32
        @cuda.jit
        def k(a, x):
            s = 0.0
            for i in range(9):
                s += 0.1 * a[i] + 0.5 * x - float32(0.3)
            a[0] = s
            a[1] = 0.25
        """,
        """
        a Python float is float64 in numba, and has the type of the other operand in pycu2c
          --> program.py:4:9
          4 |     s = 0.0
            |         ^^^ so is line 6
            = help: write float64(…) where precision matters, or float32(…) to confirm the type
        """,
    ),
    "small integers": (
        """
        from numba import cuda
        @cuda.jit("void(u1[:])")
        def k(a):
            a[0] = (a[1] + a[2]) // 2
        """,
        "differs[small-integers]: numba computes 8- and 16-bit integers in 64 bits; pycu2c wraps",
    ),
}


@pytest.mark.parametrize("name", NOTES)
def test_what_needs_none(name: str, tmp_path: Path) -> None:
    text, expected = NOTES[name]
    assert textwrap.dedent(expected).strip("\n") in shown(text, tmp_path)
    assert run(text, tmp_path).exit_code == 0
    assert run(text, tmp_path, "--quiet").stderr.count("]: ") == 0


def test_each_kind_of_remark_is_one() -> None:
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names)
    assert {kind.severity for kind in KINDS} == set(Severity)


@pytest.mark.parametrize("word", [*ENVIRONMENT_VARIABLES, *UNSUPPORTED_METHODS])
def test_hints_for_names_are_not_empty(word: str, tmp_path: Path) -> None:
    text = f"from numba import cuda\nx.{word} if 0 else {word!r}"
    result = shown(text, tmp_path)
    assert (ENVIRONMENT_VARIABLES | UNSUPPORTED_METHODS)[word] in result

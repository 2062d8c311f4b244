"""The error catalog: the wrong program of each page raises its error, the corrected one runs."""

from __future__ import annotations

import ast
import pickle
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pycu2c
from pycu2c.base.diagnostics import error_codes, rule
from pycu2c.base.types import Array, Constant, Scalar, Tuple
from pycu2c.cli import error_catalog
from pycu2c.cli.main import main
from pycu2c.kernels.kernel import Kernel

CASES = [
    pytest.param(code, case, id=f"{code}-{number}")
    for code in error_codes()
    for number, case in enumerate(error_catalog.cases(code), start=1)
]


@dataclass(frozen=True)
class Shown:
    """What a message says: its code, and the place of its first carets."""

    code: str
    line: int
    text: str


def shown(message: str, program: str) -> list[Shown]:
    """Each error or warning of a message."""
    result = []
    for part in re.split(r"^(?=(?:error|warning)\[)", message, flags=re.M)[1:]:
        title = re.match(r"\w+\[([\w-]+)\]: (.*)", part)
        assert title is not None
        assert title[2] == rule(title[1])
        place = re.search(r"--> wrong\.py:(\d+):(\d+)\n", part)
        carets = re.search(r"\^+", part)
        if place is None or carets is None:
            result.append(Shown(title[1], 0, ""))
            continue
        line, column = int(place[1]), int(place[2]) - 1
        text = program.splitlines()[line - 1][column : column + len(carets[0])]
        result.append(Shown(title[1], line, text))
    return result


def marks(case: error_catalog.CatalogCase, code: str) -> list[Shown]:
    result = [
        Shown(code, line, text)
        for line, full in enumerate(case.marked.splitlines(), start=1)
        for text in re.findall("«(.*?)»", full)
    ]
    return result or [Shown(code, 0, "")]


@pytest.mark.parametrize(("code", "case"), CASES)
def test_the_wrong_program_raises_this_error_at_its_mark(
    code: str, case: error_catalog.CatalogCase
) -> None:
    assert shown(error_catalog.message(case.wrong), case.wrong) == marks(case, code)


@pytest.mark.parametrize(("code", "case"), CASES)
def test_the_corrected_program_runs(code: str, case: error_catalog.CatalogCase) -> None:
    """It says nothing, and each of its kernels has C text and runs on the reference."""
    assert error_catalog.message(case.corrected) == ""
    space = error_catalog.run(case.corrected, "corrected.py")
    kernels = [value for value in space.values() if isinstance(value, Kernel)]
    assert kernels
    for k in kernels:
        if k.signature is None:  # the program has launched it
            continue
        for text in ("c", "cuda"):
            assert k.name in k.inspect(text)
        again = Kernel(k.python, signature=k.signature, backend="python", options=k.options)
        again[k.options.cluster or 1, 4](*map(argument, k.signature.parameters))


def argument(kind: Scalar | Array | Tuple | Constant) -> object:
    """Something to launch a kernel with."""
    if isinstance(kind, Array):
        return np.full((8,) * kind.ndim, 2, kind.dtype.numpy)
    assert isinstance(kind, Scalar)
    return kind.dtype.numpy.type(1).item()


def reported_codes() -> set[str]:
    """Return the first arguments of the package's calls of ``fail`` and ``Diagnostic``."""
    return {
        call.args[0].value
        for path in Path(pycu2c.__file__).parent.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("fail", "Diagnostic")
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    }


def test_reported_codes_have_a_page() -> None:
    assert len(reported_codes()) > 30
    assert reported_codes() <= set(error_codes())


@pytest.mark.parametrize("code", error_codes())
def test_a_code_has_a_case_and_prose_is_short(code: str) -> None:
    result = error_catalog.cases(code)
    assert result
    for case in result:
        assert all(len(line) <= 100 for line in case.remark.splitlines())
        assert case.wrong.endswith("\n")


def test_the_command_shows_a_page() -> None:
    text = CliRunner().invoke(main, ["errors", "index-type"]).output
    assert text.startswith("index-type: an array is indexed by an integer\n")
    assert "    out[i / 2] = a[i]\n" in text
    assert "error[index-type]" in text
    assert "    out[i // 2] = a[i]\n" in text


def test_the_command_lists_the_codes() -> None:
    lines = CliRunner().invoke(main, ["errors"]).output.splitlines()
    assert [line.split()[0] for line in lines] == error_codes()


def test_the_command_rejects_an_unknown_code() -> None:
    result = CliRunner().invoke(main, ["errors", "index-typo"])
    assert result.exit_code == 2
    assert "index-type" in result.output


def test_errors_are_instances_of_exceptions_of_python() -> None:
    """Also after pickling, as between processes."""
    with pytest.raises(NameError) as raised:
        error_catalog.run(error_catalog.cases("name")[0].wrong, "wrong.py")
    error = raised.value
    assert isinstance(error, pycu2c.CompileError)
    loaded = pickle.loads(pickle.dumps(error))
    assert type(loaded) is type(error)
    assert (str(loaded), loaded.line) == (str(error), error.line)

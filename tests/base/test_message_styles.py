"""Colours of messages: on terminals that show them, and never in the text of exceptions."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pycu2c import CompileError
from pycu2c.base.output.message_styles import as_html, for_stream, uses_colour
from pycu2c.cli.main import main

MESSAGE = """\
error[name]: a <name> is not defined
  --> kernels.py:12:5
 12 |     a[0] = b
    |            ^ `b` is not defined
    = help: assign it
race: thread (1, 0, 0) of block (0, 0, 0)
cost[stride]: far
1 in all"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def plain(text: str) -> str:
    return re.sub(r"\033\[[\d;]*m", "", text)


def test_parts_of_a_message_have_colours() -> None:
    text = for_stream(MESSAGE, Terminal())
    assert plain(text) == MESSAGE
    red, yellow, blue = "\033[1;31m", "\033[1;33m", "\033[34m"
    lines = text.split("\n")
    assert lines[0] == f"{red}error[name]:\033[0m a <name> is not defined"
    assert lines[1] == f"{blue}  --> kernels.py:12:5\033[0m"
    assert lines[2] == f"{blue} 12 | \033[0m    a[0] = b"
    assert lines[3] == f"{blue}    | \033[0m\033[31m           ^ `b` is not defined\033[0m"
    assert lines[4] == "\033[1;32m    = help:\033[0m assign it"
    assert lines[5] == f"{red}race: \033[0mthread (1, 0, 0) of block (0, 0, 0)"
    assert lines[6] == f"{yellow}cost[stride]:\033[0m far"
    assert lines[7] == "1 in all"


def test_html_is_escaped() -> None:
    html = as_html(MESSAGE)
    assert "<name>" not in html
    assert html.count("<span") == html.count("</span>") == 8


@pytest.mark.parametrize(
    ("changes", "terminal", "coloured"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_which_streams_have_colours(
    changes: dict[str, str], terminal: bool, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    assert uses_colour(Terminal() if terminal else io.StringIO()) == coloured


def test_without_stderr_there_are_no_colours() -> None:
    assert not uses_colour(None)


PROGRAM = """
import numpy as np
from pycu2c import cuda, kernel

@kernel(signature="float32[:, ::1], int32", backend="cpu")
def k(a, n):
    i = cuda.grid(1)
    a[i, 0] = a[i + n, 0]

if __name__ == "__main__":
    k[1, 4](np.zeros((4, 4), np.float32), 100)
"""
WRONG = "from pycu2c import kernel\n\n@kernel\ndef k(a):\n    with a:\n        pass\n"


@pytest.mark.parametrize("command", ["explain", "check", "errors", "emit"])
def test_commands_print_colours_only_where_they_are_shown(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(WRONG if command == "emit" else PROGRAM)

    def called() -> Result:
        target = "name" if command == "errors" else str(program)
        return CliRunner().invoke(main, [command, target])

    without = called().output
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = called().output
    assert "\033[" in coloured
    assert plain(coloured) == without
    assert "\033[" not in without


def test_exceptions_are_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    program = tmp_path / "program.py"
    program.write_text(WRONG)
    with pytest.raises(CompileError) as caught:
        exec(compile(WRONG, program, "exec"), {})
    assert "\033[" not in str(caught.value)

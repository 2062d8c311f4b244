"""``pycu2c check``: the exit code, the formats, and what a checked program sees."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner, Result

from pycu2c.cli.diagnostic_formats import as_sarif
from pycu2c.cli.main import main
from pycu2c.runtime.findings import CheckKind
from support import sarif
from support.paths import ROOT

HEAD = """
import os, sys
import numpy as np
from pycu2c import CheckError, cuda, device, kernel

@device
def element(a, i):
    return a[i]

@kernel(backend="cpu")
def shift(a, out):
    i = cuda.grid(1)
    out[i] = element(a, i + 1)

def launch(threads):
    shift[1, threads](np.arange(4.0), np.zeros(4))
"""
FINDING = "\nlaunch(4)\n"
COMPILE_ERROR = "\n@kernel\ndef wrong(a):\n    a[0] = {1}\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYCU2C_CHECK", raising=False)
    return tmp_path / "script.py"


def checked(script: Path, body: str, *options: str, arguments: tuple[str, ...] = ()) -> Result:
    script.write_text(HEAD + body)
    state = dict(os.environ), sys.argv, list(sys.path), os.getcwd()
    result = CliRunner().invoke(main, ["check", *options, script.name, *arguments])
    assert state == (dict(os.environ), sys.argv, sys.path, os.getcwd())
    return result


CAUGHT = "\ntry:\n    launch(4)\nexcept CheckError:\n    print('caught')\n"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("launch(3)", 0),
        ("sys.exit()", 0),
        ("launch(3); sys.exit(0)", 0),
        (FINDING, 1),
        (CAUGHT, 1),
        (CAUGHT + "sys.exit(3)", 1),
        (CAUGHT + "1 / 0", 1),
        ("sys.exit(1)", 2),
        ("sys.exit('reason')", 2),
        ("1 / 0", 2),
        ("1 +", 2),
        ("raise KeyboardInterrupt", 2),
        (COMPILE_ERROR, 2),
    ],
)
def test_exit_code(body: str, code: int, script: Path) -> None:
    assert checked(script, body).exit_code == code


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--checks", "memroy"), "some of memory, race"),
        (("--backend", "python"), "--backend"),
        (("-o", "none/findings.txt"), "No such file"),
    ],
)
def test_wrong_options(options: tuple[str, ...], complaint: str, script: Path) -> None:
    result = checked(script, "open('ran', 'w')", *options)
    assert result.exit_code == 2
    assert complaint in result.output
    assert not Path("ran").exists()


def test_missing_script(script: Path) -> None:
    result = CliRunner().invoke(main, ["check", "nowhere.py"])
    assert (result.exit_code, "there is no file nowhere.py" in result.output) == (2, True)


def test_text(script: Path) -> None:
    result = checked(script, FINDING)
    assert "Traceback" not in result.output
    assert result.stdout.startswith("out-of-bounds: thread (3, 0, 0) of block (0, 0, 0)\n")
    assert "index 4 is out of bounds for axis 0 of `a` with size 4" in result.stdout
    assert result.stdout.endswith("\n1 finding\n")
    result = checked(script, 2 * CAUGHT)  # one finding of a place and the calls that lead to it
    assert result.stdout.count("called here") == 1
    assert checked(script, "launch(3)").stdout == "no findings\n"


def test_other_exceptions_have_the_traceback_of_the_program(script: Path) -> None:
    result = checked(script, "def f():\n    1 / 0\nf()")
    frames = [line for line in result.stderr.splitlines() if line.startswith("  File")]
    assert [frame.split(",")[0] for frame in frames] == ['  File "script.py"'] * 2
    assert checked(script, "sys.exit('reason')").stderr == "reason\n"


def test_arguments_and_path(script: Path) -> None:
    (script.parent / "beside.py").write_text("NUMBER = 7")
    body = "import beside; print(__name__, sys.argv, beside.NUMBER, os.environ['PYCU2C_BACKEND'])"
    options = ("--backend", "cpu")
    result = checked(script, body, *options, arguments=("-m", "--format", "x"))
    assert result.stdout.startswith("__main__ ['script.py', '-m', '--format', 'x'] 7 cpu\n")


def test_module(script: Path) -> None:
    package = script.parent / "checked_package"
    package.mkdir()
    (package / "__main__.py").write_text(f"{HEAD}print(sys.argv[1:])\nlaunch(4)")
    result = CliRunner().invoke(main, ["check", "-m", "checked_package", "-x"])
    assert (result.exit_code, result.stdout.startswith("['-x']\nout-of-bounds")) == (1, True)


def test_groups(script: Path) -> None:
    assert checked(script, FINDING.replace("4", "3"), "--checks", "race,memory").exit_code == 0
    assert checked(script, "print(os.environ['PYCU2C_CHECK'])", "--checks", "race").stdout == (
        "race\nno findings\n"
    )


NAMESPACES = {
    "numba": "@cuda.jit\ndef k(a): a[cuda.grid(1)] = 1\nk[1, 5](np.zeros(4))",
    "cupy": "from pycu2c.cupy import jit\n@jit.rawkernel()\ndef k(a): a[jit.threadIdx.x] = 1\n"
    "k((1,), (5,), (np.zeros(4),))",
}


@pytest.mark.parametrize("name", NAMESPACES)
def test_namespaces(name: str, script: Path) -> None:
    result = checked(script, NAMESPACES[name], "--backend", "cpu", "--format", "json")
    assert [finding["index"] for finding in json.loads(result.stdout)] == [[4]]


def test_of_pycuda_are_in_bounds(script: Path) -> None:
    body = """
import pycu2c.pycuda.autoinit
from pycu2c.pycuda import gpuarray
a = gpuarray.to_gpu(np.arange(5, dtype=np.float32))
print((2 * a + a[::-1]).get().tolist())
"""
    result = checked(script, body)
    assert result.stdout == "[4.0, 5.0, 6.0, 7.0, 8.0]\nno findings\n"


UFUNC = """
from pycu2c import guvectorize
@guvectorize(["void(f8[:], f8[:])"], "(n)->(n)", target="cuda")
def k(a, out):
    out[0] = a[a.shape[0]]
k(np.zeros((1, 4)))
"""


@pytest.mark.parametrize("body", [FINDING, UFUNC])
def test_environment(body: str, script: Path) -> None:
    """The variable alone, in a process of its own."""
    script.write_text(HEAD + body)
    program = [sys.executable, script.name]
    variables = {"PYCU2C_CHECK": "memory", "PYCU2C_BACKEND": "cpu"}
    environment = {
        **os.environ,
        **variables,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), *sys.path)),
    }
    ran = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "1 finding\n" in ran.stderr
    assert "index 4 is out of bounds for axis 0 of `a` with size 4" in ran.stderr


# ---- formats -----------------------------------------------------------------------------------


def test_json(script: Path) -> None:
    result = checked(script, "print('of the program')\n" + FINDING, "--format", "json")
    assert result.stderr == "of the program\n"
    (finding,) = json.loads(result.stdout)
    call = {"file": "script.py", "line": 13, "column": 14, "end_line": 13, "end_column": 31}
    access = {"file": "script.py", "line": 8, "column": 12, "end_line": 8, "end_column": 16}
    assert finding == {
        "kind": "out-of-bounds",
        "severity": "error",
        "message": "index 4 is out of bounds for axis 0 of `a` with size 4",
        "hint": "compare the index with len(a) before the access",
        "location": access,
        "related": [{**call, "message": "called here"}],
        "count": 1,
        "thread": [3, 0, 0],
        "block": [0, 0, 0],
        "array": "a",
        "index": [4],
        "shape": [4],
    }
    assert checked(script, "", "--format", "json").stdout == "[]\n"


def test_output_file(script: Path) -> None:
    body = "os.chdir('/'); print('of the program')\n" + FINDING
    result = checked(script, body, "--format", "sarif", "-o", "findings.sarif")
    assert result.output == "of the program\n"
    check_sarif(Path("findings.sarif").read_text())


def test_compile_error(script: Path) -> None:
    result = checked(script, CAUGHT + COMPILE_ERROR, "--format", "json")
    kinds = [record["kind"] for record in json.loads(result.stdout)]
    assert (result.exit_code, kinds) == (1, ["dict-set", "out-of-bounds"])
    assert "error[dict-set]" in checked(script, COMPILE_ERROR).stdout


def check_sarif(text: str) -> dict[str, Any]:
    """Check what SARIF 2.1.0 requires of a log and GitHub of its results; return the only run."""
    log = json.loads(text)
    if "CI" in os.environ or importlib.util.find_spec("jsonschema"):  # make gpu installs nothing
        importlib.import_module("jsonschema").validate(log, sarif.LOG)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "pycu2c"
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for location in (*result["locations"], *result["relatedLocations"]):
            region = location["physicalLocation"]["region"]
            start = region["startLine"], region["startColumn"]
            assert start < (region["endLine"], region["endColumn"])
        assert all("message" in location for location in result["relatedLocations"])
    return dict(run)


def test_sarif(script: Path) -> None:
    script = script.with_name("a script.py")
    run = check_sarif(checked(script, CAUGHT + COMPILE_ERROR, "--format", "sarif").stdout)
    assert run["columnKind"] == "unicodeCodePoints"
    error, finding = run["results"]
    place = finding["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20script.py"
    assert place["region"] == {"startLine": 8, "startColumn": 12, "endLine": 8, "endColumn": 16}
    assert finding["relatedLocations"][0]["message"]["text"] == "called here"
    assert finding["properties"]["index"] == [4]
    assert "\nhelp: compare the index" in finding["message"]["text"]
    rule = run["tool"]["driver"]["rules"][error["ruleIndex"]]
    assert "```python corrected" in rule["help"]["markdown"]
    assert "«" not in rule["help"]["markdown"]


def test_files_outside_of_the_working_directory(script: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    script.write_text(HEAD + FINDING)
    os.chdir("empty")
    words = ["check", "--format", "sarif", str(script)]
    run = check_sarif(CliRunner().invoke(main, words).stdout)
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == script.as_uri()


COSTLY = """
from pycu2c import cuda, kernel
@kernel(signature="float32[::1]")
def k(a):
    i = cuda.grid(1)
    a[i] = i / 2
"""


@pytest.mark.parametrize("words", [("explain", "--format"), ("emit", "--error-format")])
def test_compile_errors_of_other_commands(words: tuple[str, str], script: Path) -> None:
    script.write_text(COSTLY + "    {1}\n")
    command, option = words
    result = CliRunner().invoke(main, [command, script.name, option, "json"])
    assert result.exit_code == 1
    assert [record["kind"] for record in json.loads(result.stdout)] == ["dict-set"]
    result = CliRunner().invoke(main, [command, script.name, option, "sarif"])
    assert [r["ruleId"] for r in check_sarif(result.stdout)["results"]] == ["dict-set"]


@pytest.mark.parametrize(("text", "level"), [(COSTLY, "note"), (COSTLY + "    {1}\n", "error")])
def test_explain_has_the_same_formats(text: str, level: str, script: Path) -> None:
    script.write_text(text)
    words = ["explain", script.name, "--format"]
    results = check_sarif(CliRunner().invoke(main, [*words, "sarif"]).stdout)["results"]
    records = json.loads(CliRunner().invoke(main, [*words, "json"]).stdout)
    assert [r["level"] for r in results] == [r["severity"] for r in records] == [level]
    assert [r["ruleId"] for r in results] == [r["kind"] for r in records]
    assert (
        records[0]["location"]["line"]
        == results[0]["locations"][0]["physicalLocation"]["region"]["startLine"]
    )


# ---- documentation -----------------------------------------------------------------------------


PAGE = (ROOT / "docs" / "guide" / "finding_mistakes.md").read_text()
DOCUMENTED = re.findall(r"```py\n(.*?)```\n\n```text\n(.*?)```\n\n```diff\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize("program", range(len(DOCUMENTED)))
def test_documented_reports(program: int, script: Path) -> None:
    text, report, change = DOCUMENTED[program]
    words = ["check", "--backend", "cpu", script.name]
    script.write_text(text)
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.stdout) == (1, report)
    assert "= help: " in report
    lines = [(line[:1].strip(), line[1:] or line) for line in change.splitlines(keepends=True)]
    before, after = ("".join(t for sign, t in lines if sign in kept) for kept in ("-", "+"))
    assert text.count(before) == 1
    script.write_text(text.replace(before, after))
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, result.stdout) == (0, "no findings\n")


def test_each_kind_is_documented_with_a_report() -> None:
    reports = "".join(report for _, report, _ in DOCUMENTED)
    assert set(re.findall(r"^([\w-]+): thread", reports, re.M)) == set(get_args(CheckKind))


def test_documented_kinds() -> None:
    for kind in get_args(CheckKind):
        assert f"| `{kind}` |" in PAGE, kind
        assert as_sarif([{**NO_PLACE, "kind": kind}])


NO_PLACE = {"severity": "error", "message": "m", "hint": "", "location": None, "related": []}

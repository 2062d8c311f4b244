"""What `make sanitize` runs, and what it reads from the logs of compute-sanitizer."""

from __future__ import annotations

from pathlib import Path

import pytest

import sanitize
from support import sanitizer_plugin

LOG = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 2 bytes
=========     at k+0x1290
=========     by thread (32,0,0) in block (8,0,0)
=========         Host Frame: run at launching.py+0x10
=========
========= Invalid __global__ read of size 2 bytes
=========     at k+0x1380
=========
========= Error: Race reported between Read access at maker+0xc70
=========     and Write access at maker+0xd60 [128 hazards]
=========     and Write access at maker+0xf60 [128 hazards]
=========
========= ERROR SUMMARY: 3 errors
"""


def test_findings_are_counted_by_kernel() -> None:
    assert sanitize.findings(LOG) == {
        "Invalid __global__ read of size 2 bytes: k": 2,
        "Error: Race reported between Read access: maker": 1,
    }


def test_kernels_that_a_tool_misunderstands_are_left_out() -> None:
    words = sanitize.command("racecheck", Path("log"), ["tests"])
    left_out = [words[i + 1] for i, word in enumerate(words) if word == "--kernel-name-exclude"]
    assert left_out == [f"kernel_name={name}" for name in sanitize.LEFT_OUT["racecheck"]]
    assert "--kernel-name-exclude" not in sanitize.command("memcheck", Path("log"), ["tests"])


def test_racecheck_runs_files_with_shared_memory_or_barriers() -> None:
    files = {sanitize.Path(name).name for name in sanitize.tests_for("racecheck")}
    assert {"test_shared_and_local_arrays.py", "test_programs.py", "test_golden_kernels.py"} < files
    assert "test_arithmetic.py" not in files


def test_excluded_kernels_exist() -> None:
    files = sanitize.HERE.rglob("*.py")
    text = "".join(file.read_text() for file in files if file.name != "sanitize.py")
    for names in sanitize.LEFT_OUT.values():
        for name in names:
            assert f"def {name}(" in text


def test_excluded_tests_exist() -> None:
    for names in sanitize.LEFT_OUT_TESTS.values():
        for file, _, test in (name.partition("::") for name in names):
            text = (sanitize.HERE / file).read_text()
            assert f"def {test.partition('[')[0]}(" in text


TOOL = """\
#!/bin/sh
while [ "$1" != -m ]; do
  [ "$1" = --log-file ] && export THE_LOG="$2"
  python="$1"
  shift
done
exec "$python" "$@"
"""
WATCHED = """
import os, time
import pytest
pytestmark = pytest.mark.gpu

def test_a_test_without_findings(): pass
def test_in_which_the_tool_writes():
    with open(os.environ["THE_LOG"], "a") as log:
        log.write("========= Invalid read of size 4 bytes\\n=========     at k+0x10\\n")
def test_that_hangs(): time.sleep(60)
def test_behind_it(): pass
def test_that_fails(): assert 1 == 2
def test_at_the_end(capsys): pass
@pytest.mark.faulty
def test_left_out(): assert False
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_each_test_runs_once_and_what_is_written_is_named(
    workers: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tool, tests = tmp_path / "compute-sanitizer", tmp_path / "test_watched.py"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    tests.write_text(WATCHED)
    (tmp_path / "pytest.ini").touch()  # tests are named from here
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("SANITIZE_SECONDS", "1")
    monkeypatch.setattr(sanitize, "FOLDER", tmp_path)
    assert not sanitize.run("memcheck", workers, [str(tests)])
    said = capsys.readouterr().out
    names = [name for part in range(workers) for name in _started(tmp_path, part)]
    assert sorted(names) == sorted(
        [
            "a_test_without_findings",
            "in_which_the_tool_writes",
            "that_hangs",
            "behind_it",
            "that_fails",
            "at_the_end",
        ]
    )
    assert "the tool wrote in test_watched.py::test_in_which_the_tool_writes" in said
    assert "a test ended its process: test_watched.py::test_that_hangs" in said
    assert "failed: test_watched.py::test_that_fails: assert 1 == 2" in said
    assert said.startswith("memcheck: 4 passed, 1 failed\n")
    assert "1 × Invalid read of size 4 bytes: k" in said
    assert "behind_it" not in said
    assert "left_out" not in said


def _started(folder: Path, part: int) -> list[str]:
    notes = folder / f"memcheck-{part}.tests"
    return [test.partition("::test_")[2] for test in sanitizer_plugin.recorded(notes, "started")]

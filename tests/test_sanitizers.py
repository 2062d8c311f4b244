"""The pool, and generated kernels on it, watched by gcc's sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from compilers_here import needed
from kernel_programs import write_program
from pool_kernels import HERE
from pycu2c.runtime import cpu

SANITIZERS = ("thread", "address,undefined")


@pytest.fixture(params=SANITIZERS)
def gcc(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """gcc with a sanitizer that works here: some have trouble with some kernels of Linux."""
    command = shutil.which("gcc")
    needed(command, "gcc")
    flags = [f"-fsanitize={request.param}", "-fno-sanitize-recover=all", "-O1", "-g", "-pthread"]
    trivial = tmp_path / "trivial.c"
    trivial.write_text("int main(void) { return 0; }\n")
    words = [str(command), "-std=gnu11", "-fwrapv", *flags]
    works = subprocess.run([*words, trivial, "-o", tmp_path / "trivial"], capture_output=True)
    needed(
        works.returncode == 0 and subprocess.run([tmp_path / "trivial"]).returncode == 0,
        f"a gcc whose -fsanitize={request.param} works",
    )
    return words


def output(words: list[object], program: list[object], folder: Path) -> str:
    """Of a program that is built and run; a sanitizer that finds something ends it."""
    built = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert (built.returncode, built.stderr) == (0, "")
    killed = ["timeout", "--signal=KILL", "120", *program]  # a watched program may ignore others
    # bodies are left from a signal's handler by design; the watcher takes what is done after that
    # to be done in the handler
    quiet = {**os.environ, "TSAN_OPTIONS": "report_signal_unsafe=0"}
    ran = subprocess.run(killed, cwd=folder, capture_output=True, text=True, env=quiet)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    return ran.stdout


def test_the_pool(gcc: list[str], tmp_path: Path) -> None:
    (tmp_path / "pool.c").write_text(cpu.pool_text())
    words = [*gcc, HERE / "pool_check.c", "pool.c", "-o", "check"]
    assert output(words, ["./check", "5"], tmp_path) == "ok\n"


def test_kernels(gcc: list[str], tmp_path: Path) -> None:
    files, data = write_program(tmp_path)
    found = output([*gcc, *files, "-o", "program", "-lm"], ["./program", data], tmp_path)
    assert found.endswith(" kernels\n")

"""Windows and macOS, as far as Linux can show: with their names, flags and messages of errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pycu2c.toolchain.cc import discovery
from pycu2c.toolchain.toolchain_errors import ToolchainError, undefined_functions_in
from support.paths import TESTS


def results_on(system: str, compiler: str, folder: Path) -> Any:
    pytest.importorskip("mypy")
    program = (sys.executable, TESTS / "support" / "other_system.py", system, compiler)
    environment = {**os.environ, "PYCU2C_CACHE_DIR": str(folder)}
    ran = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.slow
def test_macos(tmp_path: Path) -> None:
    found = results_on("darwin", "Apple clang version 15.0.0 (clang-1500.3.9.4)", tmp_path)
    assert {"os.sched_getaffinity", "os.eventfd", "os.memfd_create"} <= {*found["hidden"]}
    assert len({*found["modules"]}) == 1
    command = found["command"]
    assert "-mcpu=native" in command
    assert "-dynamiclib -lm -undefined dynamic_lookup" in command
    assert not [flag for flag in ("-march", "-Wl,", "-tree-", "-nostdlib") if flag in command]


@pytest.mark.slow
def test_windows(tmp_path: Path) -> None:
    found = results_on("win32", "gcc.exe (Rev2, Built by MSYS2 project) 14.2.0", tmp_path)
    expected = {"fcntl", "resource", "os.fork", "os.register_at_fork", "os.geteuid"}
    assert expected <= {*found["hidden"]}
    assert len({*found["modules"]}) == 1
    command = found["command"]
    assert "-shared -static" in command
    assert "-march=native" in command
    assert "-Wl," not in command


@pytest.mark.parametrize("name", ["cl", "clang-cl.exe"])
def test_visual_cpp_is_rejected(name: str) -> None:
    with pytest.raises(ToolchainError, match=r"options or headers of Visual C\+\+.*(?s:.)*MSYS2"):
        discovery.chosen_compiler("PYCU2C_CC", name, "")


def test_clang_with_the_headers_of_visual_cpp_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, target in {
        "gcc": "x86_64-pc-windows-msvc",
        "clang": "x86_64-w64-windows-gnu",
    }.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho clang version 19.1.0\necho Target: {target}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("PYCU2C_CC", "CC"):
        monkeypatch.delenv(name, raising=False)
    assert discovery.find_compiler().command == (str(tmp_path / "clang"),)
    monkeypatch.setenv("PYCU2C_CC", "gcc")
    with pytest.raises(ToolchainError, match="PYCU2C_CC is 'gcc', which has the options"):
        discovery.find_compiler()


@pytest.mark.parametrize(
    "log",
    [
        "/usr/bin/ld: k.c:(.text+0x5): undefined reference to `missing'",
        'Undefined symbols for architecture arm64:\n  "_missing", referenced from:\n    _f in k.o',
        "dlopen(k.so, 0x2): symbol not found in flat namespace '_missing'",
    ],
)
def test_undefined_functions_of_linkers(log: str) -> None:
    assert undefined_functions_in(log) == ("missing",)

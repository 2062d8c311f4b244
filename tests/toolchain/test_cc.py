"""The C toolchain: discovery, flags, caching and errors."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from pycu2c.declarations.options import Options
from pycu2c.toolchain import subprocesses
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cache import cache_directory, eviction
from pycu2c.toolchain.cc import cc, compiler_identity, cxx, discovery
from pycu2c.toolchain.toolchain_errors import RejectedCodeError, ToolchainError
from support.c_compilers import check_warnings

TWICE = "/* doubles: ≥ 0 or not */ int twice(int x) { return 2 * x; }\n"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The commands that were run."""
    seen: list[tuple[str, ...]] = []
    real = subprocesses.run

    def spy(words: tuple[str, ...], text: str = "") -> subprocesses.CompletedProcess:
        seen.append(words)
        return real(words, text)

    monkeypatch.setattr(subprocesses, "run", spy)
    return seen


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def call(binary: CompiledBinary, value: int) -> int:
    result: int = getattr(ctypes.CDLL(binary.path), binary.entry)(value)
    return result


def test_a_text_becomes_a_library(directory: Path) -> None:
    binary = cc.compile(TWICE, "twice")
    assert (binary.kind, binary.entry, binary.text) == ("so", "twice", TWICE)
    assert binary.path is not None
    assert Path(binary.path).read_bytes().startswith(binary.data)
    assert directory in Path(binary.path).parents
    assert call(binary, 21) == 42


def test_the_second_time_no_compiler_runs(runs: list[tuple[str, ...]]) -> None:
    discovery.find_compiler()
    runs.clear()
    first = cc.compile(TWICE, "twice")
    assert len(runs) == 1
    second = cc.compile(TWICE, "twice")
    assert len(runs) == 1
    assert (first.path, first.data) == (second.path, second.data)


def test_another_flag_is_another_entry() -> None:
    fused, exact = (
        cc.compile(TWICE, "twice", options=Options(fmad=fmad)) for fmad in (True, False)
    )
    assert fused.path != exact.path


def test_fmad_decides_about_contraction() -> None:
    text = "#include <math.h>\ndouble f(double a, double b, double c) { return a * b + c; }\n"
    results = []
    for fmad in (False, True):
        f = ctypes.CDLL(str(cc.compile(text, "f", options=Options(fmad=fmad)).path)).f
        f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double] * 3
        # the product rounds to 1; fused, -2**-60 is left
        results.append(f(1 + 2.0**-30, 1 - 2.0**-30, -1.0))
    machine = compiler_identity.machine_identity()
    fuses = " fma " in machine or machine.startswith("aarch64")
    assert results == [0.0, -(2.0**-60) if fuses else 0.0]


def test_a_damaged_library_is_compiled_again() -> None:
    binary = cc.compile(TWICE, "twice")
    assert binary.path is not None
    Path(binary.path).write_bytes(binary.data[:100])
    assert call(cc.compile(TWICE, "twice"), 4) == 8


def test_without_the_cache_nothing_is_kept(runs: list[tuple[str, ...]]) -> None:
    before = eviction.usage().entries
    runs.clear()
    paths = {cc.compile(TWICE, "twice", cache=False).path for _ in range(2)}
    assert len(paths) == 2
    assert len(runs) == 2
    assert eviction.usage().entries == before


def test_rejected_code_is_an_internal_error() -> None:
    before = eviction.usage().entries
    with pytest.raises(RejectedCodeError, match=r"bug in pycu2c(.|\n)*kernel.c:1:") as caught:
        cc.compile("int f(void) { return missing; }\n", "f")
    assert caught.value.text.startswith("int f")
    assert "missing" in caught.value.log
    assert eviction.usage().entries == before


def test_a_compiler_that_cannot_compile_is_not_our_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = script(
        tmp_path / "broken", '[ "$1" = --version ] && exit 0\necho no headers >&2; exit 1'
    )
    monkeypatch.setenv("PYCU2C_CC", path)
    with pytest.raises(ToolchainError, match=r"does not work(.|\n)*no headers") as caught:
        cc.compile(TWICE, "twice")
    assert not isinstance(caught.value, RejectedCodeError)


def test_a_compiler_that_writes_nothing_is_not_our_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_CC", "true")
    with pytest.raises(ToolchainError, match=r"`.*/true` does not work") as caught:
        cc.compile(TWICE, "twice")
    assert not isinstance(caught.value, RejectedCodeError)


def test_rejected_code_where_the_exit_code_is_lost() -> None:
    """The process ignores SIGCHLD, so that nobody learns how the compiler ended."""
    ignored = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert call(cc.compile(TWICE, "twice"), 2) == 4
        with pytest.raises(RejectedCodeError, match="missing"):
            cc.compile("int f(void) { return missing; }\n", "f")
    finally:
        signal.signal(signal.SIGCHLD, ignored)


def test_rejected_code_is_saved_for_a_report(directory: Path) -> None:
    text = "int f(void) {\n    return missing;\n}\n"
    with pytest.raises(RejectedCodeError) as caught:
        cc.compile(text, "f")
    error = caught.value
    assert error.saved_path is not None
    assert directory in Path(error.saved_path).parents
    kept = Path(error.saved_path).read_text()
    assert kept.startswith(text)
    assert "-O3" in kept
    assert error.log.splitlines()[-1] in kept
    assert error.line == 2
    shown = str(error).splitlines()
    assert str(error.saved_path) in shown[0]
    assert shown[1].strip().startswith("kernel.c:2:12: error: ")
    assert shown[2].strip() == "2 |     return missing;"


def test_a_full_disk_is_not_our_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = "cc1: fatal error: error writing to /tmp/x.s: No space left on device"
    path = script(
        tmp_path / "full",
        f'[ "$1" = --version ] && exit; grep -q probe || {{ echo {full} >&2; exit 1; }}',
    )
    monkeypatch.setenv("PYCU2C_CC", path)
    with pytest.raises(ToolchainError, match=r"No space left(.|\n)*free space(.|\n)*TMPDIR"):
        cc.compile(TWICE, "twice")


@pytest.mark.parametrize("is_known", [True, False])
def test_nowhere_to_compile(
    is_known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_known:
        monkeypatch.setenv("PYCU2C_CC", script(tmp_path / "unknown", "exec gcc"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    monkeypatch.setattr(cache_directory, "_PRIVATE_DIRECTORIES", {})
    with pytest.raises(ToolchainError, match="TMPDIR"):
        cc.compile(TWICE, "twice")


def test_a_killed_compiler_is_not_our_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(
        tmp_path / "victim",
        '[ "$1" = --version ] && exit; grep -q probe || kill -9 $$',
    )
    monkeypatch.setenv("PYCU2C_CC", path)
    with pytest.raises(ToolchainError, match="was killed"):
        cc.compile(TWICE, "twice")


def test_threads_that_request_the_same_kernel_compile_it_once(runs: list[tuple[str, ...]]) -> None:
    discovery.find_compiler()
    runs.clear()
    threads = [threading.Thread(target=cc.compile, args=(TWICE, "twice")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 1


def test_a_child_forked_while_another_thread_compiles_compiles_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = script(tmp_path / "slow", '[ "$1" = --version ] || sleep 0.5; exec gcc "$@"')
    code = (
        "import os, threading, time, warnings\n"
        "from pycu2c.toolchain.cc import cc\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"  # fork beside threads
        f"compile = lambda: cc.compile({TWICE!r}, 'twice')\n"
        "other = threading.Thread(target=compile)\n"
        "other.start()\n"
        "time.sleep(0.2)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    compile()\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "other.join()"
    )
    monkeypatch.setenv("PYCU2C_CC", slow)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_no_compiler_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYCU2C_CC", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolchainError) as caught:
        cc.compile(TWICE, "twice")
    for way in ("apt install gcc", "dnf install gcc", "brew install gcc", "pip install ziglang"):
        assert way in str(caught.value)


def test_without_a_path_compilers_are_where_python_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATH", "PYCU2C_CC", "CC", "PYCU2C_CXX", "CXX"):
        monkeypatch.delenv(name, raising=False)
    folders = [os.path.join(folder, "") for folder in os.defpath.split(os.pathsep)]
    assert discovery.find_compiler().command[0].startswith(tuple(folders))
    assert cxx.find().command[0].startswith(tuple(folders))


def test_a_chosen_compiler_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_CC", "no-such-compiler -x")
    with pytest.raises(ToolchainError, match="PYCU2C_CC is 'no-such-compiler -x'"):
        discovery.find_compiler()


def test_a_compiler_command_may_have_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = script(tmp_path / "wrap", f'echo "$@" >> {tmp_path}/log; shift; exec gcc "$@"')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYCU2C_CC", "./wrap word")
    assert discovery.find_compiler().command == (wrapper, "word")
    assert call(cc.compile(TWICE, "twice"), 1) == 2
    assert "word -std=gnu11" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("there", "cc_variable", "expected"),
    [
        (("gcc", "clang", "cc", "mine"), "mine", "mine"),
        (("gcc", "clang", "cc"), "mine", "gcc"),
        (("clang", "cc"), "", "clang"),
        (("cc",), "", "cc"),
    ],
)
def test_the_order_of_choice(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: tuple[str, ...],
    cc_variable: str,
    expected: str,
) -> None:
    for name in there:
        script(tmp_path / name, f"echo {name} 1.0")
    monkeypatch.delenv("PYCU2C_CC", raising=False)
    monkeypatch.setenv("CC", cc_variable)
    monkeypatch.setenv("PATH", str(tmp_path))
    compiler = discovery.find_compiler()
    assert compiler == discovery.Compiler((str(tmp_path / expected),), f"{expected} 1.0")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a word for x86-64's compilers")
@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022", True),
        ("gcc (GCC) 14.2.1 20240912 (Red Hat 14.2.1-3)", True),
        ("gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", False),
        ("gcc of my own", False),
        ("Debian clang version 14.0.6", False),
    ],
)
def test_avx512_fp16_is_enabled_only_where_the_compiler_supports_it(
    version: str, expected: bool
) -> None:
    assert ("-mno-avx512fp16" in discovery.Compiler(("gcc",), version).flags) is expected
    assert "-mno-avx512fp16" not in discovery.Compiler(("gcc",), version, "aarch64").flags


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a flag for x86-64")
@pytest.mark.parametrize(("major", "expected"), [(11, False), (12, True), (13, True), (14, False)])
def test_gathers_of_old_compilers_are_disabled(major: int, expected: bool) -> None:
    flags = discovery.Compiler(("gcc",), f"gcc (Debian {major}.2.0-14) {major}.2.0").flags
    assert any("use_gather" in flag for flag in flags) is expected


def test_zig_is_the_last_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys; print('zig', sys.argv[1:])")
    for name in ("PYCU2C_CC", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    compiler = discovery.find_compiler()
    assert compiler.command == (sys.executable, "-m", "ziglang", "cc")
    assert compiler.version == "zig ['cc', '--version']"


def test_warnings_are_shown() -> None:
    assert check_warnings(TWICE) == ""
    assert "unused" in check_warnings("static int f(int x) { return 1; }\n")
    loop = "#pragma omp simd\n    for (int i = 0; i < n; i++) a[i] = 0;\n"
    assert check_warnings(f"void f(int *a, int n) {{\n{loop}}}\n") == ""


def test_the_machine_is_part_of_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    here = cc.compile(TWICE, "twice")
    monkeypatch.setattr(compiler_identity, "machine_identity", lambda: "another")
    assert cc.compile(TWICE, "twice").path != here.path


def test_halves_are_never_contracted() -> None:
    """Processors that compute in halves would fuse a product and a sum, which are rounded each."""
    text = "typedef _Float16 float16;\nfloat16 f(float16 a, float16 b) { return a * b + a; }\n"
    built = cc.compile(text, "f", cache=False)
    assert "-ffp-contract=off" in cc.flags_for(text, Options())
    assert built.data
    assert "-ffp-contract=off" not in cc.flags_for("float f(float a) { return a; }", Options())

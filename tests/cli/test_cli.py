"""``pycu2c emit``, ``pycu2c doctor`` and other commands, called as from a shell."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

import pycu2c
from pycu2c import kernel
from pycu2c.cli.main import main
from pycu2c.cuda_driver import driver
from pycu2c.native import extension
from pycu2c.toolchain.cache import artifact_store, cache_directory
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError
from support.paths import ROOT

GOLDEN = ROOT / "golden"
SAXPY = str(GOLDEN / "saxpy" / "kernel.py")
TYPES = "float32, float32[::1], float32[::1]"


def called(*words: str) -> Result:
    return CliRunner().invoke(main, words)


@pytest.mark.parametrize(("target", "suffix"), [("cuda", "cu"), ("c", "c"), ("ir", "ir")])
def test_emit_prints_the_golden(target: str, suffix: str) -> None:
    words = ("--target", target, "--signature", TYPES, "--block", "64")
    result = called("emit", SAXPY, *words)
    assert result.exit_code == 0
    assert result.output == (GOLDEN / "saxpy" / f"f32.{suffix}").read_text()


def test_emit_c_that_runs_thread_by_thread() -> None:
    words = ("--target", "c-resumable", "--signature", TYPES, "--block", "64")
    shown = called("emit", SAXPY, *words).output
    assert "switch (self->pc) {" in shown
    assert "const struct coroutine_kernel saxpy = {" in shown


@pytest.mark.parametrize(
    ("block", "complaint"), [("16;16", "write 256 or 16,16"), ("2048", "at most 1024")]
)
def test_a_block_that_is_none(block: str, complaint: str) -> None:
    result = called("emit", SAXPY, "--target", "c", "--signature", TYPES, "--block", block)
    assert result.exit_code == 1
    assert complaint in result.output


def test_emit_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out.cu"
    assert called("emit", f"{SAXPY}:saxpy", "--signature", TYPES, "-o", str(path)).exit_code == 0
    assert path.read_text() == (GOLDEN / "saxpy" / "f32.cu").read_text()


def test_emit_ptx_and_cubin_for_an_architecture(tmp_path: Path) -> None:
    words = ("emit", SAXPY, "--signature", TYPES, "--arch", "sm_80", "--target")
    ptx = called(*words, "ptx")
    assert ".target sm_80" in ptx.output
    path = tmp_path / "saxpy.cubin"
    assert called(*words, "cubin", "-o", str(path)).exit_code == 0
    assert path.read_bytes().startswith(b"\x7fELF")


def test_emit_the_syntax_tree() -> None:
    shown = called("emit", SAXPY, "--target", "ast").output
    assert "".join(shown.split()).startswith("FunctionDef(name='saxpy',args=arguments(")


def test_emit_with_the_python_lines() -> None:
    shown = called("emit", SAXPY, "--signature", TYPES, "--comments", "source").output
    assert "    // i = cuda.grid(1)\n    int i = " in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.py",), "there is no file nowhere.py"),
        ((f"{SAXPY}:other",), "has no kernel other; it has saxpy"),
        ((SAXPY,), "pass --signature, one type for each of (a, x, y)"),
        ((SAXPY, "--signature", "float33, int32"), "'float33' is no dtype"),
        ((SAXPY, "--signature", "float32"), "1 type for (a, x, y)"),
        ((SAXPY, "--signature", "float32[1:2], int32, int32"), "cannot read"),
    ],
)
def test_mistakes_are_reported(words: tuple[str, ...], message: str) -> None:
    result = called("emit", *words)
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_file_with_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("from pycu2c import kernel\n\n@kernel\ndef k(a):\n    a[0] = {1}\n")
    result = called("emit", str(path))
    assert result.exit_code == 1
    assert "error[dict-set]" in result.output
    assert "bad.py:5:12" in result.output


def test_a_file_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "bad.py"
    path.write_text("1 / 0\n")
    result = called("emit", str(path))
    assert "ZeroDivisionError" in result.output
    path.write_text("x = 1\n")  # as long, and in the same second
    assert "decorate a function with @kernel" in called("emit", str(path)).output


def test_doctor() -> None:
    result = called("doctor")
    assert result.exit_code == 0
    for word in ("Python", "numpy", "compiler", "C++", "NVRTC", "linker", "GPU", "cache", "ready"):
        assert f"\n{word}" in f"\n{result.output}"
    facts = json.loads(called("doctor", "--json").output)
    assert facts["ready"] is True
    assert facts["verdict"] == result.output.splitlines()[-1]
    assert f"compiler  {facts['compiler']}\n" in result.output


def test_doctor_without_the_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "UNAVAILABLE", "No module named '_dispatch'")
    assert "pip install --force-reinstall" in called("doctor").output


def test_the_extension_does_not_enable_the_gil() -> None:
    code = (
        "import sys\n"
        "sys._is_gil_enabled = lambda: False\n"
        "from pycu2c.cli.main import main\n"
        "main(['doctor'])"
    )
    program = (sys.executable, "-c", code)
    output = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert "slow path, tens of µs each: the C extension requires the GIL" in output
    assert "pip install --force-reinstall" not in output


def test_the_version_of_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is only on the path."""
    monkeypatch.setattr(importlib.metadata, "distribution", {}.__getitem__)
    result = called("--version")
    assert result.output.endswith(f"version {pycu2c.__version__}\n")
    assert f"pycu2c {pycu2c.__version__}\n" in called("doctor").output


@pytest.mark.parametrize("command", ["", "emit", "explain", "errors", "doctor", "cache", "migrate"])
def test_help_has_a_short_option(command: str) -> None:
    words = command.split()
    assert called(*words, "-h").output == called(*words, "--help").output
    assert "Usage:" in called(*words, "-h").output


def test_a_kernel_that_a_function_makes(tmp_path: Path) -> None:
    path = tmp_path / "made.py"
    path.write_text(
        "from pycu2c import cuda, kernel\n\ndef make(n):\n    @kernel('int32[:]')\n    def k(a):\n"
        "        a[cuda.grid(1)] = n\n    return k\n\nkernels = [make(3)]\n"
    )
    assert "give a kernel that a function makes a name there" in called("emit", str(path)).output
    path.write_text(f"{path.read_text()}three = make(3)\n")
    assert "= 3;" in called("emit", str(path)).output


@pytest.mark.parametrize(
    ("gpu", "nvrtc_is_there", "verdict"),
    [
        (True, True, "ready: kernels run on the GPU"),
        (True, False, "not ready: kernels run on the GPU, but NVRTC is missing"),
        (False, False, "ready: kernels run on the CPU"),
    ],
)
def test_doctor_says_where_kernels_run(
    gpu: bool, nvrtc_is_there: bool, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version() -> tuple[int, int]:
        if nvrtc_is_there:
            return 13, 4
        raise ToolchainError("install it\n\nno such file\n")

    monkeypatch.setattr(nvrtc, "version", version)
    monkeypatch.setattr(nvrtc, "supported_archs", lambda: ("sm_75", "sm_90"))
    monkeypatch.setattr(driver, "available", lambda: gpu)
    devices = [SimpleNamespace(name=f"GPU {i}", arch="sm_90") for i in (0, 1)]
    monkeypatch.setattr(driver, "devices", lambda: devices)
    result = called("doctor")
    assert verdict in result.output.splitlines()[-1]
    assert (result.exit_code == 0) is verdict.startswith("ready")
    results = "13.4, sm_75 to sm_90" if nvrtc_is_there else "missing: install it"
    assert f"NVRTC     {results}\n" in result.output
    assert ("GPU       GPU 0, sm_90\n          GPU 1, sm_90\n" in result.output) is gpu
    assert "no such file" not in result.output


@pytest.mark.parametrize(
    ("version", "has_the_fault"),
    [((12, 4), False), ((12, 6), True), ((13, 0), True), ((13, 3), True), ((13, 4), False)],
)
def test_doctor_reports_a_version_of_nvrtc_that_miscompiles(
    version: tuple[int, int], has_the_fault: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nvrtc, "version", lambda: version)
    monkeypatch.setattr(nvrtc, "supported_archs", lambda: ("sm_75", "sm_90"))
    assert ("update it to 13.4" in called("doctor").output) is has_the_fault


REDUCE_SUM = str(GOLDEN / "reduce_sum" / "kernel.py")


def test_emit_says_which_lines_loops_over_threads_are_from() -> None:
    path = GOLDEN / "early_return" / "kernel.py"
    shown = called("emit", str(path), "--target", "c", "--signature", "float32[::1], float32[::1]")
    said = [line.strip() for line in shown.output.splitlines() if "// line" in line]
    lines = path.read_text().splitlines()
    first = lines.index("    tid = cuda.threadIdx.x") + 1
    assert said[0] == f"// lines {first}-{first + 4}"
    assert said[2] == f"// line {first + 9}"
    assert len(said) == 4


def test_emit_omits_source_lines_on_request() -> None:
    words = ("--target", "c", "--signature")
    assert "// line" not in called("emit", SAXPY, *words, TYPES).output
    types = "float32[::1], float32[::1]"
    assert "// line" in called("emit", REDUCE_SUM, *words, types).output
    assert "// line" not in called("emit", REDUCE_SUM, *words, types, "--comments", "none").output


def test_lines_of_device_functions_are_last(tmp_path: Path) -> None:
    path = tmp_path / "meeting.py"
    path.write_text(BARRIER)
    shown = called("emit", str(path), "--target", "c", "--block", "32").output
    said = [line.strip() for line in shown.splitlines() if "// line" in line]
    assert said == ["// lines 12-13, 6", "// lines 13-14, 8"]


BARRIER = """from pycu2c import cuda, device, float32, kernel

@device
def turned(x):
    seen = cuda.shared.array(32, float32)
    seen[cuda.threadIdx.x] = x
    cuda.syncthreads()
    return seen[31 - cuda.threadIdx.x]

@kernel("float32[::1], float32[::1]")
def meeting(a, b):
    x = a[cuda.threadIdx.x]
    y = turned(x)
    b[cuda.threadIdx.x] = x + y
"""


# ---- cache ---------------------------------------------------------------------------------


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def keep(name: str, suffix: str, size: int, days: float) -> None:
    path = artifact_store.store(artifact_store.key_of(name), suffix, bytes(size - 88))
    assert path is not None
    then = time.time() - days * 86400
    os.utime(path, (then, then))


def test_cache_info_is_a_table(directory: Path) -> None:
    keep("a", ".so", 1 << 20, 3)
    keep("b", ".so", 2 << 20, 0.5)
    keep("c", ".cubin", 500, 0)
    said = called("cache", "info")
    assert said.exit_code == 0
    place, limit, _, *table = said.output.splitlines()
    assert place == f"location {directory}/v{cache_directory.SCHEMA}"
    assert limit == "limit    1.0 GiB"
    assert [" ".join(line.split()) for line in table] == [
        "kind entries size last used",
        "CUDA C for GPUs 1 500 bytes within the hour",
        "C for the CPU 2 3.0 MiB 12 hours ago",
        "all 3 3.0 MiB",
    ]


def test_cache_info_says_what_is_wrong(directory: Path) -> None:
    directory.touch()
    said = called("cache", "info")
    assert said.exit_code == 0
    assert re.search(r"^problem  .* cannot be used: Not a directory$", said.output, re.M)
    assert re.search(r"cache +not used: .* cannot be used", called("doctor").output)


def test_cache_clear(directory: Path) -> None:
    for name, days in ("a", 40), ("b", 20), ("c", 0):
        keep(name, ".so", 1024, days)
    (directory / "rejected").mkdir()
    (directory / "rejected" / f"k-{'0' * 12}.c").write_text("int")
    words = {
        ("--older-than", "30"): "removed 1 file, 1.0 KiB",
        (): "removed 2 files, 2.0 KiB",
        ("--all", "--older-than", "1"): "removed 0 files, 0 bytes",
        ("--all",): "removed 1 file, 3 bytes",
    }
    for options, expected in words.items():
        assert called("cache", "clear", *options).output == f"{expected}\n"


def test_a_backend_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_BACKEND", "gpu")
    said = called("doctor")
    assert said.exit_code == 1
    last = said.output.splitlines()[-1]
    assert last.startswith("not ready: the environment variable PYCU2C_BACKEND is 'gpu'")
    with pytest.raises(ValueError, match="variable PYCU2C_BACKEND is 'gpu': set it to one of"):
        kernel(print)


def test_doctor_heeds_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "available", lambda: False)
    for backend, verdict in ("python", "ready: kernels run in the ref"), ("cuda", "not ready"):
        monkeypatch.setenv("PYCU2C_BACKEND", backend)
        assert called("doctor").output.splitlines()[-1].startswith(verdict)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    place = tmp_path / "none" / "saxpy.cu"
    result = called("emit", SAXPY, "--signature", TYPES, "-o", str(place))
    assert result.exit_code == 1
    assert f"Error: cannot write {place}: No such file or directory" in result.output


def test_kernels_in_classes(tmp_path: Path) -> None:
    file = tmp_path / "kernels_in_classes.py"  # emit imports it under this name
    file.write_text(
        "from pycu2c import kernel\n"
        "class Steps:\n"
        "    class Inner:\n"
        "        @staticmethod\n"
        "        @kernel('float32[::1]')\n"
        "        def first(a):\n"
        "            a[0] = 1\n"
        "    @kernel('float32[::1]')\n"
        "    def second(a):\n"
        "        a[0] = 2\n"
    )
    assert "a[0] = 1.0f;" in called("emit", f"{file}:Steps.Inner.first").output
    assert "a[0] = 2.0f;" in called("emit", f"{file}:Steps.second").output
    assert "it has Steps.Inner.first, Steps.second" in called("emit", f"{file}:Steps.x").output
    assert "'a b' is not a name: write" in called("emit", f"{file}:a b").output


def test_a_code_that_is_none() -> None:
    assert "did you mean `index-type`?" in called("errors", "index-typ").output
    assert "`pycu2c errors` lists all" in called("errors", "zzz").output


SEVERAL = """
import numpy as np
from pycu2c import cuda, device, float32, float64, int32, kernel

TAPS = np.float32([1, 2, 1]) / 4
SHARES = (0.25, 0.5, 0.25)

@device
def clamp(x, lo, hi):
    return min(max(x, lo), hi)

@device
def first(n):
    return clamp(n - 1, 0, n)

@kernel
def blur(src: float32[::1], dst: float32[::1], n: int32):
    i = cuda.grid(1)
    if i < n:
        for k in range(3):
            dst[i] += TAPS[k] * SHARES[k] * src[clamp(i + k - 1, 0, n - 1)]

@kernel
def again(src: float32[::1], dst: float32[::1], n: int32):
    i = cuda.grid(1)
    if i < n:
        dst[i] = TAPS[i % 3] * src[clamp(i + 1, 0, n - 1)]

@kernel(launch_bounds=128)
def wide(src: float64[::1], n: int32):
    i = cuda.grid(1)
    if i < n:
        src[i] = clamp(src[i], 0.0, SHARES[i % 3]) + first(n)
"""


def several(tmp_path: Path, text: str = SEVERAL) -> str:
    path = tmp_path / "several.py"
    path.write_text(text)
    return str(path)


def test_emit_writes_all_kernels_of_a_file(tmp_path: Path) -> None:
    """What they share stands there once; what differs has a name of its own."""
    result = called("emit", several(tmp_path))
    assert result.exit_code == 0, result.output
    text = result.output
    assert re.findall(r"__global__ (?:__launch_bounds__\(128\) )?void (\w+)", text) == [
        "blur",
        "again",
        "wide",
    ]
    assert text.count("float TAPS[3]") == 1
    assert text.count("__device__ int clamp(int x, int lo, int hi)") == 1
    assert "__constant__ const float SHARES[3]" in text
    assert "__constant__ const double SHARES_1[3]" in text
    assert "clamp_1(src[i], 0.0, SHARES_1[i % 3])" in text
    assert nvrtc.compile(text, "wide", "sm_80").data


def test_one_kernel_of_a_file_prints(tmp_path: Path) -> None:
    loud = SEVERAL.replace("def clamp(x, lo, hi):", "def clamp(x, lo, hi):\n    print(x)")
    result = called("emit", several(tmp_path, loud))
    assert result.exit_code == 1
    assert "again, blur, wide print" in result.output


def test_other_forms_are_of_one_kernel(tmp_path: Path) -> None:
    for words in (("--target", "c"), ("--signature", "float32[::1]")):
        result = called("emit", several(tmp_path), *words)
        assert result.exit_code == 1
        assert "has several kernels; write" in result.output


# ---- the IR after passes -----------------------------------------------------------------------


def test_print_after_a_pass_shows_its_golden() -> None:
    folder = GOLDEN / "passes" / "loop_fission"
    words = ("--target", "c", "--signature", "float32[::1]", "--print-after", "loop_fission")
    result = called("emit", str(folder / "kernel.py"), *words)
    assert result.exit_code == 0
    assert result.output == f"# after loop_fission\n{(folder / 'after.ir').read_text()}"


def test_print_after_all_shows_each_change_in_order() -> None:
    words = ("--target", "cuda", "--signature", TYPES, "--print-after", "all")
    shown = re.findall(r"^# after (\w+)$", called("emit", SAXPY, *words).output, re.M)
    assert shown == ["narrow_integers", "flatten_arrays", "declare_variables"]


def test_print_after_with_diff_shows_what_changed() -> None:
    words = ("--signature", TYPES, "--print-after", "declare_variables", "--diff")
    lines = called("emit", SAXPY, *words).output.splitlines()
    assert lines[:2] == ["--- before declare_variables", "+++ after declare_variables"]
    assert "-  i: small = cuda.grid.x.small()" in lines
    assert "+  declare i: small = cuda.grid.x.small()" in lines


def test_print_after_a_pass_that_changes_nothing_says_so() -> None:
    words = ("--signature", TYPES, "--print-after", "fast_math")
    assert called("emit", SAXPY, *words).output == "# fast_math does not change this kernel\n"


@pytest.mark.parametrize(
    ("target", "name", "complaint"),
    [
        ("cuda", "flaten_arrays", "cuda has no pass `flaten_arrays`: did you mean"),
        ("cuda", "axis_loops", "cuda has no pass `axis_loops`"),
        ("ptx", "all", "--print-after is for --target cuda, c, c-resumable"),
    ],
)
def test_print_after_no_pass(target: str, name: str, complaint: str) -> None:
    words = ("--target", target, "--signature", TYPES, "--print-after", name)
    result = called("emit", SAXPY, *words)
    assert result.exit_code == 1
    assert complaint in result.output

"""NVRTC. Needs neither a driver nor a GPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzing.cases import load
from pycu2c.declarations.options import Options
from pycu2c.toolchain.nvrtc import identity, nvrtc, program
from pycu2c.toolchain.toolchain_errors import RejectedCodeError, ToolchainError
from support.paths import TESTS

try:
    nvrtc.version()
except ToolchainError as error:
    pytest.skip(str(error), allow_module_level=True)

SCALE = """\
extern "C" __global__ void scale(float *x, float a, float b)
{
    x[threadIdx.x] = x[threadIdx.x] * a + b;
}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path))
    return tmp_path


def compiled(text=SCALE, arch="sm_90", **options):
    return nvrtc.compile(text, "scale", arch, cache=False, **options)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_a_cubin_is_an_elf_file_with_the_entry(arch):
    binary = compiled(arch=arch)
    assert binary.kind == "cubin"
    assert binary.entry == "scale"
    assert binary.text == SCALE
    assert binary.data.startswith(b"\x7fELF")
    assert b".text.scale" in binary.data


@pytest.mark.parametrize("arch", ["sm_90", "compute_90"])
def test_ptx_is_text_for_the_arch(arch):
    binary = compiled(arch=arch, kind="ptx")
    text = binary.data.decode()
    assert binary.kind == "ptx"
    assert ".target sm_90" in text
    assert ".entry scale" in text
    assert "\0" not in text


@pytest.mark.parametrize(("fmad", "fused"), [(True, True), (False, False)])
def test_fmad_says_whether_multiply_and_add_may_fuse(fmad, fused):
    assert (b"fma.rn.f32" in compiled(kind="ptx", options=Options(fmad=fmad)).data) is fused


def test_ptx_does_not_negate_in_16_bits():
    """ptxas before 13.3 takes neg.s16 and abs.s16 of -32768 for 32768 where it is widened."""
    path = TESTS / "fuzzing" / "regressions" / "least_int16.py"
    text = load(path.read_text()).kernel.inspect(
        "cuda", "void(int16[::1], int64[:, ::1], float64[:, ::1])"
    )
    ptx = compiled(text, kind="ptx").data
    assert b"neg.s32" in ptx
    assert b"neg.s16" not in ptx
    assert b"abs.s16" not in ptx


def test_rejected_text_is_shown_with_line_numbers_and_the_log():
    with pytest.raises(RejectedCodeError) as caught:
        compiled(SCALE.replace("* a", "* missing"))
    message = str(caught.value)
    assert 'scale.cu(3): error: identifier "missing" is undefined' in message
    assert "3 |     x[threadIdx.x] = x[threadIdx.x] * missing + b;" in message


def test_warnings_are_in_the_log():
    text = SCALE.replace("{\n", "{\n    int unused = 1;\n", 1)
    assert "unused" in compiled(text).log


@pytest.mark.parametrize("arch", ["sm_50", "sm_", "gfx90a"])
def test_an_unknown_arch_is_rejected(arch):
    with pytest.raises(ToolchainError, match=r"does not compile for .*sm_75, "):
        compiled(arch=arch)


def test_the_feature_set_of_one_arch_is_accepted():
    assert compiled(arch="sm_90a").data.startswith(b"\x7fELF")


def test_the_second_compilation_is_read_from_disk(own_cache, monkeypatch):
    first = nvrtc.compile(SCALE, "scale", "sm_90")
    assert first.path is not None
    assert Path(first.path).is_relative_to(own_cache)
    monkeypatch.setattr(nvrtc, "_compile_job", None)  # what a miss would call
    again = nvrtc.compile(SCALE, "scale", "sm_90")
    assert (again.data, again.path, again.kind) == (first.data, first.path, "cubin")


def test_a_cubin_on_disk_needs_no_nvrtc(own_cache):
    """It is not even loaded, and what it said is known."""
    text = SCALE.replace("{\n", "{\n    int unused = 1;\n", 1)
    code = (
        "import sys\n"
        "from pycu2c.toolchain.nvrtc import nvrtc\n"
        f"binary = nvrtc.compile({text!r}, 'scale', 'sm_90')\n"
        "print(binary.data[:4], 'unused' in binary.log, 'cuda.bindings.nvrtc' in sys.modules)\n"
    )
    words = [sys.executable, "-c", code]
    runs = [subprocess.run(words, capture_output=True, text=True, check=True) for _ in range(2)]
    assert [ran.stdout.split("ELF' ")[1] for ran in runs] == ["True True\n", "True False\n"]


def test_another_nvrtc_than_the_installed_one(own_cache, monkeypatch):
    """What is compiled goes by the one that has compiled it."""
    monkeypatch.setattr(nvrtc, "installed_identity", lambda: "one that is not loaded after all")
    first = nvrtc.compile(SCALE, "scale", "sm_90")
    monkeypatch.setattr(nvrtc, "_compile_job", None)
    assert nvrtc.compile(SCALE, "scale", "sm_90") == first
    monkeypatch.setattr(nvrtc, "installed_identity", lambda: None)
    assert nvrtc.compile(SCALE, "scale", "sm_90") == first
    monkeypatch.setattr(nvrtc, "installed_identity", identity.loaded_identity)
    assert nvrtc.compile(SCALE, "scale", "sm_90") == first


def test_an_nvrtc_is_known_by_its_files(tmp_path, monkeypatch):
    library = tmp_path / "nvidia" / "cu13" / "lib" / "libnvrtc.so.13"
    library.parent.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    identity._find_installed.cache_clear()
    assert identity.installed_identity() is None
    result = []
    for path, text in (
        (library, "1"),
        (library, "22"),
        (library.with_name("libnvrtc-builtins.so.13.4"), "1"),
        (tmp_path / "nvidia_cuda_nvrtc-13.4.92.dist-info", "1"),
        (tmp_path / "nvidia_cuda_nvrtc-13.4.92.dist-info", "without a new version"),
        (library, "333"),
    ):
        path.write_text(text)
        os.utime(path, (len(result), 0))
        identity._find_installed.cache_clear()
        result.append(identity.installed_identity())
    identity._find_installed.cache_clear()
    assert result[3] == result[4]  # times do not count where a wheel has a version
    assert len({*result, None}) == 6


def test_what_changes_the_binary_is_part_of_the_key():
    variants = [
        nvrtc.compile(SCALE, "scale", "sm_90"),
        nvrtc.compile(SCALE, "scale", "sm_80"),
        nvrtc.compile(SCALE, "scale", "sm_90", options=Options(fmad=False)),
        nvrtc.compile(SCALE, "scale", "sm_90", kind="ptx"),
        nvrtc.compile(SCALE + "\n// more\n", "scale", "sm_90"),
    ]
    assert len({v.path for v in variants}) == len(variants)


def test_a_missing_nvrtc_is_reported_with_a_hint(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    program.bindings.cache_clear()
    try:
        with pytest.raises(ToolchainError, match=r"pip install 'pycu2c\[gpu\]'") as caught:
            nvrtc.version()
    finally:
        program.bindings.cache_clear()
    assert "cuda-toolkit[nvrtc]>=13.4,<14" in str(caught.value)

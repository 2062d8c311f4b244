"""All C compilers of this machine compile all generated C without warnings, with equal results."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.runtime.cpu import coroutine_scheduler, cpu_kernel, fibers
from pycu2c.toolchain.cc import cc
from support.c_compilers import CROSS, EMULATORS, compiler, names, needed, warning_flags
from support.golden_kernels import GOLDEN
from support.golden_programs import write_program
from support.paths import ROOT
from transforms.cpu.test_nontemporal_stores import cross, text_of

NAMES = list(names())
OTHERS = [name for name in NAMES if name != "gcc"]  # test_golden_kernels.py has that
HAVE_HEADERS_OF_PYTHON = [name for name in NAMES if CROSS.get(name) not in ("AMD64", "arm64")]
RUN = [name for name in OTHERS if name not in CROSS or CROSS[name] in EMULATORS]
GOLDENS = sorted(p for p in GOLDEN.rglob("*.c") if GOLDEN / "libraries" not in p.parents)
PARTS = 3


def said_by(words: tuple[str, ...], folder: Path) -> str:
    """What a compiler that does its work says."""
    ran = subprocess.run(
        words, cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", OTHERS)
def test_no_warnings(name: str, part: int, tmp_path: Path) -> None:
    result = compiler(name)
    texts = {f"{p.parent.name}_{p.name}": p.read_text() for p in GOLDENS[part::PARTS]}
    if part == 0:
        texts["pool.c"] = cpu_kernel.pool_text()
        texts["scheduler.c"] = coroutine_scheduler.scheduler_text()
        if CROSS.get(name) != "AMD64":  # Windows has no mmap
            texts["fibers.c"] = fibers.fibers_text()
        texts["past_caches.c"] = text_of(cross, "float32[:, ::1], float32[:, ::1]")
    for file, text in texts.items():
        (tmp_path / file).write_text(text)
    # zig links what it compiles together
    for files in [(file,) for file in texts] if "zig" in name else [tuple(texts)]:
        words = (*result.command, *warning_flags(result), "-c", *files)
        assert said_by(words, tmp_path) == ""


@pytest.mark.parametrize("name", HAVE_HEADERS_OF_PYTHON)
def test_no_warnings_of_the_extension(name: str, tmp_path: Path) -> None:
    folder = ROOT / "src" / "pycu2c" / "native"
    headers = (f"-I{sysconfig.get_path('include')}", f"-isystem{np.get_include()}")
    words = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-c", *headers)
    files = sorted(folder.glob("*.c"))
    assert files
    for file in files:
        output = ("-o", str(tmp_path / "object.o"), str(file))
        assert said_by((*compiler(name).command, *words, *output), tmp_path) == ""


@pytest.mark.parametrize("options", [DEFAULT_OPTIONS, Options(fmad=False), Options(fastmath=True)])
@pytest.mark.parametrize("name", NAMES)
def test_flags_are_known(name: str, options: Options, tmp_path: Path) -> None:
    result = compiler(name)
    (tmp_path / "f.c").write_text("double f(double x) { return x * x + 1; }\n")
    flags = cc.general_flags(options, result)
    assert said_by((*result.command, *flags, "-Werror", "-c", "f.c"), tmp_path) == ""


@pytest.mark.parametrize("options", [DEFAULT_OPTIONS, Options(fmad=False)])
@pytest.mark.parametrize("name", RUN)
def test_kernels_compute_the_same(name: str, options: Options, tmp_path: Path) -> None:
    """On the processor itself, or an emulated one."""
    result = compiler(name)
    emulator: tuple[str, ...] = ()
    if name in CROSS:
        needed(shutil.which(EMULATORS[CROSS[name]]), EMULATORS[CROSS[name]])
        emulator = (EMULATORS[CROSS[name]],)
    files, data = write_program(tmp_path)
    text = "".join((tmp_path / file).read_text() for file in files)
    flags = cc.flags_for(text, options, result)
    link = ("-static",) if emulator else ()  # an emulator knows no libraries of its processor
    words = (*result.command, *flags, *link, "-pthread", *files, "-o", "program.exe", "-lm")
    assert said_by(words, tmp_path) == ""
    ran = subprocess.run(
        [*emulator, tmp_path / "program.exe", data], capture_output=True, text=True, timeout=120
    )
    # Wine reports that it creates its configuration
    errors = [line for line in ran.stderr.splitlines() if not line.startswith("wine: ")]
    assert (ran.returncode, errors) == (0, []), ran.stdout

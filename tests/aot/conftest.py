"""The library of the tests, its input and its expected results."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from aot import exported
from pycu2c import kernel
from pycu2c.cli.main import main
from support.c_compilers import needed
from support.frameworks import is_tested

FRAMEWORKS = {"test_jax.py": "jaxlib", "test_tvm_ffi.py": "tvm_ffi"}
collect_ignore = [file for file, module in FRAMEWORKS.items() if not is_tested(module)]
LOADERS = Path(__file__).parent / "loaders"


def build(folder: Path, *options: str) -> None:
    """Build the library finance in a folder."""
    build_file(exported.__file__, folder, "--name", "finance", *options)


def build_file(path: str, folder: Path, *options: str) -> None:
    """Build a library of the kernels of a file."""
    result = CliRunner().invoke(main, ["build", path, "-o", str(folder), *options])
    assert result.exit_code == 0, result.output


def forget_package(name: str) -> None:
    """Remove the modules of an imported package, as another test has one of this name."""
    for module in [m for m in sys.modules if m.partition(".")[0] == name]:
        del sys.modules[module]


def run(*command: str | Path, folder: Path | None = None) -> str:
    """Run a command that must succeed; return its output. Skips if it is not installed."""
    program = str(command[0])
    needed(shutil.which(program), program)
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "ASAN_OPTIONS": "protect_shadow_gap=0"},  # which CUDA needs
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finance")
    build(folder)
    return folder


@pytest.fixture(scope="session")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with the 5,000 numbers that the loaders read."""
    path = tmp_path_factory.mktemp("input") / "numbers"
    np.random.default_rng(1).uniform(0.5, 1.5, 5000).tofile(path)
    return path


def expected(numbers: Path, backend: str) -> bytes:
    """Return what the loaders write, as launches in this process compute it."""
    x = np.fromfile(numbers)
    image = x[: 70 * 71].astype(np.float32).reshape(70, 71)
    smooth, sums, prices = np.zeros_like(image), np.zeros(20), np.zeros(5000)
    stencil, block_sums, black_scholes = (
        kernel(k.python, backend=backend)
        for k in (exported.stencil, exported.block_sums, exported.black_scholes)
    )
    stencil[(5, 9), (16, 8)](image, smooth, 0.2)
    block_sums[20, 128](x[::2], sums, 7)
    black_scholes[20, 256](x, x, x, 0.02, 0.3, prices, True)
    return smooth.tobytes() + sums.tobytes() + prices.tobytes()

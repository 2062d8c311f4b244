"""Libraries with kernels whose threads are coroutines on the CPU."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from aot import exported_coroutines
from aot.conftest import build_file, run
from aot.loaders.plain import Dim3, tensor
from aot.test_loaders import C11, COMPILERS, WARNINGS

DEADLOCK = 5


@pytest.fixture(scope="module")
def coroutines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("coroutines")
    build_file(exported_coroutines.__file__, folder, "--name", "waiting", "--targets", "cpu")
    return folder


def launch(library: Path, name: str, *arrays: np.ndarray, blocks: int) -> tuple[int, str]:
    loaded = ctypes.CDLL(str(library / "lib/libwaiting.so"))
    loaded.waiting_last_error.restype = ctypes.c_char_p
    tensors = [ctypes.byref(tensor(a)) for a in arrays]
    configuration = Dim3(blocks, 1, 1), Dim3(64, 1, 1), ctypes.c_size_t(0), None
    status = getattr(loaded, f"waiting_{name}_launch")(*tensors, *configuration)
    return status, loaded.waiting_last_error().decode()


def test_grid_barrier(coroutines: Path) -> None:
    a, out = np.arange(640, dtype=np.int32), np.zeros(640, np.int32)
    assert launch(coroutines, "reverse", a, out, blocks=10) == (0, "")
    np.testing.assert_array_equal(out, np.arange(640, 0, -1))


def test_deadlock(coroutines: Path) -> None:
    status, message = launch(coroutines, "wait_for_flag", np.zeros(1, np.int32), blocks=1)
    assert (status, message) == (DEADLOCK, "wait_for_flag: no thread can make progress")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sources_have_no_warnings(coroutines: Path, tmp_path: Path, compiler: str) -> None:
    for source in (coroutines / "src").glob("*.c"):
        flags = *C11, *WARNINGS, f"-I{coroutines / 'include'}", "-O2", "-c"
        run(compiler, *flags, source, "-o", tmp_path / "object.o")

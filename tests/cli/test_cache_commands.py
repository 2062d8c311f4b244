"""``pycu2c cache warm``, ``pack`` and ``unpack``: fill the cache for other processes."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from pycu2c.cli.main import main
from pycu2c.toolchain.cache import artifact_store, cache_directory

KERNELS = """\
from pycu2c import cuda, kernel

@kernel(signature="float64[::1], float64[::1]", block=32)
def scale(a, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = a[i] * 3

@kernel
def untyped(a):
    a[0] = 1
"""
PROGRAM = """\
import sys, numpy as np
from scaling import scale
out = np.zeros(4)
scale[1, 32](np.arange(4.0), out)
print(out.tolist(), "pycu2c.frontend.function_builder" in sys.modules)
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def called(*words: object) -> str:
    return CliRunner().invoke(main, ["cache", *map(str, words)]).output


def run(words: list[str], folder: Path, cache: str, backend: str = "cpu") -> str:
    environment = {**os.environ, "PYCU2C_CACHE_DIR": cache, "PYCU2C_BACKEND": backend}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_warm_pack_and_unpack_into_a_read_only_cache(tmp_path: Path) -> None:
    first, filled, own = (tmp_path / name for name in ("first", "filled", "own"))
    (tmp_path / "scaling.py").write_text(KERNELS)
    command = ["-m", "pycu2c", "cache"]
    warm = [*command, "warm", str(tmp_path / "scaling.py:scale"), "--arch", "sm_90"]
    shown = run(warm, tmp_path, str(first), "auto")
    assert shown == "scale(float64[::1], float64[::1]): cpu, sm_90\n"
    assert {p.suffix for p in first.rglob("?/*.*")} == {".so", ".cubin", ".pickle", ".txt"}
    packed = run([*command, "pack", "cache.tar.gz"], tmp_path, str(first))
    unpacked = run([*command, "unpack", "cache.tar.gz"], tmp_path, str(filled))
    assert unpacked == packed.replace("packed", "unpacked")
    for path in (filled, *filled.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        paths = f"{own}{os.pathsep}{filled}"
        assert run(["-c", PROGRAM], tmp_path, paths) == "[0.0, 3.0, 6.0, 9.0] False\n"
        assert run(["-c", PROGRAM], tmp_path, str(filled)) == "[0.0, 3.0, 6.0, 9.0] False\n"
    finally:
        for path in (filled, *filled.rglob("*")):
            path.chmod(0o700)
    assert [p for p in own.rglob("?/*") if p.suffix in (".so", ".pickle")] == []


def test_kernels_without_types_or_targets(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "scaling.py"
    file.write_text(KERNELS)
    assert "untyped has no signature: pass --signature" in called("warm", file)
    shown = called("warm", f"{file}:untyped", "--signature", "float32[::1]")
    assert shown == "untyped(float32[::1]): nothing: pass --block or --arch\n"


def test_what_is_not_unpacked(tmp_path: Path, cache: Path) -> None:
    """Damaged entries, and files of other names."""
    key = artifact_store.key_of("text")
    stored = artifact_store.store(key, ".so", b"code")
    assert stored is not None
    content = Path(stored).read_bytes()
    Path(stored).unlink()
    file = tmp_path / "cache.tar"
    with tarfile.open(file, "w") as archive:
        for name in (f"{key}.cubin", f"../{key}.so", f"{key}.so"):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    assert called("unpack", file) == "unpacked 1 entry\n"
    entry = artifact_store.load(key, ".so")
    assert entry is not None
    assert entry.data == b"code"
    assert "Error" in called("unpack", stored)


def test_prefilled_directories_must_be_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["own", "filled", "open", "missing"]
    paths = [tmp_path / name for name in names]
    monkeypatch.setenv("PYCU2C_CACHE_DIR", os.pathsep.join(map(str, paths)))
    for path in paths[1:3]:
        (path / f"v{cache_directory.SCHEMA}").mkdir(parents=True, mode=0o700)
    paths[2].chmod(0o777)
    assert cache_directory.prefilled_directories() == (
        str(paths[1] / f"v{cache_directory.SCHEMA}"),
    )
    assert cache_directory.locate().directory == str(paths[0] / f"v{cache_directory.SCHEMA}")

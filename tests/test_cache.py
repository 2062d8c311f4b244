"""The disk cache: whole entries or none, whatever else happens to the directory."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pycu2c.toolchain import cache

KEY = cache.key_of("text", "flags")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def run(code: str, **environment: str) -> str:
    words = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_what_is_stored_is_loaded(directory: Path) -> None:
    assert cache.load(KEY, ".so") is None
    path = cache.store(KEY, ".so", b"code")
    assert cache.load(KEY, ".so") == cache.Entry(path, b"code")
    assert cache.load(KEY, ".cubin") is None
    assert directory in path.parents


def test_a_key_depends_on_every_part() -> None:
    keys = [
        cache.key_of("a"),
        cache.key_of("a", ""),
        cache.key_of("a", "b"),
        cache.key_of("ab"),
        cache.key_of("a", "b", "c"),
        cache.key_of("a", "bc"),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[2] == cache.key_of("a", "b")


def test_only_the_owner_can_enter(directory: Path) -> None:
    path = cache.store(KEY, ".so", b"code")
    for place in (directory, *[p for p in path.parents if directory in p.parents]):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700, place


@pytest.mark.parametrize("damage", [b"", b"cod", b"cods", b"code\0"])
def test_a_damaged_entry_is_dropped_and_made_again(directory: Path, damage: bytes) -> None:
    path = cache.store(KEY, ".so", b"code")
    path.write_bytes(damage)
    assert cache.load(KEY, ".so") is None
    assert not path.exists()
    assert cache.store(KEY, ".so", b"code") == path
    assert cache.load(KEY, ".so") == cache.Entry(path, b"code")


def test_a_damaged_entry_does_not_hide_a_good_one(directory: Path) -> None:
    good = cache.store(KEY, ".so", b"code")
    for digest in ("0" * 32, "f" * 32):
        good.with_name(f"{KEY}-{digest}.so").write_bytes(b"other")
    assert cache.load(KEY, ".so") == cache.Entry(good, b"code")


def test_a_removed_directory_comes_back(directory: Path) -> None:
    path = cache.store(KEY, ".so", b"code")
    path.unlink()
    path.parent.rmdir()
    path.parent.parent.rmdir()
    assert cache.load(KEY, ".so") is None
    assert cache.store(KEY, ".so", b"code").exists()


def test_info_and_clear(directory: Path) -> None:
    assert cache.info() == cache.Info(directory / "v1", 0, 0)
    cache.store(KEY, ".so", b"code")
    cache.store(cache.key_of("other"), ".cubin", b"x" * 10)
    assert cache.info() == cache.Info(directory / "v1", 2, 14)
    assert cache.clear() == 2
    assert cache.info().entries == 0


def test_many_processes_at_once(directory: Path) -> None:
    code = (
        "from pycu2c.toolchain import cache\n"
        "for n in range(200):\n"
        "    key, data = cache.key_of(str(n % 5)), bytes([n % 5]) * 5000\n"
        "    found = cache.load(key, '.so')\n"
        "    assert found is None or found.data == data\n"
        "    cache.store(key, '.so', data)\n"
        "    if n % 50 == 0: cache.clear()\n"
    )
    words = [sys.executable, "-W", "error", "-c", code]
    running = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    leftover = [p.name for p in directory.rglob("*") if p.is_file() and p.suffix != ".so"]
    assert leftover == []


def test_a_home_that_is_a_file_falls_back_to_a_private_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(blocked))
    path = cache.store(KEY, ".so", b"code")
    assert cache.load(KEY, ".so") == cache.Entry(path, b"code")
    assert "cannot be used" in cache.info().problem
    assert blocked not in path.parents


def test_a_directory_open_to_all_is_not_trusted(directory: Path) -> None:
    version = directory / "v1"
    version.mkdir(parents=True)
    version.chmod(0o777)
    assert directory not in cache.store(KEY, ".so", b"code").parents
    assert "cannot be trusted" in cache.info().problem


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes where it likes")
def test_a_read_only_directory_falls_back(directory: Path) -> None:
    (directory / "v1").mkdir(parents=True)
    (directory / "v1").chmod(0o500)
    path = cache.store(KEY, ".so", b"code")
    assert directory not in path.parents
    assert cache.load(KEY, ".so") == cache.Entry(path, b"code")


def test_a_write_that_fails_late_falls_back(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = directory / "v1" / KEY[:2]
    assert cache.info().problem == ""
    shard.touch()  # a file where a folder should be: the directory can no longer be written
    path = cache.store(KEY, ".so", b"code")
    assert path.read_bytes() == b"code"
    assert directory not in path.parents


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"PYCU2C_CACHE_DIR": "{tmp}/a", "XDG_CACHE_HOME": "{tmp}/b"}, "{tmp}/a/v1"),
        ({"PYCU2C_CACHE_DIR": "", "XDG_CACHE_HOME": "{tmp}/b"}, "{tmp}/b/pycu2c/v1"),
        ({"PYCU2C_CACHE_DIR": "", "XDG_CACHE_HOME": "relative"}, "{tmp}/.cache/pycu2c/v1"),
    ],
)
def test_where_the_cache_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: dict[str, str], expected: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in setting.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    assert cache.info().directory == Path(expected.format(tmp=tmp_path))


def test_private_files_go_when_the_process_does() -> None:
    code = (
        "from pycu2c.toolchain import cache\n"
        "a = cache.keep_until_exit('k.so', b'1')\n"
        "b = cache.keep_until_exit('k.so', b'2')\n"
        "assert (a.read_bytes(), b.read_bytes()) == (b'1', b'2')\n"
        "print(a)"
    )
    assert not Path(run(code)).parent.parent.exists()


def test_a_forked_child_leaves_its_parents_files_alone() -> None:
    code = (
        "import os, sys\n"
        "from pycu2c.toolchain import cache\n"
        "mine = cache.keep_until_exit('k.so', b'parent')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    other = cache.keep_until_exit('k.so', b'child')\n"
        "    assert other.parents[1] != mine.parents[1]\n"
        "    sys.exit(0)\n"  # runs what atexit holds
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "print(mine.read_bytes().decode())"
    )
    assert run(code) == "parent"


def test_a_process_killed_while_it_writes_leaves_no_entry(directory: Path) -> None:
    code = (
        "import os, signal\n"
        "from pycu2c.toolchain import cache\n"
        "cache.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"cache.store({KEY!r}, '.so', b'half')"
    )
    ran = subprocess.run([sys.executable, "-c", code], timeout=60)
    assert ran.returncode == -signal.SIGKILL
    assert cache.load(KEY, ".so") is None
    (left,) = (directory / "v1" / KEY[:2]).iterdir()
    os.utime(left, (0, 0))  # an old one goes when the next entry comes
    path = cache.store(KEY, ".so", b"code")
    assert [*path.parent.iterdir()] == [path]


def test_a_full_disk_falls_back(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fdopen

    def full(handle: int, mode: str) -> object:
        if str(directory) in os.readlink(f"/proc/self/fd/{handle}"):
            os.close(handle)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, mode)

    monkeypatch.setattr(os, "fdopen", full)
    path = cache.store(KEY, ".so", b"code")
    assert path.read_bytes() == b"code"
    assert directory not in path.parents
    assert [p for p in directory.rglob("*") if p.is_file()] == []

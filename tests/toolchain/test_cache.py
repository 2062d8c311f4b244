"""The disk cache: entries are stored, found, checked and evicted."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pycu2c.toolchain.cache import artifact_store, cache_directory, eviction

KEY = artifact_store.key_of("text", "flags")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / f"v{cache_directory.SCHEMA}"


def run(code: str, **environment: str) -> str:
    words = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def files(directory: Path) -> list[Path]:
    return [p for p in directory.rglob("*") if p.is_file()]


def stored(key: str, suffix: str, data: bytes, log: str = "") -> Path:
    path = artifact_store.store(key, suffix, data, log)
    assert path is not None
    return Path(path)


def test_stored_values_are_loaded(directory: Path) -> None:
    assert artifact_store.load(KEY, ".so") is None
    path = stored(KEY, ".so", b"code", "wärning: 1")
    assert artifact_store.load(KEY, ".so") == artifact_store.Entry(str(path), b"code", "wärning: 1")
    assert artifact_store.load(KEY, ".cubin") is None
    assert directory in path.parents
    stored(KEY, ".so", b"other")  # another process may have loaded the first
    found = artifact_store.load(KEY, ".so")
    assert found is not None
    assert found.data == b"code"
    assert files(directory) == [path]


def test_a_key_depends_on_every_part() -> None:
    keys = [
        artifact_store.key_of("a"),
        artifact_store.key_of("a", ""),
        artifact_store.key_of("a", "b"),
        artifact_store.key_of("ab"),
        artifact_store.key_of("a", "b", "c"),
        artifact_store.key_of("a", "bc"),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[2] == artifact_store.key_of("a", "b")


@pytest.mark.parametrize("mask", [0o022, 0o000])
def test_only_the_owner_can_enter(directory: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        path = stored(KEY, ".so", b"code")
    finally:
        os.umask(before)
    made = [p for p in directory.parent.rglob("*") if p.is_dir()]
    for place in (directory.parent, *made):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700, place
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_one_thread_makes_what_others_wait_for(directory: Path) -> None:
    calls, result = [], []

    def make() -> tuple[bytes, str]:
        calls.append(1)
        time.sleep(0.1)
        return b"code", "log"

    work = [
        threading.Thread(
            target=lambda: result.append(artifact_store.load_or_make(KEY, ".so", make))
        )
        for _ in range(8)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert len(calls) == 1
    assert [(f.data, f.log) for f in result] == [(b"code", "log")] * 8


def test_failed_entries_are_tried_again(directory: Path) -> None:
    def fail() -> tuple[bytes, str]:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            artifact_store.load_or_make(KEY, ".so", fail)
    assert artifact_store.load_or_make(KEY, ".so", lambda: (b"code", "")).data == b"code"


def test_info_and_clear(directory: Path) -> None:
    assert eviction.usage() == eviction.CacheUsage(directory, (), 1 << 30)
    a, b = stored(KEY, ".so", b"code"), stored(artifact_store.key_of("other"), ".cubin", b"x" * 10)
    sizes = [p.stat().st_size for p in (a, b)]
    result = eviction.usage()
    assert [(k.suffix, k.entries, k.size) for k in result.kinds] == [
        (".cubin", 1, sizes[1]),
        (".so", 1, sizes[0]),
    ]
    assert (result.entries, result.size) == (2, sum(sizes))
    assert abs(result.kinds[0].last_used - time.time()) < 60
    os.utime(a, (0, time.time() - 3 * 86400))
    assert eviction.clear(unused_for=4) == (0, 0)
    assert eviction.clear(unused_for=2) == (1, sizes[0])
    assert eviction.clear() == (1, sizes[1])
    assert eviction.usage().entries == 0


def test_clear_leaves_alone_what_is_not_the_caches(directory: Path) -> None:
    """The user may have named a directory with other things in it."""
    stored(KEY, ".so", b"code")
    mine = [
        directory / "a" / "thesis.tex",
        directory.parent / "v1" / "ab" / "data.csv",
        directory.parent / "rejected" / "notes.c",
        directory.parent / "notes.txt",
    ]
    theirs = [
        directory.parent / "v1" / KEY[0] / f"{KEY}.so",
        directory.parent / "rejected" / f"kernel-{'0' * 12}.c",
        directory.parent / "cuda-headers-13.4" / "crt" / "a.h",
    ]
    for path in (*mine, *theirs):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    assert eviction.clear()[0] == 1
    assert eviction.clear(everything=True)[0] == len(theirs)
    assert sorted(files(directory.parent)) == sorted(mine)


# ---- how much is kept ----------------------------------------------------------------------


def test_the_least_recently_used_entry_is_evicted(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_SIZE", "160K")  # 10 KiB for each first digit
    keys = [f"a{n:063x}" for n in range(30)]
    now = time.time()
    for age, key in enumerate(keys):
        path = stored(key, ".so", bytes(1000))
        os.utime(path, (now, now - 7200 * (100 - age)))
        artifact_store.load(keys[0], ".so")  # used all the time
    left = [key for key in keys if artifact_store.load(key, ".so")]
    assert left[0] == keys[0]
    assert left[1:] == keys[-len(left) + 1 :]
    assert 5 <= len(left) <= 9
    assert sum(p.stat().st_size for p in files(directory)) <= 10240


def test_a_large_cache_is_rarely_scanned(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    monkeypatch.setattr(eviction, "_files_in", lambda folder: looked.append(folder) or [])
    for n in range(300):
        stored(artifact_store.key_of(str(n)), ".so", bytes(1000))
    assert len(looked) < 10


def test_the_last_one_is_kept_however_large(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_SIZE", "1K")
    first, second = (f"a{n:063x}" for n in range(2))
    stored(first, ".so", bytes(5000))
    stored(second, ".so", bytes(5000))
    assert artifact_store.load(first, ".so") is None
    assert artifact_store.load(second, ".so") is not None


@pytest.mark.parametrize(
    ("text", "size"),
    [("500M", 500 << 20), ("2GiB", 2 << 30), ("1.5k", 1536), ("12345", 12345), ("", 1 << 30)],
)
def test_the_limit(monkeypatch: pytest.MonkeyPatch, text: str, size: int) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_SIZE", text)
    assert (eviction.limit(), eviction.usage().problem) == (size, "")


def test_the_time_of_use_is_written_once_an_hour(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = stored(KEY, ".so", b"code")
    with monkeypatch.context() as patched:
        patched.setattr(os, "utime", None)  # what would mark it
        patched.setattr(os, "supports_fd", {None})
        assert artifact_store.load(KEY, ".so")
    for skew in (-7200, 7200):  # also where the clock was wrong
        os.utime(path, (0, time.time() + skew))
        assert artifact_store.load(KEY, ".so")
        assert abs(path.stat().st_mtime - time.time()) < 60


# ---- where it is ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"PYCU2C_CACHE_DIR": "{tmp}/a", "XDG_CACHE_HOME": "{tmp}/b"}, "{tmp}/a"),
        ({"PYCU2C_CACHE_DIR": "~/a", "XDG_CACHE_HOME": "{tmp}/b"}, "{tmp}/a"),
        ({"PYCU2C_CACHE_DIR": "", "XDG_CACHE_HOME": "{tmp}/b"}, "{tmp}/b/pycu2c"),
        ({"PYCU2C_CACHE_DIR": "", "XDG_CACHE_HOME": "relative"}, "{tmp}/.cache/pycu2c"),
    ],
)
def test_where_the_cache_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: dict[str, str], expected: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in setting.items():
        monkeypatch.setenv(name, value.format(tmp=tmp_path))
    expected = expected.format(tmp=tmp_path)
    assert eviction.usage().directory == Path(expected, f"v{cache_directory.SCHEMA}")


def test_a_relative_directory_stays_where_it_was(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from pycu2c.toolchain.cache import artifact_store as cache\n"
        f"path = cache.store({KEY!r}, '.so', b'code')\n"
        "os.chdir('/')\n"
        f"assert cache.load({KEY!r}, '.so').path == path\n"
        "print(path)"
    )
    (tmp_path / "here").mkdir()
    words = [sys.executable, "-c", code]
    environment = {
        **os.environ,
        "PYCU2C_CACHE_DIR": "here/cache",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    ran = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.stderr == ""
    assert tmp_path / "here" / "cache" in Path(ran.stdout.strip()).parents


@pytest.mark.parametrize("switch", ["0", "off", "No", "false"])
def test_it_can_be_switched_off(
    directory: Path, monkeypatch: pytest.MonkeyPatch, switch: str
) -> None:
    kept = stored(KEY, ".so", b"old")
    monkeypatch.setenv("PYCU2C_CACHE", switch)
    assert artifact_store.load(KEY, ".so") is None
    path = stored(KEY, ".so", b"code")
    assert artifact_store.load(KEY, ".so") == artifact_store.Entry(
        str(path), b"code"
    )  # for this process
    path.unlink()
    assert directory not in path.parents
    assert eviction.usage().problem == f"PYCU2C_CACHE is {switch}"
    assert eviction.clear() == (0, 0)
    monkeypatch.setenv("PYCU2C_CACHE", "1")
    assert artifact_store.load(KEY, ".so") == artifact_store.Entry(str(kept), b"old")


# ---- what goes with the process ------------------------------------------------------------


def test_private_files_are_deleted_at_exit() -> None:
    code = (
        "from pathlib import Path\n"
        "from pycu2c.toolchain.cache import artifact_store as cache\n"
        "a = cache.write_private_file('k.so', b'1')\n"
        "b = cache.write_private_file('k.so', b'2')\n"
        "assert (Path(a).read_bytes(), Path(b).read_bytes()) == (b'1', b'2')\n"
        "print(a)"
    )
    assert not Path(run(code)).parent.parent.exists()


def test_a_forked_child_leaves_its_parents_files_alone() -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from pycu2c.toolchain.cache import artifact_store as cache\n"
        "mine = cache.write_private_file('k.so', b'parent')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    other = cache.write_private_file('k.so', b'child')\n"
        "    assert Path(other).parents[1] != Path(mine).parents[1]\n"
        "    sys.exit(0)\n"  # runs what atexit holds
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
        "print(Path(mine).read_bytes().decode())"
    )
    assert run(code) == "parent"

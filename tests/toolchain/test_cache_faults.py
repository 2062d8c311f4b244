"""The disk cache with faults of the disk or the directory: kernels run, foreign code does not."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pycu2c.cuda_driver import driver
from pycu2c.runtime.cpu import cpu_kernel
from pycu2c.toolchain.cache import artifact_store, cache_directory, eviction
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.toolchain_errors import ToolchainError

KEY = artifact_store.key_of("text", "flags")
ENTRY = Path(KEY[0], f"{KEY}.so")
ANOTHER_USER = 12345


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / f"v{cache_directory.SCHEMA}"


def stored(data: bytes = b"code") -> Path:
    path = artifact_store.store(KEY, ".so", data, "log")
    assert path is not None
    return Path(path)


def is_kept_for_this_process(directory: Path) -> bool:
    """It is stored, elsewhere, and found there."""
    path = stored()
    result = artifact_store.load(KEY, ".so") == artifact_store.Entry(str(path), b"code", "log")
    path.unlink()
    return result and directory not in path.parents


# ---- entries -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:1],
        lambda whole: whole[:-1],
        lambda whole: whole + b"\0",
        lambda whole: whole[1:],
        lambda whole: b"C" + whole[1:],
        lambda whole: whole[:5] + b"L" + whole[6:],
        lambda whole: bytes(len(whole)),
        lambda whole: b"\xff" * len(whole),
        lambda whole: os.urandom(5000),
        lambda whole: whole[:-1] + bytes([cache_directory.SCHEMA - 1]),
        lambda whole: whole[:-88] + b"\xff" * 16 + whole[-72:],
    ],
)
def test_a_damaged_entry_is_dropped_and_made_again(
    directory: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = stored()
    path.write_bytes(damage(path.read_bytes()))
    assert artifact_store.load(KEY, ".so") is None
    assert not path.exists()
    assert stored() == path
    assert artifact_store.load(KEY, ".so") == artifact_store.Entry(str(path), b"code", "log")


def test_every_damaged_byte_is_noticed(directory: Path) -> None:
    path = stored()
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert artifact_store.load(KEY, ".so") is None, place


def test_an_entry_of_another_name_is_no_entry(directory: Path) -> None:
    other = artifact_store.key_of("other")
    path = stored()
    wrong = directory / other[0] / f"{other}.so"
    wrong.parent.mkdir(exist_ok=True)
    shutil.copy(path, wrong)
    shutil.copy(path, path.with_suffix(".cubin"))
    assert artifact_store.load(other, ".so") is None
    assert artifact_store.load(KEY, ".cubin") is None


def planted_link(path: Path) -> None:
    stored()
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


THINGS: dict[str, Callable[[Path], object]] = {
    "a symbolic link to an entry": planted_link,
    "a symbolic link to nothing": lambda path: path.symlink_to("nothing"),
    "a symbolic link to itself": lambda path: path.symlink_to(path),
    "a directory": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
    "a file without permissions": lambda path: (path.touch(), path.chmod(0)),
}


@pytest.mark.parametrize("plant", THINGS.values(), ids=THINGS)
def test_what_is_no_file_is_no_entry_and_gives_way(
    directory: Path, plant: Callable[[Path], object]
) -> None:
    path = directory / ENTRY
    path.parent.mkdir(parents=True)
    plant(path)
    assert artifact_store.load(KEY, ".so") is None
    assert stored() == path
    assert not path.is_symlink()
    assert artifact_store.load(KEY, ".so") == artifact_store.Entry(str(path), b"code", "log")


def test_a_full_directory_does_not_give_way(directory: Path) -> None:
    (directory / ENTRY / "of the user").mkdir(parents=True)
    assert is_kept_for_this_process(directory)
    assert (directory / ENTRY / "of the user").exists()


# ---- the disk ------------------------------------------------------------------------------

_CALLS = ("open", "fstat", "replace", "mkdir", "unlink", "scandir", "utime")


def failing(monkeypatch: pytest.MonkeyPatch, under: Path, turn: int, code: int) -> list[str]:
    """Let the call of that turn fail that is made of the system in a directory, all after it if
    the disk is full. What was called, is in the list."""
    called: list[str] = []

    def wrapped(name: str, real: Any) -> Any:
        def call(path: Any, *rest: Any, **named: Any) -> Any:
            place = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else str(path)
            if str(under) in place:
                called.append(name)
                if len(called) == turn:
                    raise OSError(code, os.strerror(code), place)
            return real(path, *rest, **named)

        return call

    for name in _CALLS:
        monkeypatch.setattr(os, name, wrapped(name, getattr(os, name)))
    return called


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.ESTALE, errno.ENOENT])
@pytest.mark.parametrize("is_new", [True, False])
def test_any_system_call_may_fail(
    directory: Path, monkeypatch: pytest.MonkeyPatch, code: int, is_new: bool
) -> None:
    """To make, store and load an entry goes on without it; later ones find what is right."""
    monkeypatch.setenv("PYCU2C_CACHE_SIZE", "16K")  # so that there is something to remove
    own, turn, calls = directory.parents[1] / "tmp", 0, 0
    monkeypatch.setenv("TMPDIR", str(own))
    while calls >= turn:
        turn += 1
        for folder in (directory, own):
            shutil.rmtree(folder, ignore_errors=True)
        own.mkdir()
        monkeypatch.setattr(cache_directory, "_PRIVATE_DIRECTORIES", {})
        assert cache_directory.locate().problem == ""
        for n in () if is_new else range(2):
            artifact_store.store(f"{KEY[0]}{n:063x}", ".so", bytes(1000))
        with monkeypatch.context() as patched:
            called = failing(patched, directory, turn, code)
            made = artifact_store.load_or_make(KEY, ".so", lambda: (b"code", "log"))
            again = artifact_store.load(KEY, ".so")
            calls = len(called)
        assert (made.data, made.log) == (b"code", "log")
        assert again is None or again.data == b"code"
        assert artifact_store.load_or_make(KEY, ".so", lambda: (b"code", "log")).data == b"code"
    assert calls > 8


def test_a_full_disk_falls_back(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def full(path: str, flags: int, *mode: int) -> int:
        handle = real(path, flags, *mode)
        if flags & os.O_CREAT and directory in Path(path).parents:
            os.close(handle)
            return real("/dev/full", os.O_WRONLY)
        return handle

    monkeypatch.setattr(os, "open", full)
    assert is_kept_for_this_process(directory)
    assert [p for p in directory.rglob("*") if p.is_file()] == []


def test_no_writable_disk() -> None:
    """The system itself refuses to write more than nothing to a file."""
    text = (
        "import resource\n"
        "from pycu2c.toolchain.cache import artifact_store as cache\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))\n"
        f"made = cache.load_or_make({KEY!r}, '.so', lambda: (b'code', 'log'))\n"
        "assert made == cache.Entry(None, b'code', 'log'), made\n"
        f"assert cache.load({KEY!r}, '.so') is None\n"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_removed_directory_is_created_again(directory: Path) -> None:
    path = stored()
    shutil.rmtree(directory.parent)
    assert artifact_store.load(KEY, ".so") is None
    assert stored() == path
    assert artifact_store.load(KEY, ".so") == artifact_store.Entry(str(path), b"code", "log")
    for folder in (directory.parent, directory, path.parent):
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("at", ["..", "."])
def test_a_file_where_the_directory_should_be(directory: Path, at: str) -> None:
    blocked = directory if at == "." else directory.parent
    blocked.parent.mkdir(exist_ok=True)
    blocked.write_text("of the user")
    assert is_kept_for_this_process(directory)
    assert "cannot be used" in eviction.usage().problem
    assert (eviction.usage().entries, eviction.clear()) == (0, (0, 0))
    assert blocked.read_text() == "of the user"


def test_a_file_where_a_folder_should_be(directory: Path) -> None:
    assert cache_directory.locate().problem == ""
    for name in (KEY[0], "new"):
        (directory / name).touch()
    assert is_kept_for_this_process(directory)


@pytest.mark.parametrize("home", ["", "/", "~"])
def test_no_home(monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.delenv("PYCU2C_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", home)
    assert is_kept_for_this_process(Path("/.cache"))
    assert eviction.usage().problem == "there is no home directory"


def test_leftover_files_are_deleted_whatever_the_clock_shows(directory: Path) -> None:
    stored()
    now = time.time()
    names = {"old": now - 4000, "of tomorrow": now + 90000, "being written": now - 60}
    for name, at in names.items():
        (directory / "new" / name).touch()
        os.utime(directory / "new" / name, (at, at))
    stored()
    assert [p.name for p in (directory / "new").iterdir()] == ["being written"]


def test_entries_from_the_future_are_evicted_first(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_SIZE", "64K")
    keys = [f"a{n:063x}" for n in range(5)]
    for key, years in zip(keys, (1, -1, -2, 0, 0)):
        path = artifact_store.store(key, ".so", bytes(1000))
        assert path is not None
        os.utime(path, (0, time.time() + years * 3e7))
    left = [n for n, key in enumerate(keys) if (directory / "a" / f"{key}.so").exists()]
    assert left == [1, 3, 4]


# ---- other users ---------------------------------------------------------------------------


def as_a_user(work: Callable[[], object]) -> None:
    """In a child that is not root; its exceptions are ours."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(ANOTHER_USER)
                os.setuid(ANOTHER_USER)
            work()
        except BaseException as error:
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        assert said.read() == ""
    os.waitpid(child, 0)


@pytest.fixture
def open_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Which another user can reach, who has a cache in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        monkeypatch.setenv("PYCU2C_CACHE_DIR", folder)
        monkeypatch.setenv("TMPDIR", "/tmp")
        yield path


def test_a_read_only_home(open_folder: Path) -> None:
    """What is there is used, though nothing is added: it may be part of an image."""
    stored()
    other = artifact_store.key_of("other")
    for path in (open_folder, *open_folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)

    def work() -> None:
        cache_directory._locate.cache_clear()
        result = artifact_store.load(KEY, ".so")
        assert result is not None
        assert result.data == b"code"
        assert "cannot be written" in eviction.usage().problem
        assert artifact_store.load_or_make(other, ".so", lambda: (b"new", "")).data == b"new"
        assert artifact_store.load(other, ".so") is not None
        cache_directory._remove_at_exit(cache_directory.private_directory(), os.getpid())

    as_a_user(work)
    for path in (open_folder, *open_folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)


def test_a_read_only_home_without_a_cache(open_folder: Path) -> None:
    open_folder.chmod(0o555)

    def work() -> None:
        cache_directory._locate.cache_clear()
        assert is_kept_for_this_process(open_folder)
        assert "cannot be used" in eviction.usage().problem
        cache_directory._remove_at_exit(cache_directory.private_directory(), os.getpid())

    as_a_user(work)
    open_folder.chmod(0o755)


def given_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a directory belong to somebody else."""
    if os.geteuid() == 0:
        os.chown(path, ANOTHER_USER, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: ANOTHER_USER)


@pytest.mark.parametrize("which", [".", "..", "../.."])
def test_a_directory_of_another_user_is_not_trusted(
    directory: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    directory.mkdir(parents=True, mode=0o755)
    given_away((directory / which).resolve(), monkeypatch)
    assert is_kept_for_this_process(directory)
    assert "belongs to another user" in eviction.usage().problem


def test_an_entry_of_another_user_is_not_trusted(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as where /tmp was emptied, and somebody has made our directory anew."""
    path = stored()
    given_away(path, monkeypatch)
    assert artifact_store.load(KEY, ".so") is None


@pytest.mark.parametrize(
    ("which", "mode", "trusted"),
    [
        (".", 0o777, False),
        (".", 0o770, False),
        (".", 0o1777, False),
        (".", 0o755, True),
        ("..", 0o777, False),
        ("..", 0o1777, True),  # as /tmp
        ("../..", 0o777, False),
        ("../..", 0o1777, True),
        ("..", 0o770, True),
    ],
)
def test_a_directory_open_to_others_is_not_trusted(
    directory: Path, which: str, mode: int, trusted: bool
) -> None:
    directory.mkdir(parents=True)
    (directory / which).chmod(mode)
    assert (eviction.usage().problem == "") is trusted
    if not trusted:
        assert is_kept_for_this_process(directory)
        assert "can be written by others" in eviction.usage().problem


def test_a_link_to_a_directory_open_to_others_is_not_trusted(
    directory: Path, tmp_path: Path
) -> None:
    (tmp_path / "open" / "cache").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    directory.parent.symlink_to(tmp_path / "open" / "cache")
    assert is_kept_for_this_process(directory)
    assert "can be written by others" in eviction.usage().problem


def test_users_that_a_namespace_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_inside in (True, False):
        monkeypatch.setattr(cache_directory, "_in_user_namespace", lambda inside=is_inside: inside)
        assert cache_directory.is_untrusted_owner(65534) is not is_inside
    assert cache_directory.is_untrusted_owner(ANOTHER_USER)
    assert not cache_directory.is_untrusted_owner(0)
    assert not cache_directory.is_untrusted_owner(os.geteuid())


# ---- names that are no text, and few open files ----------------------------------------------

PROGRAM = """
import sys
import numpy as np
from pycu2c import cuda, kernel

@kernel(backend=sys.argv[1])
def k(out):
    out[cuda.grid(1)] = 7

out = np.zeros(2)
k[1, 2](out)
k[1, 2](out)
print(out.tolist())
"""


def run_program(folder: Path, backend: str, limit: int = 0, **environment: str) -> str:
    """Return the output of the program, or the last line of its error."""
    program = folder / "program.py"
    if not program.exists():
        program.write_text(PROGRAM)
    command = f'{f"ulimit -n {limit};" if limit else ""} exec "$@"'
    ran = subprocess.run(
        ["sh", "-c", command, "-", sys.executable, program, backend],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=300,
    )
    return ran.stdout.decode() or ran.stderr.decode().splitlines()[-1]


@pytest.mark.parametrize("backend", ["cpu", "cpu-resumable"])
@pytest.mark.parametrize("which", ["PYCU2C_CACHE_DIR", "TMPDIR", "HOME", "program"])
def test_a_path_that_is_not_utf8(tmp_path: Path, which: str, backend: str) -> None:
    folder = tmp_path / os.fsdecode(b"b\xff\xfe")
    folder.mkdir()
    setting = {} if which == "program" else {which: str(folder)}
    where = folder if which == "program" else tmp_path
    for _ in range(2):  # from the cache, too
        assert run_program(where, backend, **setting) == "[7.0, 7.0]\n"
    for command in ("info", "clear"):
        ran = subprocess.run(
            [sys.executable, "-m", "pycu2c", "cache", command],
            env={**os.environ, **setting, "PYTHONIOENCODING": "utf-8:strict"},
            capture_output=True,
            timeout=60,
        )
        assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(driver.available(), reason="needs a machine without a GPU: it has open files")
@pytest.mark.parametrize("limit", [8, 11])
def test_few_open_files(tmp_path: Path, limit: int) -> None:
    """No compiler can run, and the error says why; kernels from the cache run."""
    failed = run_program(tmp_path, "cpu", limit)
    assert "ToolchainError" in failed
    assert "raise the limit with `ulimit -n 1024`" in failed
    assert run_program(tmp_path, "cpu") == run_program(tmp_path, "cpu", limit) == "[7.0, 7.0]\n"


COMPILER = """#!/bin/sh
[ "$1" = --version ] && exec gcc --version
echo text > "${TMPDIR:-/tmp}/of-the-compiler.s"
touch "$STARTED"
sleep 60
"""


def test_an_interrupted_compiler_leaves_no_files(tmp_path: Path, sigint_not_ignored: None) -> None:
    compiler, scratch, started = tmp_path / "cc", tmp_path / "scratch", tmp_path / "started"
    compiler.write_text(COMPILER)
    compiler.chmod(0o700)
    scratch.mkdir()
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "TMPDIR": str(scratch), "STARTED": str(started)}
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py"), "cpu"],
        env={**environment, "PYCU2C_CC": str(compiler)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    os.killpg(process.pid, signal.SIGKILL)  # the compiler
    assert list(scratch.iterdir()) == []


# ---- loading -------------------------------------------------------------------------------

TWICE = "int twice(int x) { return 2 * x; }\n"


def test_an_entry_that_is_evicted_before_it_is_loaded(directory: Path) -> None:
    binary = cc.compile(TWICE, "twice")
    assert eviction.clear()[0] >= 1
    assert cpu_kernel.symbol(cpu_kernel.load(binary), "twice", "int(*)(int)")(4) == 8


def test_a_loaded_library_survives_its_entry(directory: Path) -> None:
    library = cpu_kernel.load(cc.compile(TWICE, "twice"))
    eviction.clear()
    assert cpu_kernel.symbol(library, "twice", "int(*)(int)")(4) == 8
    again = cpu_kernel.load(cc.compile(TWICE, "twice"))
    assert cpu_kernel.symbol(again, "twice", "int(*)(int)")(5) == 10


@pytest.mark.parametrize("system", ["nfs4 server:/home rw", "fuse.sshfs x rw", "ext4 /dev/sda rw"])
def test_code_on_a_network_file_system_is_copied(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    """Another machine may remove the entry, also from the memory of this process."""
    binary = cc.compile(TWICE, "twice")
    assert binary.path is not None
    device = os.stat(binary.path).st_dev
    mounts = tmp_path / "mountinfo"
    numbers = f"{os.major(device)}:{os.minor(device)}"
    mounts.write_text(
        f"22 27 0:999999 / /proc rw - proc proc rw\n25 1 {numbers} / / rw - {system}\n"
    )
    monkeypatch.setattr(cache_directory, "_MOUNTS", str(mounts))
    cache_directory._is_remote_device.cache_clear()
    library = cpu_kernel.load(binary)
    cache_directory._is_remote_device.cache_clear()
    mapped = [
        line for line in Path("/proc/self/maps").read_text().splitlines() if binary.path in line
    ]
    assert bool(mapped) == ("ext4" in system)
    assert cpu_kernel.symbol(library, "twice", "int(*)(int)")(4) == 8


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_disk_that_runs_no_code(
    directory: Path, monkeypatch: pytest.MonkeyPatch, everywhere: bool
) -> None:
    backend, ffi = cpu_kernel.cffi_backend()

    class NoExec:
        @staticmethod
        def load_library(path: str, flags: int) -> Any:
            if everywhere or str(directory) in path:
                raise OSError(f"{path}: failed to map segment from shared object")
            return backend.load_library(path, flags)

    binary = cc.compile(TWICE, "twice")
    monkeypatch.setattr(cpu_kernel, "cffi_backend", lambda: (NoExec, ffi))
    if everywhere:
        with pytest.raises(ToolchainError, match=r"failed to map(.|\n)*Set TMPDIR(.|\n)*noexec"):
            cpu_kernel.load(binary)
        return
    assert cpu_kernel.symbol(cpu_kernel.load(binary), "twice", "int(*)(int)")(4) == 8


def test_a_process_killed_while_it_writes_leaves_no_entry(directory: Path) -> None:
    code = (
        "import os, signal\n"
        "from pycu2c.toolchain.cache import artifact_store as cache\n"
        "cache.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"cache.store({KEY!r}, '.so', b'half')"
    )
    ran = subprocess.run([sys.executable, "-c", code], timeout=60)
    assert ran.returncode == -signal.SIGKILL
    assert artifact_store.load(KEY, ".so") is None
    (left,) = (directory / "new").iterdir()
    os.utime(left, (0, 0))  # an old one goes when the next entry comes
    path = stored()
    assert [p for p in directory.rglob("*") if p.is_file()] == [path]

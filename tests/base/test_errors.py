"""All errors of the package have one base class; invalid environment variables are reported."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import pycu2c
from pycu2c import EnvironmentVariableError, kernel
from pycu2c.base.backends import default_backend
from pycu2c.cli.main import main
from pycu2c.kernels import checked_memory
from pycu2c.runtime.cpu import thread_count
from pycu2c.runtime.cuda import memory_pool
from pycu2c.toolchain.cache import cache_directory, eviction
from pycu2c.transforms.pass_contract import run_passes

FOLDER = Path(pycu2c.__file__).parent
_FRAMEWORKS = (
    "pycu2c.torch",
    "pycu2c.jax",
    "pycu2c.dask",
    "pycu2c.devices.dask_serialization",
    "pycu2c.aot.python_package",
)


def fill(a):
    a[0] = 1


def launched(**options: object) -> None:
    kernel(**options)(fill)[1, 1](np.zeros(1))


def launched_by_record() -> None:
    """Launch a kernel that looks for a record of its tuning."""
    kernel(backend="cpu", tune={"block": [32, 64]}, grid=lambda c: 1)(fill)(np.zeros(1))


INVALID: dict[str, tuple[Callable[[], object], tuple[str, ...], str]] = {
    "PYCU2C_BACKEND": (default_backend, ("gpu", "CPU"), "one of auto, cuda, cpu, cpu-resumable, "),
    "PYCU2C_CACHE": (cache_directory.locate, ("maybe",), "0 or 1"),
    "PYCU2C_CACHE_SIZE": (eviction.limit, ("-1", "much", "1X"), "a size such as 500M or 2G"),
    "PYCU2C_CHECK": (lambda: kernel(fill), ("foo", "memory,foo", "yes"), "0, 1, or some of mem"),
    "PYCU2C_CHECK_MEMORY": (checked_memory.memory_limit, ("1 GiB", "-1", "²"), "a number of bytes"),
    "PYCU2C_CHECK_TIMEOUT": (checked_memory.wait_limit, ("soon", "0"), "a number of seconds, more"),
    "PYCU2C_KEEP_MEMORY": (memory_pool.BlockCache, ("no",), "0 or 1"),
    "PYCU2C_LINEINFO": (lambda: kernel(fill), ("yes",), "0 or 1"),
    "PYCU2C_NVTX": (lambda: launched(backend="cpu"), ("yes",), "0 or 1"),
    "PYCU2C_THREADS": (
        thread_count.thread_count,
        ("abc", "0", "-1", "2.5", "²"),
        "a number of threads, 1 or more",
    ),
    "PYCU2C_TUNE": (launched_by_record, ("yes",), "0 or 1"),
    "PYCU2C_VERIFY": (lambda: run_passes([], None, None), ("yes",), "0 or 1"),  # type: ignore[arg-type]
}
COMMANDS = {"PATH", "PYCU2C_CC", "PYCU2C_CXX"}  # that cannot be run: tests/toolchain
PATHS = {"PYCU2C_CACHE_DIR", "PYCU2C_TRACE"}  # any text is valid


def variables(pattern: str) -> set[str]:
    """The environment variables that occur in such text of the package."""
    texts = (path.read_text() for path in FOLDER.rglob("*.py"))
    return {name for text in texts for name in re.findall(pattern, text)}


def test_all_variables_are_tried() -> None:
    checked = variables(r'environment_(?:setting|switch)\(\s*"(\w+)"')
    assert checked == set(INVALID)
    read = variables(r'environ(?:ment)?(?:\.get\(|\[)"(PYCU2C_\w+)"')
    assert read <= COMMANDS | PATHS | checked


@pytest.mark.parametrize(
    ("name", "value"), [(name, v) for name, (_, values, _) in INVALID.items() for v in values]
)
def test_an_invalid_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    read, _, allowed = INVALID[name]
    monkeypatch.setenv(name, value)
    with pytest.raises(EnvironmentVariableError) as caught:
        read()
    message = f"the environment variable {name} is {value!r}: set it to {allowed}"
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith(", or unset it")


@pytest.mark.parametrize(
    "name", ["PYCU2C_BACKEND", "PYCU2C_CACHE_SIZE", "PYCU2C_CHECK", "PYCU2C_THREADS"]
)
def test_doctor_shows_an_invalid_variable(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "some")
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 1
    assert f"not ready: the environment variable {name} is 'some'" in result.output


def test_a_command_shows_an_invalid_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_SIZE", "much")
    result = CliRunner().invoke(main, ["cache", "info"])
    assert result.exit_code == 1
    assert result.output.startswith("Error: the environment variable PYCU2C_CACHE_SIZE is 'much'")


# ---- classes -----------------------------------------------------------------------------------


def error_classes() -> Iterator[type[BaseException]]:
    """All exceptions that modules of the package define."""
    for found in pkgutil.walk_packages([str(FOLDER)], "pycu2c."):
        if not found.name.startswith(_FRAMEWORKS) and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    pending = [pycu2c.Error]
    while pending:
        current = pending.pop()
        pending += current.__subclasses__()
        yield current


def test_errors_are_public() -> None:
    classes = [c for c in error_classes() if not c.__module__.startswith("pycu2c.compat.")]
    assert len(classes) > 20
    by_name = {c.__name__: c for c in classes if not issubclass(c, pycu2c.CompileError)}
    page = (FOLDER.parent.parent / "docs/reference/api/exceptions.md").read_text()
    for name, cls in by_name.items():
        assert f".. autoexception:: {name}\n" in page
        assert getattr(pycu2c, name, None) is cls
        assert name in pycu2c.__all__


def test_public_errors_have_one_base_class() -> None:
    public = {name: getattr(pycu2c, name) for name in pycu2c.__all__}
    errors = {
        name: value
        for name, value in public.items()
        if isinstance(value, type)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
    }
    assert {name for name, cls in errors.items() if not issubclass(cls, pycu2c.Error)} == set()

"""Kernels of files that change while the program runs, by an edit or a reload."""

# mypy: ignore-errors

from __future__ import annotations

import importlib
import itertools
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from pycu2c import CompileError, device, kernel

COUNT = itertools.count()
TEXT = """
from pycu2c import cuda, device, kernel

@device
def step(x):
    return x + {n}

def undecorated(x):
    return x * {n}

@kernel(backend="{backend}")
def k(out):
    out[cuda.grid(1)] = step({n}) * 10

def undecorated_kernel(out):
    out[cuda.grid(1)] = {n}

chosen = lambda x: {n}
"""

Write = Callable[[int | str], ModuleType]


@pytest.fixture
def write(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write a module, which is imported or reloaded if ``reloads``."""
    name = f"reloaded_{next(COUNT)}"
    path = tmp_path / f"{name}.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    times = itertools.count(path.parent.stat().st_mtime_ns, 10**9)

    def written(n: int, reloads: bool = True, head: str = "") -> ModuleType:
        path.write_text(head + TEXT.format(n=n, backend=target))
        os.utime(path, ns=(next(times),) * 2)
        importlib.invalidate_caches()
        if name not in sys.modules:
            return importlib.import_module(name)
        return importlib.reload(sys.modules[name]) if reloads else sys.modules[name]

    yield written
    sys.modules.pop(name, None)
    linecache.checkcache()


def value(k) -> int:
    out = np.zeros(1, np.int64)
    k[1, 1](out)
    return int(out[0])


def test_a_reloaded_module_has_the_kernels_of_its_new_text(write: Write) -> None:
    for n in (3, 4, 5, 3):
        assert value(write(n).k) == 20 * n
    assert value(write(4, head="# moved by a line\n").k) == 80


def test_an_old_kernel_keeps_its_text(write: Write) -> None:
    old = write(3).k
    assert value(write(4).k) == 80
    assert old.inspect("cuda", "int64[:]") != write(4).k.inspect("cuda", "int64[:]")


def test_functions_of_the_old_text_after_an_edit(write: Write, target: str) -> None:
    """They are decorated later, when the file has another text."""
    module = write(3)
    write(4, reloads=False)
    assert value(kernel(backend=target)(module.undecorated_kernel)) == 3
    late = device(module.undecorated)
    assert "x * 3" in "".join(late.__pycu2c_device__.lines)
    assert "x: 3" in "".join(device(module.chosen).__pycu2c_device__.lines)
    new = importlib.reload(module)
    assert value(kernel(backend=target)(new.undecorated_kernel)) == 4


def test_a_text_that_python_has_not_kept(write: Write) -> None:
    module = write(3)
    linecache.clearcache()
    from pycu2c.base import source

    source._TEXTS.clear()
    write(4, reloads=False)
    for function in (module.undecorated_kernel, module.chosen):
        with pytest.raises(CompileError, match=r"import it again|write it as"):
            kernel(function)

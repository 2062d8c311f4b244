"""Kernels are pickled by name where another process can import them, else by value."""

from __future__ import annotations

import copy
import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, kernel
from pycu2c.cuda import grid, vectorize
from pycu2c.cupy import jit
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.names import cuda_namespace
from support.notebooks import RUNNERS

LEAST = 2


@pytest.fixture(params=["pickle", "cloudpickle"])
def pickler(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param)


@device
def doubled(x):
    return 2 * x


@kernel(backend="cpu")
def double(a):
    i = cuda.grid(1)
    if i < len(a):
        a[i] = doubled(a[i])


class Steps:
    @staticmethod
    @kernel
    def first(a):
        a[0] = 1


@pytest.mark.parametrize("known", [double, doubled, Steps.first])
def test_by_name(pickler: Any, known: Any) -> None:
    pickled = pickler.dumps(known)
    assert pickle.loads(pickled) is known
    assert len(pickled) < 100
    assert copy.copy(known) is known
    assert copy.deepcopy({"k": known}) == {"k": known}


def test_after_launches() -> None:
    a = np.ones(3)
    for _ in range(5):  # by the dispatch table in the end
        double[1, 32](a)
    assert pickle.loads(pickle.dumps(double)) is double


def test_with_its_grid() -> None:
    configured = double[4, (16, 2)]
    assert repr(configured) == "<kernel double, grid (4, 1, 1), block (16, 2, 1)>"
    assert repr(double[1, 32, 0]) == "<kernel double, grid (1, 1, 1), block (32, 1, 1), stream 0>"


def test_names_of_cuda() -> None:
    namespaces = [cuda_namespace.CUDA]
    for namespace in namespaces:
        members = cuda_namespace.members(namespace).values()
        namespaces += [m for m in members if isinstance(m, cuda_namespace.Namespace)]
        intrinsics = [m for m in members if isinstance(m, Intrinsic)]
        for member in (*intrinsics, namespace):
            pickled = pickle.dumps(member)
            assert pickle.loads(pickled) is member
            assert len(pickled) < 200, member
    assert len(namespaces) > 10


# ---- by value ----------------------------------------------------------------------------------


def closure(added: int) -> Any:
    table = np.arange(3.0)

    @device("int64(int64)")
    def factorial(n):
        return n * factorial(n - 1) if n > 1 else 1

    @kernel(grid=2, block=32, fmad=False)
    def inner(a: float64[::1]):  # noqa: F821
        i = grid(1)
        if i < len(a):
            a[i] = doubled(a[i]) + table[LEAST] + factorial(3) + added

    return inner


def copied(value: Any, pickler: Any = pickle) -> Any:
    """Return an object that is pickled by value, as another process gets it."""
    found = pickle.loads(pickler.dumps(value))
    assert found is not value
    return found


def test_a_closure(pickler: Any) -> None:
    inner = closure(10)
    assert copy.copy(inner) is inner
    assert copy.deepcopy([inner])[0] is inner
    other = copied(inner, pickler)
    assert other is copied(inner, pickler)  # compiled once for all tasks of a worker
    assert other is not copied(closure(11), pickler)
    assert (other.grid, other.block, other.options) == (inner.grid, inner.block, inner.options)
    a = np.arange(4.0)
    other(a)
    assert a.tolist() == [18, 20, 22, 24]
    assert copied(other, pickler).name == "inner"


def test_what_a_pickle_contains() -> None:
    """It has the values that the kernel reads, and no others of the module."""
    assert len(pickle.dumps(closure(10))) < 2000


def lambdas() -> Any:
    shift = 3
    positive, negative = device(lambda x: x + shift), device(lambda x: x - shift)

    @kernel(backend="cpu")
    def both(a):
        a[0], a[1] = positive(a[0]), negative(a[1])

    return both


def c_function() -> Any:
    @cuda.c_function(
        """
        return a * a;
        """,
        signature="float64(float64)",
    )
    def square(a): ...

    @kernel(backend="cpu")
    def squares(a):
        a[0] = square(a[0])

    return squares


def tuned(file: Path) -> Any:
    width = 32

    @kernel(
        backend="cpu",
        tune={"block": [32, 64]},
        block=width,
        grid=lambda c: -(-c.n // width),
        restrictions=lambda c: c.block < 64,
        tune_file=file,
    )
    def count(a, n):
        i = cuda.grid(1)
        if i < n:
            a[i] = i

    return count


def of_numba() -> Any:
    @cuda.jit(device=True)
    def positive(x):
        x + 1
        return x if x > 0 else -x

    @cuda.jit
    def of_numba(a):
        a[0] = positive(a[0])

    return of_numba[1, 1], of_numba


def of_cupy() -> Any:
    @jit.rawkernel()
    def of_cupy(a):
        for _ in jit.range(3, unroll=True):
            a[0] -= 1

    return of_cupy


def results(launch: Any, *arguments: Any) -> list[float]:
    a = np.array([-4.0, 5.0])
    launch(a, *arguments)
    return list(a)


def test_lambdas() -> None:
    assert results(copied(lambdas())[1, 1]) == results(lambdas()[1, 1]) == [-1, 2]


def test_c_functions() -> None:
    assert results(copied(c_function())[1, 1]) == [16, 5]


def test_tuned_kernels(tmp_path: Path) -> None:
    other = copied(tuned(tmp_path / "tuning.json"))
    assert results(other, 2) == [0, 1]
    assert other.tune([np.zeros(2), 2], seconds=1).best["block"] == 32


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
def test_kernels_of_other_packages() -> None:
    assert results(copied(of_numba()[1])[1, 1]) == [4, 5]
    a = np.array([4.0])
    copied(of_cupy())(1, 1, (a,))
    assert a == 1


def test_ufuncs() -> None:
    @vectorize(["float64(float64, float64)"], target="cpu")
    def mean(a, b):
        return (a + b) / LEAST

    assert copied(mean)(np.ones(2), np.zeros(2)).tolist() == [0.5, 0.5]


def test_modules_that_cloudpickle_pickles_by_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    module = imported(tmp_path, monkeypatch)
    assert cloudpickle.loads(cloudpickle.dumps(module.scale)) is module.scale
    cloudpickle.register_pickle_by_value(module)
    try:
        other = copied(module.scale, cloudpickle)
    finally:
        cloudpickle.unregister_pickle_by_value(module)
    assert results(other[1, 2]) == [-12, 15]


MODULE = """\
from pycu2c import cuda, device, kernel

FACTOR = 3

@device
def scaled(x):
    return x * FACTOR

@kernel(backend="cpu")
def scale(a):
    i = cuda.grid(1)
    if i < len(a):
        a[i] = scaled(a[i])
"""


def imported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    folder.joinpath("scaling.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "scaling", raising=False)
    return importlib.import_module("scaling")


# ---- in other processes --------------------------------------------------------------------

SENDER = f"""\
{MODULE}

@kernel(backend="cpu")
def wrong(a):
    a[0] = scaled(a)

if __name__ == "__main__":
    import os, sys, pickle, numpy as np
    from pycu2c.kernels.cache_key import fingerprint
    from pycu2c.types import float64
    a = np.arange(3.0)
    scale[1, 4](a)
    text = fingerprint(scale.source, scale.launcher.latest)
    os.remove(__file__)
    sys.stdout.buffer.write(pickle.dumps((scale, wrong, scale.launcher.latest, text)))
"""
RECEIVER = """\
import pickle, sys, numpy as np
from pycu2c.kernels.cache_key import fingerprint
scale, wrong, signature, text = pickle.load(sys.stdin.buffer)
assert fingerprint(scale.source, signature) == text
a = np.arange(3.0)
scale[1, 4](a)
assert a.tolist() == [0, 3, 6]
assert "pycu2c.frontend.function_builder" not in sys.modules, "compiled again"
try:
    wrong[1, 1](a)
except Exception as error:
    print(error)
"""


def run(words: list[str], folder: Path, given: bytes = b"") -> bytes:
    environment = {**os.environ, "PYCU2C_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, *words], input=given, env=environment, capture_output=True, cwd=folder
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_a_script_whose_file_the_other_process_does_not_have(tmp_path: Path) -> None:
    """It finds the compiled code in the cache, and errors show lines of the script."""
    script = tmp_path / "script.py"
    script.write_text(SENDER)
    sent = run([str(script)], tmp_path)
    assert not script.exists()
    error = run(["-c", RECEIVER], tmp_path, sent).decode()
    assert f"--> {script}:7:1" in error
    assert "   7 |     return x * FACTOR\n     |            ^" in error
    assert "  18 |     a[0] = scaled(a)\n     |            ^^^^^^^^^ called here" in error


@pytest.mark.slow
@pytest.mark.parametrize("run_cells", RUNNERS)
def test_a_kernel_of_a_notebook(run_cells: Any, tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    file = tmp_path / "scale.pickle"
    define = MODULE.replace("FACTOR = 3", "FACTOR = 4")
    dump = f"import cloudpickle; cloudpickle.dump(lambda: scale, open({str(file)!r}, 'wb'))"
    run_cells(define, dump)
    code = (
        "import pickle, sys, numpy as np; a = np.ones(2)\n"
        "pickle.load(sys.stdin.buffer)()[1, 2](a); print(a)"
    )
    assert run(["-c", code], tmp_path, file.read_bytes()) == b"[4. 4.]\n"


def test_another_version_of_python() -> None:
    pickled = pickle.dumps(closure(10))
    tag = sys.implementation.cache_tag.encode()
    other = tag[:-1] + bytes([tag[-1] ^ 1])
    with pytest.raises(pickle.UnpicklingError, match=r"inner was pickled by value in .*use one"):
        pickle.loads(pickled.replace(tag, other))

"""The ``cuda`` namespace, and numba's objects that mean the same."""

from __future__ import annotations

import ast
import math
import operator
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, kernel
from pycu2c.base.dtypes import VECTORS
from pycu2c.base.types import NONE, float32, int32
from pycu2c.ops.intrinsics.registry import REGISTRY, bound_to
from pycu2c.ops.names.cuda_namespace import CUDA, Namespace, find, members
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.names.host_names import HOST_NAMES, MODULES
from pycu2c.ops.names.numba_names import numba_name, numba_type


def test_the_module_has_the_intrinsics_themselves() -> None:
    assert cuda.grid is REGISTRY["cuda.grid"]
    assert cuda.atomic.add is REGISTRY["cuda.atomic.add"]
    assert cuda.threadIdx.x is REGISTRY["cuda.threadIdx.x"]


def test_the_stub_declares_every_name() -> None:
    assert set(cuda.__all__) == set(members(CUDA)) | set(HOST_NAMES) | set(MODULES)
    tree = ast.parse(Path(cuda.__file__).with_suffix(".pyi").read_text())
    raised = {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}
    raised |= {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    raised |= {
        a.asname for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname
    } - {"np"}
    raised |= set(VECTORS)  # it imports all of them
    assert set(cuda.__all__) == {name for name in raised if not name.startswith("_")}


def test_calling_an_intrinsic_outside_of_a_kernel_raises() -> None:
    with pytest.raises(RuntimeError, match="inside a kernel only"):
        cuda.grid(1)


def test_a_missing_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"cuda\.atomic has no ad$"):
        _ = CUDA.atomic.ad  # type: ignore[union-attr]
    assert find("grid.x") is None
    assert find("atomic") is cuda.atomic
    assert dir(cuda.threadIdx) == ["x", "y", "z"]


def test_missing_names_have_replacements() -> None:
    @kernel
    def k(x):  # type: ignore[no-untyped-def]
        x[0] = cuda.vsetgtu2(x[0], 1)  # type: ignore[attr-defined]

    with pytest.raises(CompileError, match=r"c_function\('return __vsetgtu2\(x, y\);'\)"):
        k.inspect("cuda", "uint32[:]")
    with pytest.raises(AttributeError, match=r"c_function\('return __vadd4\(x, y\);'\)"):
        _ = cuda.vadd4  # type: ignore[attr-defined]


def stub(home: str, path: str) -> Any:
    return type(path.rpartition(".")[2], (), {"__module__": home, "__qualname__": path})


@pytest.mark.parametrize(
    ("home", "path", "ours"),
    [
        ("numba.cuda.stubs", "threadIdx", CUDA.threadIdx),
        ("numba.cuda.stubs", "atomic.add", cuda.atomic.add),
        ("numba.cuda.intrinsics", "grid", cuda.grid),
        ("numba.cuda.libdevice", "popc", CUDA.libdevice.popc),  # int32's, not cuda.popc
        ("numba.cuda.stubs", "fp16.hsin", CUDA.fp16.hsin),
        ("numba.cuda.cg", "this_grid", cuda.cg.this_grid),
        ("numba.cuda.stubs", "nonsense", None),
        ("mine", "grid", None),
    ],
)
def test_stubs_are_recognised_by_their_module(home: str, path: str, ours: object) -> None:
    assert numba_name(stub(home, path)) is ours


def test_numbas_module_is_the_namespace() -> None:
    assert numba_name(ModuleType("numba.cuda")) is CUDA
    assert numba_name(ModuleType("numba")) is None
    assert numba_name(3) is None


def test_numba_itself() -> None:
    numba, theirs = pytest.importorskip("numba"), pytest.importorskip("numba.cuda")
    assert numba_name(theirs) is CUDA
    for path in ("grid", "syncthreads", "shared.array", "local.array", "blockDim", "float4"):
        assert numba_name(operator.attrgetter(path)(theirs)) == find(path)
    assert numba_type(numba.float32) == float32
    assert numba_type(numba.int32[:, ::1]) == int32[:, ::1]
    assert numba_type(numba.float32[:]) == float32[:]
    assert numba_type(numba.void) == NONE


def test_types_are_recognised_by_their_attributes() -> None:
    home = {"__module__": "numba.core.types"}
    scalar = type("Float", (SimpleNamespace,), home)(name="float32")
    array = type("Array", (SimpleNamespace,), home)(dtype=scalar, ndim=2, layout="F")
    assert numba_type(scalar) == float32
    assert numba_type(array) == float32[:, :]
    assert numba_type(np.float32) is None


@pytest.mark.parametrize("name", [float32, np.float32, np.dtype("float32"), "float32"])
def test_ways_to_name_a_dtype(name: object) -> None:
    assert scalar_named(name) == float32


@pytest.mark.parametrize("name", ["float33", np.dtype(">f4"), np.datetime64, 3, None])
def test_names_of_no_dtype(name: object) -> None:
    assert scalar_named(name) is None


def test_python_and_numpy_functions_name_one_intrinsic() -> None:
    assert bound_to(np.arcsin) is REGISTRY["math.asin"]
    assert bound_to(np.floor) is REGISTRY["numpy.floor"]
    assert bound_to(np.floor) is not bound_to(math.floor)


def test_names_are_imported_from_modules() -> None:
    from pycu2c.cuda.cg import this_grid
    from pycu2c.cuda.libdevice import sinf

    assert this_grid is REGISTRY["cuda.cg.this_grid"]
    assert sinf is REGISTRY["cuda.libdevice.sinf"]


AT_ONCE = """
import sys, threading
sys.setswitchinterval(1e-6)
from operator import attrgetter
from pycu2c.ops.names.cuda_namespace import CUDA
from pycu2c.ops.intrinsics.registry import REGISTRY

names = ["atomic.add", "atomic.max", "shfl_sync", "popc", "cg.this_grid", "grid", "ldg", "fma"]
looks = [lambda n=n: attrgetter(n)(CUDA) for n in names]
looks += [lambda n=n: REGISTRY[n] for n in ("math.sqrt", "cuda.syncwarp", "numpy.minimum")]
wrong, start = [], threading.Barrier(len(looks))

def look(at):
    start.wait()
    try:
        at()
    except Exception as error:
        wrong.append(repr(error))

threads = [threading.Thread(target=look, args=(at,)) for at in looks]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(wrong)
"""


def test_threads_look_for_names_at_once() -> None:
    """In a new process, in which the modules of intrinsics are not imported yet."""
    for _ in range(5):
        ran = subprocess.run((sys.executable, "-c", AT_ONCE), capture_output=True, text=True)
        assert ran.stdout == "[]\n", ran.stdout + ran.stderr


HALF_IMPORTED = """
import importlib, sys, threading, time
from pycu2c.ops.intrinsics import registry
from pycu2c.ops.names.cuda_namespace import CUDA

module, first, path = sys.argv[1:]

class Slow(type(registry.REGISTRY)):
    def __setitem__(self, name, row):
        super().__setitem__(name, row)
        if name.startswith(first):
            begun.set()
            time.sleep(0.01)

begun = threading.Event()
registry.REGISTRY.__class__ = Slow
threading.Thread(target=importlib.import_module, args=("pycu2c.ops.intrinsics." + module,)).start()
assert begun.wait(60), "the module declares nothing of that name"
found = CUDA
for name in path.split("."):
    found = getattr(found, name)
print(found.__name__)
"""


@pytest.mark.parametrize(
    ("module", "first", "path"),
    [
        ("memory.atomic", "cuda.atomic.add", "atomic.cas"),
        ("threads.coordinates", "cuda.grid.x", "grid"),  # declared after its parts
        ("threads.coordinates", "cuda.threadIdx.x", "threadIdx.z"),
        ("threads.cooperative_groups", "cuda.cg.", "cg.tiled_partition"),
        ("floats.libdevice", "cuda.libdevice.", "libdevice.half2float"),
    ],
)
def test_names_of_a_module_that_another_thread_imports(module: str, first: str, path: str) -> None:
    command = (sys.executable, "-c", HALF_IMPORTED, module, first, path)
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.stdout == f"{path.rpartition('.')[2]}\n", ran.stderr


@pytest.mark.slow
def test_each_namespace_has_all_its_intrinsics() -> None:
    """Whatever was imported before: all rows are imported here."""
    spaces = {n: sorted(dir(m)) for n, m in members(CUDA).items() if isinstance(m, Namespace)}
    code = (
        "import sys; from pycu2c.ops.names.cuda_namespace import CUDA\n"
        "print(sorted(dir(getattr(CUDA, sys.argv[1]))))"
    )
    for name, inside in spaces.items():
        ran = subprocess.run((sys.executable, "-c", code, name), capture_output=True, text=True)
        assert ran.stdout == f"{inside}\n", ran.stderr

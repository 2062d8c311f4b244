"""``pycu2c migrate``: the programs that it writes, and that it changes nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pycu2c.cli.main import main
from pycu2c.compat.migrate.migrate_file import migrate_file
from pycu2c.compat.migrate.name_map import pycu2c_import_path, pycu2c_path
from support.paths import DATA

PROGRAMS = sorted((DATA / "numba_programs").glob("*.py"))


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["migrate", *map(str, words)])


def rewritten(text: str, folder: Path) -> str:
    path = folder / "program.py"
    path.write_text(textwrap.dedent(text))
    return migrate_file(path).new


CASES = {
    "names": (
        "from numba import cuda, float32  # both",
        "from pycu2c import cuda, float32  # both",
    ),
    "spaces": ("from  numba . cuda  import  jit", "from  pycu2c.cuda  import  jit"),
    "another name": ("from numba import cuda as gpu", "from pycu2c import cuda as gpu"),
    "brackets": (
        "from numba import (  # ours\n    cuda,\n    int32,  # indices\n)",
        "from pycu2c import (  # ours\n    cuda,\n    int32,  # indices\n)",
    ),
    "host": (
        "from numba import cuda, njit, types",
        "from numba import njit\nfrom pycu2c import cuda, types",
    ),
    "host first": (
        "from numba import njit, cuda, prange, types",
        "from numba import njit, prange\nfrom pycu2c import cuda, types",
    ),
    "host in brackets": (
        "from numba import (\n    cuda,\n    njit,  # host\n    f4, f8,\n    int32,  # index\n)\nx",
        "from numba import njit\nfrom pycu2c import cuda, f4, f8, int32\nx",
    ),
    "in a line": (
        "if 1: from numba import cuda, njit\n",
        "if 1: from numba import njit; from pycu2c import cuda\n",
    ),
    "inside": (
        "try:\n    from numba import cuda, njit\nexcept ImportError:\n    cuda = None",
        "try:\n    from numba import njit\n    from pycu2c import cuda\n"
        "except ImportError:\n    cuda = None",
    ),
    "module": ("import numba\nnumba.cuda.jit", "import pycu2c\npycu2c.cuda.jit"),
    "module of a module": (
        "import os, numba.cuda\nk = numba.cuda.jit(numba . float32)",
        "import os, pycu2c.cuda\nk = pycu2c.cuda.jit(pycu2c . float32)",
    ),
    "alias": ("import numba as nb\nnb.cuda.jit(nb.f4)", "import pycu2c as nb\nnb.cuda.jit(nb.f4)"),
    "alias of cuda": ("import numba.cuda as c\nc.jit", "import pycu2c.cuda as c\nc.jit"),
    "mixed": (
        "import numba as nb\n@nb.njit\ndef f(): nb.cuda.grid(1)",
        "import numba as nb\nimport pycu2c\n@nb.njit\ndef f(): pycu2c.cuda.grid(1)",
    ),
    "mixed module": (
        "import numba.cuda\nnumba.njit\nnumba.cuda.jit",
        "import numba\nimport pycu2c\nnumba.njit\npycu2c.cuda.jit",
    ),
    "mixed in a line": (
        "import numba; x = 1\nnumba.cuda.jit(numba.typed.List)",
        "import numba; import pycu2c; x = 1\npycu2c.cuda.jit(numba.typed.List)",
    ),
    "moved modules": (
        "from numba.cuda.compiler import compile_ptx\nfrom numba.cuda.types import float32 as f\n"
        "from numba.cuda.core.errors import NumbaPerformanceWarning\nfrom numba.cuda import types",
        "from pycu2c.cuda import compile_ptx\nfrom pycu2c.types import float32 as f\n"
        "from pycu2c.core.errors import NumbaPerformanceWarning\nfrom pycu2c.cuda import types",
    ),
    "several modules": (
        "from numba.cuda import jit, types\nfrom numba.cuda.random import init_xoroshiro128p_state",
        "from pycu2c.cuda import jit, types\n"
        "from pycu2c.cuda.random import init_xoroshiro128p_state",
    ),
    "ufuncs": (
        "from numba import vectorize, njit\n@vectorize(['f4(f4)'], target='cuda')\ndef f(x): ...",
        "from numba import njit\nfrom pycu2c import vectorize\n"
        "@vectorize(['f4(f4)'], target='cuda')\ndef f(x): ...",
    ),
    "star": ("from numba.cuda import *", "from pycu2c.cuda import *"),
    "types of host functions": (
        "from numba import cuda, float64, njit, int32\n@njit(float64(float64))\ndef f(x): ...",
        "from numba import float64, njit\nfrom pycu2c import cuda, int32\n"
        "@njit(float64(float64))\ndef f(x): ...",
    ),
    "numba-cuda-mlir": (
        "from numba_cuda_mlir import cuda, types\nfrom numba_cuda_mlir.cuda import jit\n"
        "from numba_cuda_mlir.numba_cuda.types import float32\nimport numba_cuda_mlir as m\n"
        "import numba_cuda_mlir.cuda\nnumba_cuda_mlir.cuda.jit(m.types.f4, m.cuda.grid)",
        "from pycu2c import cuda\nfrom pycu2c.cuda import types\nfrom pycu2c.cuda import jit\n"
        "from pycu2c.types import float32\nimport pycu2c as m\n"
        "import pycu2c.cuda\npycu2c.cuda.jit(m.cuda.types.f4, m.cuda.grid)",
    ),
    "half precision": (
        "from numba.cuda.bf16 import bfloat16, hadd\nfrom numba.cuda.fp16 import hdiv",
        "from pycu2c.cuda.bf16 import bfloat16, hadd\nfrom pycu2c.cuda.fp16 import hdiv",
    ),
    "numba-cuda-mlir or numba": (
        "try:\n    from numba_cuda_mlir import cuda\nexcept ImportError:\n"
        "    from numba import cuda",
        "try:\n    from pycu2c import cuda\nexcept ImportError:\n    from pycu2c import cuda",
    ),
    "tabs and no end": (
        "def f():\n\tfrom numba import cuda, njit",
        "def f():\n\tfrom numba import njit\n\tfrom pycu2c import cuda",
    ),
}
SAME = {
    "for the host alone": "from numba import njit, float64\n@njit(float64(float64))\ndef f(x): ...",
    "vectorize for the host": "from numba import vectorize, njit\n@vectorize\ndef f(x): ...",
    "another package": "from .numba import cuda\nimport numbers",
    "a name of its own": "def f(numba): return numba.cuda.jit",
    "comments and strings": "# from numba import cuda\nx = 'import numba'\n'''import numba'''",
    "what is not here": "from numba.cuda.testing import CUDATestCase",
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written(name: str, tmp_path: Path) -> None:
    before, after = CASES[name]
    assert rewritten(before, tmp_path) == after
    assert rewritten(after, tmp_path) == after


@pytest.mark.parametrize("name", SAME)
def test_what_stays(name: str, tmp_path: Path) -> None:
    assert rewritten(SAME[name], tmp_path) == SAME[name]


def test_names_that_are_bound_otherwise(tmp_path: Path) -> None:
    before = """
    import numba
    def f(numba=numba.cuda): return numba.cuda
    class A:
        numba = 1
        def g(self): return numba.cuda.jit
    @numba.cuda.jit
    def h(numba): numba.cuda
    """
    after = """
    import pycu2c
    def f(numba=pycu2c.cuda): return numba.cuda
    class A:
        numba = 1
        def g(self): return pycu2c.cuda.jit
    @pycu2c.cuda.jit
    def h(numba): numba.cuda
    """
    assert rewritten(before, tmp_path) == textwrap.dedent(after)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_ends_of_lines_and_encodings_stay(newline: str, tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    lines = ["# coding: latin-1", "é = 1; from numba import cuda, njit", "ü = cuda.jit", ""]
    path.write_bytes(newline.join(lines).encode("latin-1"))
    assert run("--write", path).exit_code == 0
    lines[1] = "é = 1; from numba import njit; from pycu2c import cuda"
    assert path.read_bytes() == newline.join(lines).encode("latin-1")


def test_names_are_looked_up_where_they_are() -> None:
    assert pycu2c_path("numba.cuda.atomic.add") == "pycu2c.cuda.atomic.add"
    assert pycu2c_path("numba.cuda.api.to_device") == "pycu2c.cuda.to_device"
    assert pycu2c_import_path("numba.cuda.types.float32") == "pycu2c.types.float32"
    for path in ("types.Literal", "types.np", "runtime", "errors", "cuda.cuda_paths", "source"):
        assert pycu2c_path(f"numba.{path}") is None, path


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_a_program_runs_when_it_is_migrated(path: Path, tmp_path: Path) -> None:
    migrated = tmp_path / path.name
    migrated.write_text(path.read_text())
    assert run("--write", migrated).exit_code == 0
    assert "numba" not in migrated.read_text()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYCU2C_BACKEND": "cpu"}
    done = subprocess.run(
        [sys.executable, migrated], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == path.with_suffix(".txt").read_text()
    assert run("--check", migrated).exit_code == 0


def test_a_diff_is_a_patch(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("from numba import cuda")
    done = run(tmp_path / "program.py")
    assert done.exit_code == 0
    head, *lines = done.stdout.split("@@\n")
    assert head.startswith(f"--- a{tmp_path}/program.py\n+++ b{tmp_path}/program.py\n@@ -1 +1 ")
    assert "".join(lines) == (
        "-from numba import cuda\n\\ No newline at end of file\n"
        "+from pycu2c import cuda\n\\ No newline at end of file\n"
    )
    assert (tmp_path / "program.py").read_text() == "from numba import cuda"


def test_check_says_what_would_change(tmp_path: Path) -> None:
    for name, text in (("a", "from numba import cuda"), ("b", "import math")):
        (tmp_path / f"{name}.py").write_text(text)
    done = run("--check", tmp_path)
    assert done.exit_code == 1
    assert done.stdout == ""
    assert f"{tmp_path / 'a.py'} would change\n" in done.stderr
    assert "2 files, 1 with imports of numba.cuda; 0 places by hand" in done.stderr
    assert run("--check", tmp_path / "b.py").exit_code == 0


def test_unreadable_programs(tmp_path: Path) -> None:
    texts = ("import numba, from", "import numba\0", "import numba\nx = 1" + "+ x" * 3000)
    for text in texts:
        (tmp_path / "wrong.py").write_text(text)
        done = run(tmp_path / "wrong.py")
        assert done.exit_code == 1
        assert "wrong.py cannot be read: " in done.stderr
    assert run(tmp_path / "none.py").exit_code == 2

"""A program that imports and uses pycu2c as on Windows or macOS, as far as Python code tells.

It hides the names of the standard library that typeshed, in mypy, does not list for that system.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import pathlib
import pkgutil
import platform
import sys
import types
from collections.abc import Iterator
from typing import Any

import mypy
import numpy as np

STUBS = pathlib.Path(mypy.__file__).parent / "typeshed" / "stdlib"
KEPT = ("sys", "builtins", "posix", "distutils")  # Python itself needs them
OPTIONAL = ("torch", "jax", "cuda", "tvm_ffi", "ml_dtypes", "dask", "distributed", "pytest")
MACHINES = {"win32": ("nt", "Windows", "AMD64"), "darwin": ("posix", "Darwin", "arm64")}


def holds(test: ast.expr, system: str) -> bool:
    """Whether a condition of a stub is true on a system, in this version of Python."""
    environment = {"platform": system, "version_info": sys.version_info}
    fake = types.SimpleNamespace(**environment)
    return bool(
        eval(compile(ast.Expression(test), "stub", "eval"), {"sys": fake, "TYPE_CHECKING": 1})
    )


def names_in(body: list[ast.stmt], system: str) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.If():
                chosen = statement.body if holds(statement.test, system) else statement.orelse
                yield from names_in(chosen, system)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname for alias in names if alias.asname)


def hide_names(system: str) -> list[str]:
    """Delete what this system has and the other one lacks; return the names."""
    hidden = []
    for path in sorted(STUBS.rglob("*.pyi")):
        name = ".".join(path.relative_to(STUBS).with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text()
        if "sys.platform" not in text or name.split(".")[0] in KEPT:
            continue
        body = ast.parse(text).body
        kept, here = set(names_in(body, system)), set(names_in(body, sys.platform))
        module = sys.modules.get(name)
        own = {n for n in here if not n.startswith("_")}
        if own and not {n for n in kept if n in own}:
            sys.modules[name] = None  # type: ignore[assignment]
            hidden.append(name)
        elif module is not None:
            for missing in sorted(here - kept):
                if hasattr(module, missing):
                    delattr(module, missing)
                    hidden.append(f"{name}.{missing}")
    return hidden


def import_all() -> int:
    package = importlib.import_module("pycu2c")
    count = 0
    for found in pkgutil.walk_packages(package.__path__, "pycu2c.", onerror=lambda name: None):
        if found.name.endswith(("__main__", "_dispatch")):
            continue
        try:
            importlib.import_module(found.name)
        except ModuleNotFoundError as error:
            if str(error.name).split(".")[0] not in OPTIONAL:
                raise
        else:
            count += 1
    return count


def become(system: str) -> list[str]:
    """Act as another system from now on."""
    for name in [name for name in sys.modules if name.split(".")[0] == "pycu2c"]:
        del sys.modules[name]
    hidden = hide_names(system)
    os.name, described, machine = MACHINES[system]
    sys.platform = system
    platform.system, platform.machine = lambda: described, lambda: machine
    if system == "win32":
        here: Any = getattr(pathlib, "_local", pathlib)
        here.WindowsPath = pathlib.PosixPath
        msvcrt: Any = types.ModuleType("msvcrt")
        msvcrt.LK_NBLCK, msvcrt.locking = 2, lambda handle, mode, size: None
        nt: Any = types.ModuleType("nt")  # for ctypes
        nt._LOAD_LIBRARY_SEARCH_DEFAULT_DIRS = 0
        sys.modules.update(msvcrt=msvcrt, nt=nt)
    return hidden


def use() -> None:
    """Generate code, interpret a kernel, and use the cache."""
    from pycu2c import cuda, kernel
    from pycu2c.toolchain.cache import artifact_store, cache_directory

    @kernel(backend="python")
    def scale(x, factor):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= factor

    x = np.arange(100, dtype=np.float32)
    scale[4, 32](x, 2.0)
    assert np.array_equal(x, 2 * np.arange(100))
    assert "__global__ void scale" in scale.inspect("cuda")
    assert "void scale" in scale.inspect("c")
    key = artifact_store.key_of("text")
    made = artifact_store.load_or_make(key, ".so", lambda: (b"code", ""))
    assert artifact_store.load(key, ".so") == made
    assert not cache_directory.locate().problem


def command(version: str) -> str:
    """The command that builds a library with a compiler of that system."""
    from pycu2c.declarations.options import DEFAULT_OPTIONS
    from pycu2c.toolchain.cc import build, cc, discovery

    compiler = discovery.Compiler(("cc",), version)
    flags = cc.general_flags(DEFAULT_OPTIONS, compiler)
    before, after = build.CcJob(compiler, "#include <math.h>\n", "scale", flags).command
    return " ".join((*before, *after))


if __name__ == "__main__":
    system, version = sys.argv[1:]
    before = import_all()
    hidden = become(system)
    after = import_all()
    use()
    found = {"modules": [before, after], "hidden": hidden, "command": command(version)}
    print(json.dumps(found))

"""Every name of PyCUDA's page on compilation exists with its parameters, and has a test."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from functools import reduce
from pathlib import Path

import pytest

import pycu2c.cupy
import pycu2c.pycuda.compiler
import pycu2c.pycuda.driver
import pycu2c.pycuda.gpuarray
from support.paths import ROOT

PAGE = (ROOT / "docs" / "coming_from" / "pycuda.md").read_text()
ROW = re.compile(r"^\| `([\w.]+)(?:\(([^`]*)\))?` \| `(\w+)::(\w+)` \| (.+?) \|$", re.M)
ROWS = ROW.findall(PAGE)

OPTIONS = "nvcc options keep no_extern_c"
OF_A_MODULE = f"{OPTIONS} arch code cache_dir"
NAMES = {  # of PyCUDA's page, with the parameters that stand there
    "compiler.SourceModule": f"source {OF_A_MODULE} include_dirs",
    "compiler.SourceModule.get_function": "name",
    "compiler.SourceModule.get_global": "name",
    "driver.Function": "",
    "driver.Function.__call__": "args grid block",
    "driver.Function.prepare": "arg_types block",
    "driver.Function.max_threads_per_block": "",
    "driver.Function.shared_size_bytes": "",
    "driver.Function.const_size_bytes": "",
    "driver.Function.local_size_bytes": "",
    "driver.Function.num_regs": "",
    "driver.PreparedFunction": "",
    "driver.PreparedFunction.__call__": "args grid block",
    "driver.PreparedFunction.prepared_call": "grid args",
    "driver.PreparedFunction.prepared_async_call": "grid args",
    "driver.DeviceAllocation": "",
    "driver.Stream": "",
    "driver.mem_alloc": "size",
    "driver.memcpy_htod": "dest src",
    "driver.memcpy_dtoh": "dest src",
    "driver.to_device": "bf_obj",
    "gpuarray.GPUArray.get": "",
}


def test_no_name_is_missing() -> None:
    assert [name for name, *_ in ROWS] == list(NAMES)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_documented_entries(row: tuple[str, ...]) -> None:
    name, parameters, file, test, state = row
    result = reduce(getattr, name.split("."), pycu2c.pycuda)
    assert parameters.replace(",", "") == NAMES[name]
    if parameters:
        taken = [each for each in inspect.signature(result).parameters if each != "self"]
        assert taken[: len(parameters.split(", "))] == parameters.split(", ")
    tests = {
        node.name
        for node in ast.parse(Path(__file__).with_stem(file).read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    assert test in tests
    assert "stub" not in state


def test_names_of_the_driver_are_of_this_package() -> None:
    names = {name for name in vars(pycu2c.pycuda.driver) if name[0] != "_"}
    for name in names:
        module = getattr(getattr(pycu2c.pycuda.driver, name), "__module__", "pycu2c")
        assert module.startswith("pycu2c")


def test_missing_names_of_cupy_state_a_replacement() -> None:
    with pytest.raises(AttributeError, match="for arrays import cupy or numpy"):
        getattr(pycu2c.cupy, "zeros")  # noqa: B009


def test_import_of_the_package_brings_none_of_it() -> None:
    code = "import sys, pycu2c; print([m for m in sys.modules if m.startswith('pycu2c.pycuda')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "[]\n"

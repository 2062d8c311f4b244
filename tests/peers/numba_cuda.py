"""Run the test suite of numba-cuda with the names of pycu2c in place of numba's.

    PYCU2C_BACKEND=cpu PYTHONPATH=src python tests/peers/numba_cuda.py SUITE [FILE …]

SUITE is a checkout of https://github.com/NVIDIA/numba-cuda, which is only read. FILE is the name of
a test file, such as ``test_math``; without files, all run. Each file runs in a process of its own.
The output is a table, and with ``--failures`` the error of each test that failed. With
NUMBA_ENABLE_CUDASIM=1, the suite leaves out what numba's simulator cannot run.

The outcome of a test is one of these:

- "passed" or "failed";
- "explained": it fails because of a documented difference, which ``numba_cuda_list.py`` names;
- "outside": it fails for a reason that is no property of pycu2c, which the same list names;
- "absent": it calls a name that pycu2c does not have, such as numba's own IR;
- "skipped": the suite leaves it out.

The last line counts the tests that launch a kernel or a ufunc, or fail to compile one. Those that
passed are compared with all that passed, failed or are explained.
"""

from __future__ import annotations

import argparse
import builtins
import fnmatch
import importlib
import importlib.util
import itertools
import json
import linecache
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import unittest
from collections.abc import Callable, Collection, Sequence
from dataclasses import astuple, dataclass, replace
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

import numba_cuda_list
import numpy as np
import pytest

import pycu2c
from pycu2c import types
from pycu2c.base import dtypes
from pycu2c.base import types as base_types
from pycu2c.base.diagnostics import CompileError
from pycu2c.compat.migrate import name_map
from pycu2c.kernels.configured_kernel import Configured, Launches
from pycu2c.kernels.launcher import Launcher
from pycu2c.toolchain.cache import value_store

FOLDERS = ("cudapy", "cudadrv", "doc_examples")
SECONDS_PER_TEST = 120
SECONDS_PER_FILE = 1800


# ---- the names of numba --------------------------------------------------------------------------


class AbsentNameError(NotImplementedError):
    """A test called a name of numba that pycu2c does not have."""


class AbsentName:
    """A name of numba that pycu2c does not have; a test that calls it fails.

    Modules may use such names as decorators and base classes when they are imported.
    """

    in_test = False

    def __init__(self, path: str) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"<{self._path}, which pycu2c does not have>"

    def __getattr__(self, name: str) -> AbsentName:
        if name.startswith("__"):
            raise AttributeError(name)
        return AbsentName(f"{self._path}.{name}")

    def __call__(self, *_: object, **__: object) -> AbsentName:
        if AbsentName.in_test:
            raise AbsentNameError(f"pycu2c does not have {self._path}")
        return self

    def __mro_entries__(self, _: tuple[object, ...]) -> tuple[type, ...]:
        return (AbsentBase,)


class AbsentBase:
    """The base class that a class of the suite gets in place of an absent one."""

    def __init__(self, *_: object, **__: object) -> None:
        pass


class NoMemorySystem:
    """Stands for numba's reference-counted memory, which pycu2c does not need."""

    def get_allocation_stats(self) -> Any:
        return SimpleNamespace(alloc=0, free=0, mi_alloc=0, mi_free=0)

    def memsys_enable_stats(self) -> None:
        pass

    memsys_disable_stats = memsys_enable_stats


def _find_no_headers() -> NoReturn:
    raise FileNotFoundError("the headers of the CUDA toolkit")


def _vector_types() -> dict[str, object]:
    """Return numba's descriptions of the vector types, by name."""
    return {
        dtype.name: SimpleNamespace(
            name=dtype.name,
            num_elements=len(dtype.fields),
            base_type=base_types.Scalar(dtype.fields[0].dtype),
            user_facing_object=base_types.Scalar(dtype),
        )
        for dtype in dtypes.VECTORS.values()
        if not dtype.fields[0].dtype.is_half  # numba has no vectors of them
    }


class _TypeClass(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, base_types.Scalar | base_types.Array | base_types.Tuple)


class NumbaType(AbsentBase, metaclass=_TypeClass):
    """The base class of numba's types: the types of pycu2c are instances."""


def _domain(*types: base_types.Scalar) -> frozenset[object]:
    """Return a set of types; the elements of our array types are dtypes."""
    return frozenset(types) | {scalar.dtype for scalar in types}


# Names of numba's internal modules that the helpers of the suite use.
_NAMES: dict[str, dict[str, object]] = {
    "numba.cuda": {"HAS_NUMBA": True},
    "numba.cuda.args": {"wrap_arg": lambda value, default: default(value)},
    "numba.cuda.core.config": {
        "CUDA_MEMORY_MANAGER": "default",
        "ENABLE_CUDASIM": os.environ.get("NUMBA_ENABLE_CUDASIM") == "1",
        "IS_WIN32": False,
    },
    "numba.cuda.cudadrv.libs": {"get_cuda_include_dir": _find_no_headers},
    "numba.cuda.memory_management": {"rtsys": NoMemorySystem()},
    "numba.cuda.memory_management.nrt": {"rtsys": NoMemorySystem()},
    "numba.cuda.np.numpy_support": {
        "numpy_version": tuple(map(int, np.__version__.split(".")[:2]))
    },
    "numba.cuda.types": {
        "Type": NumbaType,
        "signed_domain": _domain(types.int8, types.int16, types.int32, types.int64),
        "unsigned_domain": _domain(types.uint8, types.uint16, types.uint32, types.uint64),
        "real_domain": _domain(types.float32, types.float64),
        "complex_domain": _domain(types.complex64, types.complex128),
    },
    "numba.cuda.simulator.vector_types": {"vector_types": _vector_types()},
    "numba.cuda.typing.cffi_utils": {"SUPPORTED": True},
    "numba.cuda.typing.typeof": {"typeof": pycu2c.typeof},
    "numba.cuda.utils": {"PYVERSION": sys.version_info[:2]},
    "numba.cuda.vector_types": {"vector_types": _vector_types()},
}
_OTHER_PATHS = {"numba.cuda.config": "numba.cuda.core.config"}


class NumbaModule(ModuleType):
    """A module of numba that has the names of pycu2c."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        vars(self).update(_NAMES.get(name, {}))

    def __getattr__(self, name: str) -> object:
        path = f"{self.__name__}.{name}"
        if name.startswith("__"):
            raise AttributeError(path)
        if path in _OTHER_PATHS:
            return importlib.import_module(_OTHER_PATHS[path])
        target = name_map.pycu2c_path(path)
        value = None if target is None else name_map.lookup(target)
        if path in _NAMES or isinstance(value, ModuleType):
            return importlib.import_module(path)
        if value is None and self.__name__ == "numba.cuda":
            return getattr(importlib.import_module("pycu2c.cuda"), name)  # raises AttributeError
        return AbsentName(path) if value is None else value


class NumbaFinder(MetaPathFinder, Loader):
    """Import each module of numba as a ``NumbaModule``, and its tests from the suite."""

    TESTS = "numba.cuda.tests"

    def __init__(self, suite: Path) -> None:
        self.folder = suite / "numba_cuda" / "numba" / "cuda"

    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> Any:
        package = fullname.partition(".")[0]
        if package == SUITE_PACKAGE:
            return self._spec_in_suite(fullname)
        if package not in ("numba", "filecheck"):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def _spec_in_suite(self, fullname: str) -> ModuleSpec | None:
        path = self.folder.joinpath(*fullname.split(".")[1:])
        if path.is_dir():
            return importlib.util.spec_from_file_location(
                fullname, path / "__init__.py", submodule_search_locations=[str(path)]
            )
        file = path.with_suffix(".py")
        return importlib.util.spec_from_file_location(fullname, file) if file.exists() else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        name = spec.name
        if name.startswith("numba.cuda.tests") or name == "numba.cuda.testing":
            return importlib.import_module(SUITE_PACKAGE + name.removeprefix("numba.cuda"))
        return NumbaModule(name)

    def exec_module(self, module: ModuleType) -> None:
        pass


# The modules of the suite have another name than numba's, whose functions are the intrinsics.
SUITE_PACKAGE = "suite_of_numba_cuda"


def exec_with_source(
    text: Any, names: dict[str, Any] | None = None, local_names: Any = None
) -> None:
    """Execute a text as ``exec`` does, and register it in ``linecache`` first.

    numba compiles bytecode, so its tests need not keep the text.
    """
    if names is None:
        caller = sys._getframe(1)
        names, local_names = caller.f_globals, local_names or caller.f_locals
    if isinstance(text, str):
        name = f"<executed text {next(_NUMBERS)}>"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        text = compile(text, name, "exec")
    EXEC(text, names, names if local_names is None else local_names)


_NUMBERS = itertools.count()
EXEC = builtins.exec


def numba_vector_name(dtype: dtypes.DType) -> str:
    return f"{dtype.fields[0].dtype}x{len(dtype.fields)}"


def put_names_in_place(suite: Path) -> None:
    """Let imports of numba find pycu2c, and imports of numba's tests the suite."""
    builtins.exec = exec_with_source
    scalar_type: Any = base_types.Scalar
    scalar_type.underlying_float = property(lambda scalar: scalar_type(scalar.dtype.real))
    scalar_type.bitwidth = property(lambda scalar: scalar.dtype.bits)
    scalar_type.aliases = property(lambda scalar: (numba_vector_name(scalar.dtype),))
    package = ModuleType(SUITE_PACKAGE)
    package.__path__ = [str(suite / "numba_cuda" / "numba" / "cuda")]
    sys.modules[SUITE_PACKAGE] = package
    sys.meta_path.insert(0, NumbaFinder(suite))


# ---- one file ------------------------------------------------------------------------------------


class LaunchDetector:
    """Detects whether a test launches a kernel.

    Only launches that miss the dispatch table run Python code, so each test starts with empty
    tables.
    """

    def __init__(self) -> None:
        self.launched = False
        self.tables: list[Launches | Launcher] = []
        self._wrap(Configured, "_launch", self._record_launch)
        self._wrap(Launcher, "resolve", self._record_launch)
        self._wrap(Launches, "__init__", self.tables.append)
        self._wrap(Launcher, "__init__", self.tables.append)

    def _record_launch(self, _: object) -> None:
        self.launched = True

    @staticmethod
    def _wrap(cls: Any, name: str, before: Callable[[Any], None]) -> None:
        method = getattr(cls, name)

        def wrapped(self: Any, *arguments: Any, **named: Any) -> Any:
            before(self)
            return method(self, *arguments, **named)

        setattr(cls, name, wrapped)

    def start(self) -> None:
        self.launched = False
        for owner in self.tables:
            if isinstance(owner, Launcher):
                owner.dispatch_table = None
            else:
                owner.table = None


@dataclass(frozen=True)
class Outcome:
    """One of ``OUTCOMES``; the error or the reason; whether the test launches a kernel."""

    kind: str
    text: str = ""
    launches: bool = False


class Result(unittest.TestResult):
    """The outcome of each test, by name."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file
        self.outcomes: dict[str, Outcome] = {}
        self._detector = LaunchDetector()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        AbsentName.in_test = True
        self._detector.start()
        signal.alarm(SECONDS_PER_TEST)

    def stopTest(self, test: unittest.TestCase) -> None:
        signal.alarm(0)
        AbsentName.in_test = False
        super().stopTest(test)

    def _set(
        self, test: unittest.TestCase, kind: str, error: str = "", launches: bool = False
    ) -> None:
        if name(test) in self.outcomes and self.outcomes[name(test)].kind != "passed":
            return  # a subtest has failed
        launches = launches or self._detector.launched
        self.outcomes[name(test)] = judged(self.file, name(test), Outcome(kind, error, launches))

    def addSuccess(self, test: unittest.TestCase) -> None:
        self._set(test, "passed")

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        self._set(test, "passed")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        self._set(test, "failed", "the test passes, but the suite expects a failure")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self._set(test, "skipped", reason)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        kind, error, trace = err
        outcome = "absent" if issubclass(kind, AbsentNameError) else "failed"
        text = "".join(traceback.format_exception(kind, error, trace))
        self._set(test, outcome, text, issubclass(kind, CompileError))

    addFailure = addError

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        if err is not None:
            self.addError(test, err)


OUTCOMES = ("passed", "failed", "explained", "outside", "absent", "skipped")


def name(test: unittest.TestCase) -> str:
    return ".".join(test.id().split(".")[-2:])


def judged(file: str, test: str, outcome: Outcome) -> Outcome:
    """Return the outcome of a test; a listed failure has the reason in place of the error."""
    if outcome.kind != "failed":
        return outcome
    full_name = f"{Path(file).name}.py::{test}"
    for kind, reasons in numba_cuda_list.REASONS.items():
        for pattern, reason in reasons.items():
            if fnmatch.fnmatchcase(full_name, pattern):
                return replace(outcome, kind=kind, text=reason)
    return outcome


def run_file(suite: Path, path: str) -> dict[str, Outcome]:
    """Run a file in this process, for example ``cudapy/test_math``; return its outcomes."""
    value_store.ENABLED = False  # the compiler is tested, not its cache
    put_names_in_place(suite)
    signal.signal(signal.SIGALRM, _raise_timeout)
    here = Path(__file__).parent
    sys.path[:] = [entry for entry in sys.path if Path(entry) != here]  # its cupy.py is another
    result = Result(path)
    try:
        module = importlib.import_module(f"{SUITE_PACKAGE}.tests.{path.replace('/', '.')}")
    except (unittest.SkipTest, pytest.skip.Exception) as skip:
        return {"import": Outcome("skipped", str(skip))}
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, unittest.TestCase)
        and value.__module__ == module.__name__
    ]
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    unittest.TestSuite(map(load, classes)).run(result)
    return result.outcomes


def _raise_timeout(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError(f"the test ran for {SECONDS_PER_TEST} seconds")


# ---- all files -----------------------------------------------------------------------------------


def suite_files(suite: Path, names: Sequence[str] = ()) -> list[str]:
    """Return the files with these names, or all: ``cudapy/test_math``."""
    tests = suite / "numba_cuda" / "numba" / "cuda" / "tests"
    files = [file for folder in FOLDERS for file in sorted((tests / folder).glob("test_*.py"))]
    paths = [f"{file.parent.name}/{file.stem}" for file in files]
    return [path for path in paths if not names or {path, Path(path).name} & set(names)]


# Tests run programs in other processes, which find the same names.
SITE = """
import sys

if "-c" in sys.orig_argv:
    from pathlib import Path

    from numba_cuda import put_names_in_place

    put_names_in_place(Path({suite!r}))
"""


def run_in_process(suite: Path, path: str) -> dict[str, Outcome]:
    """Run a file in a process of its own; return its outcomes.

    A file that cannot be imported, or that ends the process, is one failure with the name "import".
    """
    with tempfile.TemporaryDirectory() as folder:
        outcomes = Path(folder) / "outcomes.json"
        (Path(folder) / "sitecustomize.py").write_text(SITE.format(suite=str(suite)))
        command = [sys.executable, __file__, str(suite), path, "--outcomes", str(outcomes)]
        paths = os.pathsep.join([folder, *(str(Path(entry).resolve()) for entry in sys.path)])
        try:
            ran = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=SECONDS_PER_FILE,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": paths},
            )
        except subprocess.TimeoutExpired:
            return {"import": Outcome("failed", f"the file ran for {SECONDS_PER_FILE} seconds")}
        if not outcomes.exists():
            error = Outcome("failed", f"{ran.stderr}\nexit status {ran.returncode}")
            return {"import": judged(path, "import", error)}
        return {test: Outcome(*fields) for test, fields in json.loads(outcomes.read_text()).items()}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run the test suite of numba-cuda with pycu2c.")
    parser.add_argument("suite", type=Path, help="a checkout of numba-cuda")
    parser.add_argument("files", nargs="*", help="names of test files, such as test_math")
    parser.add_argument("--failures", action="store_true", help="print the error of each failure")
    parser.add_argument("--reasons", action="store_true", help="print the reasons of the others")
    parser.add_argument("--outcomes", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    files = suite_files(options.suite.resolve(), options.files)
    if options.outcomes:
        outcomes = run_file(options.suite.resolve(), *files)
        options.outcomes.write_text(json.dumps({t: astuple(o) for t, o in outcomes.items()}))
        return 0
    everything: list[Outcome] = []
    print(_row("file", OUTCOMES))
    for path in files:
        outcomes = run_in_process(options.suite.resolve(), path)
        everything += outcomes.values()
        print(_row(path, _counts(outcomes.values())), flush=True)
        for test, outcome in outcomes.items():
            if options.failures and outcome.kind in ("failed", "absent"):
                print(f"    {test}: {outcome.kind}\n" + _indented(outcome.text))
            if options.reasons and outcome.kind in ("explained", "outside"):
                print(f"    {test}: {outcome.kind}: {outcome.text}")
    print(_row("all", _counts(everything)))
    print(launch_figure(everything))
    return 0


def _row(title: str, cells: Sequence[object]) -> str:
    return f"{title:44}" + "".join(f"{cell:>10}" for cell in cells)


def _counts(outcomes: Collection[Outcome]) -> list[int]:
    return [sum(outcome.kind == kind for outcome in outcomes) for kind in OUTCOMES]


def launch_figure(outcomes: Collection[Outcome]) -> str:
    """Return how many of the tests that launch kernels passed."""
    kinds = [outcome.kind for outcome in outcomes if outcome.launches]
    passed = kinds.count("passed")
    counted = passed + kinds.count("failed") + kinds.count("explained")
    share = f" ({passed / counted:.1%})" if counted else ""
    return f"{passed} of {counted} tests that launch a kernel passed{share}"


def _indented(text: str) -> str:
    return "".join(f"        {line}\n" for line in text.strip().splitlines())


if __name__ == "__main__":
    sys.exit(main())
